/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What Open vSwitch lacks of SDTCP's switch: the ports' congestion trigger, and the rewriting of windows that receivers advertise.
 *
 * A program beside Open vSwitch writes lines to /proc/cable_sdtcp, one a write, and reads from it what ports report. Numbers are
 * decimal, addresses and TCP ports in host order; a connection is FROM TO FROM_PORT TO_PORT in the direction of its acknowledgements.
 *
 *   port END SWITCH HOW LOW MODEST HIGH RECOVERY PACKET  a port has a trigger: HOW is bits of enum sdtcp_how, RECOVERY is in
 *                                                        picoseconds, PACKET is the bytes of a full packet
 *   limit SWITCH CONNECTION BYTES                        a window limit, in place of the one before; ENOSPC: the table is full
 *   lift SWITCH CONNECTION                               there is none any more
 *   forget SWITCH CONNECTION                             nor is the scale of its windows known
 *
 * A report is END LEVEL BYTES: a port's new level, and its queue.
 */
#ifndef SDTCP_H
#define SDTCP_H

#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/ip.h>
#include <linux/jhash.h>
#include <linux/kfifo.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/tcp.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <net/tcp.h>

enum sdtcp_how {
	SDTCP_LOW_BYTES = 1,	/* the threshold is in bytes; otherwise in packets */
	SDTCP_MODEST_BYTES = 2,
	SDTCP_HIGH_BYTES = 4,
	SDTCP_JUMP = 8,		/* to the highest level at once; otherwise one level a packet */
	SDTCP_STEP_DOWN = 16,	/* a level falls by one below its own threshold; otherwise to none below the lowest */
	SDTCP_UNSCALED = 32,	/* limits are written as they are; otherwise by the scale of the handshake */
};

#define SDTCP_LEVELS 3
#define SDTCP_NEVER U64_MAX
#define SDTCP_NO_LIMIT U32_MAX
/* Rows of the table of all switches. A connection whose SYN finds it full gets no limit, and a line that asks for one is refused. */
#define SDTCP_ROWS 65536

/* The trigger of a port. */
struct sdtcp_port {
	u32 end, at_switch, how, level;
	u64 thresholds[SDTCP_LEVELS];
	u64 recovery_ps, packet;
	u64 packets, bytes;	/* the queue at the last packet, which is included */
	u64 above_until_ps;	/* until then the queue is certainly not below the threshold that keeps the level */
	u64 timer_ps;
	struct hrtimer timer;
};

/* A direction of a connection at a switch. */
struct sdtcp_row {
	struct hlist_node node;
	u32 at_switch;
	__be32 from, to;
	__be16 from_port, to_port;
	u32 limit;		/* bytes */
	u8 scale;
	bool knows_scale;
};

struct sdtcp_report {
	u32 end, level;
	u64 bytes;
};

static DEFINE_XARRAY(sdtcp_ports);
static DEFINE_HASHTABLE(sdtcp_rows, 10);
static u32 sdtcp_count;
static DEFINE_KFIFO(sdtcp_reports, struct sdtcp_report, 4096);
static DECLARE_WAIT_QUEUE_HEAD(sdtcp_readers);
/* Of all of the above. */
static DEFINE_SPINLOCK(sdtcp_lock);

static unsigned long sdtcp_rewritten;
module_param(sdtcp_rewritten, ulong, 0444);
MODULE_PARM_DESC(sdtcp_rewritten, "windows that SDTCP's switches have lowered");
static unsigned long sdtcp_lost;
module_param(sdtcp_lost, ulong, 0444);
MODULE_PARM_DESC(sdtcp_lost, "reports that were lost, since nobody had read those before");

/* Whether a queue has reached the threshold of a level above none. */
static bool sdtcp_reached(const struct sdtcp_port *port, u32 level)
{
	u64 queue = port->how & SDTCP_LOW_BYTES << (level - 1) ? port->bytes : port->packets;

	return queue >= port->thresholds[level - 1];
}

/* Most bytes by which the queue is above the threshold of a level that it has reached. */
static u64 sdtcp_excess(const struct sdtcp_port *port, u32 level)
{
	u64 threshold = port->thresholds[level - 1];

	if (port->how & SDTCP_LOW_BYTES << (level - 1))
		return port->bytes + 1 - threshold;
	return (port->packets + 1 - threshold) * port->packet;
}

static void sdtcp_report(struct sdtcp_port *port)
{
	struct sdtcp_report report = { .end = port->end, .level = port->level };

	report.bytes = port->how & SDTCP_LOW_BYTES ? port->bytes : port->packets * port->packet;
	if (!kfifo_put(&sdtcp_reports, report))
		sdtcp_lost++;
	wake_up_interruptible(&sdtcp_readers);
}

static ktime_t sdtcp_ns(u64 ps)
{
	return ns_to_ktime(DIV_ROUND_UP_ULL(ps, 1000));
}

/* Lets the timer run while there is congestion. */
static void sdtcp_watch(struct sdtcp_port *port)
{
	if (!port->level || port->timer_ps != SDTCP_NEVER)
		return;
	port->timer_ps = port->above_until_ps + port->recovery_ps;
	hrtimer_start(&port->timer, sdtcp_ns(port->timer_ps), HRTIMER_MODE_ABS_SOFT);
}

static enum hrtimer_restart sdtcp_on_timer(struct hrtimer *timer)
{
	struct sdtcp_port *port = container_of(timer, struct sdtcp_port, timer);

	spin_lock_bh(&sdtcp_lock);
	if (port->level && port->timer_ps >= port->above_until_ps + port->recovery_ps) {
		port->above_until_ps = port->timer_ps;
		port->level = port->how & SDTCP_STEP_DOWN ? port->level - 1 : 0;
		sdtcp_report(port);
	}
	port->timer_ps = SDTCP_NEVER;
	sdtcp_watch(port);
	spin_unlock_bh(&sdtcp_lock);
	return HRTIMER_NORESTART;
}

/* Algorithm 1: a packet arrives, which the queue of the port includes. */
static void sdtcp_trigger(struct sdtcp_port *port, u64 rate, u64 now_ps)
{
	u32 level = port->level, before = level, held_by;

	if (!level && !sdtcp_reached(port, 1))
		return;
	if (port->how & SDTCP_JUMP) {
		level = SDTCP_LEVELS;
		while (level > before && !sdtcp_reached(port, level))
			level--;
	} else if (level < SDTCP_LEVELS && sdtcp_reached(port, level + 1) &&
		   (level != 1 || !sdtcp_reached(port, SDTCP_LEVELS))) {
		/* Lines 7 to 9: from low to modest only while the queue is below high. */
		level++;
	}
	port->level = level;
	held_by = port->how & SDTCP_STEP_DOWN ? level : 1;
	if (level && sdtcp_reached(port, held_by))
		port->above_until_ps = now_ps + mul_u64_u64_div_u64(sdtcp_excess(port, held_by) * 8, 1000000000000ULL, rate);
	if (level != before) {
		sdtcp_report(port);
		sdtcp_watch(port);
	}
}

static u32 sdtcp_place(u32 at_switch, __be32 from, __be32 to, __be16 from_port, __be16 to_port)
{
	return jhash_3words((__force u32)from, (__force u32)to, (__force u32)from_port << 16 | (__force u32)to_port, at_switch);
}

static struct sdtcp_row *sdtcp_find(u32 at_switch, __be32 from, __be32 to, __be16 from_port, __be16 to_port)
{
	u32 place = sdtcp_place(at_switch, from, to, from_port, to_port);
	struct sdtcp_row *row;

	hash_for_each_possible(sdtcp_rows, row, node, place)
		if (row->at_switch == at_switch && row->from == from && row->to == to && row->from_port == from_port &&
		    row->to_port == to_port)
			return row;
	return NULL;
}

static struct sdtcp_row *sdtcp_row_of(u32 at_switch, __be32 from, __be32 to, __be16 from_port, __be16 to_port)
{
	struct sdtcp_row *row = sdtcp_find(at_switch, from, to, from_port, to_port);

	if (row)
		return row;
	row = sdtcp_count < SDTCP_ROWS ? kzalloc(sizeof(*row), GFP_ATOMIC) : NULL;
	if (!row)
		return NULL;
	sdtcp_count++;
	*row = (struct sdtcp_row){
		.at_switch = at_switch, .from = from, .to = to, .from_port = from_port, .to_port = to_port,
		.limit = SDTCP_NO_LIMIT,
	};
	hash_add(sdtcp_rows, &row->node, sdtcp_place(at_switch, from, to, from_port, to_port));
	return row;
}

/* The window scale of a SYN, which has none without the option (RFC 7323, section 2.2). */
static u8 sdtcp_scale_of(const struct tcphdr *tcp)
{
	const u8 *option = (const u8 *)(tcp + 1), *end = (const u8 *)tcp + tcp->doff * 4;

	while (option < end && *option != TCPOPT_EOL) {
		if (*option == TCPOPT_NOP) {
			option++;
			continue;
		}
		if (option + 1 >= end || option[1] < 2 || option + option[1] > end)
			break;
		if (*option == TCPOPT_WINDOW && option[1] == TCPOLEN_WINDOW)
			return min_t(u8, option[2], TCP_MAX_WSCALE);
		option += option[1];
	}
	return 0;
}

/* The field of a limit: rounded up, since a window slightly below a segment allows none; never zero. */
static u32 sdtcp_field(const struct sdtcp_port *port, const struct sdtcp_row *row)
{
	u8 scale = port->how & SDTCP_UNSCALED ? 0 : row->scale;

	if (row->limit == SDTCP_NO_LIMIT || (!row->knows_scale && !(port->how & SDTCP_UNSCALED)))
		return U16_MAX;
	return clamp_t(u64, DIV_ROUND_UP_ULL((u64)row->limit, 1U << scale), 1, U16_MAX);
}

/* Section 3.5: a packet with ACK and without SYN gets at most the window of its entry. Those with FIN or RST find another entry. */
static void sdtcp_rewrite(const struct sdtcp_port *port, struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);
	u32 offset = (u8 *)ip - skb->data + ip->ihl * 4, field;
	struct tcphdr *tcp;
	struct sdtcp_row *row;
	__be16 was;

	if (skb->protocol != htons(ETH_P_IP) || ip->protocol != IPPROTO_TCP ||
	    skb_ensure_writable(skb, offset + sizeof(struct tcphdr)))
		return;
	ip = ip_hdr(skb);
	tcp = (struct tcphdr *)(skb->data + offset);
	if (tcp->syn && !skb_ensure_writable(skb, offset + tcp->doff * 4)) {
		ip = ip_hdr(skb);
		tcp = (struct tcphdr *)(skb->data + offset);
		row = sdtcp_row_of(port->at_switch, ip->saddr, ip->daddr, tcp->source, tcp->dest);
		if (row) {
			row->scale = sdtcp_scale_of(tcp);
			row->knows_scale = true;
		}
		return;
	}
	if (!tcp->ack || tcp->syn || tcp->fin || tcp->rst)
		return;
	row = sdtcp_find(port->at_switch, ip->saddr, ip->daddr, tcp->source, tcp->dest);
	field = row ? sdtcp_field(port, row) : U16_MAX;
	if (ntohs(tcp->window) <= field)
		return;
	was = tcp->window;
	tcp->window = htons(field);
	inet_proto_csum_replace2(&tcp->check, skb, was, tcp->window, false);
	sdtcp_rewritten++;
}

static bool sdtcp_is_used(void)
{
	return !xa_empty(&sdtcp_ports);
}

/* A packet is about to enter the queue of a port, which holds so much. */
static void sdtcp_on_arrival(u32 end, struct sk_buff *skb, u64 packets, u64 bytes, u64 rate, u64 now_ps)
{
	struct sdtcp_port *port = xa_load(&sdtcp_ports, end);

	if (!port)
		return;
	/* What waits in a switch is no memory of the socket by which Open vSwitch has sent it. */
	skb_orphan(skb);
	spin_lock_bh(&sdtcp_lock);
	sdtcp_rewrite(port, skb);
	port->packets = packets;
	port->bytes = bytes;
	sdtcp_trigger(port, rate, now_ps);
	spin_unlock_bh(&sdtcp_lock);
}

static int sdtcp_add_port(const struct sdtcp_port *wanted)
{
	struct sdtcp_port *port = kmemdup(wanted, sizeof(*wanted), GFP_KERNEL);
	int error;

	if (!port)
		return -ENOMEM;
	port->timer_ps = SDTCP_NEVER;
	hrtimer_init(&port->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	port->timer.function = sdtcp_on_timer;
	error = xa_insert(&sdtcp_ports, port->end, port, GFP_KERNEL);
	if (error)
		kfree(port);
	return error;
}

/* A line about a connection. */
static int sdtcp_change(const char *line)
{
	u32 at_switch, from, to, bytes = SDTCP_NO_LIMIT;
	u16 from_port, to_port;
	struct sdtcp_row *row;
	char word[8];
	int fields, error = 0;

	fields = sscanf(line, "%7s %u %u %u %hu %hu %u", word, &at_switch, &from, &to, &from_port, &to_port, &bytes);
	if (fields != (strcmp(word, "limit") ? 6 : 7))
		return -EINVAL;
	spin_lock_bh(&sdtcp_lock);
	if (!strcmp(word, "limit")) {
		row = sdtcp_row_of(at_switch, htonl(from), htonl(to), htons(from_port), htons(to_port));
		error = row ? 0 : -ENOSPC;
		if (row)
			row->limit = bytes;
		goto unlock;
	}
	row = sdtcp_find(at_switch, htonl(from), htonl(to), htons(from_port), htons(to_port));
	if (row && !strcmp(word, "lift")) {
		row->limit = SDTCP_NO_LIMIT;
	} else if (row) {
		hash_del(&row->node);
		kfree(row);
		sdtcp_count--;
	}
unlock:
	spin_unlock_bh(&sdtcp_lock);
	return error;
}

static ssize_t sdtcp_write(struct file *file, const char __user *text, size_t size, loff_t *position)
{
	struct sdtcp_port port = {};
	char line[160];
	int error;

	if (size >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, text, size))
		return -EFAULT;
	line[size] = 0;
	if (strncmp(line, "port ", 5))
		error = sdtcp_change(line);
	else if (sscanf(line, "port %u %u %u %llu %llu %llu %llu %llu", &port.end, &port.at_switch, &port.how,
			&port.thresholds[0], &port.thresholds[1], &port.thresholds[2], &port.recovery_ps, &port.packet) != 8)
		error = -EINVAL;
	else
		error = sdtcp_add_port(&port);
	return error ?: size;
}

/* Gives a report, once there is one. */
static ssize_t sdtcp_read(struct file *file, char __user *to, size_t size, loff_t *position)
{
	struct sdtcp_report report;
	char line[64];
	int length, error;

	while (!kfifo_get(&sdtcp_reports, &report)) {
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		error = wait_event_interruptible(sdtcp_readers, !kfifo_is_empty(&sdtcp_reports));
		if (error)
			return error;
	}
	length = scnprintf(line, sizeof(line), "%u %u %llu\n", report.end, report.level, report.bytes);
	if (size < length)
		return -EINVAL;
	return copy_to_user(to, line, length) ? -EFAULT : length;
}

static __poll_t sdtcp_poll(struct file *file, poll_table *table)
{
	poll_wait(file, &sdtcp_readers, table);
	return kfifo_is_empty(&sdtcp_reports) ? 0 : EPOLLIN | EPOLLRDNORM;
}

static const struct proc_ops sdtcp_proc_ops = {
	.proc_read = sdtcp_read,
	.proc_write = sdtcp_write,
	.proc_poll = sdtcp_poll,
	.proc_lseek = noop_llseek,
};

static int __init sdtcp_register(void)
{
	return proc_create("cable_sdtcp", 0600, NULL, &sdtcp_proc_ops) ? 0 : -ENOMEM;
}

static void sdtcp_unregister(void)
{
	struct sdtcp_port *port;
	struct sdtcp_row *row;
	struct hlist_node *next;
	unsigned long end;
	int i;

	remove_proc_entry("cable_sdtcp", NULL);
	xa_for_each(&sdtcp_ports, end, port) {
		hrtimer_cancel(&port->timer);
		kfree(port);
	}
	xa_destroy(&sdtcp_ports);
	hash_for_each_safe(sdtcp_rows, i, next, row, node)
		kfree(row);
}

#endif
