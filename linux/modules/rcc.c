// SPDX-License-Identifier: GPL-2.0
/*
 * The receiver of RCC (Xu et al., "Throughput optimization of TCP incast congestion control in large-scale datacenter networks",
 * Computer Networks 124, 2017), by the rules of its authors' code. Senders are any TCP.
 *
 * - A scheduler divides queue_max segments among the connections that send to a host. No window exceeds its share.
 * - It counts the segments that it has allowed and that have not arrived. While there are queue_max of them, acknowledgements
 *   are held, first come, first served; number and window of one are those at the time of its release.
 * - Each connection has a window by TCP's rules: slow start, congestion avoidance, half after three segments out of order.
 * - Marks (ECN) are counted here: once in a round trip with marks the window shrinks by half their share, and each marked segment
 *   halves the threshold of slow start (mark_action). Acknowledgements carry no echo, so that senders do not react again.
 *
 * What stock senders cannot do is replaced or left out:
 *
 * - They do not announce how much they send. So all connections have one segment each (priority on and size, as RCC has it for
 *   unknown sizes), or equal shares (off). None overtakes another. A transfer ends with FIN, or when the receiver's timer expires.
 * - They have a congestion window too. It starts as on every host, and a loss or timeout halves it.
 * - An acknowledgement with PSH asks them for nothing. When the receiver's timer expires (rto_r), what the connection was allowed
 *   is taken back from the count, and its share goes to others until data arrives; the sender's own timers retransmit.
 * - They cut segments to half the largest window that they have seen, so packets of the handshake allow two segments.
 *
 * `fanin explain rcc` explains the parameters (its keys have dashes).
 *
 * On a host: make, insmod ./rcc.ko, tc qdisc replace dev eth0 root rcc; the queue is a FIFO of txqueuelen packets. Set
 * net.ipv4.tcp_ecn=1 on all hosts, quickack 1 on the routes of receivers (each segment is acknowledged), GRO off, and in switches
 * a threshold of marks at queue_max packets. Parameters can be changed at any time in /sys/module/rcc/parameters; numbers may be
 * 0.0625 or 1/16, and times 100us or 10ms.
 */
#include "receiver.h"
#include "rcc.h"

static int rcc_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct rcc *rcc = qdisc_priv(sch);

	rcc_begin(rcc);
	return receiver_init(sch, opt, extack);
}

receiver_qdisc(rcc, struct rcc, rcc_init);
MODULE_DESCRIPTION("RCC: a host schedules the acknowledgements of its connections, and reacts to marks");
MODULE_LICENSE("GPL");
