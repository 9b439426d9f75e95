/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What systems share that act at a receiving host: they set the windows that its TCP advertises, and leave senders as they are.
 *
 * A system is a queueing discipline at the root of a host's interface. It sees what leaves, and with a receive handler of the
 * same interface what arrives. What it keeps of an interface begins with struct receiver, and what it keeps of a connection
 * with struct connection. All of it is under the lock of the queueing discipline.
 *
 * Connections are IPv4 and end at sockets of this host. A connection is known from the first packet that the host sends on
 * it; one that was open before is found then. The scale of its window is the socket's.
 */
#ifndef RECEIVER_H
#define RECEIVER_H

#include <linux/ethtool.h>
#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/ip.h>
#include <linux/jhash.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <linux/timerqueue.h>
#include <net/pkt_sched.h>
#include <net/tcp.h>
#include "parameters.h"
#include "window.h"

/* A connection from which nothing has come for so long is forgotten. */
#define FORGET_NS (60ULL * NSEC_PER_SEC)

static unsigned int speed;
module_param(speed, uint, 0644);
MODULE_PARM_DESC(speed, "Mbit/s of the interface; 0: what the interface says (0)");

struct receiver;

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
	bool has_edge;
	bool closing;			/* a FIN or RST has passed */
};

/* What is known of an interface. */
struct receiver {
	struct Qdisc *sch;
	struct hrtimer timer;
	struct timerqueue_head dues;
	DECLARE_HASHTABLE(connections, 10);
	u64 capacity;			/* bytes a second */
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
/* Returns whether the packet is held, and so belongs to the system. */
static bool on_leaving(struct receiver *receiver, struct connection *connection, const struct packet *packet);
static void on_gone(struct receiver *receiver, struct connection *connection);

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

	spin_lock(qdisc_lock(receiver->sch));
	while ((next = timerqueue_getnext(&receiver->dues)) && next->expires <= ktime_get_ns()) {
		due = container_of(next, struct due, node);
		do_not_call(receiver, due);
		/* Times count from when it was due, so that those that are due at one time stay so. */
		due->call(receiver, due, next->expires);
	}
	if (next)
		hrtimer_start(timer, next->expires, HRTIMER_MODE_ABS_PINNED_SOFT);
	spin_unlock(qdisc_lock(receiver->sch));
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
	kfree(connection);
}

/* Bytes of data in a full segment of the interface, with timestamps or without. */
static u32 segment_of(const struct receiver *receiver, bool timestamps)
{
	return max(READ_ONCE(qdisc_dev(receiver->sch)->mtu), 576U) - sizeof(struct iphdr) - sizeof(struct tcphdr) -
	       (timestamps ? TCPOLEN_TSTAMP_ALIGNED : 0);
}

/* The connection of a packet that leaves a socket of this host, or NULL. */
static struct connection *leaving_on(struct receiver *receiver, const struct packet *packet)
{
	const struct iphdr *ip = packet->ip;
	const struct tcphdr *tcp = packet->tcp;
	const struct sock *sk = packet->skb->sk;
	bool is_full = sk && sk_fullsock(sk) && sk->sk_protocol == IPPROTO_TCP;
	struct connection *connection = find(receiver, ip->saddr, ip->daddr, tcp->source, tcp->dest);

	if (connection && tcp->syn) {
		forget(receiver, connection);
		connection = NULL;
	}
	if (!connection) {
		if (!tcp->syn && !is_full)
			return NULL;
		connection = new_connection();
		if (!connection)
			return NULL;
		connection->own = ip->saddr;
		connection->peer = ip->daddr;
		connection->own_port = tcp->source;
		connection->peer_port = tcp->dest;
		connection->mss = segment_of(receiver, true);
		hash_add(receiver->connections, &connection->node, place(ip->saddr, ip->daddr, tcp->source, tcp->dest));
		on_new(receiver, connection, packet->now);
	}
	if (is_full && !tcp->syn) {
		connection->scale = tcp_sk(sk)->rx_opt.rcv_wscale;
		connection->mss = segment_of(receiver, tcp_sk(sk)->rx_opt.tstamp_ok);
	}
	connection->closing |= tcp->fin || tcp->rst;
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

static rx_handler_result_t on_arriving(struct sk_buff **pskb)
{
	struct receiver *receiver = rcu_dereference((*pskb)->dev->rx_handler_data);
	struct connection *connection;
	struct packet packet;

	*pskb = skb_share_check(*pskb, GFP_ATOMIC);
	if (!*pskb)
		return RX_HANDLER_CONSUMED;
	if (!parse(&packet, *pskb))
		return RX_HANDLER_PASS;
	spin_lock(qdisc_lock(receiver->sch));
	connection = find(receiver, packet.ip->daddr, packet.ip->saddr, packet.tcp->dest, packet.tcp->source);
	if (connection) {
		if (packet.payload || packet.tcp->fin || packet.tcp->rst)
			on_data(receiver, connection, &packet);
		connection->closing |= packet.tcp->fin || packet.tcp->rst;
	}
	spin_unlock(qdisc_lock(receiver->sch));
	return RX_HANDLER_PASS;
}

static int receiver_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct receiver *receiver = qdisc_priv(sch);
	struct connection *connection;
	struct packet packet;

	if (sch->q.qlen >= (qdisc_dev(sch)->tx_queue_len ?: 1))
		return qdisc_drop(skb, sch, to_free);
	if (parse(&packet, skb)) {
		connection = leaving_on(receiver, &packet);
		if (connection && on_leaving(receiver, connection, &packet))
			return NET_XMIT_SUCCESS;
	}
	return qdisc_enqueue_tail(skb, sch);
}

static int receiver_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct receiver *receiver = qdisc_priv(sch);
	struct net_device *dev = qdisc_dev(sch);
	struct ethtool_link_ksettings settings = {};
	u32 rate = READ_ONCE(speed);

	if (sch->parent != TC_H_ROOT) {
		NL_SET_ERR_MSG(extack, "it is for the root of an interface");
		return -EINVAL;
	}
	if (!rate && !__ethtool_get_link_ksettings(dev, &settings) && settings.base.speed != (u32)SPEED_UNKNOWN)
		rate = settings.base.speed;
	if (!rate) {
		NL_SET_ERR_MSG(extack, "the interface does not say its speed: set the parameter speed");
		return -EINVAL;
	}
	receiver->sch = sch;
	receiver->capacity = (u64)rate * 125000;
	hash_init(receiver->connections);
	timerqueue_init_head(&receiver->dues);
	hrtimer_init(&receiver->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_SOFT);
	receiver->timer.function = on_timer;
	return netdev_rx_handler_register(dev, on_arriving, receiver);
}

static void receiver_destroy(struct Qdisc *sch)
{
	struct receiver *receiver = qdisc_priv(sch);
	struct connection *connection;
	struct hlist_node *next;
	int i;

	/* Nothing was begun. */
	if (!receiver->sch || rtnl_dereference(qdisc_dev(sch)->rx_handler_data) != receiver)
		return;
	netdev_rx_handler_unregister(qdisc_dev(sch));
	hrtimer_cancel(&receiver->timer);
	hash_for_each_safe(receiver->connections, i, next, connection, node)
		forget(receiver, connection);
}

/* The queueing discipline of a system: its name, and what it keeps of an interface. */
#define receiver_qdisc(name, kept, begin)		\
static struct Qdisc_ops name##_ops __read_mostly = {	\
	.id = #name,					\
	.priv_size = sizeof(kept),			\
	.enqueue = receiver_enqueue,			\
	.dequeue = qdisc_dequeue_head,			\
	.peek = qdisc_peek_head,			\
	.init = begin,					\
	.reset = qdisc_reset_queue,			\
	.destroy = receiver_destroy,			\
	.owner = THIS_MODULE,				\
};							\
static int __init name##_register(void)			\
{							\
	return register_qdisc(&name##_ops);		\
}							\
static void __exit name##_unregister(void)		\
{							\
	unregister_qdisc(&name##_ops);			\
}							\
module_init(name##_register);				\
module_exit(name##_unregister)

#endif
