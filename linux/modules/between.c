// SPDX-License-Identifier: GPL-2.0
/*
 * The queue of a switch's port for DT-DCTCP and DT-CWA: a FIFO that marks ECN-capable packets between two thresholds (between.h).
 *
 * On a switch of Linux: make, insmod ./between.ko start=30 stop=50 limit=100, tc qdisc replace dev eth0 root between. Below a
 * queueing discipline that limits the rate (tbf), the queue is here and not in the interface. GRO has to be off on all interfaces,
 * since merged packets count as one. Counts are in packets, without the one on the wire; marks are the overlimits of tc -s.
 * Parameters can be changed at any time in /sys/module/between/parameters.
 */
#include <linux/module.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>
#include "between.h"

static unsigned int start = 30;
module_param(start, uint, 0644);
MODULE_PARM_DESC(start, "packets at which marking begins as the queue rises (30)");
static unsigned int stop = 50;
module_param(stop, uint, 0644);
MODULE_PARM_DESC(stop, "packets below which it ends as the queue falls (50)");
static unsigned int limit = 100;
module_param(limit, uint, 0644);
MODULE_PARM_DESC(limit, "packets that the queue holds (100)");

static int between_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	u32 found = sch->q.qlen, from = READ_ONCE(start), until = READ_ONCE(stop);

	if (found >= READ_ONCE(limit))
		return qdisc_drop(skb, sch, to_free);
	if (between_marks(qdisc_priv(sch), found >= from, found + 1 >= from, found >= until, found + 1 >= until) &&
	    INET_ECN_set_ce(skb))
		qdisc_qstats_overlimit(sch);
	return qdisc_enqueue_tail(skb, sch);
}

static struct Qdisc_ops between_ops __read_mostly = {
	.id = "between",
	.priv_size = sizeof(struct between),
	.enqueue = between_enqueue,
	.dequeue = qdisc_dequeue_head,
	.peek = qdisc_peek_head,
	.reset = qdisc_reset_queue,
	.owner = THIS_MODULE,
};

static int __init between_register(void)
{
	return register_qdisc(&between_ops);
}

static void __exit between_unregister(void)
{
	unregister_qdisc(&between_ops);
}

module_init(between_register);
module_exit(between_unregister);
MODULE_DESCRIPTION("A queue that marks between two thresholds");
MODULE_LICENSE("GPL");
