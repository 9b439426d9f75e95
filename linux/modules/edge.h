/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The last switch before hosts, as the place of a system that sets their windows: hosts stay as they are.
 *
 * A system is attached to the interface towards a host. It sees what has come from there before the switch forwards it, and may
 * hold that. What leaves for the host it sees by a tap, so when a packet takes the wire. It knows connections whose SYNs it saw.
 */
#ifndef EDGE_H
#define EDGE_H

#include <linux/interrupt.h>
#include <linux/nsproxy.h>
#include <linux/percpu.h>
#include <linux/rtnetlink.h>
#include "connection.h"

/* Connections of an interface; others pass as they are. */
#define EDGE_CONNECTIONS 65536

/* An interface that a system is attached to. */
struct edge {
	struct list_head list;
	struct receiver *receiver;
	spinlock_t lock;
	struct packet_type tap;
	struct sk_buff_head released;	/* what may go on */
	struct tasklet_struct goes_on;
	netdevice_tracker tracker;
};

/* All of them, under the lock of rtnetlink. */
static LIST_HEAD(edges);

/* What a processor lets go on just now, until the handler has seen it again: it is freed later, and then another has its address. */
static DEFINE_PER_CPU(struct sk_buff *, edge_passing);

/* What a system does to keep something of an interface, and to forget it. It begins with struct receiver. */
static struct receiver *edge_new(void);

/* The connection of a packet, by its end at the host. A SYN begins it. */
static struct connection *passing_on(struct receiver *receiver, const struct packet *packet, bool leaves)
{
	const struct iphdr *ip = packet->ip;
	const struct tcphdr *tcp = packet->tcp;
	__be32 own = leaves ? ip->saddr : ip->daddr, peer = leaves ? ip->daddr : ip->saddr;
	__be16 own_port = leaves ? tcp->source : tcp->dest, peer_port = leaves ? tcp->dest : tcp->source;
	struct connection *connection = find(receiver, own, peer, own_port, peer_port);

	if (!tcp->syn)
		return connection;
	if (connection && !tcp->ack) {
		forget(receiver, connection);
		connection = NULL;
	}
	if (!connection && receiver->count < EDGE_CONNECTIONS)
		connection = create(receiver, own, peer, own_port, peer_port, packet->now);
	if (!connection)
		return NULL;
	*(leaves ? &connection->own_syn : &connection->peer_syn) = read_syn(tcp);
	if (connection->own_syn.mss && connection->peer_syn.mss) {
		connection->mss = full_segment(&connection->own_syn, &connection->peer_syn);
		connection->scale = scale_of(&connection->own_syn, &connection->peer_syn);
	}
	return connection;
}

static void put_out(struct receiver *receiver, struct sk_buff *skb)
{
	skb_queue_tail(&receiver->edge->released, skb);
	tasklet_schedule(&receiver->edge->goes_on);
}

static void hurry(struct receiver *receiver)
{
}

static void on_goes_on(struct tasklet_struct *goes_on)
{
	struct edge *edge = container_of(goes_on, struct edge, goes_on);
	struct sk_buff *skb;

	while ((skb = skb_dequeue(&edge->released))) {
		this_cpu_write(edge_passing, skb);
		/* On this processor, whatever RPS says. */
		netif_receive_skb_core(skb);
		this_cpu_write(edge_passing, NULL);
	}
}

static rx_handler_result_t on_from_host(struct sk_buff **pskb)
{
	struct receiver *receiver = rcu_dereference((*pskb)->dev->rx_handler_data);
	struct connection *connection;
	struct packet packet;
	bool held = false;

	if (this_cpu_read(edge_passing) == *pskb) {
		this_cpu_write(edge_passing, NULL);
		return RX_HANDLER_PASS;
	}
	*pskb = skb_share_check(*pskb, GFP_ATOMIC);
	if (!*pskb)
		return RX_HANDLER_CONSUMED;
	if (!parse(&packet, *pskb))
		return RX_HANDLER_PASS;
	spin_lock(receiver->lock);
	connection = passing_on(receiver, &packet, true);
	if (connection) {
		connection->closing |= packet.tcp->fin || packet.tcp->rst;
		held = on_leaving(receiver, connection, &packet);
	}
	spin_unlock(receiver->lock);
	return held ? RX_HANDLER_CONSUMED : RX_HANDLER_PASS;
}

static int on_to_host(struct sk_buff *skb, struct net_device *dev, struct packet_type *tap, struct net_device *from)
{
	struct receiver *receiver = container_of(tap, struct edge, tap)->receiver;
	struct connection *connection;
	struct packet packet;

	if (skb->pkt_type == PACKET_OUTGOING && parse(&packet, skb)) {
		spin_lock(receiver->lock);
		connection = passing_on(receiver, &packet, false);
		if (connection)
			arrive(receiver, connection, &packet);
		spin_unlock(receiver->lock);
	}
	consume_skb(skb);
	return 0;
}

static void edge_detach(struct edge *edge)
{
	struct net_device *dev = edge->receiver->dev;

	list_del(&edge->list);
	netdev_rx_handler_unregister(dev);
	dev_remove_pack(&edge->tap);
	hrtimer_cancel(&edge->receiver->timer);
	tasklet_kill(&edge->goes_on);
	receiver_end(edge->receiver);
	skb_queue_purge(&edge->released);
	netdev_put(dev, &edge->tracker);
	kfree(edge->receiver);
	kfree(edge);
}

static int edge_attach(struct net_device *dev)
{
	struct edge *edge = kzalloc(sizeof(*edge), GFP_KERNEL);
	struct receiver *receiver = edge_new();
	int error = -ENOMEM;

	if (!edge || !receiver)
		goto free;
	edge->receiver = receiver;
	receiver->edge = edge;
	spin_lock_init(&edge->lock);
	skb_queue_head_init(&edge->released);
	tasklet_setup(&edge->goes_on, on_goes_on);
	receiver_begin(receiver, dev, &edge->lock);
	error = netdev_rx_handler_register(dev, on_from_host, receiver);
	if (error)
		goto free;
	netdev_hold(dev, &edge->tracker, GFP_KERNEL);
	edge->tap.type = htons(ETH_P_ALL);
	edge->tap.dev = dev;
	edge->tap.func = on_to_host;
	dev_add_pack(&edge->tap);
	list_add(&edge->list, &edges);
	return 0;
free:
	kfree(receiver);
	kfree(edge);
	return error;
}

/* Attaches the system to the interface with this name, in the namespace of the one who writes it. */
static int set_attach(const char *text, const struct kernel_param *param)
{
	char name[IFNAMSIZ];
	struct net_device *dev;
	int error = -ENODEV;

	strscpy(name, skip_spaces(text), sizeof(name));
	rtnl_lock();
	dev = __dev_get_by_name(current->nsproxy->net_ns, strim(name));
	if (dev)
		error = edge_attach(dev);
	rtnl_unlock();
	return error;
}

static const struct kernel_param_ops attach_ops = { .set = set_attach };
module_param_cb(attach, &attach_ops, NULL, 0200);
MODULE_PARM_DESC(attach, "an interface towards a host, to which the system is attached");

static int on_device(struct notifier_block *block, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct edge *edge, *next;

	list_for_each_entry_safe(edge, next, &edges, list)
		if (event == NETDEV_UNREGISTER && edge->receiver->dev == dev)
			edge_detach(edge);
	return NOTIFY_DONE;
}

static struct notifier_block on_devices = { .notifier_call = on_device };

static int __init edge_register(void)
{
	return register_netdevice_notifier(&on_devices);
}

static void __exit edge_unregister(void)
{
	struct edge *edge, *next;

	unregister_netdevice_notifier(&on_devices);
	rtnl_lock();
	list_for_each_entry_safe(edge, next, &edges, list)
		edge_detach(edge);
	rtnl_unlock();
}

module_init(edge_register);
module_exit(edge_unregister);

#endif
