/* SPDX-License-Identifier: MIT */
/*
 * The promises of the locks, as told to ThreadSanitizer. spin.h includes this file in builds for
 * the sanitizer only; in other builds nothing here exists.
 *
 * On its own the sanitizer would take the order of the lock word's atomic operations for an order
 * of the callers. Two readers, one after the other, would seem ordered, and a write under R would
 * go unreported. So each operation runs hidden (told.h); this includes the compiled waiting halves,
 * built with the sanitizer or not. Two shadow locks of two clocks each state the real promises of
 * the lock. A clock is given on leaving a state and got on entering one:
 *
 *   W shadow lock   ALONE    given on leaving W              got on entering R S W A
 *                   BESIDE   given on leaving R or S         got on entering W A
 *   S shadow lock   SEEK     given on leaving S              got on entering S
 *   A               MANY     given on leaving A              got on entering R S W
 *
 * So nothing orders readers among each other, readers after a seeker, or atomic users among each
 * other. The sanitizer reports plain stores there even if they never happened at the same time.
 *
 * The clocks have no owner, because any thread may drop for the holder; the sanitizer's own mutexes
 * would report that as a bug. So its lock-order detector does not see these locks. The checking
 * variant checks their order.
 */
#include <pawl/spin.h> /* outside the guard: spin.h includes this file where it needs it */

#ifndef PAWL_TSAN_H
#define PAWL_TSAN_H
#if PAWL_TOLD_

#include <pawl/detail/told.h>

PAWL_INLINE_BEGIN

/* A clock lives at an address inside the word. In 16 bits each address serves two clocks. That
 * causes no false report but hides some races. An atomic user that enters after another one has
 * dropped seems ordered after it; so does a seeker after such readers. The operations on the
 * application bits synchronise at address 0 too; beside BESIDE they disturb least. */
enum ipawl_tsan_clock_ {
    PAWL_TSAN_BESIDE_ = 1,
    PAWL_TSAN_ALONE_ = 2,
    PAWL_TSAN_SEEK_ = 4,
    PAWL_TSAN_MANY_ = 8
};

PAWL_INLINE unsigned ipawl_tsan_given_(enum pawl_state left)
{
    return left == PAWL_STATE_R   ? PAWL_TSAN_BESIDE_
           : left == PAWL_STATE_S ? PAWL_TSAN_BESIDE_ | PAWL_TSAN_SEEK_
           : left == PAWL_STATE_W ? PAWL_TSAN_ALONE_
           : left == PAWL_STATE_A ? PAWL_TSAN_MANY_
                                  : 0;
}

PAWL_INLINE unsigned ipawl_tsan_got_(enum pawl_state entered)
{
    return entered == PAWL_STATE_R   ? PAWL_TSAN_ALONE_ | PAWL_TSAN_MANY_
           : entered == PAWL_STATE_S ? PAWL_TSAN_ALONE_ | PAWL_TSAN_MANY_ | PAWL_TSAN_SEEK_
           : entered == PAWL_STATE_W ? PAWL_TSAN_ALONE_ | PAWL_TSAN_MANY_ | PAWL_TSAN_BESIDE_
           : entered == PAWL_STATE_A ? PAWL_TSAN_ALONE_ | PAWL_TSAN_BESIDE_
                                     : 0;
}

/* An operation on the word of `size` bytes begins in state `from`. The caller's work is given
 * away beforehand, also by a try that then fails. The caller then keeps its state, so no other
 * thread can get that work yet. */
PAWL_INLINE void ipawl_tsan_before_(void *word, size_t size, enum pawl_state from)
{
    const unsigned given = ipawl_tsan_given_(from);
    unsigned i;
    for (i = 0; i < 4; i++)
        if (given & 1u << i)
            ipawl_told_give_((char *)word + (i & (size - 1)));
    ipawl_told_hide_(word);
}

/* The operation has ended; the caller is now in state `to` if `moved`. */
PAWL_INLINE void ipawl_tsan_after_(void *word, size_t size, enum pawl_state to, bool moved)
{
    const unsigned got = moved ? ipawl_tsan_got_(to) : 0;
    unsigned i;
    ipawl_told_show_(word);
    for (i = 0; i < 4; i++)
        if (got & 1u << i)
            ipawl_told_get_((char *)word + (i & (size - 1)));
}

PAWL_INLINE_END

#endif
#endif
