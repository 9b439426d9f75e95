/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The connections that a system knows which sets the windows of hosts, at a host (receiver.h) or at the last switch (edge.h).
 *
 * What a system keeps of an interface begins with struct receiver, and what it keeps of a connection with struct connection. All
 * of it is under the lock of the interface.
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/jhash.h>
#include <linux/netdevice.h>
#include <linux/tcp.h>
#include <linux/timerqueue.h>
#include <net/ip.h>
#include <net/tcp.h>
#include "parameters.h"
#include "window.h"

/* A connection from which nothing has come for so long is forgotten. */
#define FORGET_NS (60ULL * NSEC_PER_SEC)

struct receiver;
struct edge;

/* Something that is to be done at a time. */
struct due {
	struct timerqueue_node node;
	void (*call)(struct receiver *receiver, struct due *due, u64 now);
};

/* What is known of a connection. */
struct connection {
	struct hlist_node node;
	struct due due;			/* when the system looks at it next */
	__be32 own, peer;
	__be16 own_port, peer_port;
	u32 mss;			/* bytes of data in a full segment */
	u32 acked;			/* the newest number that was acknowledged */
	u32 edge;			/* one past the last byte that was ever allowed */
	u8 scale;
	struct syn own_syn, peer_syn;	/* at a switch: what the SYNs of both ends say */
	bool has_edge;
	bool closing;			/* a FIN or RST has passed */
};

/* What is known of an interface. */
struct receiver {
	struct net_device *dev;
	spinlock_t *lock;
	struct hrtimer timer;
	struct timerqueue_head dues;
	DECLARE_HASHTABLE(connections, 10);
	u64 capacity;			/* at a host: bytes a second */
	struct edge *edge;		/* at a switch */
	u32 count;			/* of connections */
};

/* A packet of a connection. */
struct packet {
	struct sk_buff *skb;
	struct iphdr *ip;
	struct tcphdr *tcp;
	u32 seq, payload, headers;	/* bytes of data, and of all headers from IP's on */
	u64 now;
};

/* What a system does; it defines these. A connection that is new is filled with zeros beyond what is shared. */
static struct connection *new_connection(void);
static void on_new(struct receiver *receiver, struct connection *connection, u64 now);
/* Data has arrived, or the end of the connection without data. */
static void on_data(struct receiver *receiver, struct connection *connection, const struct packet *packet);
/* A packet with an acknowledgement leaves the host. Returns whether it is held, and so belongs to the system. */
static bool on_leaving(struct receiver *receiver, struct connection *connection, const struct packet *packet);
static void on_gone(struct receiver *receiver, struct connection *connection);

/* What a place of such systems does: it sends a packet that was held, and if need be at once. */
static void put_out(struct receiver *receiver, struct sk_buff *skb);
static void hurry(struct receiver *receiver);

static void due_init(struct due *due, void (*call)(struct receiver *receiver, struct due *due, u64 now))
{
	timerqueue_init(&due->node);
	due->call = call;
}

static bool is_due(const struct due *due)
{
	return !RB_EMPTY_NODE(&due->node.node);
}

static void do_not_call(struct receiver *receiver, struct due *due)
{
	if (is_due(due))
		timerqueue_del(&receiver->dues, &due->node);
}

/* Asks for a call at a time, instead of an earlier request. */
static void call_at(struct receiver *receiver, struct due *due, u64 at)
{
	do_not_call(receiver, due);
	due->node.expires = at;
	if (timerqueue_add(&receiver->dues, &due->node))
		hrtimer_start(&receiver->timer, at, HRTIMER_MODE_ABS_PINNED_SOFT);
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	struct receiver *receiver = container_of(timer, struct receiver, timer);
	struct timerqueue_node *next;
	struct due *due;

	spin_lock(receiver->lock);
	while ((next = timerqueue_getnext(&receiver->dues)) && next->expires <= ktime_get_ns()) {
		due = container_of(next, struct due, node);
		do_not_call(receiver, due);
		/* Times count from when it was due, so that those that are due at one time stay so. */
		due->call(receiver, due, next->expires);
	}
	if (next)
		hrtimer_start(timer, next->expires, HRTIMER_MODE_ABS_PINNED_SOFT);
	spin_unlock(receiver->lock);
	return HRTIMER_NORESTART;
}

/* Finds the headers of a TCP packet whose IP header is there, and its end in the connection's terms. */
static bool parse(struct packet *packet, struct sk_buff *skb)
{
	u32 at = skb_network_offset(skb), all;

	if (skb->protocol != htons(ETH_P_IP) || !pskb_may_pull(skb, at + sizeof(struct iphdr)))
		return false;
	packet->ip = ip_hdr(skb);
	if (packet->ip->protocol != IPPROTO_TCP || ip_is_fragment(packet->ip) || packet->ip->ihl < 5)
		return false;
	at += packet->ip->ihl * 4;
	if (!pskb_may_pull(skb, at + sizeof(struct tcphdr)))
		return false;
	packet->skb = skb;
	packet->ip = ip_hdr(skb);
	packet->tcp = (struct tcphdr *)(skb->data + at);
	packet->headers = packet->ip->ihl * 4 + packet->tcp->doff * 4;
	/* A large packet that is to be cut into segments may have no length in its header. */
	all = ntohs(packet->ip->tot_len) ?: skb->len - skb_network_offset(skb);
	packet->payload = all > packet->headers ? all - packet->headers : 0;
	packet->seq = ntohl(packet->tcp->seq);
	packet->now = ktime_get_ns();
	return true;
}

static u32 place(__be32 own, __be32 peer, __be16 own_port, __be16 peer_port)
{
	return jhash_3words((__force u32)own, (__force u32)peer, (__force u32)own_port << 16 | (__force u32)peer_port, 0);
}

static struct connection *find(struct receiver *receiver, __be32 own, __be32 peer, __be16 own_port, __be16 peer_port)
{
	struct connection *connection;

	hash_for_each_possible(receiver->connections, connection, node, place(own, peer, own_port, peer_port))
		if (connection->own == own && connection->peer == peer && connection->own_port == own_port &&
		    connection->peer_port == peer_port)
			return connection;
	return NULL;
}

static void forget(struct receiver *receiver, struct connection *connection)
{
	on_gone(receiver, connection);
	do_not_call(receiver, &connection->due);
	hash_del(&connection->node);
	receiver->count--;
	kfree(connection);
}

/* Bytes of data in a full segment of the interface, with timestamps or without. */
static u32 segment_of(const struct receiver *receiver, bool timestamps)
{
	return max(READ_ONCE(receiver->dev->mtu), 576U) - sizeof(struct iphdr) - sizeof(struct tcphdr) -
	       (timestamps ? TCPOLEN_TSTAMP_ALIGNED : 0);
}

/* A connection whose ends are those of a packet from its own host. */
static struct connection *create(struct receiver *receiver, __be32 own, __be32 peer, __be16 own_port, __be16 peer_port, u64 now)
{
	struct connection *connection = new_connection();

	if (!connection)
		return NULL;
	connection->own = own;
	connection->peer = peer;
	connection->own_port = own_port;
	connection->peer_port = peer_port;
	connection->mss = segment_of(receiver, true);
	hash_add(receiver->connections, &connection->node, place(own, peer, own_port, peer_port));
	receiver->count++;
	on_new(receiver, connection, now);
	return connection;
}

/* The window that a packet has now, in bytes. */
static u32 window_of(const struct connection *connection, const struct packet *packet)
{
	return (u32)ntohs(packet->tcp->window) << (packet->tcp->syn ? 0 : connection->scale);
}

/* Lowers the window of a packet, and notes what the packet allows. */
static void write_window(struct connection *connection, struct packet *packet, u64 bytes)
{
	u32 edge;

	packet->tcp = lower_window(packet->skb, packet->tcp, bytes, packet->tcp->syn ? 0 : connection->scale);
	packet->ip = ip_hdr(packet->skb);
	if (!packet->tcp->ack)
		return;
	connection->acked = ntohl(packet->tcp->ack_seq);
	edge = connection->acked + window_of(connection, packet);
	if (!connection->has_edge || after(edge, connection->edge))
		connection->edge = edge;
	connection->has_edge = true;
}

/* Bytes beyond `acked` that were allowed before: a window does not take back what was given. */
static u32 given(const struct connection *connection, u32 acked)
{
	return connection->has_edge && after(connection->edge, acked) ? connection->edge - acked : 0;
}

/* Whether data is new, as far as the host has acknowledged data. */
static bool __maybe_unused is_new(const struct connection *connection, const struct packet *packet)
{
	return !connection->has_edge || after(packet->seq + packet->payload, connection->acked);
}

/* A packet arrives at the host. */
static void arrive(struct receiver *receiver, struct connection *connection, const struct packet *packet)
{
	if (packet->payload || packet->tcp->fin || packet->tcp->rst)
		on_data(receiver, connection, packet);
	connection->closing |= packet->tcp->fin || packet->tcp->rst;
}

static void receiver_begin(struct receiver *receiver, struct net_device *dev, spinlock_t *lock)
{
	receiver->dev = dev;
	receiver->lock = lock;
	hash_init(receiver->connections);
	timerqueue_init_head(&receiver->dues);
	hrtimer_init(&receiver->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_SOFT);
	receiver->timer.function = on_timer;
}

static void receiver_end(struct receiver *receiver)
{
	struct connection *connection;
	struct hlist_node *next;
	int i;

	hrtimer_cancel(&receiver->timer);
	hash_for_each_safe(receiver->connections, i, next, connection, node)
		forget(receiver, connection);
}

#endif
