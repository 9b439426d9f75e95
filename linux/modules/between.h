/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two thresholds (Chen et al., ICDCS 2013): marking begins when the queue rises to the one (start), and ends when it falls below
 * the other (stop), which may be the higher one.
 */
#ifndef BETWEEN_H
#define BETWEEN_H

#include <linux/types.h>

struct between {
	bool marks, was_above_stop;	/* the last crossing, and the queue after the last arrival */
};

/* A packet arrives: where the queue is that it finds, and the one with it. Returns whether it is marked. */
static inline bool between_marks(struct between *between, bool was_above, bool is_above, bool finds_above_stop, bool is_above_stop)
{
	bool marks;

	/* Since the last arrival the queue can only have fallen. */
	if (!finds_above_stop && (between->was_above_stop || !was_above))
		between->marks = false;
	marks = between->marks;
	between->was_above_stop = is_above_stop;
	if (is_above && (!was_above || is_above_stop))
		between->marks = true;
	return marks;
}

#endif
