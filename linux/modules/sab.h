/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The switch of SAB (Zhang, Ren and Shu, "Sharing bandwidth by allocating switch buffer in data center networks", JSAC 2014), as
 * SDTCP's paper describes it. Hosts are any TCP.
 *
 * - Each port divides what its path and its buffer hold among the flows that it counts. A flow is one direction of a connection:
 *   SYN or its first data adds it, FIN removes it, and each counts once. RST removes both directions. One whose SYN was not seen
 *   does not count.
 * - No host copies a share from data into acknowledgements. The switch writes the share into the windows of the
 *   acknowledgements that cross it, where it is smaller than what stands there. So a share is that of the moment at which an
 *   acknowledgement passes, and switches that it does not cross set nothing.
 * - A share is rounded down to whole segments, as a sender would fill the rest with a small one. It is never below one, into
 *   which Linux sends nothing, or below two, where receivers acknowledge every other segment: they would wait for 40 ms.
 * - SYNs tell how windows are scaled. Their own windows stay as they are: senders choose the size of their segments by them.
 *
 * `fanin explain sab` explains the parameters.
 */
#ifndef SAB_H
#define SAB_H

#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/list.h>
#include <linux/slab.h>
#include "bands.h"
#include "window.h"

/* Flows that a switch remembers; of more it forgets the one that was silent for longest. */
#define SAB_FLOWS 65536

enum sab_state { SAB_UNKNOWN, SAB_ACTIVE, SAB_ENDED };

struct sab_port;

/* A direction of a connection. */
struct sab_flow {
	struct hlist_node node;
	struct list_head used;
	__be32 from, to;
	__be16 from_port, to_port;
	enum sab_state state;
	struct sab_port *port;		/* that counts it, if it is active */
	struct syn syn;			/* of its sender */
};

/* What all ports of a switch know. */
struct sab {
	DECLARE_HASHTABLE(flows, 12);
	struct list_head used;		/* the one that was silent for longest comes first */
	u32 count;
};

struct sab_port {
	struct sab *sab;		/* NULL: the port allocates nothing */
	u64 pipe;			/* bytes that its flows share */
	u32 least;			/* segments that a flow gets at least */
	bool keeps;			/* a FIN does not remove its flow */
	u32 active;
};

static inline struct sab *sab_new(void)
{
	struct sab *sab = kzalloc(sizeof(*sab), GFP_KERNEL);

	if (sab)
		INIT_LIST_HEAD(&sab->used);
	return sab;
}

static inline void sab_end(struct sab_flow *flow)
{
	if (flow->state == SAB_ACTIVE)
		flow->port->active--;
	flow->state = SAB_ENDED;
}

static inline void sab_remove(struct sab *sab, struct sab_flow *flow)
{
	sab_end(flow);
	hash_del(&flow->node);
	list_del(&flow->used);
	sab->count--;
	kfree(flow);
}

/* Forgets the flows of a port, or of all. */
static inline void sab_clear(struct sab *sab, const struct sab_port *port)
{
	struct sab_flow *flow, *next;

	if (!sab)
		return;
	list_for_each_entry_safe(flow, next, &sab->used, used)
		if (!port || flow->port == port)
			sab_remove(sab, flow);
}

static inline u32 sab_place(__be32 from, __be32 to, __be16 from_port, __be16 to_port)
{
	return jhash_3words((__force u32)from, (__force u32)to, (__force u32)from_port << 16 | (__force u32)to_port, 0);
}

static inline struct sab_flow *sab_find(struct sab *sab, __be32 from, __be32 to, __be16 from_port, __be16 to_port)
{
	struct sab_flow *flow;

	hash_for_each_possible(sab->flows, flow, node, sab_place(from, to, from_port, to_port)) {
		if (flow->from == from && flow->to == to && flow->from_port == from_port && flow->to_port == to_port) {
			list_move_tail(&flow->used, &sab->used);
			return flow;
		}
	}
	return NULL;
}

static inline struct sab_flow *sab_add(struct sab *sab, const struct iphdr *ip, const struct tcphdr *tcp)
{
	struct sab_flow *flow = kzalloc(sizeof(*flow), GFP_ATOMIC);

	if (!flow)
		return NULL;
	if (sab->count >= SAB_FLOWS)
		sab_remove(sab, list_first_entry(&sab->used, struct sab_flow, used));
	flow->from = ip->saddr;
	flow->to = ip->daddr;
	flow->from_port = tcp->source;
	flow->to_port = tcp->dest;
	hash_add(sab->flows, &flow->node, sab_place(flow->from, flow->to, flow->from_port, flow->to_port));
	list_add_tail(&flow->used, &sab->used);
	sab->count++;
	return flow;
}

/* The window that a port grants to a flow with segments of this size. */
static inline u64 sab_window(const struct sab_port *port, u32 mss)
{
	u64 share = div_u64(port->pipe, max(port->active, 1U));

	return max_t(u64, div_u64(share, mss), port->least) * mss;
}

/* A packet comes to a port. */
static inline void sab_pass(struct sab_port *port, struct sk_buff *skb, struct tcphdr *tcp)
{
	const struct iphdr *ip = ip_hdr(skb);
	struct sab_flow *own = sab_find(port->sab, ip->saddr, ip->daddr, tcp->source, tcp->dest);
	struct sab_flow *back = tcp->syn ? NULL : sab_find(port->sab, ip->daddr, ip->saddr, tcp->dest, tcp->source);
	bool counts = (tcp->syn && !tcp->ack) || is_data(ip, tcp);

	if (back && tcp->rst && !port->keeps)
		sab_end(back);
	if (!own && tcp->syn)
		own = sab_add(port->sab, ip, tcp);
	if (!own)
		return;
	if (tcp->syn)
		own->syn = read_syn(tcp);
	/* A retransmission after the FIN does not count its flow again, but another connection with the same ports does. */
	if (tcp->syn && own->state == SAB_ENDED)
		own->state = SAB_UNKNOWN;
	if (counts && own->state == SAB_UNKNOWN) {
		own->state = SAB_ACTIVE;
		own->port = port;
		port->active++;
	}
	if (tcp->ack && back && back->port)
		tcp = lower_window(skb, tcp, sab_window(back->port, full_segment(&own->syn, &back->syn)),
				   scale_of(&own->syn, &back->syn));
	if ((tcp->fin || tcp->rst) && !port->keeps)
		sab_end(own);
}

#endif
