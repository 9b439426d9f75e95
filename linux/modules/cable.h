/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cables between hosts and switches, and the ports of switches: what the configuration and the log have in common.
 *
 * A cable has two ends, each a network device of kind "cable" in a namespace of its own. The queue of a switch's port is a
 * queueing discipline of kind "port" on its end.
 */
#ifndef CABLE_H
#define CABLE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#endif

/* Attributes of a device (IFLA_INFO_DATA). */
enum cable_attribute {
	CABLE_UNSPEC,
	CABLE_END,		/* u32: number of this end, from 0 */
	CABLE_OTHER_END,	/* u32: number of the other end */
	CABLE_RATE,		/* u64: bits a second */
	CABLE_DELAY,		/* u64: propagation to the other end, picoseconds */
	CABLE_OVERHEAD,		/* u32: bytes of a frame on the wire beside the IP packet */
	CABLE_RING,		/* u32: descriptors for packets that wait for the wire, the one on it included */
	CABLE_INTERVAL,		/* u64: least time between two interrupts, nanoseconds; 0: one a packet */
	CABLE_MERGES,		/* u8: whether received segments are merged (GRO) */
	CABLE_OBSERVED,		/* u8: whether each change of its queue is logged */
	__CABLE_END_OF_LIST,
	CABLE_LAST = __CABLE_END_OF_LIST - 1
};

/* Attributes of a port's queue (TCA_OPTIONS). */
enum port_attribute {
	PORT_UNSPEC,
	PORT_LIMIT,		/* u64: packets, or bytes on the wire; the packet on the wire counts */
	PORT_LIMIT_KIND,	/* u32: enum port_limit */
	PORT_THRESHOLD,		/* u64: queue from which packets are marked; 0: never */
	PORT_THRESHOLD_KIND,	/* u32: bits of enum port_threshold */
	PORT_STOP,		/* u64: queue below which a falling queue is not marked any more, if there are two thresholds */
	PORT_POOL,		/* u32: number of the memory that it shares */
	PORT_MEMORY,		/* u64: bytes of that memory */
	PORT_ALPHA,		/* u32: its share of the free part, in 65536ths */
	PORT_RED,		/* u32: bits of enum port_red; 0: no random early detection, and what follows says nothing */
	PORT_RED_MIN,		/* u64: average from which packets are marked, in 2^-32 packets */
	PORT_RED_MAX,		/* u64: average from which all are, in 2^-32 packets */
	PORT_RED_WEIGHT,	/* u64: of the latest queue in the average, in 2^-32 */
	PORT_RED_DECAY,		/* u64: minus the binary logarithm of 1 - weight, in 2^-32; 2^64 - 1: it is infinite */
	PORT_RED_MAX_P,		/* u64: probability as the average reaches the maximum, in 2^-32 */
	PORT_RED_SEED,		/* u64: of its random numbers */
	PORT_BANDS,		/* u32: strict priority bands of PFDCT; 0: none, and what follows says nothing */
	PORT_BANDS_HOW,		/* u32: bits of enum port_bands */
	PORT_ROOM_1,		/* u64: of the highest band, in packets or bytes as the limit, without the packet on the wire */
	PORT_ROOM_2,		/* u64: of the next one */
	PORT_ROOM_3,		/* u64: of the last one */
	PORT_INITIAL,		/* u32: threshold that long flows share until they announce theirs, in sixteenths of a packet */
	PORT_LOWEST,		/* u64: least threshold, in sixteenths of a packet */
	PORT_HIGHEST,		/* u64: largest threshold */
	PORT_TOLD,		/* u32: M, which senders are told */
	PORT_SILENCE,		/* u64: after which a long flow does not count, picoseconds */
	PORT_ACK_TAG,		/* u32: acknowledgements are as retransmissions (0), data of short flows (1) or of long ones (2) */
	PORT_SEEN,		/* u32: entries of the switch's table of sequence numbers; 0: none */
	PORT_PIPE,		/* u64: bytes that SAB divides among the port's flows; 0: it does not */
	PORT_LEAST,		/* u32: segments that it grants at least */
	PORT_KEEPS,		/* u32: whether a FIN leaves its flow counted */
	__PORT_END_OF_LIST,
	PORT_LAST = __PORT_END_OF_LIST - 1
};

enum port_limit {
	LIMIT_PACKETS,		/* so many packets */
	LIMIT_BYTES,		/* so many bytes */
	LIMIT_BYTES_BELOW,	/* a packet is admitted as long as fewer bytes are queued */
	LIMIT_SHARED,		/* alpha times the free bytes of the shared memory */
};

enum port_threshold {
	THRESHOLD_BYTES = 1,	/* in bytes; otherwise in packets */
	THRESHOLD_ABOVE = 2,	/* a queue equal to the threshold does not mark */
	THRESHOLD_LEAVING = 4,	/* by the queue that the packet leaves behind; otherwise by the one that it finds */
	THRESHOLD_DOUBLE = 8,	/* there are two: the one above is that of a rising queue */
	THRESHOLD_STOP_BYTES = 16,	/* the one of a falling queue is in bytes; otherwise in packets */
};

enum port_red {
	RED_ON = 1,
	RED_GENTLE = 2,		/* above the maximum the probability rises to 1 at twice that; otherwise it is 1 at once */
	RED_WAIT = 4,		/* a mark is possible only 1/p packets after the last one */
	RED_DROP = 8,		/* what cannot be marked is dropped */
	RED_HARD_DROP = 16,	/* all are dropped when each one is due */
};

enum port_bands {
	BANDS_RESCALE = 1,	/* senders divide their thresholds anew when the number of flows changes */
	BANDS_BY_CODE_POINT = 2,	/* classes are those of the sender's code points; otherwise of the ECN field and the table */
	BANDS_BY_PORT = 4,	/* the whole port's queue is compared with the threshold; otherwise that of the long band */
};

enum cable_event {
	EVENT_LOST,		/* the log was full; `bytes` events are missing */
	EVENT_QUEUED,
	EVENT_SENT,		/* the last bit has left */
	EVENT_DROPPED,		/* no room */
	EVENT_MARKED,
	EVENT_OPENED,		/* a host sends a SYN */
	EVENT_FAULT,		/* a fault has lost it after its last bit had left */
	EVENT_REFUSED,		/* dropped by random early detection, although there was room */
};

/* What a fault does to the packets that it chooses. */
enum fault_act {
	FAULT_DROP,
	FAULT_DELAY,
	FAULT_MARK,
};

/* Which kind of packets a fault chooses. */
enum fault_packets {
	FAULT_DATA,		/* with data */
	FAULT_ACK,		/* nothing but an acknowledgement */
	FAULT_SYN,
	FAULT_SYN_ACK,
	FAULT_FIN,
};

/*
 * /proc/cable_faults takes one line a write. The last one is "origin AT", the time from which faults count, in nanoseconds
 * since boot. Those before are faults: END ACT PACKETS FIRST_SEGMENT LAST_SEGMENT FIRST_COPY LAST_COPY OFFSET MSS AT UNTIL BY.
 * The last three are in picoseconds; AT and UNTIL are when packets arrive, from the origin on. A segment is chosen if it has
 * the first byte of a piece FIRST_SEGMENT to LAST_SEGMENT; pieces have MSS bytes, and the first begins at byte OFFSET of the
 * connection's data.
 */

/* An entry of /proc/cable_log, which gives each entry once. */
struct cable_entry {
	u64 at;			/* nanoseconds since boot */
	u32 end;
	u8 event;
	u8 flags;		/* TCP's */
	u16 bytes;		/* on the wire */
	u32 from, to;		/* IPv4 addresses, as on the wire */
	u16 from_port, to_port;	/* as on the wire */
	u32 seq;		/* TCP's sequence number, in host order */
};

/* A line of /proc/cable_ends, for each end: number, packets sent, bytes sent on the wire, drops, marks, and by PFDCT's class packets queued. */

#endif
