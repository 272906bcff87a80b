/* SPDX-License-Identifier: MIT */
/*
 * The part of lock.h beside sleeping_word.inc.h, for each width: the drops. One addition gives
 * the state up and tells whether somebody may sleep.
 */

PAWL_C_BEGIN

/* Units have left the word beside PARKED: wakes the waiters that can enter now. Only the address of
 * the lock is used. */
PAWL_API PAWL_COLD void PAWL_SLOW_(left)(const void *address, PAWL_WORD_ found, PAWL_WORD_ after);
/* A reader that any thread may drop: it counts in the word, as its drop does. */
PAWL_API PAWL_COLD bool PAWL_SLOW_(take_read_counted_slow)(PAWL_LOCK_ *l, uint64_t deadline);
#define PAWL_LOCK_PASSES UINT32_C(0x80000000)
#define PAWL_LOCK_SIGNALLED UINT32_C(0x40000000)
/* For the preload library, whose real-time threads are served by priority: a sleeper comes before
 * those of a lower rank. Other waits have rank 0. With PAWL_LOCK_PASSES a reader enters beside
 * claims, too, while another reader is in. PAWL_LOCK_SIGNALLED is for a thread whose wait for a
 * condition has ended. It joins the queue at once, as if the signal had moved it there: each of a
 * crowd that is signalled would otherwise spin first. */
PAWL_API PAWL_COLD bool PAWL_SLOW_(take_read_counted_ranked)(PAWL_LOCK_ *l, uint64_t deadline,
                                                             uint32_t rank);
PAWL_API PAWL_COLD bool PAWL_SLOW_(take_write_ranked)(PAWL_LOCK_ *l, uint64_t deadline,
                                                      uint32_t rank);
PAWL_API PAWL_COLD void PAWL_SLOW_(hand_off_slow)(PAWL_LOCK_ *l);

PAWL_C_END

PAWL_INLINE_BEGIN

/* Called after a subtraction of `units` that found `found`. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_INNER_(dropped_)(const PAWL_LOCK_ *l, PAWL_WORD_ found,
                                                           PAWL_WORD_ units)
{
    if (PAWL_UNLIKELY(found & PAWL_LOCK_PARKED))
        PAWL_SLOW_(left)(l, found, (PAWL_WORD_)(found - units));
}

PAWL_INLINE_END

#include <pawl/detail/entries_word.inc.h>
#include <pawl/detail/sleeping_word.inc.h>

PAWL_INLINE_BEGIN

PAWL_INLINE bool PAWL_DO_(take_read_counted)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
    if (PAWL_LIKELY(PAWL_IS_(no_writer)(w)) &&
        PAWL_LIKELY(
            PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_R_), PAWL_SPIN_R_TAKE)))
        return true;
    return PAWL_SLOW_(take_read_counted_slow)(l, deadline);
}

PAWL_INLINE bool PAWL_DO_(try_read_counted)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_IS_(no_writer)(w)) {
        /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_R_),
                                                   PAWL_SPIN_R_TAKE)))
            return true;
    }
    return false;
}

PAWL_INLINE void PAWL_DO_(drop_read_counted)(PAWL_LOCK_ *l)
{
    /* [SPIN_R_DROP] release: our reads are done before a writer sees R fall. */
    PAWL_INNER_(dropped_)(l, PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_R_, PAWL_SPIN_R_DROP),
                          PAWL_R_);
}

PAWL_INLINE void PAWL_DO_(drop_read)(PAWL_LOCK_ *l)
{
    if (PAWL_LIKELY(!PAWL_INNER_(free_)(l)))
        PAWL_DO_(drop_read_counted)(l);
}

PAWL_INLINE void PAWL_DO_(drop_seek)(PAWL_LOCK_ *l)
{
    /* [SPIN_S_DROP] release: what we read or carefully stored is done before the next seeker. */
    PAWL_INNER_(dropped_)(
        l, PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_R_S_, PAWL_SPIN_S_DROP), PAWL_R_S_);
}

PAWL_INLINE void PAWL_DO_(drop_write)(PAWL_LOCK_ *l)
{
    /* [SPIN_W_DROP] release: our stores are done before anybody enters. */
    PAWL_INNER_(dropped_)(
        l, PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_DROP), PAWL_W_S_R_);
}

PAWL_INLINE void PAWL_DO_(drop_atomic)(PAWL_LOCK_ *l)
{
    /* [SPIN_A_DROP] release: our atomic updates are done before anybody else enters. */
    PAWL_INNER_(dropped_)(l, PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_W_, PAWL_SPIN_A_DROP),
                          PAWL_W_);
}

#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    PAWL_INLINE result PAWL_BODY_(name)(PAWL_LOCK_ * l)                                            \
    {                                                                                              \
        const PAWL_TYPE_##result##_ value = PAWL_CALL_##kind##_(name, UINT64_MAX);                 \
        PAWL_RETURN_##result##_(value);                                                            \
    }
#include <pawl/detail/transitions.def>

PAWL_INLINE_END

#include <pawl/detail/word_looks.inc.h>

PAWL_INLINE_BEGIN

#include <pawl/detail/word_face.inc.h>

#if PAWL_TOLD_
#define PAWL_HAND_OFF_(what, l) ipawl_told_##what##_(&(l)->word)
#else
#define PAWL_HAND_OFF_(what, l) ((void)(l))
#endif

/* The caller's state stays. So a checker of data races is told of no change; but what is done to
 * the wait of another thread is hidden from it, as in each operation (tsan.h). */
PAWL_INLINE void PAWL_NAME_(hand_off)(PAWL_LOCK_ *l)
{
    PAWL_HAND_OFF_(hide, l);
    if (PAWL_UNLIKELY(PAWL_AT_(pawl_load_relaxed)(&l->word) & PAWL_LOCK_PARKED))
        PAWL_SLOW_(hand_off_slow)(l);
    PAWL_HAND_OFF_(show, l);
}

#undef PAWL_HAND_OFF_

PAWL_INLINE_END

#include <pawl/detail/lock_until.inc.h>
#include <pawl/detail/counted_word.inc.h>
#include <pawl/detail/overloads.inc.h>
#undef PAWL_WORD_BITS
