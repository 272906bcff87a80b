/* SPDX-License-Identifier: MIT */
/* The exported halves of the sleeping progressive lock for one width, which hand the word on;
 * lock32.c and lock64.c include this file. */
#define PAWL_WORD_KIND PAWL_KIND_LOCK_

#define WAIT(operation) lock_wait(HERE, deadline, operation, 0, false)
#define MET_READER lock_met_reader(HERE)
#include "waiting_calls.inc.h"

bool PAWL_SLOW_(take_read_counted_slow)(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_INNER_(do_try_read_counted_)(l) ||
           lock_wait(HERE, deadline, lock_take_read, 0, true);
}

bool PAWL_SLOW_(take_read_counted_ranked)(PAWL_LOCK_ *l, uint64_t deadline, uint32_t rank)
{
    return lock_wait(HERE, deadline, lock_take_read, rank, true);
}

bool PAWL_SLOW_(take_write_ranked)(PAWL_LOCK_ *l, uint64_t deadline, uint32_t rank)
{
    return lock_wait(HERE, deadline, lock_take_write, rank, false);
}

void PAWL_SLOW_(left)(const void *l, PAWL_WORD_ found, PAWL_WORD_ after)
{
    lock_dropped(HERE, WIDE(found), WIDE(after));
}

void PAWL_SLOW_(hand_off_slow)(PAWL_LOCK_ *l)
{
    lock_hand_off(HERE);
}

#if PAWL_SCALES_
#include "lock_scaling_calls.inc.h"
#endif

#undef WAIT
#undef MET_READER
#undef LAYOUT
#undef HERE
#undef WIDE

#undef PAWL_WORD_BITS
#undef PAWL_WORD_KIND
