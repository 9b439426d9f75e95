// SPDX-License-Identifier: GPL-2.0
/*
 * ICTCP (Wu, Feng, Guo, Zhang, "ICTCP: Incast Congestion Control for TCP in Data Center Networks", CoNEXT 2010): a host divides the
 * spare bandwidth of its interface among its connections by the windows that it advertises. Senders are any TCP.
 *
 * Time is divided into slots of two halves. The first half measures what arrives; what alpha times the capacity leaves of it is
 * the quota by which windows may grow in the second half. Each half lasts the mean round-trip time, weighted by traffic.
 *
 * A connection is looked at once a round trip. b is its smoothed throughput, and e is the larger of b and window / RTT:
 *
 * - (e - b) / e is at most gamma1, or less than a segment of the window: the window grows in the second half of a slot, if its
 *   last change was spacing round trips ago and the quota allows it. It doubles, or grows by a segment after slow start.
 * - It is above gamma2 three times in a row: the window shrinks by a segment, but not below min_window.
 * - Otherwise it stays; this and the second case end slow start.
 *
 * While less than fair_share of the capacity is spare, windows above the mean shrink by a segment a slot. A connection that is new,
 * or was silent for longer than idle, begins with min_window in slow start. A window takes back nothing that it has allowed.
 *
 * The round-trip time is that from an acknowledgement to the last segment that it allows. What is timed when a request leaves is
 * dropped, since an answer waits for programs too. `fanin explain ictcp` explains the parameters (its keys have dashes).
 *
 * On a host: make, insmod ./ictcp.ko, tc qdisc replace dev eth0 root ictcp; the queue is a FIFO of txqueuelen packets. Set the
 * parameter speed where the interface says none, as a virtual one. min_slot has to be below a round trip. Parameters can be
 * changed at any time in /sys/module/ictcp/parameters; numbers may be 0.1 or 1/10, and times 160us or 10ms.
 */
#include "receiver.h"

/* Acknowledgements that are timed at once; with more under way fewer are. */
#define TIMED 64

static u32 alpha = 9ULL * ONE / 10;
number_param(alpha, "share of the capacity that may be used (0.9)");
static bool quota = true;
module_param(quota, bool, 0644);
MODULE_PARM_DESC(quota, "increases are limited to the spare bandwidth (Y)");
static const char *const halves[] = { "second-half", "any", NULL };
enum { INCREASE_SECOND, INCREASE_ANY };
static struct choice increase = { halves, INCREASE_SECOND };
choice_param(increase, "when windows may grow: second-half or any");
static u32 spacing = 2 * ONE;
number_param(spacing, "round-trip times since the last change before a window may grow (2)");
static bool slow_start = true;
module_param(slow_start, bool, 0644);
MODULE_PARM_DESC(slow_start, "a new connection doubles its window (Y)");
static u32 beta = 9ULL * ONE / 10;
number_param(beta, "weight of the past in the throughput of a connection (0.9)");
static u32 gamma1 = ONE / 10;
number_param(gamma1, "difference up to which a window may grow (0.1)");
static u32 gamma2 = ONE / 2;
number_param(gamma2, "difference above which a window shrinks (0.5)");
static u32 fair_share = ONE / 5;
number_param(fair_share, "share of the capacity: with less of it left, windows above the mean shrink (0.2)");
static u32 min_window = 2 * ONE;
number_param(min_window, "smallest and first window, in segments (2)");
static u64 min_slot = 160 * NSEC_PER_USEC;
time_param(min_slot, "least half of a slot and least time between two looks (160us)");
static u64 idle = 10 * NSEC_PER_MSEC;
time_param(idle, "a connection without data for longer begins anew (10ms)");

struct timed {
	u32 seq;		/* first byte of the last segment that an acknowledgement allows */
	u64 at;			/* when that has left */
};

struct flow {
	struct connection connection;
	u64 window;		/* bytes */
	u64 bytes;		/* of new data since the last look */
	u64 slot_bytes;		/* and in this half of a slot */
	u64 throughput;		/* smoothed, bytes a second */
	u64 rtt;		/* ns; 0: none was measured */
	u64 last_look, last_change, last_data;
	u32 low;		/* looks in a row that found much less than expected */
	bool in_slow_start, is_idle;
	u32 first, count;	/* of `timed` */
	struct timed timed[TIMED];
};

struct ictcp {
	struct receiver receiver;
	struct due half_ends;
	u64 half;		/* how long this half of a slot is */
	u64 arrived;		/* bytes in it */
	u64 left;		/* of the quota, bytes a second */
	bool is_open;		/* this is the second half */
};

static struct ictcp *ictcp_of(struct receiver *receiver)
{
	return container_of(receiver, struct ictcp, receiver);
}

static struct flow *flow_of(struct connection *connection)
{
	return container_of(connection, struct flow, connection);
}

static u64 share(u64 of, u32 part)
{
	return mul_u64_u64_shr(of, part, SHIFT);
}

static u64 least_window(const struct flow *flow)
{
	return share(flow->connection.mss, max(min_window, ONE));
}

/* A connection begins, or data comes after a long silence. */
static void begin(struct flow *flow, u64 now)
{
	flow->window = least_window(flow);
	flow->bytes = 0;
	flow->throughput = 0;
	flow->last_look = now;
	flow->last_change = now;
	flow->last_data = now;
	flow->low = 0;
	flow->in_slow_start = true;
	flow->is_idle = false;
	flow->count = 0;
}

static u64 interval_of(const struct flow *flow)
{
	return max3(flow->rtt, min_slot, (u64)NSEC_PER_USEC);
}

/* Looks begin, and with the first connection that is not idle the slots, with a half that measures. */
static void watch(struct receiver *receiver, struct flow *flow, u64 now)
{
	struct ictcp *ictcp = ictcp_of(receiver);

	call_at(receiver, &flow->connection.due, now + interval_of(flow));
	if (!is_due(&ictcp->half_ends)) {
		ictcp->is_open = false;
		ictcp->arrived = 0;
		call_at(receiver, &ictcp->half_ends, now + ictcp->half);
	}
}

static void look(struct receiver *receiver, struct due *due, u64 now);

static struct connection *new_connection(void)
{
	struct flow *flow = kzalloc(sizeof(*flow), GFP_ATOMIC);

	return flow ? &flow->connection : NULL;
}

static void on_new(struct receiver *receiver, struct connection *connection, u64 now)
{
	struct flow *flow = flow_of(connection);

	due_init(&connection->due, look);
	begin(flow, now);
	watch(receiver, flow, now);
}

static void on_gone(struct receiver *receiver, struct connection *connection)
{
}

/* Takes the round-trip time of an acknowledgement whose last segment this is. */
static void time_segment(struct flow *flow, const struct packet *packet)
{
	u32 end = packet->seq + packet->payload;

	while (flow->count && before(flow->timed[flow->first].seq, end)) {
		struct timed *timed = &flow->timed[flow->first];
		u64 sample = max(packet->now - timed->at, 1ULL);

		if (!before(timed->seq, packet->seq) && is_new(&flow->connection, packet))
			flow->rtt = flow->rtt ? div_u64(9 * flow->rtt + sample, 10) : sample;
		flow->first = (flow->first + 1) % TIMED;
		flow->count--;
	}
}

static void on_data(struct receiver *receiver, struct connection *connection, const struct packet *packet)
{
	struct ictcp *ictcp = ictcp_of(receiver);
	struct flow *flow = flow_of(connection);
	u32 segments = DIV_ROUND_UP(packet->payload, connection->mss);

	if (!packet->payload)
		return;
	if (flow->is_idle) {
		begin(flow, packet->now);
		watch(receiver, flow, packet->now);
	}
	ictcp->arrived += packet->payload + segments * packet->headers;
	if (is_new(connection, packet)) {
		flow->bytes += packet->payload;
		flow->slot_bytes += packet->payload;
	}
	flow->last_data = packet->now;
	time_segment(flow, packet);
}

static bool on_leaving(struct receiver *receiver, struct connection *connection, const struct packet *packet)
{
	struct flow *flow = flow_of(connection);
	struct packet leaving = *packet;
	u32 number = ntohl(packet->tcp->ack_seq), mss = connection->mss, allowed, last;

	if (packet->tcp->rst)
		return false;
	write_window(connection, &leaving, max_t(u64, flow->window, given(connection, number)));
	if (packet->payload)
		flow->count = 0;
	if (packet->payload || packet->tcp->syn || packet->tcp->fin || flow->count == TIMED)
		return false;
	allowed = min_t(u64, window_of(connection, &leaving), max_t(u64, flow->window, given(connection, number)));
	last = number + (allowed < mss ? 0 : (allowed - mss) / mss * mss);
	if (!flow->count || after(last, flow->timed[(flow->first + flow->count - 1) % TIMED].seq))
		flow->timed[(flow->first + flow->count++) % TIMED] = (struct timed){ last, packet->now };
	return false;
}

/* Takes so many bytes a round trip from the quota, if that much is left. */
static bool take(struct ictcp *ictcp, u64 more, u64 rtt)
{
	u64 rate = div64_u64(more * NSEC_PER_SEC, rtt);

	if (!quota)
		return true;
	if (ictcp->left < rate)
		return false;
	ictcp->left -= rate;
	return true;
}

/* Section 4.3 of the paper, case 1. */
static void grow(struct ictcp *ictcp, struct flow *flow, u64 now)
{
	u64 more = flow->connection.mss;

	if (flow->in_slow_start && slow_start && take(ictcp, flow->window, flow->rtt)) {
		more = flow->window;
	} else {
		flow->in_slow_start = false;
		if (!take(ictcp, more, flow->rtt))
			return;
	}
	/* No window is larger than what its field can say. */
	flow->window = min_t(u64, flow->window + more, (u64)U16_MAX << TCP_MAX_WSCALE);
	flow->last_change = now;
}

/* Case 2, and fairness. */
static void shrink(struct flow *flow, u64 now)
{
	u64 least = least_window(flow);

	flow->window = max(least, flow->window - min_t(u64, flow->window, flow->connection.mss));
	flow->last_change = now;
}

/* Section 4.3 of the paper, once a round trip. */
static void adjust(struct ictcp *ictcp, struct flow *flow, u64 now)
{
	u64 sample = div64_u64(flow->bytes * NSEC_PER_SEC, max(now - flow->last_look, 1ULL)), expected, missing;

	flow->throughput = max(sample, share(flow->throughput, min(beta, ONE)) + share(sample, ONE - min(beta, ONE)));
	flow->last_look = now;
	flow->bytes = 0;
	if (!flow->rtt)
		return;
	expected = max3(flow->throughput, div64_u64(flow->window * NSEC_PER_SEC, flow->rtt), 1ULL);
	missing = expected - flow->throughput;
	if (missing <= share(expected, gamma1) ||
	    mul_u64_u64_div_u64(missing, flow->window, expected) <= flow->connection.mss) {
		flow->low = 0;
		if ((ictcp->is_open || increase.chosen == INCREASE_ANY) &&
		    now - flow->last_change >= share(flow->rtt, spacing))
			grow(ictcp, flow, now);
		return;
	}
	flow->in_slow_start = false;
	if (missing <= share(expected, gamma2)) {
		flow->low = 0;
	} else if (++flow->low == 3) {
		flow->low = 0;
		shrink(flow, now);
	}
}

/* A look at a connection is due, or it has been silent for so long that it is forgotten. */
static void look(struct receiver *receiver, struct due *due, u64 now)
{
	struct flow *flow = flow_of(container_of(due, struct connection, due));

	if (flow->connection.closing || (flow->is_idle && now - flow->last_data >= FORGET_NS))
		return forget(receiver, &flow->connection);
	if (now - flow->last_data > idle) {
		begin(flow, flow->last_data);
		flow->is_idle = true;
		return call_at(receiver, due, now + FORGET_NS);
	}
	adjust(ictcp_of(receiver), flow, now);
	call_at(receiver, due, now + interval_of(flow));
}

/* Section 4.4 of the paper: windows above the mean shrink. */
static void level(struct ictcp *ictcp, u64 now)
{
	struct connection *connection;
	u64 sum = 0, count = 0, mean;
	int i;

	hash_for_each(ictcp->receiver.connections, i, connection, node) {
		if (!flow_of(connection)->is_idle) {
			sum += flow_of(connection)->window;
			count++;
		}
	}
	mean = count ? div64_u64(sum, count) : 0;
	hash_for_each(ictcp->receiver.connections, i, connection, node)
		if (!flow_of(connection)->is_idle && flow_of(connection)->window > mean)
			shrink(flow_of(connection), now);
}

/* A half of a slot ends: section 4.2 of the paper. */
static void turn(struct receiver *receiver, struct due *due, u64 now)
{
	struct ictcp *ictcp = ictcp_of(receiver);
	u64 capacity = receiver->capacity, usable = share(capacity, alpha), rate, weighted = 0, bytes = 0;
	struct connection *connection;
	bool is_busy = false;
	int i;

	if (!ictcp->is_open) {
		rate = div64_u64(ictcp->arrived * NSEC_PER_SEC, ictcp->half);
		ictcp->left = usable - min(usable, rate);
		if (ictcp->left < share(capacity, fair_share))
			level(ictcp, now);
	}
	ictcp->is_open = !ictcp->is_open;
	ictcp->arrived = 0;
	hash_for_each(ictcp->receiver.connections, i, connection, node) {
		struct flow *flow = flow_of(connection);

		weighted += flow->rtt * flow->slot_bytes;
		bytes += flow->slot_bytes;
		flow->slot_bytes = 0;
		is_busy |= !flow->is_idle;
	}
	ictcp->half = max3(bytes ? div64_u64(weighted, bytes) : ictcp->half, min_slot, (u64)NSEC_PER_USEC);
	if (is_busy)
		call_at(receiver, due, now + ictcp->half);
}

static int ictcp_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct ictcp *ictcp = qdisc_priv(sch);

	due_init(&ictcp->half_ends, turn);
	ictcp->half = max(min_slot, (u64)NSEC_PER_USEC);
	return receiver_init(sch, opt, extack);
}

receiver_qdisc(ictcp, struct ictcp, ictcp_init);
MODULE_DESCRIPTION("ICTCP: a host divides its spare bandwidth among its connections by their advertised windows");
MODULE_LICENSE("GPL");
