/* SPDX-License-Identifier: GPL-2.0 */
/* What systems share that lower the windows of packets: at hosts, and at switches, where SYNs say how windows are scaled. */
#ifndef WINDOW_H
#define WINDOW_H

#include <linux/ip.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/checksum.h>
#include <net/tcp.h>

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

/* What one end of a connection says in its SYN. */
struct syn {
	u16 mss;		/* 0: it was not seen */
	u8 scale;
	bool scales, stamps;
};

static inline struct syn read_syn(const struct tcphdr *tcp)
{
	const u8 *option = (const u8 *)(tcp + 1), *end = (const u8 *)tcp + tcp->doff * 4;
	struct syn syn = { .mss = TCP_MSS_DEFAULT };

	while (option < end && *option != TCPOPT_EOL) {
		if (*option == TCPOPT_NOP) {
			option++;
			continue;
		}
		if (end - option < 2 || option[1] < 2 || option[1] > end - option)
			break;
		if (option[0] == TCPOPT_MSS && option[1] == TCPOLEN_MSS) {
			syn.mss = max_t(u16, option[2] << 8 | option[3], TCP_MIN_MSS);
		} else if (option[0] == TCPOPT_WINDOW && option[1] == TCPOLEN_WINDOW) {
			syn.scale = min_t(u8, option[2], TCP_MAX_WSCALE);
			syn.scales = true;
		} else if (option[0] == TCPOPT_TIMESTAMP && option[1] == TCPOLEN_TIMESTAMP) {
			syn.stamps = true;
		}
		option += option[1];
	}
	return syn;
}

/* The scale of one end's windows: both have to offer one. */
static inline u8 scale_of(const struct syn *own, const struct syn *peer)
{
	return own->scales && peer->scales ? own->scale : 0;
}

/* Bytes of data in a full segment. */
static inline u32 full_segment(const struct syn *one, const struct syn *other)
{
	return min(one->mss, other->mss) - (one->stamps && other->stamps ? TCPOLEN_TSTAMP_ALIGNED : 0);
}

#endif
