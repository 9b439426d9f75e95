// SPDX-License-Identifier: GPL-2.0
/*
 * The sender of DT-CWA (Sreekumari, "Multiple Congestion Points and Congestion Reaction Mechanisms for Improving DCTCP
 * Performance in Data Center Networks", 2018).
 *
 * An echo starts an episode of congestion, which lasts until all that was outstanding then is acknowledged.
 *
 * - At its start (Eq. 1) the window is (max - min) / alpha - window, but not below min_window. max and min are the extremes of
 *   the window, and alpha is the number of segments outstanding.
 * - In an episode the window does not grow. At its end (Eq. 2) it is increased by beta (max - min).
 * - In between it grows as TCP's. A loss ends an episode, and halves the window.
 *
 * Linux holds the window of a reduction until something that was sent after it is acknowledged. So an episode ends then at the
 * earliest: with episode_end=all-acked too, Eq. 2 comes up to a round trip later than in the paper.
 *
 * The equations are those of the paper as printed. eq1, eq1_may_raise, eq1_alpha, cw_hist, episode_end, cw_end_if_marked and
 * keep_dctcp_cut choose other readings; `fanin explain dt-cwa` explains each (its keys have dashes).
 *
 * On a host: make, insmod ./tcp_dtcwa.ko, sysctl net.ipv4.tcp_congestion_control=dtcwa, and initcwnd 2 on the routes as in the
 * paper. Receivers need it too, or DCTCP, since theirs decides how marks are echoed. The paper's switches mark by two thresholds,
 * which no switch on sale does. Parameters can be changed at any time in /sys/module/tcp_dtcwa/parameters; numbers may be 0.2 or
 * 1/5.
 */
#define MIN_WINDOW 1
#include "marks.h"

static u32 beta = ONE / 5;
number_param(beta, "share of the range that Eq. 2 restores (0.2)");
static bool eq1_may_raise = true;
module_param(eq1_may_raise, bool, 0644);
MODULE_PARM_DESC(eq1_may_raise, "Eq. 1 may increase the window (Y)");
static bool cw_end_if_marked = true;
module_param(cw_end_if_marked, bool, 0644);
MODULE_PARM_DESC(cw_end_if_marked, "Eq. 2 applies after further echoes too; else the next episode begins (Y)");
static bool keep_dctcp_cut;
module_param(keep_dctcp_cut, bool, 0644);
MODULE_PARM_DESC(keep_dctcp_cut, "DCTCP's reduction comes before Eq. 1 (N)");

static const char *const equations[] = { "literal-clamped", "sub", "abs", "dctcp-cut", NULL };
enum { EQ1_LITERAL, EQ1_SUB, EQ1_ABS, EQ1_DCTCP_CUT };
static struct choice eq1 = { equations, EQ1_LITERAL };
choice_param(eq1, "window at the start: literal-clamped, sub, abs or dctcp-cut");

static const char *const alphas[] = { "outstanding", "sent-less-acks", "dctcp-alpha", NULL };
enum { ALPHA_OUTSTANDING, ALPHA_SENT_LESS_ACKS, ALPHA_DCTCP };
static struct choice eq1_alpha = { alphas, ALPHA_OUTSTANDING };
choice_param(eq1_alpha, "alpha in Eq. 1: outstanding, sent-less-acks or dctcp-alpha");

static const char *const horizons[] = { "episode", "window", "life", NULL };
enum { HISTORY_EPISODE, HISTORY_WINDOW, HISTORY_LIFE };
static struct choice cw_hist = { horizons, HISTORY_LIFE };
choice_param(cw_hist, "extremes since the last episode, of the last windows of data, or of the connection's life");

static const char *const ends[] = { "all-acked", "next-round", NULL };
enum { END_ALL_ACKED, END_NEXT_ROUND };
static struct choice episode_end = { ends, END_ALL_ACKED };
choice_param(episode_end, "an episode ends with all-acked, or next-round: something sent since is acknowledged");

struct extremes {
	u64 least, most;
};

struct dtcwa {
	struct marks marks;
	struct extremes now, before;	/* of the present window of data or since the period began, and of the one before */
	u64 range;			/* max - min at the start of the episode */
	u32 end;			/* SND.NXT then */
	u32 acks;			/* acknowledgements that the connection has received */
	bool in_episode;
	bool was_marked;		/* further echoes have come */
};

static const struct extremes none = { .least = U64_MAX };

static void see(struct extremes *of, u64 window)
{
	of->least = min(of->least, window);
	of->most = max(of->most, window);
}

/* What alpha is in Eq. 1, times `ONE`. */
static u64 divisor(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct dtcwa *ca = inet_csk_ca(sk);
	u64 sent;

	switch (eq1_alpha.chosen) {
	case ALPHA_SENT_LESS_ACKS:
		sent = div_u64(tp->bytes_acked + (tp->snd_nxt - tp->snd_una), max(tp->mss_cache, 1U));
		return sent > ca->acks ? (sent - ca->acks) << SHIFT : ONE;
	case ALPHA_DCTCP:
		return max(ca->marks.alpha, 1U);
	default:
		return max(min((u64)tp->packets_out << SHIFT, marks_window(sk)), (u64)ONE);
	}
}

/* An episode begins. Returns its window. */
static u64 react(struct sock *sk)
{
	struct dtcwa *ca = inet_csk_ca(sk);
	u64 window = marks_window(sk), dctcp = window - (window * ca->marks.alpha >> (SHIFT + 1));
	u64 now = keep_dctcp_cut ? dctcp : window, quotient, start;

	see(&ca->now, window);
	ca->range = max(ca->now.most, ca->before.most) - min(ca->now.least, ca->before.least);
	quotient = div64_u64(ca->range << SHIFT, divisor(sk));
	switch (eq1.chosen) {
	case EQ1_LITERAL:
		start = quotient > now ? quotient - now : 0;
		break;
	case EQ1_SUB:
		start = now > quotient ? now - quotient : 0;
		break;
	case EQ1_ABS:
		start = quotient > now ? quotient - now : now - quotient;
		break;
	default:
		start = now - (now * ca->marks.alpha >> (SHIFT + 1));
	}
	if (!eq1_may_raise)
		start = min(start, now);
	start = clamp_window(start, min_window);
	see(&ca->now, start);
	ca->end = tcp_sk(sk)->snd_nxt;
	ca->in_episode = true;
	ca->was_marked = false;
	return start;
}

static void dtcwa_init(struct sock *sk)
{
	struct dtcwa *ca = inet_csk_ca(sk);

	marks_init(sk);
	ca->now = none;
	ca->before = none;
	see(&ca->now, marks_window(sk));
	ca->acks = 0;
	ca->in_episode = false;
}

static void dtcwa_observe(struct sock *sk, u32 flags)
{
	struct dtcwa *ca = inet_csk_ca(sk);

	ca->acks++;
	/* Here and not where the window grows: the kernel does not ask for growth while it reduces the window. */
	ca->was_marked |= flags & CA_ACK_ECE;
	if (marks_observe(sk, flags) && cw_hist.chosen == HISTORY_WINDOW) {
		ca->before = ca->now;
		ca->now = none;
	}
}

static u32 dtcwa_ssthresh(struct sock *sk)
{
	struct dtcwa *ca = inet_csk_ca(sk);

	if (!ca->marks.echo) {
		ca->in_episode = false;
		return marks_halve(sk);
	}
	/* The kernel reduces once a round trip, but there is one reaction in an episode. */
	return marks_reduce_to(sk, ca->in_episode ? marks_window(sk) : react(sk), ONE);
}

/* An episode ends with Eq. 2, or with the next one. */
static void end_episode(struct sock *sk)
{
	struct dtcwa *ca = inet_csk_ca(sk);
	u64 window = marks_window(sk);

	ca->in_episode = false;
	if (ca->was_marked && !cw_end_if_marked) {
		window = react(sk);
		tcp_sk(sk)->snd_ssthresh = marks_reduce_to(sk, window, ONE);
	} else {
		window += ca->range * min(beta, ONE) >> SHIFT;
	}
	marks_set_window(sk, window);
	if (!ca->in_episode && cw_hist.chosen == HISTORY_EPISODE) {
		ca->before = none;
		ca->now = none;
	}
}

static void dtcwa_grow(struct sock *sk, u32 ack, u32 acked)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct dtcwa *ca = inet_csk_ca(sk);

	see(&ca->now, marks_window(sk));
	if (!ca->in_episode) {
		marks_grow(sk, acked, ONE);
	} else if (after(tp->snd_una, ca->end - (episode_end.chosen == END_ALL_ACKED)) || !tp->packets_out) {
		end_episode(sk);
	}
	see(&ca->now, marks_window(sk));
}

static void dtcwa_state(struct sock *sk, u8 state)
{
	struct dtcwa *ca = inet_csk_ca(sk);

	/* A loss ends an episode, but not one that fast retransmit finds while the window is being reduced. */
	if (state == TCP_CA_Loss || (state == TCP_CA_Recovery && !tcp_in_cwnd_reduction(sk)))
		ca->in_episode = false;
	marks_state(sk, state);
}

static struct tcp_congestion_ops dtcwa __read_mostly = {
	.name = "dtcwa",
	.owner = THIS_MODULE,
	.flags = TCP_CONG_NEEDS_ECN,
	.init = dtcwa_init,
	.in_ack_event = dtcwa_observe,
	.ssthresh = dtcwa_ssthresh,
	.cong_avoid = dtcwa_grow,
	.cwnd_event = marks_event,
	.set_state = dtcwa_state,
	.undo_cwnd = tcp_reno_undo_cwnd,
};

static int __init dtcwa_register(void)
{
	BUILD_BUG_ON(sizeof(struct dtcwa) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&dtcwa);
}

static void __exit dtcwa_unregister(void)
{
	tcp_unregister_congestion_control(&dtcwa);
}

module_init(dtcwa_register);
module_exit(dtcwa_unregister);
MODULE_DESCRIPTION("DT-CWA: a window adjusted at the start and at the end of each episode of marks");
MODULE_LICENSE("GPL");
