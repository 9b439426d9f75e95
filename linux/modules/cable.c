// SPDX-License-Identifier: GPL-2.0
/*
 * Cables between hosts and switches, and the ports of switches, for a kernel in virtual time.
 *
 * The sending side of an end is a network interface: it cuts the large packets of TCP into segments, keeps them in a ring
 * and puts them on the wire one after the other. A packet arrives at the other end when its last bit has left and the
 * propagation delay has passed. The receiving side is a network interface too: it interrupts its host at intervals, and the
 * host merges what has arrived by then.
 *
 * An end at a switch has a ring of one packet, so all others wait in the queueing discipline: "port", or one of Linux's own.
 *
 * Times on the wire are kept in picoseconds, so that a long burst takes as long as the sum of its bits. What is sent because
 * of an arrival is sent at the time of that arrival, though the kernel hears of it at the next nanosecond or later. Of a
 * departure and an arrival at one instant the departure comes first.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/proc_fs.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>
#include <linux/tcp.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>
#include <net/gso.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>
#include <net/rtnetlink.h>
#include <net/tcp.h>
#include "between.h"
#include "cable.h"
#include "red.h"
#include "bands.h"
#include "sab.h"
#include "sdtcp.h"

/* By how much a timer expires late, at most: it waits for the next nanosecond, and up to two more. */
#define LATE_PS 3000

/* When the packet arrived that a host or a switch works on, in picoseconds since boot; 0: it works on none. */
static u64 arrived_ps;

/* Whether packets carry the field of PFDCT. */
static bool has_fields;

static unsigned int log_entries = 1 << 20;
module_param(log_entries, uint, 0444);
MODULE_PARM_DESC(log_entries, "entries that the log keeps until they are read, a power of two");

/* The log: written by ports, read by one program. */
static struct {
	struct cable_entry *entries;
	u64 written, read, lost;
	spinlock_t lock;
} history;

/* What happens to chosen packets that leave an end, on each connection. */
struct fault {
	struct list_head list;
	struct list_head counts;
	u32 act, packets;
	u32 first_segment, last_segment, first_copy, last_copy;
	u64 offset, mss, at_ps, until_ps, by_ps;
};

/* How often chosen packets of one kind, or one segment, of a connection have left. */
struct count {
	struct list_head list;
	__be32 from, to;
	__be16 from_port, to_port;
	u32 segment, copies;
};

/* The first sequence number that a connection's SYN has brought over an end with faults. */
struct opening {
	struct list_head list;
	__be32 from, to;
	__be16 from_port, to_port;
	u32 first;
};

/* When faults count from, in picoseconds since boot; never before it is told. */
static u64 origin_ps = U64_MAX;

/*
 * A timer of an end. It interrupts, and the rest is done after the interrupt, as with a real interface. An interrupt does not
 * expire the soft timers of TCP, which may wait for another timer to come with.
 */
struct clock {
	struct hrtimer timer;
	struct tasklet_struct rest;
};

struct cable {
	struct net_device *dev;
	u32 number, other_number;
	u64 rate, delay_ps, interval_ns;
	u32 overhead, ring_size;
	bool merges, observed;

	/* sending */
	struct sk_buff_head ring;	/* what waits for the wire, and first what is on it */
	u32 descriptors;
	u64 free_ps;			/* when the wire is free again */
	struct clock sent;
	struct sk_buff_head flight;	/* what has left and has not arrived */
	struct clock arrival;

	/* receiving */
	struct napi_struct napi;
	struct sk_buff_head landed;
	u64 interrupted_ns;
	bool was_interrupted;
	struct clock interrupt;

	struct list_head faults, openings;

	u64 *memory_used;		/* bytes in use of the memory that its port shares, or NULL */
	u64 packets, bytes, drops, marks;
	u64 tagged[TAG_NONE];		/* packets by their class, if its port has bands */
};

/* The ends of all cables, by number. */
static DEFINE_XARRAY(ends);

/* What the sender of a packet notes in it. */
struct note {
	u64 at_ps;		/* when it leaves, then when it arrives */
	u32 completes;		/* bytes of the packet of which it is the last segment; 0: of none */
};

static struct note *note_of(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct note) > sizeof(skb->cb));
	return (struct note *)skb->cb;
}

/* Bytes of a frame on the wire. */
static u32 wire_bytes(const struct cable *cable, const struct sk_buff *skb)
{
	return skb->len - ETH_HLEN + cable->overhead;
}

static u64 now_ps(void)
{
	return arrived_ps ?: ktime_get_ns() * 1000;
}

static ktime_t timer_at(u64 ps)
{
	return ns_to_ktime(DIV_ROUND_UP_ULL(ps, 1000));
}

/* The TCP header of a packet that a network interface sends or receives, or NULL. */
static const struct tcphdr *tcp_of(const struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);

	if (skb->protocol != htons(ETH_P_IP) || ip->protocol != IPPROTO_TCP)
		return NULL;
	return (const struct tcphdr *)((const u8 *)ip + ip->ihl * 4);
}

static bool is_syn(const struct sk_buff *skb)
{
	const struct tcphdr *tcp = tcp_of(skb);

	return tcp && tcp->syn;
}

static void write_entry(const struct cable *cable, enum cable_event event, const struct sk_buff *skb)
{
	const struct tcphdr *tcp = tcp_of(skb);
	struct cable_entry *entry;

	spin_lock_bh(&history.lock);
	if (history.written - history.read >= log_entries) {
		history.lost++;
		goto out;
	}
	entry = &history.entries[history.written++ & (log_entries - 1)];
	*entry = (struct cable_entry){
		.at = ktime_get_ns(), .end = cable->number, .event = event, .bytes = wire_bytes(cable, skb),
	};
	if (!tcp)
		goto out;
	entry->from = ip_hdr(skb)->saddr;
	entry->to = ip_hdr(skb)->daddr;
	entry->from_port = tcp->source;
	entry->to_port = tcp->dest;
	entry->seq = ntohl(tcp->seq);
	entry->flags = tcp_flag_byte(tcp);
out:
	spin_unlock_bh(&history.lock);
}

/*
 * When a packet that is there now may take the wire. A timer expires some nanoseconds late; if a packet that waited lost
 * them, a port would be slower than its rate.
 */
static u64 wire_free_ps(struct cable *cable)
{
	u64 now = now_ps();

	if (arrived_ps)
		return max(now, cable->free_ps);
	return now < cable->free_ps + LATE_PS ? cable->free_ps : now;
}

/* How long a packet takes the wire. */
static u64 wire_time_ps(const struct cable *cable, const struct sk_buff *skb)
{
	return mul_u64_u64_div_u64((u64)wire_bytes(cable, skb) * 8, 1000000000000ULL, cable->rate);
}

/* The packet at the head of the ring takes the wire, not before `from_ps`. */
static void take_wire(struct cable *cable, u64 from_ps)
{
	struct sk_buff *skb = skb_peek(&cable->ring);

	cable->free_ps = max(from_ps, cable->free_ps) + wire_time_ps(cable, skb);
	note_of(skb)->at_ps = cable->free_ps;
	hrtimer_start(&cable->sent.timer, timer_at(cable->free_ps), HRTIMER_MODE_ABS_HARD);
}

static bool is_of(const struct sk_buff *skb, __be32 from, __be32 to, __be16 from_port, __be16 to_port)
{
	const struct tcphdr *tcp = tcp_of(skb);

	return ip_hdr(skb)->saddr == from && ip_hdr(skb)->daddr == to && tcp->source == from_port && tcp->dest == to_port;
}

/* The opening of a packet's connection; a SYN makes one. NULL if its SYN has not been here. */
static struct opening *opening_of(struct cable *cable, const struct sk_buff *skb)
{
	const struct tcphdr *tcp = tcp_of(skb);
	struct opening *opening;

	list_for_each_entry(opening, &cable->openings, list)
		if (is_of(skb, opening->from, opening->to, opening->from_port, opening->to_port))
			goto found;
	if (!tcp->syn)
		return NULL;
	opening = kmalloc(sizeof(*opening), GFP_ATOMIC);
	if (!opening)
		return NULL;
	opening->from = ip_hdr(skb)->saddr;
	opening->to = ip_hdr(skb)->daddr;
	opening->from_port = tcp->source;
	opening->to_port = tcp->dest;
	list_add(&opening->list, &cable->openings);
found:
	if (tcp->syn)
		opening->first = ntohl(tcp->seq);
	return opening;
}

/* Bytes of data in a packet. */
static u32 payload_of(const struct sk_buff *skb)
{
	return ntohs(ip_hdr(skb)->tot_len) - ip_hdr(skb)->ihl * 4 - tcp_of(skb)->doff * 4;
}

/* Whether a fault is about such packets; if about data, `segment` is the number of the chosen segment. */
static bool is_chosen(const struct fault *fault, const struct sk_buff *skb, const struct opening *opening, u32 *segment)
{
	const struct tcphdr *tcp = tcp_of(skb);
	u32 payload = payload_of(skb);
	u64 byte, before;

	*segment = 0;
	switch (fault->packets) {
	case FAULT_DATA:
		if (!payload || !opening)
			return false;
		byte = ntohl(tcp->seq) - opening->first - 1;
		before = byte <= fault->offset ? 0 : DIV_ROUND_UP_ULL(byte - fault->offset, fault->mss);
		*segment = before + 1;
		return fault->offset + before * fault->mss < byte + payload && *segment >= fault->first_segment &&
		       *segment <= fault->last_segment;
	case FAULT_ACK:
		return !payload && tcp->ack && !tcp->syn && !tcp->fin && !tcp->rst;
	case FAULT_SYN:
		return tcp->syn && !tcp->ack;
	case FAULT_SYN_ACK:
		return tcp->syn && tcp->ack;
	case FAULT_FIN:
		return tcp->fin;
	}
	return false;
}

/* Counts a packet; returns which copy it is. */
static u32 count_copy(struct fault *fault, const struct sk_buff *skb, u32 segment)
{
	const struct tcphdr *tcp = tcp_of(skb);
	struct count *count;

	list_for_each_entry(count, &fault->counts, list)
		if (count->segment == segment && is_of(skb, count->from, count->to, count->from_port, count->to_port))
			return ++count->copies;
	count = kmalloc(sizeof(*count), GFP_ATOMIC);
	if (!count)
		return 0;
	count->from = ip_hdr(skb)->saddr;
	count->to = ip_hdr(skb)->daddr;
	count->from_port = tcp->source;
	count->to_port = tcp->dest;
	count->segment = segment;
	count->copies = 1;
	list_add(&count->list, &fault->counts);
	return 1;
}

static bool mark(struct cable *cable, struct sk_buff *skb);

/* Does to a packet that has left what faults do to it. Returns whether it is lost. */
static bool suffers(struct cable *cable, struct sk_buff *skb)
{
	u64 arrives = note_of(skb)->at_ps;
	struct opening *opening;
	struct fault *fault;
	bool lost = false;
	u32 segment, copy;

	if (list_empty(&cable->faults) || !tcp_of(skb))
		return false;
	opening = opening_of(cable, skb);
	if (origin_ps == U64_MAX || arrives < origin_ps)
		return false;
	list_for_each_entry(fault, &cable->faults, list) {
		if (arrives - origin_ps < fault->at_ps || arrives - origin_ps >= fault->until_ps)
			continue;
		if (!is_chosen(fault, skb, opening, &segment))
			continue;
		copy = count_copy(fault, skb, segment);
		if (copy < fault->first_copy || copy > fault->last_copy)
			continue;
		if (fault->act == FAULT_DROP)
			lost = true;
		else if (fault->act == FAULT_DELAY)
			note_of(skb)->at_ps += fault->by_ps;
		else
			mark(cable, skb);
	}
	return lost;
}

/* Puts a packet among those that are under way, in the order of their arrivals. */
static void fly(struct cable *cable, struct sk_buff *skb)
{
	struct sk_buff *before = skb_peek_tail(&cable->flight);

	while (before && note_of(before)->at_ps > note_of(skb)->at_ps)
		before = skb_queue_is_first(&cable->flight, before) ? NULL : skb_queue_prev(&cable->flight, before);
	if (before)
		__skb_queue_after(&cable->flight, before, skb);
	else
		__skb_queue_head(&cable->flight, skb);
	if (skb_peek(&cable->flight) == skb)
		hrtimer_start(&cable->arrival.timer, timer_at(note_of(skb)->at_ps), HRTIMER_MODE_ABS_HARD);
}

/*
 * Whether Linux limits the bytes in the ring (BQL). It then takes several packets at once out of a queueing discipline, and
 * keeps those aside for which the ring has no room. A switch's port has room for one, and counts what it holds itself.
 */
static bool limits_bytes(const struct cable *cable)
{
	return cable->ring_size > 1;
}

/* A packet has left: it is under way to the other end, and the next one takes the wire. */
static void on_sent(struct tasklet_struct *rest)
{
	struct cable *cable = container_of(rest, struct cable, sent.rest);
	struct sk_buff *skb = __skb_dequeue(&cable->ring);
	u32 completes = note_of(skb)->completes;

	cable->packets++;
	cable->bytes += wire_bytes(cable, skb);
	if (cable->memory_used)
		*cable->memory_used -= wire_bytes(cable, skb);
	if (cable->observed)
		write_entry(cable, EVENT_SENT, skb);
	/* Here TCP learns that its packet has left the host. */
	skb_orphan(skb);
	note_of(skb)->at_ps += cable->delay_ps;
	if (suffers(cable, skb)) {
		write_entry(cable, EVENT_FAULT, skb);
		kfree_skb(skb);
	} else {
		fly(cable, skb);
	}
	if (!skb_queue_empty(&cable->ring))
		take_wire(cable, cable->free_ps);
	if (completes) {
		cable->descriptors--;
		if (limits_bytes(cable))
			netdev_completed_queue(cable->dev, 1, completes);
		if (netif_queue_stopped(cable->dev))
			netif_wake_queue(cable->dev);
	}
}

/* Keeps what has arrived for the host, or for the routing of a switch, until it looks. */
static void receive(struct cable *cable, struct sk_buff *skb)
{
	u64 now = ktime_get_ns(), next = cable->interrupted_ns + cable->interval_ns;
	bool pending = !skb_queue_empty(&cable->landed);

	__skb_queue_tail(&cable->landed, skb);
	if (pending)
		return;
	if (!cable->interval_ns || !cable->was_interrupted || next <= now) {
		cable->was_interrupted = true;
		cable->interrupted_ns = now;
		napi_schedule(&cable->napi);
	} else {
		hrtimer_start(&cable->interrupt.timer, ns_to_ktime(next), HRTIMER_MODE_ABS_HARD);
	}
}

static void on_interrupt(struct tasklet_struct *rest)
{
	struct cable *cable = container_of(rest, struct cable, interrupt.rest);

	cable->interrupted_ns = ktime_get_ns();
	napi_schedule(&cable->napi);
}

/* Tells a connection what a packet's field says; of that the packet itself does not come so far. */
static void hear_field(struct cable *cable, struct sk_buff *skb)
{
	u64 field = pfdct_read(skb, skb_mac_header(skb));
	const struct tcphdr *tcp = tcp_of(skb);
	const struct iphdr *ip = ip_hdr(skb);
	struct net *net = dev_net(cable->dev);
	struct pfdct_wire *wire;
	struct sock *sk;

	if (!field || !tcp)
		return;
	sk = inet_lookup_established(net, net->ipv4.tcp_death_row.hashinfo, ip->saddr, tcp->source, ip->daddr, tcp->dest,
				     cable->dev->ifindex);
	if (!sk)
		return;
	wire = pfdct_wire_of(sk);
	if (wire)
		pfdct_hear(wire, field, is_data(ip, tcp));
	sock_gen_put(sk);
}

static int poll_landed(struct napi_struct *napi, int budget)
{
	struct cable *cable = container_of(napi, struct cable, napi);
	struct sk_buff *skb;
	int done = 0;

	while (done < budget && (skb = __skb_dequeue(&cable->landed))) {
		if (!cable->interval_ns)
			arrived_ps = note_of(skb)->at_ps;
		memset(skb->cb, 0, sizeof(skb->cb));
		if (has_fields && limits_bytes(cable))
			hear_field(cable, skb);
		/* Programs of a switch get whole packets. */
		if (sdtcp_is_used() && skb->ip_summed == CHECKSUM_PARTIAL && !limits_bytes(cable) && skb_checksum_help(skb)) {
			kfree_skb(skb);
			continue;
		}
		if (cable->merges)
			napi_gro_receive(napi, skb);
		else
			netif_receive_skb(skb);
		done++;
	}
	if (done < budget)
		napi_complete_done(napi, done);
	arrived_ps = 0;
	return done;
}

static void on_arrival(struct tasklet_struct *rest)
{
	struct cable *cable = container_of(rest, struct cable, arrival.rest);
	struct cable *other = xa_load(&ends, cable->other_number);
	u64 now = ktime_get_ns() * 1000;
	struct sk_buff *skb;

	while ((skb = skb_peek(&cable->flight)) && note_of(skb)->at_ps <= now) {
		__skb_unlink(skb, &cable->flight);
		if (!other || !netif_running(other->dev) || ____dev_forward_skb(other->dev, skb, true)) {
			kfree_skb(skb);
			continue;
		}
		skb->protocol = eth_type_trans(skb, other->dev);
		/* A cable has one other end, whatever address Open vSwitch has left in the frame. */
		skb->pkt_type = PACKET_HOST;
		receive(other, skb);
	}
	if (skb)
		hrtimer_start(&cable->arrival.timer, timer_at(note_of(skb)->at_ps), HRTIMER_MODE_ABS_HARD);
}

/* The field of a packet that a host sends. */
static u64 field_of(struct cable *cable, const struct sk_buff *skb)
{
	struct pfdct_wire *wire = pfdct_wire_of(skb->sk);
	const struct tcphdr *tcp = tcp_of(skb);

	if (!wire || !tcp)
		return 0;
	wire->capacity = div_u64(cable->rate, 8 * (cable->dev->mtu + cable->overhead));
	return pfdct_field_of(wire, tcp->fin || skb->len > skb_transport_offset(skb) + tcp->doff * 4);
}

/* Puts a packet into the ring, in segments if it is a large one. */
static netdev_tx_t cable_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct cable *cable = netdev_priv(dev);
	struct sk_buff *segments = skb, *next, *last = NULL;
	bool idle = skb_queue_empty(&cable->ring);
	bool writes = has_fields && limits_bytes(cable);
	u64 field = writes ? field_of(cable, skb) : 0;
	u32 bytes = skb->len;

	if (skb_is_gso(skb)) {
		segments = skb_gso_segment(skb, dev->features & ~NETIF_F_GSO_MASK);
		if (IS_ERR_OR_NULL(segments)) {
			kfree_skb(skb);
			return NETDEV_TX_OK;
		}
		consume_skb(skb);
	}
	if (limits_bytes(cable))
		netdev_sent_queue(dev, bytes);
	cable->descriptors++;
	skb_list_walk_safe(segments, skb, next) {
		skb_mark_not_on_list(skb);
		if (writes)
			pfdct_write(skb, skb->data, field);
		note_of(skb)->completes = 0;
		__skb_queue_tail(&cable->ring, skb);
		if (skb->sk && is_syn(skb))
			write_entry(cable, EVENT_OPENED, skb);
		last = skb;
	}
	note_of(last)->completes = bytes;
	if (cable->descriptors >= cable->ring_size)
		netif_stop_queue(dev);
	if (idle)
		take_wire(cable, wire_free_ps(cable));
	return NETDEV_TX_OK;
}

static void stop_clock(struct clock *clock)
{
	/* The rest may set the timer again. */
	do {
		hrtimer_cancel(&clock->timer);
		tasklet_kill(&clock->rest);
	} while (hrtimer_active(&clock->timer));
}

static int cable_open(struct net_device *dev)
{
	struct cable *cable = netdev_priv(dev);

	napi_enable(&cable->napi);
	netif_carrier_on(dev);
	netif_start_queue(dev);
	return 0;
}

static int cable_stop(struct net_device *dev)
{
	struct cable *cable = netdev_priv(dev);

	netif_stop_queue(dev);
	stop_clock(&cable->sent);
	stop_clock(&cable->arrival);
	stop_clock(&cable->interrupt);
	napi_disable(&cable->napi);
	__skb_queue_purge(&cable->ring);
	__skb_queue_purge(&cable->flight);
	__skb_queue_purge(&cable->landed);
	cable->descriptors = 0;
	netdev_reset_queue(dev);
	return 0;
}

static void cable_uninit(struct net_device *dev)
{
	struct cable *cable = netdev_priv(dev);
	struct opening *opening, *next_opening;
	struct fault *fault, *next;
	struct count *count, *next_count;

	list_for_each_entry_safe(fault, next, &cable->faults, list) {
		list_for_each_entry_safe(count, next_count, &fault->counts, list)
			kfree(count);
		kfree(fault);
	}
	list_for_each_entry_safe(opening, next_opening, &cable->openings, list)
		kfree(opening);
	xa_erase(&ends, cable->number);
	netif_napi_del(&cable->napi);
}

static const struct net_device_ops cable_ops = {
	.ndo_open = cable_open,
	.ndo_stop = cable_stop,
	.ndo_uninit = cable_uninit,
	.ndo_start_xmit = cable_xmit,
	.ndo_set_mac_address = eth_mac_addr,
};

static int cable_settings(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	const struct cable *cable = netdev_priv(dev);

	settings->base.speed = div_u64(cable->rate, 1000000);
	settings->base.duplex = DUPLEX_FULL;
	return 0;
}

static const struct ethtool_ops cable_ethtool_ops = {
	.get_link_ksettings = cable_settings,
};

static enum hrtimer_restart on_clock(struct hrtimer *timer)
{
	tasklet_hi_schedule(&container_of(timer, struct clock, timer)->rest);
	return HRTIMER_NORESTART;
}

static void init_clock(struct clock *clock, void (*rest)(struct tasklet_struct *))
{
	hrtimer_init(&clock->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	clock->timer.function = on_clock;
	tasklet_setup(&clock->rest, rest);
}

static void cable_setup(struct net_device *dev)
{
	struct cable *cable = netdev_priv(dev);
	netdev_features_t features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_TSO | NETIF_F_TSO_ECN;

	ether_setup(dev);
	dev->netdev_ops = &cable_ops;
	dev->ethtool_ops = &cable_ethtool_ops;
	dev->needs_free_netdev = true;
	dev->flags |= IFF_NOARP;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	dev->features |= features;
	dev->hw_features |= features;
	dev->max_mtu = ETH_MAX_MTU;
	cable->dev = dev;
	__skb_queue_head_init(&cable->ring);
	__skb_queue_head_init(&cable->flight);
	__skb_queue_head_init(&cable->landed);
	INIT_LIST_HEAD(&cable->faults);
	INIT_LIST_HEAD(&cable->openings);
	init_clock(&cable->sent, on_sent);
	init_clock(&cable->arrival, on_arrival);
	init_clock(&cable->interrupt, on_interrupt);
}

static const struct nla_policy cable_policy[CABLE_LAST + 1] = {
	[CABLE_END] = { .type = NLA_U32 },
	[CABLE_OTHER_END] = { .type = NLA_U32 },
	[CABLE_RATE] = NLA_POLICY_MIN(NLA_U64, 1),
	[CABLE_DELAY] = { .type = NLA_U64 },
	[CABLE_OVERHEAD] = { .type = NLA_U32 },
	[CABLE_RING] = NLA_POLICY_MIN(NLA_U32, 1),
	[CABLE_INTERVAL] = { .type = NLA_U64 },
	[CABLE_MERGES] = { .type = NLA_U8 },
	[CABLE_OBSERVED] = { .type = NLA_U8 },
};

static int cable_newlink(struct net *net, struct net_device *dev, struct nlattr *tb[], struct nlattr *data[],
			 struct netlink_ext_ack *extack)
{
	struct cable *cable = netdev_priv(dev);
	int error, attribute;

	for (attribute = CABLE_END; attribute <= CABLE_LAST; attribute++) {
		if (!data || !data[attribute]) {
			NL_SET_ERR_MSG(extack, "a cable needs all its attributes");
			return -EINVAL;
		}
	}
	cable->number = nla_get_u32(data[CABLE_END]);
	cable->other_number = nla_get_u32(data[CABLE_OTHER_END]);
	cable->rate = nla_get_u64(data[CABLE_RATE]);
	cable->delay_ps = nla_get_u64(data[CABLE_DELAY]);
	cable->overhead = nla_get_u32(data[CABLE_OVERHEAD]);
	cable->ring_size = nla_get_u32(data[CABLE_RING]);
	cable->interval_ns = nla_get_u64(data[CABLE_INTERVAL]);
	cable->merges = nla_get_u8(data[CABLE_MERGES]);
	cable->observed = nla_get_u8(data[CABLE_OBSERVED]);
	if (!tb[IFLA_ADDRESS])
		eth_hw_addr_random(dev);
	netif_napi_add(dev, &cable->napi, poll_landed);
	error = xa_insert(&ends, cable->number, cable, GFP_KERNEL);
	if (error) {
		NL_SET_ERR_MSG(extack, "there is an end with this number");
		netif_napi_del(&cable->napi);
		return error;
	}
	error = register_netdevice(dev);
	if (error)
		xa_erase(&ends, cable->number);
	return error;
}

static struct rtnl_link_ops cable_link_ops __read_mostly = {
	.kind = "cable",
	.priv_size = sizeof(struct cable),
	.setup = cable_setup,
	.policy = cable_policy,
	.maxtype = CABLE_LAST,
	.newlink = cable_newlink,
};

/* The queue of a switch's port. */
struct port {
	u64 limit, threshold, stop;
	enum port_limit limit_kind;
	u32 threshold_kind;
	struct between between;
	u32 pool, alpha;
	u64 memory;
	u64 waiting_bytes;	/* on the wire, without the packet that is on it */
	struct red red;
	struct bands bands;
	struct sab_port sab;
};

/* Bytes in use of each shared memory, by its number. */
#define POOLS 1024
static u64 pool_used[POOLS];
/* The table of sequence numbers of each switch, which has the number of its memory. */
static struct seen *seen_of[POOLS];
/* The flows of each switch, if it allocates windows. */
static struct sab *sab_of[POOLS];

/* What a port holds, the packet on the wire included unless its last bit leaves just now, and the bytes of that one. */
struct backlog {
	u64 packets, bytes, leaving_bytes;
};

static struct backlog backlog_of(struct Qdisc *sch)
{
	const struct port *port = qdisc_priv(sch);
	const struct cable *cable = netdev_priv(qdisc_dev(sch));
	struct sk_buff *leaving;
	struct backlog backlog = { .packets = sch->q.qlen, .bytes = port->waiting_bytes };

	skb_queue_walk(&cable->ring, leaving) {
		if (arrived_ps && note_of(leaving)->at_ps <= arrived_ps) {
			backlog.leaving_bytes += wire_bytes(cable, leaving);
			continue;
		}
		backlog.packets++;
		backlog.bytes += wire_bytes(cable, leaving);
	}
	return backlog;
}

static bool has_room(const struct port *port, const struct backlog *backlog, u32 bytes)
{
	u64 free;

	switch (port->limit_kind) {
	case LIMIT_PACKETS:
		return backlog->packets < port->limit;
	case LIMIT_BYTES:
		return backlog->bytes + bytes <= port->limit;
	case LIMIT_BYTES_BELOW:
		return backlog->bytes < port->limit;
	case LIMIT_SHARED:
		free = port->memory - min(port->memory, pool_used[port->pool] - backlog->leaving_bytes);
		return bytes <= free && backlog->bytes << 16 < free * port->alpha;
	}
	return false;
}

static bool is_at_threshold(const struct port *port, const struct backlog *backlog)
{
	u64 queue = port->threshold_kind & THRESHOLD_BYTES ? backlog->bytes : backlog->packets;

	if (!port->threshold)
		return false;
	return port->threshold_kind & THRESHOLD_ABOVE ? queue > port->threshold : queue >= port->threshold;
}

static bool is_above_stop(const struct port *port, const struct backlog *backlog)
{
	return (port->threshold_kind & THRESHOLD_STOP_BYTES ? backlog->bytes : backlog->packets) >= port->stop;
}

/* Whether a packet is marked, by two thresholds, that finds `found` and has `bytes`. */
static bool is_between(struct port *port, const struct backlog *found, u32 bytes)
{
	struct backlog with = { .packets = found->packets + 1, .bytes = found->bytes + bytes };

	return between_marks(&port->between, is_at_threshold(port, found), is_at_threshold(port, &with),
			     is_above_stop(port, found), is_above_stop(port, &with));
}

/* Marks a packet if its sender and receiver understand that. Returns whether it carries a mark. */
static bool mark(struct cable *cable, struct sk_buff *skb)
{
	if (INET_ECN_is_ce(ip_hdr(skb)->tos))
		return true;
	if (!INET_ECN_set_ce(skb))
		return false;
	cable->marks++;
	write_entry(cable, EVENT_MARKED, skb);
	return true;
}

/* Random early detection marks a packet if it should. Returns whether the packet is dropped. */
static bool is_refused(struct port *port, struct cable *cable, struct sk_buff *skb, const struct backlog *backlog)
{
	struct red *red = &port->red;
	enum red_notice notice;

	if (!(red->how & RED_ON))
		return false;
	notice = red_on_arrival(red, now_ps(), backlog->packets, wire_time_ps(cable, skb));
	if (notice == RED_NONE)
		return false;
	if (notice == RED_FORCED && red->how & RED_HARD_DROP)
		goto drop;
	if (mark(cable, skb) || !(red->how & RED_DROP))
		return false;
drop:
	red_on_drop(red, now_ps());
	return true;
}

/* Packets that wait in a band. One that takes the wire just now does not wait any more. */
static u64 waiting_in(struct Qdisc *sch, u32 band, u64 *bytes)
{
	const struct port *port = qdisc_priv(sch);
	const struct cable *cable = netdev_priv(qdisc_dev(sch));
	const struct sk_buff *leaving = skb_peek(&cable->ring), *next;
	u64 packets = skb_queue_len(&port->bands.queues[band]);
	u32 first = 0;

	*bytes = port->bands.bytes[band];
	if (!leaving || !arrived_ps || note_of((struct sk_buff *)leaving)->at_ps > arrived_ps)
		return packets;
	while (first < band && skb_queue_empty(&port->bands.queues[first]))
		first++;
	next = first == band ? skb_peek(&port->bands.queues[band]) : NULL;
	if (!next)
		return packets;
	*bytes -= wire_bytes(cable, next);
	return packets - 1;
}

/* A packet arrives at a port with bands. Returns its band, or -1 if that has no room. The packet may be marked. */
static int into_band(struct Qdisc *sch, struct sk_buff *skb, const struct backlog *backlog, bool is_full)
{
	struct port *port = qdisc_priv(sch);
	struct bands *bands = &port->bands;
	struct cable *cable = netdev_priv(qdisc_dev(sch));
	const struct tcphdr *tcp = tcp_of(skb);
	const struct iphdr *ip = ip_hdr(skb);
	u64 packets, bytes, field = pfdct_read(skb, skb->data);
	int tag = TAG_SHORT, band;
	bool is_ack;

	if (!tcp)
		return is_full ? -1 : band_of(bands, tag);
	is_ack = !is_data(ip, tcp) && tcp->ack;
	/* Before it can be dropped: otherwise the retransmission of a packet dropped here would look new. */
	tag = bands_tag(bands, ip, tcp);
	if (is_data(ip, tcp))
		active_count(bands, ip, tcp, tag, field, now_ps());
	band = band_of(bands, is_ack ? bands->ack_tag : tag);
	packets = waiting_in(sch, band, &bytes);
	if (bands->count > 1 && port->limit_kind == LIMIT_PACKETS)
		is_full |= packets >= bands->room[band];
	else if (bands->count > 1)
		is_full |= bytes + wire_bytes(cable, skb) > bands->room[band];
	if (is_full)
		return -1;
	if (tag < TAG_NONE)
		cable->tagged[tag]++;
	if (!is_data(ip, tcp))
		return band;
	if (field)
		pfdct_write(skb, skb->data, pfdct_through(field, bands->flows, bands->told));
	if (bands->how & BANDS_BY_PORT)
		packets = backlog->packets;
	if (tag == TAG_LONG && packets * 16 > bands_threshold(bands))
		mark(cable, skb);
	return band;
}

static int port_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct port *port = qdisc_priv(sch);
	struct cable *cable = netdev_priv(qdisc_dev(sch));
	struct backlog backlog = backlog_of(sch);
	u32 bytes = wire_bytes(cable, skb);
	bool is_full = !has_room(port, &backlog, bytes);
	int band = 0;

	/* Also what is dropped then has come to the port. */
	if (port->sab.sab && tcp_of(skb))
		sab_pass(&port->sab, skb, (struct tcphdr *)tcp_of(skb));
	sdtcp_on_arrival(cable->number, skb, backlog.packets + 1, backlog.bytes + bytes, cable->rate, now_ps());
	if (port->bands.count) {
		band = into_band(sch, skb, &backlog, is_full);
		is_full = band < 0;
	}
	if (is_full) {
		cable->drops++;
		write_entry(cable, EVENT_DROPPED, skb);
		return qdisc_drop(skb, sch, to_free);
	}
	if (is_refused(port, cable, skb, &backlog)) {
		cable->drops++;
		write_entry(cable, EVENT_REFUSED, skb);
		return qdisc_drop(skb, sch, to_free);
	}
	if (port->threshold_kind & THRESHOLD_DOUBLE ? is_between(port, &backlog, bytes) :
	    !(port->threshold_kind & THRESHOLD_LEAVING) && is_at_threshold(port, &backlog))
		mark(cable, skb);
	port->waiting_bytes += bytes;
	pool_used[port->pool] += bytes;
	if (cable->observed)
		write_entry(cable, EVENT_QUEUED, skb);
	if (!port->bands.count)
		return qdisc_enqueue_tail(skb, sch);
	__skb_queue_tail(&port->bands.queues[band], skb);
	port->bands.bytes[band] += bytes;
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *out_of_band(struct Qdisc *sch)
{
	struct port *port = qdisc_priv(sch);
	u32 band;
	struct sk_buff *skb = bands_take(&port->bands, &band);

	if (!skb)
		return NULL;
	port->bands.bytes[band] -= wire_bytes(netdev_priv(qdisc_dev(sch)), skb);
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_bstats_update(sch, skb);
	sch->q.qlen--;
	return skb;
}

static struct sk_buff *port_dequeue(struct Qdisc *sch)
{
	struct port *port = qdisc_priv(sch);
	struct cable *cable = netdev_priv(qdisc_dev(sch));
	struct sk_buff *skb = port->bands.count ? out_of_band(sch) : qdisc_dequeue_head(sch);
	struct backlog left;

	if (!skb)
		return NULL;
	port->waiting_bytes -= wire_bytes(cable, skb);
	left = backlog_of(sch);
	if (port->threshold_kind & THRESHOLD_LEAVING && is_at_threshold(port, &left))
		mark(cable, skb);
	if (!sch->q.qlen)
		red_on_empty(&port->red, wire_free_ps(cable) + wire_time_ps(cable, skb));
	return skb;
}

static void port_reset(struct Qdisc *sch)
{
	struct port *port = qdisc_priv(sch);

	pool_used[port->pool] -= port->waiting_bytes;
	port->waiting_bytes = 0;
	bands_clear(&port->bands);
	qdisc_reset_queue(sch);
}

static const struct nla_policy port_policy[PORT_LAST + 1] = {
	[PORT_LIMIT] = { .type = NLA_U64 },
	[PORT_LIMIT_KIND] = NLA_POLICY_MAX(NLA_U32, LIMIT_SHARED),
	[PORT_THRESHOLD] = { .type = NLA_U64 },
	[PORT_THRESHOLD_KIND] = { .type = NLA_U32 },
	[PORT_STOP] = { .type = NLA_U64 },
	[PORT_POOL] = NLA_POLICY_MAX(NLA_U32, POOLS - 1),
	[PORT_MEMORY] = { .type = NLA_U64 },
	[PORT_ALPHA] = { .type = NLA_U32 },
	[PORT_RED] = { .type = NLA_U32 },
	[PORT_RED_MIN] = { .type = NLA_U64 },
	[PORT_RED_MAX] = { .type = NLA_U64 },
	[PORT_RED_WEIGHT] = { .type = NLA_U64 },
	[PORT_RED_DECAY] = { .type = NLA_U64 },
	[PORT_RED_MAX_P] = { .type = NLA_U64 },
	[PORT_RED_SEED] = { .type = NLA_U64 },
	[PORT_BANDS] = NLA_POLICY_MAX(NLA_U32, BANDS),
	[PORT_BANDS_HOW] = { .type = NLA_U32 },
	[PORT_ROOM_1] = { .type = NLA_U64 },
	[PORT_ROOM_2] = { .type = NLA_U64 },
	[PORT_ROOM_3] = { .type = NLA_U64 },
	[PORT_INITIAL] = { .type = NLA_U32 },
	[PORT_LOWEST] = { .type = NLA_U64 },
	[PORT_HIGHEST] = { .type = NLA_U64 },
	[PORT_TOLD] = { .type = NLA_U32 },
	[PORT_SILENCE] = { .type = NLA_U64 },
	[PORT_ACK_TAG] = NLA_POLICY_MAX(NLA_U32, TAG_LONG),
	[PORT_SEEN] = { .type = NLA_U32 },
	[PORT_PIPE] = { .type = NLA_U64 },
	[PORT_LEAST] = { .type = NLA_U32 },
	[PORT_KEEPS] = { .type = NLA_U32 },
};

/* Gives a port its bands. */
static int init_bands(struct port *port, struct nlattr *tb[])
{
	u32 band, entries = nla_get_u32(tb[PORT_SEEN]);

	port->bands = (struct bands){
		.count = nla_get_u32(tb[PORT_BANDS]),
		.how = nla_get_u32(tb[PORT_BANDS_HOW]),
		.room = { nla_get_u64(tb[PORT_ROOM_1]), nla_get_u64(tb[PORT_ROOM_2]), nla_get_u64(tb[PORT_ROOM_3]) },
		.initial = nla_get_u32(tb[PORT_INITIAL]),
		.low = nla_get_u64(tb[PORT_LOWEST]),
		.high = nla_get_u64(tb[PORT_HIGHEST]),
		.told = min_t(u32, nla_get_u32(tb[PORT_TOLD]), U16_MAX),
		.silence_ps = nla_get_u64(tb[PORT_SILENCE]),
		.ack_tag = nla_get_u32(tb[PORT_ACK_TAG]),
	};
	INIT_LIST_HEAD(&port->bands.active);
	for (band = 0; band < BANDS; band++)
		__skb_queue_head_init(&port->bands.queues[band]);
	if (!port->bands.count)
		return 0;
	has_fields = true;
	if (entries && !seen_of[port->pool])
		seen_of[port->pool] = seen_new(entries);
	port->bands.seen = seen_of[port->pool];
	return entries && !port->bands.seen ? -ENOMEM : 0;
}

/* Lets a port allocate windows. */
static int init_sab(struct port *port, struct nlattr *tb[])
{
	port->sab.pipe = nla_get_u64(tb[PORT_PIPE]);
	port->sab.least = max(nla_get_u32(tb[PORT_LEAST]), 1U);
	port->sab.keeps = nla_get_u32(tb[PORT_KEEPS]);
	if (!port->sab.pipe)
		return 0;
	if (!sab_of[port->pool])
		sab_of[port->pool] = sab_new();
	port->sab.sab = sab_of[port->pool];
	return port->sab.sab ? 0 : -ENOMEM;
}

static int port_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct port *port = qdisc_priv(sch);
	struct nlattr *tb[PORT_LAST + 1];
	int error, attribute;

	if (!opt || qdisc_dev(sch)->rtnl_link_ops != &cable_link_ops) {
		NL_SET_ERR_MSG(extack, "a port needs attributes, and the end of a cable");
		return -EINVAL;
	}
	error = nla_parse_nested_deprecated(tb, PORT_LAST, opt, port_policy, extack);
	if (error)
		return error;
	for (attribute = PORT_LIMIT; attribute <= PORT_LAST; attribute++) {
		if (!tb[attribute]) {
			NL_SET_ERR_MSG(extack, "a port needs all its attributes");
			return -EINVAL;
		}
	}
	port->limit = nla_get_u64(tb[PORT_LIMIT]);
	port->limit_kind = nla_get_u32(tb[PORT_LIMIT_KIND]);
	port->threshold = nla_get_u64(tb[PORT_THRESHOLD]);
	port->threshold_kind = nla_get_u32(tb[PORT_THRESHOLD_KIND]);
	port->stop = nla_get_u64(tb[PORT_STOP]);
	port->pool = nla_get_u32(tb[PORT_POOL]);
	port->memory = nla_get_u64(tb[PORT_MEMORY]);
	port->alpha = nla_get_u32(tb[PORT_ALPHA]);
	port->red = (struct red){
		.how = nla_get_u32(tb[PORT_RED]),
		.min = nla_get_u64(tb[PORT_RED_MIN]),
		.max = nla_get_u64(tb[PORT_RED_MAX]),
		.weight = nla_get_u64(tb[PORT_RED_WEIGHT]),
		.decay = nla_get_u64(tb[PORT_RED_DECAY]),
		.max_p = nla_get_u64(tb[PORT_RED_MAX_P]),
		.random = nla_get_u64(tb[PORT_RED_SEED]),
		.was_idle_ps = RED_BUSY,
	};
	((struct cable *)netdev_priv(qdisc_dev(sch)))->memory_used = &pool_used[port->pool];
	error = init_bands(port, tb);
	return error ?: init_sab(port, tb);
}

static void port_destroy(struct Qdisc *sch)
{
	struct port *port = qdisc_priv(sch);

	sab_clear(port->sab.sab, &port->sab);
}

static struct Qdisc_ops port_ops __read_mostly = {
	.id = "port",
	.priv_size = sizeof(struct port),
	.enqueue = port_enqueue,
	.dequeue = port_dequeue,
	.peek = qdisc_peek_head,
	.init = port_init,
	.reset = port_reset,
	.destroy = port_destroy,
	.owner = THIS_MODULE,
};

/* Gives entries of the log once; if some are missing, first an entry that tells how many. */
static ssize_t log_read(struct file *file, char __user *to, size_t size, loff_t *position)
{
	struct cable_entry lost = { .at = ktime_get_ns(), .event = EVENT_LOST };
	size_t room = size / sizeof(lost), done = 0;

	if (history.lost && room) {
		lost.bytes = min_t(u64, history.lost, U16_MAX);
		if (copy_to_user(to, &lost, sizeof(lost)))
			return -EFAULT;
		history.lost = 0;
		done++;
	}
	while (done < room && history.read < history.written) {
		u64 first = history.read & (log_entries - 1);
		u64 count = min3((u64)room - done, history.written - history.read, log_entries - first);

		if (copy_to_user(to + done * sizeof(lost), &history.entries[first], count * sizeof(lost)))
			return -EFAULT;
		history.read += count;
		done += count;
	}
	return done * sizeof(lost);
}

static const struct proc_ops log_ops = {
	.proc_read = log_read,
	.proc_lseek = noop_llseek,
};

static int show_ends(struct seq_file *file, void *unused)
{
	struct cable *cable;
	unsigned long number;

	xa_for_each(&ends, number, cable)
		seq_printf(file, "%lu %llu %llu %llu %llu %llu %llu %llu\n", number, cable->packets, cable->bytes,
			   cable->drops, cable->marks, cable->tagged[TAG_AGAIN], cable->tagged[TAG_SHORT],
			   cable->tagged[TAG_LONG]);
	return 0;
}

static ssize_t faults_write(struct file *file, const char __user *from, size_t size, loff_t *position)
{
	struct cable *cable;
	struct fault *fault;
	char line[256];
	u64 origin;
	u32 end;

	if (size >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, from, size))
		return -EFAULT;
	line[size] = 0;
	if (sscanf(line, "origin %llu", &origin) == 1) {
		origin_ps = origin * 1000;
		return size;
	}
	fault = kzalloc(sizeof(*fault), GFP_KERNEL);
	if (!fault)
		return -ENOMEM;
	INIT_LIST_HEAD(&fault->counts);
	if (sscanf(line, "%u %u %u %u %u %u %u %llu %llu %llu %llu %llu", &end, &fault->act, &fault->packets,
		   &fault->first_segment, &fault->last_segment, &fault->first_copy, &fault->last_copy, &fault->offset,
		   &fault->mss, &fault->at_ps, &fault->until_ps, &fault->by_ps) != 12)
		goto invalid;
	cable = xa_load(&ends, end);
	if (!cable || !fault->mss)
		goto invalid;
	list_add_tail(&fault->list, &cable->faults);
	return size;
invalid:
	kfree(fault);
	return -EINVAL;
}

static const struct proc_ops faults_ops = {
	.proc_write = faults_write,
	.proc_lseek = noop_llseek,
};

static int __init cable_register(void)
{
	int error;

	if (!is_power_of_2(log_entries))
		return -EINVAL;
	history.entries = vmalloc_array(log_entries, sizeof(*history.entries));
	if (!history.entries)
		return -ENOMEM;
	spin_lock_init(&history.lock);
	error = -ENOMEM;
	if (!proc_create("cable_log", 0400, NULL, &log_ops))
		goto free;
	if (!proc_create_single("cable_ends", 0400, NULL, show_ends))
		goto remove_log;
	if (!proc_create("cable_faults", 0200, NULL, &faults_ops))
		goto remove_ends;
	error = sdtcp_register();
	if (error)
		goto remove_faults;
	error = register_qdisc(&port_ops);
	if (error)
		goto unregister_sdtcp;
	error = rtnl_link_register(&cable_link_ops);
	if (error)
		goto unregister;
	return 0;
unregister:
	unregister_qdisc(&port_ops);
unregister_sdtcp:
	sdtcp_unregister();
remove_faults:
	remove_proc_entry("cable_faults", NULL);
remove_ends:
	remove_proc_entry("cable_ends", NULL);
remove_log:
	remove_proc_entry("cable_log", NULL);
free:
	vfree(history.entries);
	return error;
}

static void __exit cable_unregister(void)
{
	u32 pool;

	rtnl_link_unregister(&cable_link_ops);
	unregister_qdisc(&port_ops);
	sdtcp_unregister();
	for (pool = 0; pool < POOLS; pool++) {
		vfree(seen_of[pool]);
		sab_clear(sab_of[pool], NULL);
		kfree(sab_of[pool]);
	}
	remove_proc_entry("cable_faults", NULL);
	remove_proc_entry("cable_ends", NULL);
	remove_proc_entry("cable_log", NULL);
	vfree(history.entries);
}

module_init(cable_register);
module_exit(cable_unregister);
MODULE_DESCRIPTION("Cables, interfaces and the ports of switches in virtual time");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RTNL_LINK("cable");
