/* SPDX-License-Identifier: MIT */
/*
 * The pl_* names of plock, over plain unsigned int, unsigned long or pointers, for programs
 * written against it. With another include path they compile and behave as before, but for the
 * defects that doc/plock.md lists. New programs use spin.h.
 *
 * The word is that of spin.h: pawl_spin32 where sizeof(*lock) is 4, pawl_spin64 where it is 8 and
 * long has 8 bytes. Anything else does not compile. 0 is unlocked; bits 0 and 1 are the program's.
 * The macros only choose by size; each argument is evaluated once.
 *
 * Aliasing: the program declares the word as it likes, and reads or sets it by its own type. All of
 * our accesses go through the seam, whose accesses may alias any type.
 *
 * Two models, of which one lock uses one at a time:
 *   R S W A   spin.h: readers, one seeker, one writer, atomic users
 *   R J C A   join.def: readers who join, claim, and together become atomic users. There A is
 *             reached through C alone; or else, with pl_take_a and the like, J through pl_take_j
 *             and pl_try_j alone.
 * The checking variant knows only the first, and refuses to compile the second.
 */
#ifndef PAWL_COMPAT_PLOCK_H
#define PAWL_COMPAT_PLOCK_H

#include <pawl/compat/plock_atomic.h>
#include <pawl/compat/plock_lorw.h>
#include <pawl/spin.h>

/* ---- The words' units and masks: 1 is one unit, ANY the field, 2PL two units or more --------- */

#define PLOCK64_RL_1 0x0000000000000004ULL
#define PLOCK64_RL_2PL 0x00000000fffffff8ULL
#define PLOCK64_RL_ANY 0x00000000fffffffcULL
#define PLOCK64_SL_1 0x0000000100000000ULL
#define PLOCK64_SL_ANY 0x0000000300000000ULL
#define PLOCK64_WL_1 0x0000000400000000ULL
#define PLOCK64_WL_2PL 0xfffffff800000000ULL
#define PLOCK64_WL_ANY 0xfffffffc00000000ULL

#define PLOCK32_RL_1 0x00000004
#define PLOCK32_RL_2PL 0x0000fff8
#define PLOCK32_RL_ANY 0x0000fffc
#define PLOCK32_SL_1 0x00010000
#define PLOCK32_SL_ANY 0x00030000
#define PLOCK32_WL_1 0x00040000
#define PLOCK32_WL_2PL 0xfff80000
#define PLOCK32_WL_ANY 0xfffc0000

/* ---- Choosing by size ------------------------------------------------------------------------ */

#define PAWL_PLOCK_SPIN_(N, verb) PAWL_CAT_(PAWL_CAT_(pawl_spin, N), _##verb)
#define PAWL_PLOCK_OWN_(N, verb) PAWL_CAT_(PAWL_CAT_(pawl_plock, N), _##verb)

/* The body of an operation of spin.h where ours stands around it, and what we tell ThreadSanitizer
 * (tsan.h). */
#if PAWL_TOLD_ && !PAWL_CHECKED
#define PAWL_PLOCK_BODY_(N, verb) PAWL_CAT_(PAWL_CAT_(ipawl_spin, N), _##verb##_unchecked_)
#define PAWL_PLOCK_BEFORE_(l, from) ipawl_tsan_before_(&(l)->word, sizeof((l)->word), from)
#define PAWL_PLOCK_AFTER_(l, to, moved) ipawl_tsan_after_(&(l)->word, sizeof((l)->word), to, moved)
#else
#define PAWL_PLOCK_BODY_(N, verb) PAWL_PLOCK_SPIN_(N, verb)
#define PAWL_PLOCK_BEFORE_(l, from) ((void)0)
#define PAWL_PLOCK_AFTER_(l, to, moved) ((void)0)
#endif

#define PAWL_WORD_KIND PAWL_KIND_PLOCK_
#define PAWL_WORD_BITS 32
#include <pawl/compat/plock_word.inc.h>
#define PAWL_WORD_BITS 64
#include <pawl/compat/plock_word.inc.h>
#undef PAWL_WORD_KIND

#define PAWL_PLOCK_64_(size) (sizeof(long) == 8 && (size) == 8)

/* pl_take_* have the value 0, pl_try_* 1 or 0, the others none. */
#define PAWL_PLOCK_TAKE_(name, from, verb)                                                         \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ int ipawl_plock_##name##_(void *lock, size_t size)             \
    {                                                                                              \
        if (PAWL_PLOCK_64_(size))                                                                  \
            from(64, verb)((pawl_spin64 *)lock);                                                   \
        else                                                                                       \
            from(32, verb)((pawl_spin32 *)lock);                                                   \
        return 0;                                                                                  \
    }
#define PAWL_PLOCK_TRY_(name, from, verb)                                                          \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ int ipawl_plock_##name##_(void *lock, size_t size)             \
    {                                                                                              \
        return PAWL_PLOCK_64_(size) ? from(64, verb)((pawl_spin64 *)lock)                          \
                                    : from(32, verb)((pawl_spin32 *)lock);                         \
    }
#define PAWL_PLOCK_MOVE_(name, from, verb)                                                         \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_plock_##name##_(void *lock, size_t size)            \
    {                                                                                              \
        if (PAWL_PLOCK_64_(size))                                                                  \
            from(64, verb)((pawl_spin64 *)lock);                                                   \
        else                                                                                       \
            from(32, verb)((pawl_spin32 *)lock);                                                   \
    }

PAWL_INLINE_BEGIN

PAWL_PLOCK_TAKE_(take_r, PAWL_PLOCK_OWN_, take_read)
PAWL_PLOCK_TAKE_(take_s, PAWL_PLOCK_OWN_, take_seek)
PAWL_PLOCK_TAKE_(take_w, PAWL_PLOCK_OWN_, take_write)
PAWL_PLOCK_TAKE_(take_a, PAWL_PLOCK_SPIN_, take_atomic)
PAWL_PLOCK_TRY_(try_r, PAWL_PLOCK_SPIN_, try_read)
PAWL_PLOCK_TRY_(try_s, PAWL_PLOCK_SPIN_, try_seek)
PAWL_PLOCK_TRY_(try_w, PAWL_PLOCK_SPIN_, claim_write)
PAWL_PLOCK_TRY_(try_w_nowait, PAWL_PLOCK_SPIN_, try_write)
PAWL_PLOCK_TRY_(try_a, PAWL_PLOCK_SPIN_, claim_atomic)
PAWL_PLOCK_MOVE_(drop_r, PAWL_PLOCK_SPIN_, drop_read)
PAWL_PLOCK_MOVE_(drop_s, PAWL_PLOCK_SPIN_, drop_seek)
PAWL_PLOCK_MOVE_(drop_w, PAWL_PLOCK_SPIN_, drop_write)
PAWL_PLOCK_MOVE_(drop_a, PAWL_PLOCK_SPIN_, drop_atomic)
PAWL_PLOCK_MOVE_(stow, PAWL_PLOCK_SPIN_, seek_to_write)
PAWL_PLOCK_MOVE_(wtos, PAWL_PLOCK_SPIN_, write_to_seek)
PAWL_PLOCK_MOVE_(stor, PAWL_PLOCK_SPIN_, seek_to_read)
PAWL_PLOCK_MOVE_(wtor, PAWL_PLOCK_SPIN_, write_to_read)
PAWL_PLOCK_TRY_(try_rtos, PAWL_PLOCK_SPIN_, try_read_to_seek)
PAWL_PLOCK_TRY_(try_rtow, PAWL_PLOCK_SPIN_, read_claim_write)
PAWL_PLOCK_TRY_(try_rtoa, PAWL_PLOCK_SPIN_, read_claim_atomic)
PAWL_PLOCK_MOVE_(ator, PAWL_PLOCK_OWN_, atomic_to_read)
PAWL_PLOCK_MOVE_(rtoj, PAWL_PLOCK_OWN_, read_to_join)
PAWL_PLOCK_MOVE_(jtoc, PAWL_PLOCK_OWN_, join_to_claim)
PAWL_PLOCK_MOVE_(ctoa, PAWL_PLOCK_OWN_, claim_to_atomic)
PAWL_PLOCK_MOVE_(atoj, PAWL_PLOCK_OWN_, atomic_to_join)
PAWL_PLOCK_TAKE_(take_j, PAWL_PLOCK_OWN_, take_join)
PAWL_PLOCK_MOVE_(drop_j, PAWL_PLOCK_OWN_, drop_join)
PAWL_PLOCK_TRY_(last_writer, PAWL_PLOCK_OWN_, last_writer)

PAWL_INLINE PAWL_ALWAYS_INLINE_ unsigned long ipawl_plock_try_j_(void *lock, size_t size)
{
    /* Converted for targets where this branch cannot be taken. */
    return PAWL_PLOCK_64_(size) ? (unsigned long)PAWL_PLOCK_OWN_(64, try_join)((pawl_spin64 *)lock)
                                : PAWL_PLOCK_OWN_(32, try_join)((pawl_spin32 *)lock);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_plock_rtoc_(void *lock, size_t size)
{
    ipawl_plock_rtoj_(lock, size);
    ipawl_plock_jtoc_(lock, size);
}

PAWL_INLINE_END

#undef PAWL_PLOCK_TAKE_
#undef PAWL_PLOCK_TRY_
#undef PAWL_PLOCK_MOVE_

/* The lock's address and size; the size is checked. */
#define PAWL_PLOCK_LOCK_(lock) (void *)(lock), PAWL_PLOCK_LOCK_SIZE_(sizeof(*(lock)))
#define PAWL_PLOCK_JOIN_(lock) (void *)(lock), PAWL_PLOCK_JOIN_SIZE_(sizeof(*(lock)))

/* ---- R S W A --------------------------------------------------------------------------------- */

/* Wait until granted. */
#define pl_take_r(lock) (ipawl_plock_take_r_(PAWL_PLOCK_LOCK_(lock)))
#define pl_take_s(lock) (ipawl_plock_take_s_(PAWL_PLOCK_LOCK_(lock)))
#define pl_take_w(lock) (ipawl_plock_take_w_(PAWL_PLOCK_LOCK_(lock)))
#define pl_take_a(lock) (ipawl_plock_take_a_(PAWL_PLOCK_LOCK_(lock)))

/* Not 0 when granted. pl_try_w and pl_try_a fail at once on seekers and writers, but wait for
 * readers to leave. */
#define pl_try_r(lock) (ipawl_plock_try_r_(PAWL_PLOCK_LOCK_(lock)))
#define pl_try_s(lock) (ipawl_plock_try_s_(PAWL_PLOCK_LOCK_(lock)))
#define pl_try_w(lock) (ipawl_plock_try_w_(PAWL_PLOCK_LOCK_(lock)))
#define pl_try_w_nowait(lock) (ipawl_plock_try_w_nowait_(PAWL_PLOCK_LOCK_(lock)))
#define pl_try_a(lock) (ipawl_plock_try_a_(PAWL_PLOCK_LOCK_(lock)))

#define pl_drop_r(lock) (ipawl_plock_drop_r_(PAWL_PLOCK_LOCK_(lock)))
#define pl_drop_s(lock) (ipawl_plock_drop_s_(PAWL_PLOCK_LOCK_(lock)))
#define pl_drop_w(lock) (ipawl_plock_drop_w_(PAWL_PLOCK_LOCK_(lock)))
#define pl_drop_a(lock) (ipawl_plock_drop_a_(PAWL_PLOCK_LOCK_(lock)))

/* S -> W waits for readers; the others are at once. */
#define pl_stow(lock) (ipawl_plock_stow_(PAWL_PLOCK_LOCK_(lock)))
#define pl_wtos(lock) (ipawl_plock_wtos_(PAWL_PLOCK_LOCK_(lock)))
#define pl_stor(lock) (ipawl_plock_stor_(PAWL_PLOCK_LOCK_(lock)))
#define pl_wtor(lock) (ipawl_plock_wtor_(PAWL_PLOCK_LOCK_(lock)))

/* R -> S, W, A: not 0 when granted, perhaps after waiting for the other readers. On 0 R is still
 * held, and must be dropped before trying again. */
#define pl_try_rtos(lock) (ipawl_plock_try_rtos_(PAWL_PLOCK_LOCK_(lock)))
#define pl_try_rtow(lock) (ipawl_plock_try_rtow_(PAWL_PLOCK_LOCK_(lock)))
#define pl_try_rtoa(lock) (ipawl_plock_try_rtoa_(PAWL_PLOCK_LOCK_(lock)))

/* A -> R, after the other atomic users. Lets a claimant in first that would otherwise wait for us
 * while we wait for it; look again at what was there, or use pawl_atomic_to_read, which tells. */
#define pl_ator(lock) (ipawl_plock_ator_(PAWL_PLOCK_LOCK_(lock)))

/* ---- R J C A --------------------------------------------------------------------------------- */

/* R -> J waits until every reader has joined or left, or the claim phase has begun. J -> C begins
 * it; R -> C does both. C -> A waits until nobody joins or claims any more. A -> J at once: the
 * other atomic users stay. */
#define pl_rtoj(lock) (ipawl_plock_rtoj_(PAWL_PLOCK_JOIN_(lock)))
#define pl_jtoc(lock) (ipawl_plock_jtoc_(PAWL_PLOCK_JOIN_(lock)))
#define pl_rtoc(lock) (ipawl_plock_rtoc_(PAWL_PLOCK_JOIN_(lock)))
#define pl_ctoa(lock) (ipawl_plock_ctoa_(PAWL_PLOCK_JOIN_(lock)))
#define pl_atoj(lock) (ipawl_plock_atoj_(PAWL_PLOCK_JOIN_(lock)))

/* J alone. The try waits too: first for W to fall, then for readers; it fails (0) when another
 * claims W meanwhile, and is otherwise the lock's word. */
#define pl_take_j(lock) (ipawl_plock_take_j_(PAWL_PLOCK_JOIN_(lock)))
#define pl_try_j(lock) (ipawl_plock_try_j_(PAWL_PLOCK_JOIN_(lock)))

#define pl_drop_j(lock) (ipawl_plock_drop_j_(PAWL_PLOCK_JOIN_(lock)))
#define pl_drop_c(lock) (ipawl_plock_drop_j_(PAWL_PLOCK_JOIN_(lock)))

/* Not 0 when at most one unit of W is left: ask before dropping A, J or C. */
#define pl_last_writer(lock) (ipawl_plock_last_writer_(PAWL_PLOCK_LOCK_(lock)))

#endif
