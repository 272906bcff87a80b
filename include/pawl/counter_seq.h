/* SPDX-License-Identifier: MIT */
/*
 * A counter that is changed rarely, read often, and wider than one word. It holds the number of
 * adds and their sum, always seen together (so that a mean is a mean). It is a sequence lock over
 * the two numbers: readers write nothing and scale, adders take the lock's spinlock. Included by
 * counter.h.
 *
 * Not for: one number (pawl_atomic_counter); frequent adds (a pawl_counter for each number, if the
 * two need not agree); adds in signal handlers (they may call try_now). Order and fork: seq.h.
 */
#ifndef PAWL_COUNTER_SEQ_H
#define PAWL_COUNTER_SEQ_H

#include <pawl/seq.h>

/* Zero bytes: nothing counted yet. */
typedef struct pawl_seq_count {
    int64_t count; /* adds */
    int64_t sum;   /* of the added values, modulo 2^64 as signed */
} pawl_seq_count;

PAWL_INLINE_BEGIN

/* The functions of every type that PAWL_SEQ_TYPE makes; seq_type.h has their contracts. */
PAWL_SEQ_TYPE(pawl_seq_counter, pawl_seq_count);

#define PAWL_SEQ_COUNTER_INIT PAWL_SEQ_TYPE_INIT

/* Counts one more add, of n. */
PAWL_INLINE void pawl_seq_counter_add(pawl_seq_counter *c, int64_t n)
{
    pawl_seq_count now;
    pawl_seq_counter_take_write(c, &now);
    now.count = (int64_t)((uint64_t)now.count + 1);
    now.sum = (int64_t)((uint64_t)now.sum + (uint64_t)n);
    pawl_seq_counter_drop_write(c, &now);
}

/* Both numbers as they were at one instant during the call; waits while another thread adds. */
PAWL_INLINE pawl_seq_count pawl_seq_counter_now(const pawl_seq_counter *c)
{
    pawl_seq_count now;
    pawl_seq_counter_read(c, &now);
    return now;
}

/* The same in one attempt, never waits; false when a thread adds. Async-signal-safe. */
PAWL_INLINE bool pawl_seq_counter_try_now(const pawl_seq_counter *c, pawl_seq_count *now)
{
    return pawl_seq_counter_try_read(c, now);
}

PAWL_INLINE_END

#endif
