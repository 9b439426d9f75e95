/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What systems share that act at a receiving host: they set the windows that its TCP advertises, and leave senders as they are.
 *
 * A system is a queueing discipline at the root of a host's interface. It sees what leaves, and with a receive handler of the
 * same interface what arrives. Its lock is that of the queueing discipline.
 *
 * Connections are IPv4 and end at sockets of this host. A connection is known from the first packet that the host sends on
 * it; one that was open before is found then. The scale of its window is the socket's.
 */
#ifndef RECEIVER_H
#define RECEIVER_H

#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <net/pkt_sched.h>
#include "connection.h"

static unsigned int speed;
module_param(speed, uint, 0644);
MODULE_PARM_DESC(speed, "Mbit/s of the interface; 0: what the interface says (0)");

/* The connection of a packet that leaves a socket of this host, or NULL. */
static struct connection *leaving_on(struct receiver *receiver, const struct packet *packet)
{
	const struct iphdr *ip = packet->ip;
	const struct tcphdr *tcp = packet->tcp;
	const struct sock *sk = packet->skb->sk;
	/* What is sent for a connection without a socket, such as RST, has a raw one. */
	bool is_full = sk && sk_fullsock(sk) && sk_is_tcp(sk);
	struct connection *connection = find(receiver, ip->saddr, ip->daddr, tcp->source, tcp->dest);

	if (connection && tcp->syn) {
		forget(receiver, connection);
		connection = NULL;
	}
	if (!connection) {
		/* Nothing more comes to one that has got a FIN or is closed. */
		if (!tcp->syn && (!is_full || READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN))
			return NULL;
		connection = create(receiver, ip->saddr, ip->daddr, tcp->source, tcp->dest, packet->now);
		if (!connection)
			return NULL;
	}
	if (is_full && !tcp->syn) {
		connection->scale = tcp_sk(sk)->rx_opt.rcv_wscale;
		connection->mss = segment_of(receiver, tcp_sk(sk)->rx_opt.tstamp_ok);
	}
	connection->closing |= tcp->fin || tcp->rst;
	return connection;
}

static void __maybe_unused put_out(struct receiver *receiver, struct sk_buff *skb)
{
	qdisc_enqueue_tail(skb, qdisc_from_priv(receiver));
}

static void __maybe_unused hurry(struct receiver *receiver)
{
	__netif_schedule(qdisc_from_priv(receiver));
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
	spin_lock(receiver->lock);
	connection = find(receiver, packet.ip->daddr, packet.ip->saddr, packet.tcp->dest, packet.tcp->source);
	if (connection)
		arrive(receiver, connection, &packet);
	spin_unlock(receiver->lock);
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
	receiver->capacity = (u64)rate * 125000;
	receiver_begin(receiver, dev, qdisc_lock(sch));
	return netdev_rx_handler_register(dev, on_arriving, receiver);
}

static void receiver_destroy(struct Qdisc *sch)
{
	struct receiver *receiver = qdisc_priv(sch);

	/* Nothing was begun. */
	if (!receiver->dev || rtnl_dereference(receiver->dev->rx_handler_data) != receiver)
		return;
	netdev_rx_handler_unregister(receiver->dev);
	receiver_end(receiver);
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
