/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random early detection (Floyd and Jacobson, 1993) in whole numbers, with the decisions of the simulator's.
 *
 * Numbers of packets, shares and logarithms are multiples of 2^-32.
 */
#ifndef RED_H
#define RED_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/overflow.h>
#include "cable.h"

#define RED_ONE (1ULL << 32)
/* The queue is not empty. */
#define RED_BUSY U64_MAX

enum red_notice {
	RED_NONE,
	RED_EARLY,		/* drawn at random */
	RED_FORCED,		/* the average is so high that each packet is due */
};

struct red {
	u32 how;		/* bits of enum port_red */
	u64 min, max, weight, max_p;
	u64 decay;		/* minus the binary logarithm of 1 - weight; U64_MAX: it is infinite */
	u64 random;		/* state of the generator */
	u64 average;
	bool counts;		/* the average is above the lower threshold */
	u32 count;		/* packets since the last mark, then */
	u64 idle_ps, was_idle_ps;	/* since when the queue has been empty, now and when the last packet arrived */
};

/* 32 random bits: SplitMix64 (Steele, Lea and Flood, 2014). */
static inline u32 red_draw(struct red *red)
{
	u64 bits = red->random += 0x9E3779B97F4A7C15ULL;

	bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9ULL;
	bits = (bits ^ bits >> 27) * 0x94D049BB133111EBULL;
	return (bits ^ bits >> 31) >> 32;
}

/* `value` times two to the power of minus `exponent`. */
static inline u64 red_halve(u64 value, u64 exponent)
{
	u64 root = RED_ONE / 2;
	u32 bit;

	/* Each bit of the fraction is worth the square root of what the bit before it is worth. */
	for (bit = 1U << 31; bit; bit >>= 1) {
		root = int_sqrt64(root << 32);
		if ((u32)exponent & bit)
			value = mul_u64_u64_shr(value, root, 32);
	}
	return exponent >> 32 < 64 ? value >> (exponent >> 32) : 0;
}

/* An idle time passes, as if packets had met an empty queue, each of which takes `packet_ps`. */
static inline void red_forget(struct red *red, u64 idle_ps, u64 packet_ps)
{
	u64 rest, exponent, packets = div64_u64_rem(idle_ps, packet_ps, &rest);

	if (!idle_ps)
		return;
	if (red->decay == U64_MAX || check_mul_overflow(packets, red->decay, &exponent)) {
		red->average = 0;
		return;
	}
	red->average = red_halve(red->average, exponent + mul_u64_u64_div_u64(rest, red->decay, packet_ps));
}

/* Whether the packet after `count` unmarked ones is marked. */
static inline bool red_is_drawn(struct red *red, u32 count)
{
	u64 share, used, whole = red->how & RED_WAIT ? 2 * RED_ONE : RED_ONE;
	u32 drawn = red_draw(red);

	if (red->average < red->max)
		share = mul_u64_u64_div_u64(red->max_p, red->average - red->min, red->max - red->min);
	else
		share = red->max_p + mul_u64_u64_div_u64(RED_ONE - red->max_p, red->average - red->max, red->max);
	used = count * share;
	if (used >= whole)
		return true;
	/* The next mark is due only so many packets after the last one. */
	if (whole - used > RED_ONE)
		return false;
	return mul_u64_u64_shr(drawn, whole - used, 32) < share;
}

/* A packet arrives that finds `queue` packets and takes `packet_ps` on the wire. */
static inline enum red_notice red_on_arrival(struct red *red, u64 now_ps, u32 queue, u64 packet_ps)
{
	u64 found = (u64)queue << 32, forced = red->how & RED_GENTLE ? 2 * red->max : red->max;
	enum red_notice notice = RED_NONE;
	u32 count;

	red->was_idle_ps = red->idle_ps;
	red->idle_ps = RED_BUSY;
	if (red->was_idle_ps != RED_BUSY)
		red_forget(red, now_ps - min(now_ps, red->was_idle_ps), max(packet_ps, 1ULL));
	else if (found > red->average)
		red->average += mul_u64_u64_shr(found - red->average, red->weight, 32);
	else
		red->average -= mul_u64_u64_shr(red->average - found, red->weight, 32);
	if (red->average < red->min) {
		red->counts = false;
		return RED_NONE;
	}
	count = red->counts ? red->count + 1 : 0;
	if (red->average >= forced)
		notice = RED_FORCED;
	else if (red_is_drawn(red, count))
		notice = RED_EARLY;
	red->counts = true;
	red->count = notice == RED_NONE ? count : 0;
	return notice;
}

/* The packet that has just arrived was dropped, so a queue that was empty still is. */
static inline void red_on_drop(struct red *red, u64 now_ps)
{
	red->idle_ps = red->was_idle_ps == RED_BUSY ? RED_BUSY : max(red->was_idle_ps, now_ps);
}

/* The queue is empty from `at_ps` on, unless it was empty before. */
static inline void red_on_empty(struct red *red, u64 at_ps)
{
	red->idle_ps = min(red->idle_ps, at_ps);
}

#endif
