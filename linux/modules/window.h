/* SPDX-License-Identifier: GPL-2.0 */
/* What systems share that lower the windows of packets which cross them. */
#ifndef WINDOW_H
#define WINDOW_H

#include <linux/ip.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/checksum.h>

/*
 * Lowers the window of a packet to so many bytes, rounded up to what its field can say: never to zero, and never above what
 * is written there. Returns TCP's header, which may have moved with all others.
 */
static inline struct tcphdr *lower_window(struct sk_buff *skb, struct tcphdr *tcp, u64 bytes, u8 scale)
{
	u64 field = max_t(u64, (bytes + (1U << scale) - 1) >> scale, 1);
	__be16 was = tcp->window;

	if (field >= ntohs(was) || skb_cow_head(skb, 0))
		return tcp;
	tcp = (struct tcphdr *)((u8 *)ip_hdr(skb) + ip_hdr(skb)->ihl * 4);
	tcp->window = htons(field);
	inet_proto_csum_replace2(&tcp->check, skb, was, tcp->window, false);
	return tcp;
}

#endif
