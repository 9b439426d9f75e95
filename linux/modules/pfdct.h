/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What PFDCT's senders, interfaces and switches have in common: code points, and the field of 64 bits in each packet.
 *
 * The field stands before the frame's header. A congestion control cannot add an option to TCP's header, so the interface
 * writes and reads the field: it finds the rest in what the congestion control keeps of the connection.
 *
 * | bits  | meaning                                                              | written by |
 * | 63-60 | 1010                                                                 | sender     |
 * | 59    | the flow is long                                                     | sender     |
 * | 58    | bits 51-32 hold a threshold                                          | sender     |
 * | 51-32 | its threshold in sixteenths of a packet                              | sender     |
 * | 31-16 | N: long flows at the narrowest port of the path                      | switches   |
 * | 15-0  | M: packets that a packet may find there and be admitted; 0: unknown  | switches   |
 */
#ifndef PFDCT_H
#define PFDCT_H

#include <linux/skbuff.h>
#include <linux/string.h>
#include <net/tcp.h>

/* Code points with their place in the byte; packets of short flows have none. */
#define PFDCT_DSCP_LONG 0x20		/* CS1 */
#define PFDCT_DSCP_AGAIN 0x40		/* CS2: a retransmission */
#define PFDCT_DSCP_MASK 0xfc

#define PFDCT_MARKER (0xaULL << 60)
#define PFDCT_LONG BIT_ULL(59)
#define PFDCT_TOLD BIT_ULL(58)
#define PFDCT_MOST ((1U << 20) - 1)

/* What a connection and its interface tell each other. */
struct pfdct_wire {
	u32 capacity;		/* of the interface in full packets a second; 0: unknown */
	u32 threshold;		/* that the sender announces, in sixteenths of a packet */
	bool is_told, is_long;
	u16 flows, buffer;	/* N and M, as the receiver echoes them */
	u16 echo_flows, echo_buffer;	/* N and M of the newest packet of a long flow, for the other end */
	bool echoes;		/* there was one */
};

/* Where that is in what the congestion control keeps. */
#define PFDCT_WIRE_AT 40

static inline bool pfdct_is_field(u64 field)
{
	return field >> 60 == PFDCT_MARKER >> 60;
}

static inline u32 pfdct_threshold(u64 field)
{
	return field >> 32 & PFDCT_MOST;
}

/* The field after a port with `flows` long flows which admits a packet that finds `buffer` others. */
static inline u64 pfdct_through(u64 field, u16 flows, u16 buffer)
{
	u64 n = flows, m = buffer ?: U32_MAX, was_n = (u16)(field >> 16), was_m = (u16)field ?: U32_MAX;
	u64 here = m * max(was_n, 1ULL), there = was_m * max(n, 1ULL);

	if (here > there || (here == there && n <= was_n))
		return field;
	return (field & ~0xffffffffULL) | n << 16 | buffer;
}

/* A neighbour's header is written in 16 bytes, of which the first two are before the frame. */
#define PFDCT_BEFORE 16

static inline void pfdct_write(struct sk_buff *skb, const u8 *frame, u64 field)
{
	if (frame - skb->head >= PFDCT_BEFORE)
		memcpy((u8 *)frame - PFDCT_BEFORE, &field, sizeof(field));
}

static inline u64 pfdct_read(const struct sk_buff *skb, const u8 *frame)
{
	u64 field = 0;

	if (frame - skb->head >= PFDCT_BEFORE)
		memcpy(&field, frame - PFDCT_BEFORE, sizeof(field));
	return pfdct_is_field(field) ? field : 0;
}

/* What a connection and its interface share, if PFDCT controls it. */
static inline struct pfdct_wire *pfdct_wire_of(struct sock *sk)
{
	const struct inet_connection_sock *icsk;

	if (!sk || !sk_fullsock(sk) || !sk_is_tcp(sk))
		return NULL;
	icsk = inet_csk(sk);
	if (!icsk->icsk_ca_initialized || strcmp(icsk->icsk_ca_ops->name, "pfdct"))
		return NULL;
	return (struct pfdct_wire *)((u8 *)icsk->icsk_ca_priv + PFDCT_WIRE_AT);
}

/* The field of a packet with or without data that a connection sends; 0: none. */
static inline u64 pfdct_field_of(const struct pfdct_wire *wire, bool has_data)
{
	u64 field = PFDCT_MARKER;

	if (!has_data)
		return wire->echoes ? field | PFDCT_LONG | (u64)wire->echo_flows << 16 | wire->echo_buffer : 0;
	if (wire->is_long)
		field |= PFDCT_LONG | (wire->is_told ? PFDCT_TOLD | (u64)wire->threshold << 32 : 0);
	return field;
}

/* A packet with this field has arrived for a connection. Fields of short flows do not count this one in N. */
static inline void pfdct_hear(struct pfdct_wire *wire, u64 field, bool has_data)
{
	if (!(field & PFDCT_LONG))
		return;
	if (has_data) {
		wire->echo_flows = field >> 16;
		wire->echo_buffer = field;
		wire->echoes = true;
	} else {
		wire->flows = field >> 16;
		wire->buffer = field;
	}
}

#endif
