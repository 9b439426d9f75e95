/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The switch of PFDCT: strict bands for retransmissions, short flows and long flows, each with room of its own. A table of
 * sequence numbers, which all ports of a switch share, recognises retransmissions. Packets of long flows are marked above the sum
 * of the thresholds that the port's long flows announce.
 */
#ifndef BANDS_H
#define BANDS_H

#include <linux/jhash.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <net/inet_ecn.h>
#include "cable.h"
#include "pfdct.h"

#define BANDS 3

/* Priorities, the highest first. */
enum { TAG_AGAIN, TAG_SHORT, TAG_LONG, TAG_NONE };

/* A direction of a connection, and the sequence number behind the highest one that was seen; zeros: a free entry. */
struct seen_entry {
	__be32 from, to;
	__be16 from_port, to_port;
	u32 next;
};

#define WAYS 4

/* Buckets of entries, the one used last comes first. */
struct seen {
	u32 buckets;
	struct seen_entry entries[][WAYS];
};

/* A long flow at a port. */
struct active {
	struct list_head list;
	__be32 from, to;
	__be16 from_port, to_port;
	u32 threshold;		/* in sixteenths of a packet */
	bool is_told;
	u64 last_ps;
};

struct bands {
	u32 count;		/* 0: the port has no bands */
	u32 how;		/* bits of enum port_bands */
	u64 room[BANDS];	/* packets or bytes, as the port's limit */
	u32 initial, told;
	u64 low, high, silence_ps;
	u32 ack_tag;
	struct seen *seen;	/* NULL: nothing is recorded */
	struct list_head active;
	u32 flows, untold;
	u64 sum;
	struct sk_buff_head queues[BANDS];
	u64 bytes[BANDS];	/* on the wire */
};

static inline struct seen *seen_new(u32 entries)
{
	u32 buckets = DIV_ROUND_UP(entries, WAYS);
	struct seen *seen = vzalloc(struct_size(seen, entries, buckets));

	if (seen)
		seen->buckets = buckets;
	return seen;
}

/* Records the numbers from `seq` to before `end`. Returns whether `seq` had been recorded. */
static inline bool seen_record(struct seen *seen, const struct iphdr *ip, const struct tcphdr *tcp, u32 seq, u32 end)
{
	struct seen_entry entry = { ip->saddr, ip->daddr, tcp->source, tcp->dest, end }, *bucket;
	u32 hash = jhash_3words((__force u32)entry.from, (__force u32)entry.to,
				(__force u32)entry.from_port << 16 | (__force u32)entry.to_port, 0);
	bool again = false;
	int way;

	bucket = seen->entries[reciprocal_scale(hash, seen->buckets)];
	for (way = 0; way < WAYS; way++)
		if (!memcmp(&bucket[way], &entry, offsetof(struct seen_entry, next)))
			break;
	if (way < WAYS) {
		again = before(seq, bucket[way].next);
		if (before(end, bucket[way].next))
			entry.next = bucket[way].next;
	} else {
		way = WAYS - 1;
	}
	memmove(bucket + 1, bucket, way * sizeof(*bucket));
	bucket[0] = entry;
	return again;
}

static inline u32 data_of(const struct iphdr *ip, const struct tcphdr *tcp)
{
	return ntohs(ip->tot_len) - ip->ihl * 4 - tcp->doff * 4;
}

static inline bool is_data(const struct iphdr *ip, const struct tcphdr *tcp)
{
	return tcp->fin || data_of(ip, tcp);
}

/* Algorithm 1, lines 1 to 13. Linux's SYN is ECN-capable if the congestion control needs ECN, but no packet of a long flow. */
static inline int bands_tag(struct bands *bands, const struct iphdr *ip, const struct tcphdr *tcp)
{
	u32 seq = ntohl(tcp->seq), numbers = data_of(ip, tcp) + tcp->syn + tcp->fin;
	bool again = bands->seen && numbers && seen_record(bands->seen, ip, tcp, seq, seq + numbers);

	if (!is_data(ip, tcp) && !tcp->syn)
		return TAG_SHORT;
	if (bands->how & BANDS_BY_CODE_POINT) {
		switch (ip->tos & PFDCT_DSCP_MASK) {
		case PFDCT_DSCP_AGAIN:
			return TAG_AGAIN;
		case PFDCT_DSCP_LONG:
			return TAG_LONG;
		case 0:
			return TAG_SHORT;
		}
		return TAG_NONE;
	}
	if (again)
		return TAG_AGAIN;
	return ip->tos & INET_ECN_MASK && !tcp->syn ? TAG_LONG : TAG_SHORT;
}

/* Algorithm 1, lines 14 to 27: with fewer bands the highest priorities share one. */
static inline u32 band_of(const struct bands *bands, int tag)
{
	u32 above = BANDS - bands->count;

	return tag == TAG_NONE || tag < above ? 0 : tag - above;
}

static inline void active_subtract(struct bands *bands, const struct active *flow)
{
	if (flow->is_told)
		bands->sum -= flow->threshold;
	else
		bands->untold--;
}

static inline void active_remove(struct bands *bands, struct active *flow)
{
	active_subtract(bands, flow);
	bands->flows--;
	list_del(&flow->list);
	kfree(flow);
}

/* Counts the port's long flows, in the order of use. A retransmission of a long flow is recognised by its field. */
static inline void active_count(struct bands *bands, const struct iphdr *ip, const struct tcphdr *tcp, int tag,
				u64 field, u64 now)
{
	struct active *flow, *next;

	list_for_each_entry_safe(flow, next, &bands->active, list) {
		if (flow->last_ps + bands->silence_ps > now)
			break;
		active_remove(bands, flow);
	}
	if (tag != TAG_LONG && !(field & PFDCT_LONG))
		return;
	list_for_each_entry(flow, &bands->active, list)
		if (flow->from == ip->saddr && flow->to == ip->daddr && flow->from_port == tcp->source && flow->to_port == tcp->dest)
			goto found;
	flow = bands->flows < U16_MAX ? kzalloc(sizeof(*flow), GFP_ATOMIC) : NULL;
	if (!flow)
		return;
	flow->from = ip->saddr;
	flow->to = ip->daddr;
	flow->from_port = tcp->source;
	flow->to_port = tcp->dest;
	INIT_LIST_HEAD(&flow->list);
	bands->flows++;
	bands->untold++;
found:
	active_subtract(bands, flow);
	if (field & PFDCT_TOLD) {
		flow->threshold = pfdct_threshold(field);
		flow->is_told = true;
	}
	if (flow->is_told)
		bands->sum += flow->threshold;
	else
		bands->untold++;
	flow->last_ps = now;
	list_move_tail(&flow->list, &bands->active);
	if (tcp->fin)
		active_remove(bands, flow);
}

/* The threshold of the long band in sixteenths of a packet: at least a packet, as zero would mark all packets at an idle port. */
static inline u64 bands_threshold(const struct bands *bands)
{
	u64 all = max(bands->flows, 1U), told = bands->sum;

	if (bands->how & BANDS_RESCALE)
		told = div64_u64(told * (all - bands->untold), all);
	told += div64_u64((u64)bands->initial * bands->untold, all);
	return max(clamp(told, bands->low, bands->high), 16ULL);
}

static inline void bands_clear(struct bands *bands)
{
	struct active *flow, *next;
	int band;

	for (band = 0; band < bands->count; band++) {
		__skb_queue_purge(&bands->queues[band]);
		bands->bytes[band] = 0;
	}
	list_for_each_entry_safe(flow, next, &bands->active, list)
		active_remove(bands, flow);
}

static inline struct sk_buff *bands_take(struct bands *bands, u32 *band)
{
	for (*band = 0; *band < bands->count; ++*band)
		if (!skb_queue_empty(&bands->queues[*band]))
			return __skb_dequeue(&bands->queues[*band]);
	return NULL;
}

#endif
