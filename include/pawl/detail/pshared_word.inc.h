/* SPDX-License-Identifier: MIT */
/*
 * The part of pshared.h beside sleeping_word.inc.h, for each width: `waits`, and drops that wake
 * before they give the lock up.
 */

PAWL_C_BEGIN

/* I6: the word went from `found` to `now` beside PARKED. */
PAWL_API PAWL_COLD void PAWL_SLOW_(changed)(PAWL_LOCK_ *l, PAWL_WORD_ found, PAWL_WORD_ now);
/* Whether a drop that changes the word so lets a waiter go on; LEAVING must then be set. */
PAWL_API PAWL_COLD bool PAWL_SLOW_(lets_in)(PAWL_WORD_ found, PAWL_WORD_ now);
/* I7: LEAVING is set; wakes, and gives up `units` by its last access. */
PAWL_API PAWL_COLD void PAWL_SLOW_(leave)(PAWL_LOCK_ *l, PAWL_WORD_ units);

PAWL_C_END

PAWL_INLINE_BEGIN

/* Called after a subtraction of `units` that found `found`: the lock stays held, or the caller is
 * inside an operation on it, so `waits` may change afterwards. */
PAWL_INLINE void PAWL_INNER_(dropped_)(PAWL_LOCK_ *l, PAWL_WORD_ found, PAWL_WORD_ units)
{
    if (PAWL_UNLIKELY(found & PAWL_PSHARED_PARKED))
        PAWL_SLOW_(changed)(l, found, (PAWL_WORD_)(found - units));
}

PAWL_INLINE_END

#include <pawl/detail/no_entries_word.inc.h>
#include <pawl/detail/sleeping_word.inc.h>

PAWL_INLINE_BEGIN

PAWL_INLINE bool PAWL_NAME_(init)(PAWL_LOCK_ *l)
{
    if (l == NULL || ((uintptr_t)l & (sizeof(l->word) - 1)) != 0)
        return false;
    PAWL_AT_(pawl_store_relaxed)(&l->word, 0);
    pawl_store_relaxed32(&l->waits, 0);
    return true;
}

PAWL_INLINE void PAWL_NAME_(destroy)(PAWL_LOCK_ *l)
{
    (void)l;
}

PAWL_INLINE bool PAWL_NAME_(is_free)(const PAWL_LOCK_ *l)
{
    return PAWL_IS_(nobody)(PAWL_AT_(pawl_load_relaxed)(&l->word));
}

/* ---- Leaving --------------------------------------------------------------------------------- */

/* A drop with nobody asleep, or under another's LEAVING, is one compare-exchange. Else LEAVING is
 * set by a compare-exchange with the same order, and leave() wakes and then drops. The access in
 * leave() is in its release sequence: the next owner sees what we did in either case. */
PAWL_INLINE PAWL_WORD_ PAWL_INNER_(next_)(PAWL_WORD_ w, PAWL_WORD_ units)
{
    const PAWL_WORD_ without = (PAWL_WORD_)(w - units);
    if (PAWL_UNLIKELY((w & (PAWL_PSHARED_PARKED | PAWL_PSHARED_LEAVING)) == PAWL_PSHARED_PARKED) &&
        PAWL_SLOW_(lets_in)(w, without))
        return w | PAWL_PSHARED_LEAVING;
    return without;
}

PAWL_INLINE void PAWL_INNER_(went_)(PAWL_LOCK_ *l, PAWL_WORD_ from, PAWL_WORD_ to, PAWL_WORD_ units)
{
    if (PAWL_UNLIKELY(~from & to & PAWL_PSHARED_LEAVING))
        PAWL_SLOW_(leave)(l, units);
}

PAWL_INLINE void PAWL_DO_(drop_read)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    PAWL_WORD_ next;
    do
        next = PAWL_INNER_(next_)(w, PAWL_R_);
    /* [SPIN_R_DROP] release: our reads are done before a writer sees R fall. */
    while (!PAWL_AT_(pawl_cas_release)(&l->word, &w, next, PAWL_SPIN_R_DROP));
    PAWL_INNER_(went_)(l, w, next, PAWL_R_);
}

PAWL_INLINE void PAWL_DO_(drop_seek)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    PAWL_WORD_ next;
    do
        next = PAWL_INNER_(next_)(w, PAWL_R_S_);
    /* [SPIN_S_DROP] release: what we read or carefully stored is done before the next seeker. */
    while (!PAWL_AT_(pawl_cas_release)(&l->word, &w, next, PAWL_SPIN_S_DROP));
    PAWL_INNER_(went_)(l, w, next, PAWL_R_S_);
}

PAWL_INLINE void PAWL_DO_(drop_write)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    PAWL_WORD_ next;
    do
        next = PAWL_INNER_(next_)(w, PAWL_W_S_R_);
    /* [SPIN_W_DROP] release: our stores are done before anybody enters. */
    while (!PAWL_AT_(pawl_cas_release)(&l->word, &w, next, PAWL_SPIN_W_DROP));
    PAWL_INNER_(went_)(l, w, next, PAWL_W_S_R_);
}

PAWL_INLINE void PAWL_DO_(drop_atomic)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    PAWL_WORD_ next;
    do
        next = PAWL_INNER_(next_)(w, PAWL_W_);
    /* [SPIN_A_DROP] release: our atomic updates are done before anybody else enters. */
    while (!PAWL_AT_(pawl_cas_release)(&l->word, &w, next, PAWL_SPIN_A_DROP));
    PAWL_INNER_(went_)(l, w, next, PAWL_W_);
}

/* ---- The public names, with what is told around them (around.h) ------------------------------ */

#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    PAWL_INLINE result PAWL_NAME_(name)(PAWL_LOCK_ * l)                                            \
    {                                                                                              \
        PAWL_TYPE_##result##_ value;                                                               \
        PAWL_FACE_##kind##_(name, from, to, PAWL_CALL_##kind##_(name, UINT64_MAX));                \
        PAWL_RETURN_##result##_(value);                                                            \
    }
#include <pawl/detail/transitions.def>

#define PAWL_UNTIL(name, from, to)                                                                 \
    PAWL_INLINE bool PAWL_NAME_(name##_until)(PAWL_LOCK_ * l, uint64_t deadline)                   \
    {                                                                                              \
        bool value;                                                                                \
        PAWL_FACE_WAITS_(PAWL_TRACED_UNTIL_, name, from, to, PAWL_DO_(name)(l, deadline));         \
        return value;                                                                              \
    }
#include <pawl/detail/until.def>

PAWL_INLINE pawl_regained PAWL_NAME_(atomic_to_read_until)(PAWL_LOCK_ *l, uint64_t deadline)
{
    pawl_regained value;
    PAWL_REGAINS_(PAWL_DO_(atomic_to_read)(l, deadline));
    return value;
}

PAWL_INLINE_END

#include <pawl/detail/overloads.inc.h>
#undef PAWL_WORD_BITS
