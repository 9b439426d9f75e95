// SPDX-License-Identifier: GPL-2.0
/*
 * L2DCT (Munir et al., "Minimizing flow completion times in data centers", INFOCOM 2013): DCTCP whose growth and back-off depend
 * on the bytes that a flow has sent, so that short flows finish first although nobody says their sizes.
 *
 * A flow that has sent S bytes has the weight w: weight_max up to light_up_to bytes, weight_min from heavy_from bytes on, and a
 * line in between.
 *
 * - In congestion avoidance the window grows by w / weight_max segments a round trip. Slow start is that of TCP.
 * - Echoes multiply it by 1 - alpha^w / 2, once a round trip. alpha is the share of marked packets as DCTCP estimates it.
 * - A loss halves it.
 *
 * A flow is a transfer: it begins with the first data after all that was written is acknowledged (count=transfer). Or else it is
 * the whole connection (count=connection).
 *
 * On a host: make, insmod ./tcp_l2dct.ko, sysctl net.ipv4.tcp_congestion_control=l2dct. Receivers need it too, or DCTCP, since
 * theirs decides how marks are echoed. Switches mark by a threshold as for DCTCP. Parameters can be changed at any time in
 * /sys/module/tcp_l2dct/parameters; numbers may be 0.125 or 1/8.
 */
#define MIN_WINDOW 2
#include "marks.h"

static u32 weight_max = 5 * ONE / 2;
number_param(weight_max, "weight of a flow that has sent few bytes (2.5)");
static u32 weight_min = ONE / 8;
number_param(weight_min, "weight of a flow that has sent many bytes (0.125)");
static unsigned long light_up_to = 200000;
module_param(light_up_to, ulong, 0644);
MODULE_PARM_DESC(light_up_to, "bytes sent up to which a flow has the largest weight (200000)");
static unsigned long heavy_from = 1000000;
module_param(heavy_from, ulong, 0644);
MODULE_PARM_DESC(heavy_from, "bytes sent from which on a flow has the smallest weight (1000000)");
static bool integer_division;
module_param(integer_division, bool, 0644);
MODULE_PARM_DESC(integer_division, "the weight stays at its maximum in between (N)");
static bool weighted_growth = true;
module_param(weighted_growth, bool, 0644);
MODULE_PARM_DESC(weighted_growth, "the weight scales the growth (Y)");
static bool weighted_cut = true;
module_param(weighted_cut, bool, 0644);
MODULE_PARM_DESC(weighted_cut, "the weight scales the back-off (Y)");

static const char *const counts[] = { "transfer", "connection", NULL };
enum { COUNT_TRANSFER, COUNT_CONNECTION };
static struct choice count = { counts, COUNT_TRANSFER };
choice_param(count, "what the bytes are counted of: transfer or connection");

struct l2dct {
	struct marks marks;
	u64 first;		/* bytes that the connection had sent before the flow */
};

/* Bytes of the connection that were sent, each once. */
static u64 bytes_sent(const struct tcp_sock *tp)
{
	return tp->bytes_acked + (tp->snd_nxt - tp->snd_una);
}

static u32 weight_of(const struct sock *sk)
{
	const struct l2dct *ca = inet_csk_ca(sk);
	u64 sent = bytes_sent(tcp_sk(sk)) - ca->first;
	u32 max = READ_ONCE(weight_max), min = READ_ONCE(weight_min);
	u64 light = READ_ONCE(light_up_to), heavy = READ_ONCE(heavy_from);

	if (sent >= heavy)
		return min;
	if (sent <= light || integer_division)
		return max;
	if (max >= min)
		return max - mul_u64_u64_div_u64(max - min, sent - light, heavy - light);
	return max + mul_u64_u64_div_u64(min - max, sent - light, heavy - light);
}

static void l2dct_init(struct sock *sk)
{
	struct l2dct *ca = inet_csk_ca(sk);

	marks_init(sk);
	ca->first = bytes_sent(tcp_sk(sk));
}

static void l2dct_observe(struct sock *sk, u32 flags)
{
	marks_observe(sk, flags);
}

static u32 l2dct_ssthresh(struct sock *sk)
{
	const struct marks *ca = inet_csk_ca(sk);

	if (!ca->echo)
		return marks_halve(sk);
	return marks_reduce_by(sk, weighted_cut ? power(ca->alpha, weight_of(sk)) : ca->alpha);
}

static void l2dct_grow(struct sock *sk, u32 ack, u32 acked)
{
	u32 max = READ_ONCE(weight_max), share = ONE;

	if (weighted_growth && max)
		share = min_t(u64, div_u64((u64)weight_of(sk) << SHIFT, max), 16 * ONE);
	marks_grow(sk, acked, share);
}

static void l2dct_event(struct sock *sk, enum tcp_ca_event event)
{
	struct l2dct *ca = inet_csk_ca(sk);

	if (marks_begins(sk, event) && count.chosen == COUNT_TRANSFER)
		ca->first = bytes_sent(tcp_sk(sk));
	marks_event(sk, event);
}

static struct tcp_congestion_ops l2dct __read_mostly = {
	.name = "l2dct",
	.owner = THIS_MODULE,
	.flags = TCP_CONG_NEEDS_ECN,
	.init = l2dct_init,
	.in_ack_event = l2dct_observe,
	.ssthresh = l2dct_ssthresh,
	.cong_avoid = l2dct_grow,
	.cwnd_event = l2dct_event,
	.set_state = marks_state,
	.undo_cwnd = tcp_reno_undo_cwnd,
};

static int __init l2dct_register(void)
{
	BUILD_BUG_ON(sizeof(struct l2dct) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&l2dct);
}

static void __exit l2dct_unregister(void)
{
	tcp_unregister_congestion_control(&l2dct);
}

module_init(l2dct_register);
module_exit(l2dct_unregister);
MODULE_DESCRIPTION("L2DCT: DCTCP whose growth and back-off depend on the bytes that a flow has sent");
MODULE_LICENSE("GPL");
