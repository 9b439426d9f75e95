/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What senders share that reduce their window by the share of marked packets (DCTCP, RFC 8257): the estimate of that share,
 * the receiver's echoes, growth, and the parameters.
 *
 * Shares, weights and windows are multiples of 2^-20. A window has a fraction here, which the kernel's has not; the kernel's is
 * the whole segments of it. The fraction is lost where the kernel itself sets its window.
 */
#ifndef MARKS_H
#define MARKS_H

#include <linux/bitops.h>
#include <linux/math64.h>
#include <net/tcp.h>
#include "parameters.h"

/* Linux 6.1 has no flags there; the Makefile looks. */
#ifdef SEND_ACK_HAS_FLAGS
#define NO_FLAGS , 0
#else
#define NO_FLAGS
#endif

/* More segments than a TCP window can have. */
#define MOST_SEGMENTS (1U << 20)

/* What a connection has; it comes first in what the module keeps of one. */
struct marks {
	u32 delivered, delivered_ce;	/* the kernel's counters when the present window of data began */
	u32 window_end;			/* the last byte that was sent before it began, plus one */
	u32 alpha;			/* estimated share of marked packets */
	u32 received;			/* RCV.NXT before the newest packet */
	bool was_ce;			/* the newest packet was marked */
	bool echo;			/* the newest acknowledgement has an echo */
	bool is_idle;			/* all that was written is acknowledged */
	u64 window;			/* in segments */
	u64 threshold;			/* what the window was reduced to */
};

static u32 g = ONE / 16;
number_param(g, "weight of the newest window of data in the estimate (1/16)");
static u32 alpha0 = ONE;
number_param(alpha0, "initial estimate of the share of marked packets (1)");
static u32 min_window = MIN_WINDOW * ONE;
number_param(min_window, "smallest window after a reduction, in segments, at least 1");

/* `alpha` to the power of `exponent`. */
static u32 __maybe_unused power(u32 alpha, u32 exponent)
{
	/* Two to the power of -1/2, -1/4 and so on, in 2^-32. */
	static const u32 roots[SHIFT] = {
		0xb504f334u, 0xd744fccbu, 0xeac0c6e8u, 0xf5257d15u, 0xfa83b2dbu, 0xfd3e0c0du, 0xfe9e115cu,
		0xff4ecb59u, 0xffa75652u, 0xffd3a752u, 0xffe9d2b3u, 0xfff4e91cu, 0xfffa747fu, 0xfffd3a3bu,
		0xfffe9d1du, 0xffff4e8eu, 0xffffa747u, 0xffffd3a3u, 0xffffe9d2u, 0xfffff4e9u,
	};
	u64 square, halvings, result = 1ULL << 32;
	u32 log, bit, i;

	if (!alpha || alpha >= ONE || !exponent)
		return alpha >= ONE || !exponent ? ONE : 0;
	/* The binary logarithm: whole, and then a bit for each squaring that reaches two. */
	log = (fls(alpha) - 1) << SHIFT;
	square = (u64)alpha << (32 - fls(alpha));
	for (bit = ONE / 2; bit; bit /= 2) {
		square = square * square >> 31;
		if (square >> 32) {
			square >>= 1;
			log |= bit;
		}
	}
	halvings = (u64)exponent * (SHIFT * ONE - log) >> SHIFT;
	for (i = 0; i < SHIFT; i++)
		if (halvings & (ONE / 2 >> i))
			result = result * roots[i] >> 32;
	halvings >>= SHIFT;
	return halvings < 32 ? result >> halvings >> (32 - SHIFT) : 0;
}

static u64 marks_window(const struct sock *sk)
{
	const struct marks *ca = inet_csk_ca(sk);
	u64 segments = tcp_snd_cwnd(tcp_sk(sk));

	return ca->window >> SHIFT == segments ? ca->window : segments << SHIFT;
}

static u64 clamp_window(u64 window, u64 least)
{
	/* A fifth has no end in binary: five of them are one all the same. */
	if (window % ONE >= ONE - (ONE >> 14))
		window = round_up(window, (u64)ONE);
	return clamp_t(u64, window, max_t(u64, least, ONE), (u64)MOST_SEGMENTS << SHIFT);
}

static void marks_set_window(struct sock *sk, u64 window)
{
	struct marks *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	ca->window = clamp_window(window, ONE);
	tcp_snd_cwnd_set(tp, min_t(u64, ca->window >> SHIFT, tp->snd_cwnd_clamp));
}

/* The threshold to return from the hook `ssthresh`. */
static u32 marks_reduce_to(struct sock *sk, u64 window, u64 least)
{
	struct marks *ca = inet_csk_ca(sk);

	ca->threshold = clamp_window(window, least);
	return ca->threshold >> SHIFT;
}

/* RFC 8257 section 3.3, step 9, with `penalty` in place of the estimate. */
static u32 __maybe_unused marks_reduce_by(struct sock *sk, u32 penalty)
{
	u64 window = marks_window(sk);

	return marks_reduce_to(sk, window - (window * penalty >> (SHIFT + 1)), min_window);
}

/* RFC 5681 equation 4: half of what is outstanding. */
static u32 marks_halve(struct sock *sk)
{
	u64 outstanding = (u64)tcp_sk(sk)->packets_out << SHIFT;

	return marks_reduce_to(sk, min(outstanding, marks_window(sk)) / 2, 2 * ONE);
}

/* RFC 5681 section 3.1, but with `share` of a segment a round trip in congestion avoidance. */
static void marks_grow(struct sock *sk, u32 acked, u32 share)
{
	const struct marks *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 window = marks_window(sk), threshold = (u64)tp->snd_ssthresh << SHIFT;

	if (ca->echo || !tcp_is_cwnd_limited(sk))
		return;
	if (ca->threshold >> SHIFT == tp->snd_ssthresh)
		threshold = ca->threshold;
	if (window < threshold) {
		u64 steps = min_t(u64, acked, (threshold - window + ONE - 1) >> SHIFT);

		window += steps << SHIFT;
		acked -= steps;
	}
	window += div64_u64(((u64)share * min(acked, 0xffffU) << SHIFT) + window / 2, window);
	marks_set_window(sk, window);
}

static void marks_init(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct marks *ca = inet_csk_ca(sk);

	*ca = (struct marks){
		.delivered = tp->delivered,
		.delivered_ce = tp->delivered_ce,
		.window_end = tp->snd_nxt,
		.alpha = min(READ_ONCE(alpha0), ONE),
		.received = tp->rcv_nxt,
		.is_idle = true,
	};
	/* The other end does without, so packets are not ECN-capable any more; what is left is TCP. */
	if (!(tp->ecn_flags & TCP_ECN_OK) && sk->sk_state != TCP_LISTEN && sk->sk_state != TCP_CLOSE)
		INET_ECN_dontxmit(sk);
}

/* The hook `in_ack_event`, steps 1 to 8. Returns whether a window of data has ended. */
static bool marks_observe(struct sock *sk, u32 flags)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct marks *ca = inet_csk_ca(sk);
	u32 delivered = tp->delivered - ca->delivered, marked = tp->delivered_ce - ca->delivered_ce, share = 0;

	ca->echo = flags & CA_ACK_ECE;
	ca->is_idle = tp->snd_una == tp->write_seq;
	/* As the RFC has it: a byte that was sent in the window. Linux's DCTCP ends one a byte earlier, and again at once. */
	if (!after(tp->snd_una, ca->window_end))
		return false;
	if (delivered)
		share = min_t(u64, div_u64((u64)marked << SHIFT, delivered), ONE);
	ca->alpha += ((s64)min(g, ONE) * ((s64)share - ca->alpha) + ONE / 2) >> SHIFT;
	ca->delivered = tp->delivered;
	ca->delivered_ce = tp->delivered_ce;
	ca->window_end = tp->snd_nxt;
	return true;
}

/*
 * Whether a transfer begins. That nothing is outstanding does not say so: a window of two segments is empty whenever one
 * acknowledgement covers both.
 */
static bool __maybe_unused marks_begins(struct sock *sk, enum tcp_ca_event event)
{
	struct marks *ca = inet_csk_ca(sk);
	bool begins = event == CA_EVENT_TX_START && ca->is_idle;

	if (begins)
		ca->is_idle = false;
	return begins;
}

/* Echoes go by the newest packet (RFC 8257 section 3.2). */
static void marks_echo(struct sock *sk, bool ce)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (ce)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

/* The hook `cwnd_event`. */
static void marks_event(struct sock *sk, enum tcp_ca_event event)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct marks *ca = inet_csk_ca(sk);
	bool ce = event == CA_EVENT_ECN_IS_CE;

	switch (event) {
	case CA_EVENT_ECN_IS_CE:
	case CA_EVENT_ECN_NO_CE:
		if (ce != ca->was_ce) {
			/* What waits for its acknowledgement came before, so that goes first. */
			if (icsk->icsk_ack.pending & ICSK_ACK_TIMER) {
				marks_echo(sk, ca->was_ce);
				__tcp_send_ack(sk, ca->received NO_FLAGS);
			}
			icsk->icsk_ack.pending |= ICSK_ACK_NOW;
		}
		ca->was_ce = ce;
		ca->received = tp->rcv_nxt;
		marks_echo(sk, ce);
		break;
	case CA_EVENT_COMPLETE_CWR:
		if (tcp_snd_cwnd(tp) == ca->threshold >> SHIFT)
			ca->window = ca->threshold;
		break;
	case CA_EVENT_LOSS:
		tp->snd_ssthresh = marks_halve(sk);
		break;
	default:
		break;
	}
}

/* The hook `set_state`. The kernel has asked for a threshold before, and an echo that came with a loss may have set it. */
static void marks_state(struct sock *sk, u8 state)
{
	if (state == TCP_CA_Recovery && !tcp_in_cwnd_reduction(sk))
		tcp_sk(sk)->snd_ssthresh = marks_halve(sk);
}

#endif
