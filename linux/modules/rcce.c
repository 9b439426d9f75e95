// SPDX-License-Identifier: GPL-2.0
/*
 * The edge of RCCE (Arun Selvi et al., "A Hybrid Framework for TCP Incast Congestion Control in Data Center Networks", 2019): the
 * scheduler of RCC (rcc.c) in the last switch before receivers. Senders and receivers are any TCP.
 *
 * - The switch holds acknowledgements and requests of a host behind it, and lowers the windows that they have.
 * - A segment counts as arrived when it takes the wire towards the host. Its mark is that of its whole path, the switch included.
 * - Each interface towards a host has a scheduler of its own.
 * - What rcc.c says of stock senders holds here too. A newer acknowledgement replaces one that is held.
 *
 * `fanin explain rcce` explains the parameters (its keys have dashes).
 *
 * On a switch that is a host: make, insmod ./rcce.ko, echo eth0 >/sys/module/rcce/parameters/attach for each interface towards a
 * receiver. Receivers acknowledge each segment (quickack 1 on their routes), and all hosts have net.ipv4.tcp_ecn=1.
 */
#include "edge.h"
#include "rcc.h"

static struct receiver *edge_new(void)
{
	struct rcc *rcc = kzalloc(sizeof(*rcc), GFP_KERNEL);

	if (!rcc)
		return NULL;
	rcc_begin(rcc);
	return &rcc->receiver;
}

MODULE_DESCRIPTION("RCCE: the last switch schedules the acknowledgements of the hosts behind it, and reacts to marks");
MODULE_LICENSE("GPL");
