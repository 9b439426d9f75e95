// SPDX-License-Identifier: GPL-2.0
/*
 * D2TCP (Vamanan, Hasan and Vijaykumar, "Deadline-aware datacenter TCP", SIGCOMM 2012): DCTCP whose flows back off by the urgency
 * of their deadlines.
 *
 * - Echoes multiply the window by 1 - alpha^d / 2, once a round trip. alpha is the share of marked packets as DCTCP estimates it.
 * - d = T / D, from urgency_min to urgency_max. D is the time left to the deadline. T = B RTT / (sawtooth W) is the time that the
 *   B bytes which are not acknowledged need at the mean window of a sawtooth whose peak is W.
 * - Growth, and a loss, are as in DCTCP.
 *
 * A program says the deadline of what it writes next by the socket's mark, setsockopt(SO_MARK): the microseconds of
 * CLOCK_MONOTONIC, modulo 2^32. With 0 there is no deadline, and the connection is DCTCP. Linux allows marks to programs with
 * CAP_NET_ADMIN. A new mark makes Linux look up the route again, so that a window which restarts after an idle time does not
 * know the route's initcwnd and has ten segments. B is what the program has written and the other end has not acknowledged, so it
 * lacks what did not fit into the send buffer.
 *
 * On a host: make, insmod ./tcp_d2tcp.ko, sysctl net.ipv4.tcp_congestion_control=d2tcp. Receivers need it too, or DCTCP, since
 * theirs decides how marks are echoed. Switches mark by a threshold as for DCTCP. Parameters can be changed at any time in
 * /sys/module/tcp_d2tcp/parameters; numbers may be 0.5 or 1/2.
 */
#define MIN_WINDOW 2
#include "marks.h"

static u32 urgency_min = ONE / 2;
number_param(urgency_min, "smallest exponent of alpha (0.5)");
static u32 urgency_max = 2 * ONE;
number_param(urgency_max, "largest exponent of alpha (2)");
static u32 sawtooth = 3 * ONE / 4;
number_param(sawtooth, "mean window as a share of the present one (3/4)");

static const char *const lates[] = { "give-way", "hurry", "as-dctcp", NULL };
enum { LATE_GIVE_WAY, LATE_HURRY, LATE_AS_DCTCP };
static struct choice late = { lates, LATE_GIVE_WAY };
choice_param(late, "after the deadline: give-way (urgency_min), hurry (urgency_max) or as-dctcp (1)");

/* The exponent d. */
static u32 urgency(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 deadline = READ_ONCE(sk->sk_mark), least = READ_ONCE(urgency_min), most = READ_ONCE(urgency_max);
	s32 left_us = deadline - (u32)ktime_to_us(ktime_get());
	u64 segments, needed_us, mean;

	if (!deadline || !tp->srtt_us)
		return ONE;
	if (left_us <= 0)
		return late.chosen == LATE_GIVE_WAY ? least : late.chosen == LATE_HURRY ? most : ONE;
	mean = max(marks_window(sk) * min(sawtooth, 16 * ONE) >> SHIFT, 1ULL);
	/* Both are multiples of 2^-20. */
	segments = div_u64((u64)(tp->write_seq - tp->snd_una) << SHIFT, max(tp->mss_cache, 1U));
	needed_us = mul_u64_u64_div_u64(segments, (u64)tp->srtt_us << (SHIFT - 3), mean);
	return max_t(u64, min_t(u64, div_u64(needed_us, left_us), most), least);
}

static void d2tcp_observe(struct sock *sk, u32 flags)
{
	marks_observe(sk, flags);
}

static u32 d2tcp_ssthresh(struct sock *sk)
{
	const struct marks *ca = inet_csk_ca(sk);

	return ca->echo ? marks_reduce_by(sk, power(ca->alpha, urgency(sk))) : marks_halve(sk);
}

static void d2tcp_grow(struct sock *sk, u32 ack, u32 acked)
{
	marks_grow(sk, acked, ONE);
}

static struct tcp_congestion_ops d2tcp __read_mostly = {
	.name = "d2tcp",
	.owner = THIS_MODULE,
	.flags = TCP_CONG_NEEDS_ECN,
	.init = marks_init,
	.in_ack_event = d2tcp_observe,
	.ssthresh = d2tcp_ssthresh,
	.cong_avoid = d2tcp_grow,
	.cwnd_event = marks_event,
	.set_state = marks_state,
	.undo_cwnd = tcp_reno_undo_cwnd,
};

static int __init d2tcp_register(void)
{
	BUILD_BUG_ON(sizeof(struct marks) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&d2tcp);
}

static void __exit d2tcp_unregister(void)
{
	tcp_unregister_congestion_control(&d2tcp);
}

module_init(d2tcp_register);
module_exit(d2tcp_unregister);
MODULE_DESCRIPTION("D2TCP: DCTCP whose flows back off by the urgency of their deadlines");
MODULE_LICENSE("GPL");
