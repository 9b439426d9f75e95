// SPDX-License-Identifier: GPL-2.0
/*
 * The sender of PFDCT (Li et al., "PFDCT: An Enhanced Transport Layer Protocol for Precise Flow Control in Data Centers",
 * Electronics 12(8), 1890, 2023).
 *
 * - A flow is short or long (`class`). Only new data of long flows are ECN-capable. Code points tell switches which packets are
 *   of long flows (CS1) and which are retransmissions (CS2); all others have the code point 0.
 * - Once a window of data (Eqs. 1 and 4) it estimates the queue, LQ = window (RTT - RTT_min) / RTT, and the average
 *   LQV = (1 - h) LQV + h LQ.
 * - The flow's marking threshold K_t falls while LQV > K_i and rises while LQV < K_i (Eq. 5), between kt_low / N and M / N.
 *   K_i = (sqrt(8 C RTT - 7) - 3) / 4 (Eq. 15). Switches tell N and M, and learn K_t: see pfdct.h.
 * - The window grows by a segment a round trip; after a window of data with marks it is multiplied by 1 - alpha / 2 instead
 *   (Eqs. 2 and 3). There is no slow start. A loss halves the window.
 *
 * A flow is a transfer: it begins with the first data after all that was written is acknowledged. How many bytes it has is said
 * by the socket's mark (SO_MARK) before they are written; without a mark it is endless, and so large. class=alg2 needs no marks.
 *
 * Each option of the paper's text has a parameter; `fanin explain pfdct` explains each (its keys have dashes).
 *
 * On a host: make, insmod ./tcp_pfdct.ko, sysctl net.ipv4.tcp_congestion_control=pfdct. Receivers need it too, or DCTCP. Without
 * switches that write N and M, n_source=const and ki are to be set.
 */
#define MIN_WINDOW 2
#include <net/inet_ecn.h>
#include <net/ip.h>
#include "marks.h"
#include "pfdct.h"

static unsigned long long_size = 1000000;
module_param(long_size, ulong, 0644);
MODULE_PARM_DESC(long_size, "a large flow carries more bytes than this (1000000)");
static u32 long_window = 20 * ONE;
number_param(long_window, "a flow may be long above this window, in segments (20)");
static unsigned long short_bytes = 10000;
module_param(short_bytes, ulong, 0644);
MODULE_PARM_DESC(short_bytes, "class=alg2: bytes sent from which on a flow is long (10000)");
static bool sticky = true;
/* The usual macro defines a name that the kernel has: __check_sticky. */
module_param_cb(sticky, &param_ops_bool, &sticky, 0644);
MODULE_PARM_DESC(sticky, "a flow that has become long stays long (Y)");
static u32 h = ONE / 16;
number_param(h, "weight of the newest window in the average queue estimate (1/16)");
static u32 kt_step = ONE;
number_param(kt_step, "step of the queue's threshold, in packets a round trip (1)");
static u32 kt_init = 20 * ONE;
number_param(kt_init, "initial threshold of the queue in packets (20)");
static u32 kt_low;
number_param(kt_low, "lower limit of the queue's threshold in packets (0)");
static u32 clip_low;
number_param(clip_low, "minimum threshold of the queue in packets (0)");
static u32 clip_high;
number_param(clip_high, "maximum threshold of the queue in packets; 0: none (0)");
static u32 ki = U32_MAX;
number_param(ki, "ideal threshold in packets; that of Eq. 15 if it is not set");
static u32 n_const = ONE;
number_param(n_const, "n_source=const: number of long flows (1)");

static const char *const classes[] = { "text", "alg2", "size-only", NULL };
enum { CLASS_TEXT, CLASS_ALG2, CLASS_SIZE };
static struct choice class = { classes, CLASS_TEXT };
choice_param(class, "long flows are large with a large window (text), have a large window or bytes sent (alg2), or are large");

static const char *const rtts[] = { "mean", "last", "srtt", NULL };
enum { RTT_MEAN, RTT_LAST, RTT_SMOOTHED };
static struct choice rtt = { rtts, RTT_MEAN };
choice_param(rtt, "round-trip time of a window: mean or last of its samples, or srtt");

static const char *const directions[] = { "eq5", "text", "noop", "frozen", NULL };
enum { KT_EQ5, KT_TEXT, KT_NOOP, KT_FROZEN };
static struct choice kt_dir = { directions, KT_EQ5 };
choice_param(kt_dir, "threshold while the queue is long: down (eq5), up (text), within limits (noop), or frozen");

static const char *const joins[] = { "rescale", "keep", NULL };
enum { JOIN_RESCALE, JOIN_KEEP };
static struct choice kt_join = { joins, JOIN_RESCALE };
choice_param(kt_join, "when N changes, thresholds rescale, or keep");

static const char *const times[] = { "window", "literal", NULL };
enum { WHEN_WINDOW, WHEN_LITERAL };
static struct choice kt_when = { times, WHEN_WINDOW };
choice_param(kt_when, "the threshold moves after each window, or only if the send buffer is empty too (literal)");

static const char *const sources[] = { "switch", "const", NULL };
enum { N_SWITCH, N_CONST };
static struct choice n_source = { sources, N_SWITCH };
choice_param(n_source, "who counts long flows: switch, or nobody (const)");

static const char *const starts[] = { "none", "until-mark", NULL };
enum { START_NONE, START_UNTIL_MARK };
static struct choice slow_start = { starts, START_NONE };
choice_param(slow_start, "slow start: none or until-mark");

static const char *const cuts[] = { "window-end", "first-echo", NULL };
enum { CUT_WINDOW_END, CUT_FIRST_ECHO };
static struct choice cut = { cuts, CUT_WINDOW_END };
choice_param(cut, "a window with marks is reduced at its end (window-end) or at the first-echo");

static const char *const growths[] = { "window-end", "each-ack", NULL };
enum { GROWTH_WINDOW_END, GROWTH_EACH_ACK };
static struct choice growth = { growths, GROWTH_WINDOW_END };
choice_param(growth, "a window without marks grows at its end (window-end) or with each-ack");

/* K_t is kept in multiples of 2^-16, queues in multiples of 2^-12, N and the largest window in multiples of 2^-8. */
#define KT_SHIFT 16
#define QUEUE_SHIFT 12
#define N_SHIFT 8

struct pfdct {
	struct marks marks;
	struct pfdct_wire wire;
	u32 first;		/* first sequence number of the transfer */
	u32 max_window;		/* the largest of the transfer, in 2^-8 segments */
	u32 rtt_min, rtt_sum, rtt_count, rtt_last;	/* microseconds; sum and count are of the present window of data */
	u32 average;		/* LQV, in 2^-12 packets */
	u32 threshold;		/* K_t of this flow */
	u32 divisor;		/* the number of flows by which the queue's was divided, in 2^-8 */
	bool grows;		/* the acknowledgement ends a window of data without marks */
	bool is_due;		/* it ends one with marks, and the kernel asks for the threshold of a reduction next */
	bool was_long;		/* the flow was long when the acknowledgement came */
};

/* N, times ONE; 0: unknown. */
static u64 flows_of(const struct pfdct *ca)
{
	return n_source.chosen == N_CONST ? max(n_const, (u32)ONE) : (u64)ca->wire.flows << SHIFT;
}

/* Eq. 15, times ONE; it is negative below C RTT = 2 packets and imaginary below 7/8, both of which are taken as zero. */
static u64 ideal(const struct pfdct *ca)
{
	u64 product, root;

	if (ki != U32_MAX)
		return ki;
	if (!ca->rtt_min)
		return 0;
	product = mul_u64_u64_div_u64(8ULL * ca->wire.capacity * ca->rtt_min, ONE, USEC_PER_SEC);
	if (product <= 7 * ONE)
		return 0;
	root = int_sqrt64(min(product - 7 * ONE, 1ULL << 43) << SHIFT);
	return root > 3 * ONE ? (root - 3 * ONE) / 4 : 0;
}

/* K_u times ONE: N K_u < M is strict, so it is a packet less, in whole sixteenths. */
static u64 highest(const struct pfdct *ca, u64 flows)
{
	u64 queue = ca->wire.buffer ? (u64)(ca->wire.buffer - 1) << SHIFT : U64_MAX;

	if (clip_high)
		queue = min_t(u64, queue, clip_high);
	if (queue == U64_MAX)
		return U16_MAX * (u64)ONE;
	return mul_u64_u64_div_u64(queue, 16, flows) << (SHIFT - 4);
}

static void set_threshold(struct pfdct *ca, u64 packets)
{
	ca->threshold = min(packets >> (SHIFT - KT_SHIFT), (u64)U32_MAX);
	ca->wire.threshold = min_t(u64, (packets + ONE / 32) >> (SHIFT - 4), PFDCT_MOST);
	ca->wire.is_told = true;
}

static u64 threshold_of(const struct pfdct *ca)
{
	return (u64)ca->threshold << (SHIFT - KT_SHIFT);
}

/* The first threshold of a long flow, and a new one when the number of flows has changed: Eq. 7, N K_t = Q. */
static void take_share(struct pfdct *ca)
{
	u64 flows = flows_of(ca), most;

	if (!ca->wire.is_long || kt_dir.chosen == KT_FROZEN || !flows)
		return;
	most = highest(ca, flows);
	if (!ca->wire.is_told)
		set_threshold(ca, min(div64_u64((u64)kt_init << SHIFT, flows), most));
	else if (kt_join.chosen == JOIN_RESCALE && flows >> (SHIFT - N_SHIFT) != ca->divisor)
		set_threshold(ca, min(mul_u64_u64_div_u64(threshold_of(ca), (u64)ca->divisor << (SHIFT - N_SHIFT), flows), most));
	ca->divisor = flows >> (SHIFT - N_SHIFT);
}

/* Algorithm 2, lines 1 to 6. */
static bool is_long(const struct sock *sk)
{
	const struct pfdct *ca = inet_csk_ca(sk);
	u32 window = sticky ? ca->max_window : marks_window(sk) >> (SHIFT - 8), many = long_window >> (SHIFT - 8);
	u32 bytes = READ_ONCE(sk->sk_mark);
	bool large = !bytes || bytes > long_size;

	switch (class.chosen) {
	case CLASS_TEXT:
		return large && window > many;
	case CLASS_ALG2:
		return window >= many || tcp_sk(sk)->snd_nxt - ca->first >= short_bytes;
	default:
		return large;
	}
}

static void classify(struct sock *sk)
{
	struct pfdct *ca = inet_csk_ca(sk);

	ca->max_window = max_t(u64, ca->max_window, marks_window(sk) >> (SHIFT - 8));
	ca->wire.is_long = is_long(sk);
}

/* A transfer begins. */
static void begin(struct sock *sk)
{
	struct pfdct *ca = inet_csk_ca(sk);

	ca->first = tcp_sk(sk)->snd_nxt;
	ca->max_window = 0;
	classify(sk);
	take_share(ca);
}

/* Eqs. 1 and 4; then Eq. 5, Algorithm 2, lines 13 to 24. A queue is not negative. */
static void manage_threshold(struct sock *sk)
{
	struct pfdct *ca = inet_csk_ca(sk);
	u64 flows = flows_of(ca), now, queue, aim = ideal(ca), step, least, most;
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 time = ca->rtt_last;

	if (rtt.chosen == RTT_MEAN && ca->rtt_count)
		time = ca->rtt_sum / ca->rtt_count;
	else if (rtt.chosen == RTT_SMOOTHED)
		time = tp->srtt_us >> 3;
	if (time && ca->rtt_min) {
		queue = mul_u64_u64_div_u64(marks_window(sk), max(time, ca->rtt_min) - ca->rtt_min, time);
		queue = min_t(u64, queue >> (SHIFT - QUEUE_SHIFT), U32_MAX);
		ca->average += ((s64)min(h, (u32)ONE) * ((s64)queue - ca->average) + ONE / 2) >> SHIFT;
	}
	if (!ca->wire.is_told || !ca->wire.is_long || !flows || kt_dir.chosen == KT_FROZEN)
		return;
	/* Line 18. */
	if (kt_when.chosen == WHEN_LITERAL && tp->write_seq != tp->snd_nxt)
		return;
	step = div64_u64((u64)kt_step << SHIFT, flows);
	least = div64_u64((u64)max(kt_low, clip_low) << SHIFT, flows);
	most = highest(ca, flows);
	now = threshold_of(ca);
	queue = (u64)ca->average << (SHIFT - QUEUE_SHIFT);
	if (queue == aim)
		return;
	if (kt_dir.chosen == KT_NOOP)
		now = queue > aim ? max(now, least) : min(now, most);
	else if ((queue > aim) == (kt_dir.chosen == KT_EQ5))
		now = max(min(now > step ? now - step : 0, most), least);
	else
		now = min(max(now + step, least), most);
	set_threshold(ca, now);
}

/* Eq. 3 for a window with marks. While the kernel reduces the window for an echo, it heads for the threshold. */
static void reduce(struct sock *sk)
{
	struct pfdct *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	bool is_reducing = tcp_in_cwnd_reduction(sk);
	u64 window = marks_window(sk), less;

	if (is_reducing)
		window = ca->marks.threshold >> SHIFT == tp->snd_ssthresh ? ca->marks.threshold : (u64)tp->snd_ssthresh << SHIFT;
	less = max_t(u64, window - (window * ca->marks.alpha >> (SHIFT + 1)), min_window);
	tp->snd_ssthresh = marks_reduce_to(sk, min(window, less), ONE);
	if (!is_reducing)
		marks_set_window(sk, ca->marks.threshold);
}

/* Whether the kernel begins to reduce the window for the echo in this acknowledgement, perhaps at the end of a reduction. */
static bool begins_reduction(const struct sock *sk, u32 flags)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u8 state = inet_csk(sk)->icsk_ca_state;

	if (!(flags & CA_ACK_ECE))
		return false;
	return state < TCP_CA_CWR || (state == TCP_CA_CWR && after(tp->snd_una, tp->high_seq));
}

static void pfdct_sample(struct sock *sk, const struct ack_sample *sample)
{
	struct pfdct *ca = inet_csk_ca(sk);
	u32 time = max(sample->rtt_us, 1);

	if (sample->rtt_us < 0)
		return;
	ca->rtt_min = ca->rtt_min ? min(ca->rtt_min, time) : time;
	if (ca->rtt_sum + time >= ca->rtt_sum) {
		ca->rtt_sum += time;
		ca->rtt_count++;
	}
	ca->rtt_last = time;
}

static void pfdct_observe(struct sock *sk, u32 flags)
{
	struct pfdct *ca = inet_csk_ca(sk);
	bool marked = tcp_sk(sk)->delivered_ce != ca->marks.delivered_ce;
	u8 state = inet_csk(sk)->icsk_ca_state;

	take_share(ca);
	ca->grows = false;
	ca->is_due = false;
	/* The first mark ends slow start, which the kernel only does in other states. */
	if (flags & CA_ACK_ECE && state == TCP_CA_Loss && tcp_in_slow_start(tcp_sk(sk)))
		tcp_sk(sk)->snd_ssthresh = tcp_snd_cwnd(tcp_sk(sk));
	if (marks_observe(sk, flags)) {
		manage_threshold(sk);
		/* In recovery the loss has reduced the window. */
		if (marked && cut.chosen == CUT_WINDOW_END && state != TCP_CA_Recovery) {
			ca->is_due = begins_reduction(sk, flags);
			if (!ca->is_due)
				reduce(sk);
		}
		ca->grows = !marked;
		ca->rtt_sum = 0;
		ca->rtt_count = 0;
	}
	ca->was_long = ca->wire.is_long;
	classify(sk);
}

static u32 pfdct_ssthresh(struct sock *sk)
{
	const struct pfdct *ca = inet_csk_ca(sk);

	if (!ca->marks.echo)
		return marks_halve(sk);
	/* The window is reduced once all of it is acknowledged (section 3.2.4), or as DCTCP's. */
	if (cut.chosen == CUT_FIRST_ECHO || ca->is_due)
		return marks_reduce_by(sk, ca->marks.alpha);
	return marks_reduce_to(sk, marks_window(sk), ONE);
}

static void pfdct_grow(struct sock *sk, u32 ack, u32 acked)
{
	struct pfdct *ca = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 window = marks_window(sk);

	if (!tcp_in_slow_start(tp) && growth.chosen == GROWTH_EACH_ACK) {
		/* Algorithm 2, lines 28 to 31. */
		if (tp->delivered_ce == ca->marks.delivered_ce && tcp_is_cwnd_limited(sk))
			marks_set_window(sk, window + max(div64_u64((u64)ONE << SHIFT, window), (u64)ONE / max(tp->mss_cache, 1U)));
	} else if (tcp_in_slow_start(tp) || !ca->was_long) {
		marks_grow(sk, acked, ONE);
	} else if (ca->grows && tcp_is_cwnd_limited(sk)) {
		marks_set_window(sk, window + ONE);
	}
	ca->grows = false;
	classify(sk);
}

static void pfdct_event(struct sock *sk, enum tcp_ca_event event)
{
	marks_event(sk, event);
	if (event == CA_EVENT_LOSS && slow_start.chosen == START_NONE)
		tcp_sk(sk)->snd_ssthresh = marks_reduce_to(sk, ONE, ONE);
	if (marks_begins(sk, event))
		begin(sk);
}

/*
 * The kernel has one byte of service for all packets of a connection, and makes all of them ECN-capable if its congestion control
 * needs ECN. So packets get theirs on their way to IP.
 */
static int pfdct_xmit(struct sock *sk, struct sk_buff *skb, struct flowi *flow)
{
	const struct pfdct *ca = inet_csk_ca(sk);
	const struct tcphdr *tcp = tcp_hdr(skb);
	u8 service = inet_sk(sk)->tos & ~INET_ECN_MASK;
	bool is_data = tcp->fin || skb->len > tcp->doff * 4;

	if (is_data && before(ntohl(tcp->seq), tcp_sk(sk)->snd_nxt))
		service = PFDCT_DSCP_AGAIN;
	else if (is_data && ca->wire.is_long)
		service = PFDCT_DSCP_LONG | (tcp_sk(sk)->ecn_flags & TCP_ECN_OK ? INET_ECN_ECT_0 : 0);
	return __ip_queue_xmit(sk, skb, flow, service);
}

/* The operations of IPv4 connections with pfdct_xmit, and without. */
static struct inet_connection_sock_af_ops marking;
static const struct inet_connection_sock_af_ops *plain;
static DEFINE_SPINLOCK(marking_lock);

static void mark_packets(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	if (sk->sk_family != AF_INET || icsk->icsk_af_ops->queue_xmit != ip_queue_xmit)
		return;
	spin_lock_bh(&marking_lock);
	if (!plain) {
		plain = icsk->icsk_af_ops;
		marking = *plain;
		marking.queue_xmit = pfdct_xmit;
	}
	spin_unlock_bh(&marking_lock);
	if (icsk->icsk_af_ops == plain)
		icsk->icsk_af_ops = &marking;
}

static void pfdct_init(struct sock *sk)
{
	struct pfdct *ca = inet_csk_ca(sk);

	memset(ca, 0, sizeof(*ca));
	marks_init(sk);
	if (slow_start.chosen == START_NONE)
		tcp_sk(sk)->snd_ssthresh = marks_reduce_to(sk, marks_window(sk), ONE);
	begin(sk);
	mark_packets(sk);
}

static void pfdct_release(struct sock *sk)
{
	if (inet_csk(sk)->icsk_af_ops == &marking)
		inet_csk(sk)->icsk_af_ops = plain;
}

static struct tcp_congestion_ops pfdct __read_mostly = {
	.name = "pfdct",
	.owner = THIS_MODULE,
	.flags = TCP_CONG_NEEDS_ECN,
	.init = pfdct_init,
	.release = pfdct_release,
	.pkts_acked = pfdct_sample,
	.in_ack_event = pfdct_observe,
	.ssthresh = pfdct_ssthresh,
	.cong_avoid = pfdct_grow,
	.cwnd_event = pfdct_event,
	.set_state = marks_state,
	.undo_cwnd = tcp_reno_undo_cwnd,
};

static int __init pfdct_register(void)
{
	BUILD_BUG_ON(sizeof(struct pfdct) > ICSK_CA_PRIV_SIZE);
	BUILD_BUG_ON(offsetof(struct pfdct, wire) != PFDCT_WIRE_AT);
	return tcp_register_congestion_control(&pfdct);
}

static void __exit pfdct_unregister(void)
{
	tcp_unregister_congestion_control(&pfdct);
}

module_init(pfdct_register);
module_exit(pfdct_unregister);
MODULE_DESCRIPTION("PFDCT: classes of flows by code point and ECN, and a marking threshold that senders adapt");
MODULE_LICENSE("GPL");
