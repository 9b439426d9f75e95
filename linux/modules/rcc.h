/* SPDX-License-Identifier: GPL-2.0 */
/* The scheduler of RCC, by the rules of its authors' code: at the receiving host (rcc.c), or at the last switch (rcce.c). */
#ifndef RCC_H
#define RCC_H

#include <linux/list.h>
#include <net/inet_ecn.h>
#include "connection.h"

/* Segments out of order that say that one is lost (RFC 5681 section 3.2). */
#define DUPLICATES 3

static const char *const switched[] = { "off", "on", NULL };
enum { OFF, ON };
static struct choice scheduler = { switched, ON };
choice_param(scheduler, "windows are assigned and acknowledgements held: on or off");
static unsigned int queue_max = 40;
/* With none no acknowledgement would ever leave. */
static int set_queue_max(const char *text, const struct kernel_param *param)
{
	return param_set_uint_minmax(text, param, 1, UINT_MAX);
}

static const struct kernel_param_ops queue_max_ops = { .set = set_queue_max, .get = param_get_uint };
module_param_cb(queue_max, &queue_max_ops, &queue_max, 0644);
MODULE_PARM_DESC(queue_max, "segments that all connections of the host may have in flight, at least 1 (40)");
static const char *const priorities[] = { "on", "size", "off", NULL };
enum { PRIORITY_ON, PRIORITY_SIZE, PRIORITY_OFF };
static struct choice priority = { priorities, PRIORITY_ON };
choice_param(priority, "on and size: one segment each, since sizes are unknown; off: equal shares");
static const char *const assignments[] = { "code", "printed", NULL };
enum { ASSIGN_CODE, ASSIGN_PRINTED };
static struct choice assignment = { assignments, ASSIGN_CODE };
choice_param(assignment, "equal shares use all of queue_max (code), or are one whole number (printed)");
static struct choice ecn = { switched, ON };
choice_param(ecn, "the receiver reacts to marks: on or off");
static const char *const alphas[] = { "code", "every-round", "ratio", NULL };
enum { ALPHA_CODE, ALPHA_EVERY_ROUND, ALPHA_RATIO };
static struct choice alpha = { alphas, ALPHA_CODE };
choice_param(alpha, "estimate of the marked share: code, every-round or ratio");
static const char *const actions[] = { "code", "avoidance", "equation", NULL };
enum { ACTION_CODE, ACTION_AVOIDANCE, ACTION_EQUATION };
static struct choice mark_action = { actions, ACTION_CODE };
choice_param(mark_action, "what marks do besides the reduction: code, avoidance or equation");
static u64 mark_period = 100 * NSEC_PER_USEC;
time_param(mark_period, "least period of the marked share (100us)");
static u64 first_rtt = 10 * NSEC_PER_MSEC;
time_param(first_rtt, "round-trip time before one is measured (10ms)");
static unsigned int initial_threshold = 65535;
module_param(initial_threshold, uint, 0644);
MODULE_PARM_DESC(initial_threshold, "bytes at which the first slow start ends (65535)");
static u32 g = ONE / 16;
number_param(g, "weight of the newest share in the estimate (1/16)");
static const char *const fins[] = { "count", "ignore", NULL };
static struct choice marks_on_fin = { fins, 0 };
choice_param(marks_on_fin, "the mark of a segment with FIN: count or ignore");
static const char *const releases[] = { "below", "at-most", NULL };
static struct choice release = { releases, 0 };
choice_param(release, "acknowledgements leave below queue_max segments in flight, or at-most at it");
static const char *const turns[] = { "pass", "wait", NULL };
static struct choice requests = { turns, 0 };
choice_param(requests, "a request, which allows the first segment of its answer, may pass, or has to wait as acknowledgements");
static const char *const arms[] = { "on-release", "off", NULL };
static struct choice rto_r = { arms, 0 };
choice_param(rto_r, "the receiver's timer starts on-release of an acknowledgement, or is off");
static u64 rto_r_min = 10 * NSEC_PER_MSEC;
time_param(rto_r_min, "least time of that timer (10ms)");

struct flow {
	struct connection connection;
	struct list_head active;	/* empty if no transfer is under way */
	struct list_head waiting;	/* empty if no acknowledgement is held */
	struct sk_buff *held;
	bool asks;			/* what is held is a request */
	u32 share;			/* segments */
	u32 window, threshold;		/* bytes */
	u32 next;			/* the next byte in order */
	u32 recover;			/* the end of what had arrived when recovery began */
	u32 newest;			/* the end of what has arrived */
	u32 duplicates;
	u32 grant_edge, outstanding;	/* the end of what was allowed in whole segments, and how many have not arrived */
	bool is_known;			/* the numbers above are set */
	bool in_recovery, repeats;
	u64 rtt, deviation;		/* ns; 0: none was measured */
	u32 timed;			/* the segment that is timed, if timed_at is not 0 */
	u64 timed_at;
	struct due period;		/* its end, if a mark has come in it */
	u64 period_end;
	u32 alpha, marked;
	u64 total;
};

struct rcc {
	struct receiver receiver;
	struct list_head active;	/* in the order of acceptance */
	struct list_head waiting;
	u32 flight;			/* segments that were allowed and have not arrived */
	bool unassigned;
};

static void rcc_begin(struct rcc *rcc)
{
	INIT_LIST_HEAD(&rcc->active);
	INIT_LIST_HEAD(&rcc->waiting);
}

static struct rcc *rcc_of(struct receiver *receiver)
{
	return container_of(receiver, struct rcc, receiver);
}

static struct flow *flow_of(struct connection *connection)
{
	return container_of(connection, struct flow, connection);
}

static void on_period(struct receiver *receiver, struct due *due, u64 now);
static void on_due(struct receiver *receiver, struct due *due, u64 now);

static struct connection *new_connection(void)
{
	struct flow *flow = kzalloc(sizeof(*flow), GFP_ATOMIC);

	return flow ? &flow->connection : NULL;
}

static void on_new(struct receiver *receiver, struct connection *connection, u64 now)
{
	struct flow *flow = flow_of(connection);

	INIT_LIST_HEAD(&flow->active);
	INIT_LIST_HEAD(&flow->waiting);
	due_init(&flow->period, on_period);
	due_init(&connection->due, on_due);
	flow->window = connection->mss;
	flow->threshold = initial_threshold;
	flow->period_end = now + mark_period;
	call_at(receiver, &connection->due, now + FORGET_NS);
}

static void drop_held(struct flow *flow)
{
	kfree_skb(flow->held);
	flow->held = NULL;
	flow->asks = false;
	list_del_init(&flow->waiting);
}

/* A transfer ends: its share goes to others, and what it was allowed and has not used is given back. */
static void end_transfer(struct rcc *rcc, struct flow *flow)
{
	rcc->flight -= flow->outstanding;
	flow->outstanding = 0;
	flow->grant_edge = flow->next;
	flow->window = min(flow->window, flow->connection.mss);
	if (!list_empty(&flow->active)) {
		list_del_init(&flow->active);
		rcc->unassigned = true;
	}
}

/* The other end has no more data. What it sends again finds the connection. */
static void on_fin(struct receiver *receiver, struct flow *flow, u64 now)
{
	end_transfer(rcc_of(receiver), flow);
	call_at(receiver, &flow->connection.due, now + rto_r_min);
}

/* RST ends a connection. No acknowledgement follows with which those of others could leave. */
static void on_reset(struct receiver *receiver, struct flow *flow, u64 now)
{
	drop_held(flow);
	call_at(receiver, &flow->connection.due, now);
}

static void on_gone(struct receiver *receiver, struct connection *connection)
{
	struct flow *flow = flow_of(connection);

	end_transfer(rcc_of(receiver), flow);
	drop_held(flow);
	do_not_call(receiver, &flow->period);
}

/* Divides queue_max among the active connections. */
static void assign(struct rcc *rcc)
{
	/* More segments than all windows can allow. */
	u32 most = min(queue_max, 1U << 20), count = 0, share = 1, rest = 0;
	struct flow *flow;

	rcc->unassigned = false;
	list_for_each_entry(flow, &rcc->active, active)
		count++;
	if (priority.chosen == PRIORITY_OFF && count && most >= count) {
		share = most / count;
		rest = assignment.chosen == ASSIGN_CODE ? most % count : 0;
	}
	list_for_each_entry(flow, &rcc->active, active) {
		flow->share = share + (rest ? 1 : 0);
		rest -= rest ? 1 : 0;
	}
}

static void halve_threshold(struct flow *flow)
{
	flow->threshold = max(flow->window / 2, 2 * flow->connection.mss);
}

/* RFC 5681: a segment in order. */
static void grow(struct flow *flow)
{
	u32 mss = flow->connection.mss;

	flow->window += flow->window < flow->threshold ? mss : max(mss * mss / max(flow->window, 1U), 1U);
	flow->window = min(flow->window, (u32)U16_MAX << TCP_MAX_WSCALE);
}

static u64 period_of(const struct flow *flow)
{
	u64 least = max(mark_period, (u64)NSEC_PER_USEC);

	return flow->rtt < least || flow->rtt >= first_rtt ? least : flow->rtt;
}

/* Counts segments, of which all are marked or none. */
static void count_marks(struct receiver *receiver, struct flow *flow, u32 segments, bool marked, u64 now)
{
	u64 over;

	if (flow->period_end < now) {
		if (alpha.chosen == ALPHA_EVERY_ROUND && flow->total)
			flow->alpha -= mul_u32_u32(flow->alpha, min(g, ONE)) >> SHIFT;
		if (alpha.chosen != ALPHA_CODE)
			flow->total = 0;
		over = div64_u64(now - flow->period_end + period_of(flow) - 1, period_of(flow));
		flow->period_end += over * period_of(flow);
	}
	flow->total += segments;
	if (!marked)
		return;
	flow->marked += segments;
	if (!is_due(&flow->period))
		call_at(receiver, &flow->period, flow->period_end);
}

/* A period with marks ends: the window shrinks by half their share. */
static void on_period(struct receiver *receiver, struct due *due, u64 now)
{
	struct flow *flow = container_of(due, struct flow, period);
	u32 share = div64_u64((u64)flow->marked << SHIFT, max(flow->total, 1ULL)), weight = min(g, ONE);
	u32 mss = flow->connection.mss;

	flow->alpha = alpha.chosen == ALPHA_RATIO ? share :
		      (mul_u32_u32(flow->alpha, ONE - weight) + mul_u32_u32(share, weight)) >> SHIFT;
	flow->total = 0;
	flow->marked = 0;
	flow->period_end = now + period_of(flow);
	flow->window = max(flow->window - (u32)(mul_u32_u32(flow->window, flow->alpha / 2) >> SHIFT), mss);
	if (mark_action.chosen == ACTION_AVOIDANCE)
		flow->threshold = max(flow->window, 2 * mss);
}

static void take_time(struct flow *flow, const struct packet *packet)
{
	u64 sample, off;

	if (!flow->timed_at || !after(packet->seq + packet->payload, flow->timed))
		return;
	if (!before(flow->timed, packet->seq)) {
		sample = max(packet->now - flow->timed_at, 1ULL);
		off = max(sample, flow->rtt) - min(sample, flow->rtt);
		flow->deviation = flow->rtt ? (9 * flow->deviation + off) / 10 : sample;
		flow->rtt = flow->rtt ? (9 * flow->rtt + sample) / 10 : sample;
	}
	flow->timed_at = 0;
}

/* Data comes next from this number on. */
static void know(struct flow *flow, u32 next)
{
	if (flow->is_known)
		return;
	flow->next = next;
	flow->newest = next;
	flow->grant_edge = next;
	flow->is_known = true;
}

/* A transfer begins. */
static void activate(struct rcc *rcc, struct flow *flow)
{
	if (!list_empty(&flow->active))
		return;
	list_add_tail(&flow->active, &rcc->active);
	rcc->unassigned = true;
}

static void on_data(struct receiver *receiver, struct connection *connection, const struct packet *packet)
{
	u32 end = packet->seq + packet->payload, mss = connection->mss, segments = DIV_ROUND_UP(packet->payload, mss);
	struct rcc *rcc = rcc_of(receiver);
	struct flow *flow = flow_of(connection);
	bool counts = ecn.chosen == ON && !(packet->tcp->fin && marks_on_fin.chosen);
	bool marked = counts && INET_ECN_is_ce(packet->ip->tos);

	if (packet->tcp->rst)
		return on_reset(receiver, flow, packet->now);
	if (!packet->payload)
		return on_fin(receiver, flow, packet->now);
	know(flow, packet->seq);
	activate(rcc, flow);
	if (rcc->unassigned)
		assign(rcc);
	call_at(receiver, &connection->due, packet->now + FORGET_NS);
	take_time(flow, packet);
	if (ecn.chosen == ON)
		count_marks(receiver, flow, segments, marked, packet->now);
	marked &= mark_action.chosen == ACTION_CODE;
	flow->repeats = !after(end, flow->next);
	if (flow->repeats)
		return;
	if (marked)
		halve_threshold(flow);
	segments = min(segments, flow->outstanding);
	flow->outstanding -= segments;
	rcc->flight -= segments;
	if (after(end, flow->grant_edge))
		flow->grant_edge = end;
	if (after(end, flow->newest))
		flow->newest = end;
	if (!after(packet->seq, flow->next)) {
		flow->next = end;
		if (!flow->in_recovery) {
			flow->duplicates = 0;
			if (!marked)
				grow(flow);
		}
	} else if (++flow->duplicates == DUPLICATES && !flow->in_recovery) {
		flow->in_recovery = true;
		flow->recover = flow->newest;
		halve_threshold(flow);
		flow->window = flow->threshold;
	}
	if (scheduler.chosen == ON)
		flow->window = min_t(u64, flow->window, (u64)flow->share * mss);
	if (packet->tcp->fin)
		on_fin(receiver, flow, packet->now);
}

/* Starts the receiver's timer. */
static void arm(struct rcc *rcc, struct flow *flow, u64 now)
{
	if (!rto_r.chosen)
		call_at(&rcc->receiver, &flow->connection.due,
			now + max3(rto_r_min, flow->rtt + 4 * flow->deviation, (u64)NSEC_PER_USEC));
}

/* An acknowledgement leaves, and allows what the window says. */
static void allow(struct rcc *rcc, struct flow *flow, struct packet *packet)
{
	u32 number = ntohl(packet->tcp->ack_seq), mss = flow->connection.mss, allowed, more;

	write_window(&flow->connection, packet, max(flow->window, given(&flow->connection, number)));
	allowed = min(window_of(&flow->connection, packet), max(flow->window, given(&flow->connection, number)));
	if (after(number + allowed, flow->grant_edge)) {
		more = (number + allowed - flow->grant_edge) / mss;
		flow->outstanding += more;
		rcc->flight += more;
		flow->grant_edge += more * mss;
	}
	if (!flow->timed_at && !flow->in_recovery && !flow->repeats && allowed >= mss && !packet->payload) {
		flow->timed = number + (allowed - mss) / mss * mss;
		flow->timed_at = packet->now;
	}
	arm(rcc, flow, packet->now);
}

static bool may_leave(const struct rcc *rcc)
{
	return rcc->flight < queue_max + release.chosen;
}

/* Lets held acknowledgements go; returns whether one did. */
static bool let_go(struct rcc *rcc)
{
	struct packet packet;
	struct flow *flow;
	bool went = false;

	while (may_leave(rcc) && !list_empty(&rcc->waiting)) {
		flow = list_first_entry(&rcc->waiting, struct flow, waiting);
		list_del_init(&flow->waiting);
		if (parse(&packet, flow->held))
			allow(rcc, flow, &packet);
		put_out(&rcc->receiver, flow->held);
		flow->held = NULL;
		flow->asks = false;
		went = true;
	}
	return went;
}

/* Takes the echo of marks off: the receiver has reacted to them. */
static void take_echo(struct packet *packet)
{
	__be16 *flags, was;

	if (!packet->tcp->ece || packet->tcp->syn || skb_cow_head(packet->skb, 0))
		return;
	packet->ip = ip_hdr(packet->skb);
	packet->tcp = (struct tcphdr *)((u8 *)packet->ip + packet->ip->ihl * 4);
	flags = (__be16 *)packet->tcp + 6;
	was = *flags;
	packet->tcp->ece = 0;
	inet_proto_csum_replace2(&packet->tcp->check, packet->skb, was, *flags, false);
}

static bool on_leaving(struct receiver *receiver, struct connection *connection, const struct packet *packet)
{
	struct rcc *rcc = rcc_of(receiver);
	struct flow *flow = flow_of(connection);
	struct packet leaving = *packet;
	bool asks = requests.chosen && scheduler.chosen == ON && packet->payload && list_empty(&flow->active) && !flow->held;
	u32 number = ntohl(packet->tcp->ack_seq), edge;

	if (ecn.chosen == ON)
		take_echo(&leaving);
	if (packet->tcp->rst) {
		on_reset(receiver, flow, packet->now);
		return false;
	}
	if (packet->tcp->fin && !flow->asks)
		drop_held(flow);
	/* An answer has waited for programs too. */
	if (packet->payload)
		flow->timed_at = 0;
	if (asks) {
		know(flow, number);
		activate(rcc, flow);
	}
	if (!flow->is_known || packet->tcp->syn) {
		write_window(connection, &leaving, max(flow->window, 2 * connection->mss));
		/* It was for the size of segments, and the request that follows says how much may come. */
		connection->has_edge = false;
		return false;
	}
	if (after(number, flow->next))
		flow->next = number;
	if (flow->in_recovery && !before(number, flow->recover)) {
		flow->in_recovery = false;
		flow->duplicates = 0;
		flow->window = min(flow->window, flow->threshold);
	}
	/* What is not about data that comes allows nothing beyond what was allowed. */
	if (!asks && (packet->payload || packet->tcp->fin || flow->asks || list_empty(&flow->active))) {
		if (flow->held && !flow->asks && !packet->payload)
			drop_held(flow);
		write_window(connection, &leaving,
			     max(flow->held ? 0 : flow->window, given(connection, number)));
		let_go(rcc);
		return false;
	}
	edge = number + max(flow->window, given(connection, number));
	drop_held(flow);
	if (scheduler.chosen == OFF || (flow->repeats && !asks && !after(edge, flow->grant_edge)) ||
	    (may_leave(rcc) && list_empty(&rcc->waiting))) {
		allow(rcc, flow, &leaving);
		return false;
	}
	flow->held = packet->skb;
	flow->asks = asks;
	list_add_tail(&flow->waiting, &rcc->waiting);
	/* What it was allowed before may be lost. */
	if (flow->outstanding)
		arm(rcc, flow, packet->now);
	let_go(rcc);
	return true;
}

/* The receiver's timer expires: what was allowed does not come, since it is lost or the sender has no more. */
static void on_due(struct receiver *receiver, struct due *due, u64 now)
{
	struct connection *connection = container_of(due, struct connection, due);
	struct flow *flow = flow_of(connection);
	struct rcc *rcc = rcc_of(receiver);

	if (!flow->held && (connection->closing || list_empty(&flow->active))) {
		forget(receiver, connection);
	} else {
		if (after(flow->newest, flow->next))
			halve_threshold(flow);
		flow->in_recovery = false;
		flow->timed_at = 0;
		end_transfer(rcc, flow);
		call_at(receiver, due, now + FORGET_NS);
	}
	if (let_go(rcc))
		hurry(receiver);
}

#endif
