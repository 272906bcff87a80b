/* SPDX-License-Identifier: MIT */
/* The states of the lock for processes that may be killed: taking, leaving, moving, repairing. */
#ifndef PAWL_COMPILED_
#define PAWL_COMPILED_ /* as in src/pawl.c */
#endif

#include <pawl/robust.h>

#if defined(__linux__) || PAWL_HOOKS

#include <string.h>

#include "robust_members.h"

/* The caller's member, or NO_MEMBER. */
static unsigned robust_own(const pawl_robust_lock *l, uint32_t self, enum as as)
{
    const uint32_t holder = self | (uint32_t)as << HOLDER_SHIFT;
    for (unsigned i = 0; i < PAWL_ROBUST_MEMBERS; i++)
        if (pawl_load_relaxed32(&l->members[(self + i) % PAWL_ROBUST_MEMBERS].holder) == holder)
            return (self + i) % PAWL_ROBUST_MEMBERS;
    return NO_MEMBER;
}

/* ---- Taking ---------------------------------------------------------------------------------- */

static enum pawl_robust robust_take_member(pawl_robust_lock *l, enum as as, struct patience p)
{
    if (!robust_is_lock(l))
        return PAWL_ROBUST_CORRUPT;
    return robust_enter(l, as, false, p);
}

static enum pawl_robust robust_take_seek(pawl_robust_lock *l, struct patience p)
{
    enum pawl_robust how;
    if (!robust_is_lock(l))
        return PAWL_ROBUST_CORRUPT;
    how = robust_get(l, &l->seek, p);
    if (how != PAWL_ROBUST_OK)
        return how;
    how = robust_enter(l, AS_SEEK, true, p);
    if (!pawl_robust_held(how))
        (void)robust_put(l, &l->seek);
    return how;
}

static enum pawl_robust robust_take_write(pawl_robust_lock *l, struct patience p)
{
    enum pawl_robust how;
    if (!robust_is_lock(l))
        return PAWL_ROBUST_CORRUPT;
    how = robust_get(l, &l->seek, p);
    if (how != PAWL_ROBUST_OK)
        return how;
    how = robust_drain(l, NO_MEMBER, p);
    if (how != PAWL_ROBUST_OK) {
        (void)robust_put(l, &l->seek);
        return how;
    }
    pawl_store_relaxed32(&l->room, ROOM_READ);
    pawl_store_relaxed32(&l->writer, robust_self());
    return robust_news(l);
}

#define TAKE(state, call)                                                                          \
    enum pawl_robust pawl_robust_lock_take_##state(pawl_robust_lock *l)                            \
    {                                                                                              \
        const struct patience p = for_ever;                                                        \
        return call;                                                                               \
    }                                                                                              \
    enum pawl_robust pawl_robust_lock_take_##state##_until(pawl_robust_lock *l, uint64_t deadline) \
    {                                                                                              \
        const struct patience p = robust_until(deadline);                                          \
        return call;                                                                               \
    }                                                                                              \
    enum pawl_robust pawl_robust_lock_try_##state(pawl_robust_lock *l)                             \
    {                                                                                              \
        const struct patience p = not_at_all;                                                      \
        return call;                                                                               \
    }
TAKE(read, robust_take_member(l, AS_READ, p))
TAKE(seek, robust_take_seek(l, p))
TAKE(write, robust_take_write(l, p))
TAKE(atomic, robust_take_member(l, AS_ATOMIC, p))

/* ---- Leaving: the record first, then the mutex (I2) ----------------------------------------- */

static enum pawl_robust robust_drop_member(pawl_robust_lock *l, enum as as)
{
    unsigned own;
    if (!robust_is_lock(l))
        return PAWL_ROBUST_CORRUPT;
    own = robust_own(l, robust_self(), as);
    if (own == NO_MEMBER)
        return PAWL_ROBUST_MISUSE;
    pawl_store_relaxed32(&l->members[own].holder, 0);
    return robust_put_member(l, own);
}

enum pawl_robust pawl_robust_lock_drop_read(pawl_robust_lock *l)
{
    return robust_drop_member(l, AS_READ);
}

enum pawl_robust pawl_robust_lock_drop_atomic(pawl_robust_lock *l)
{
    return robust_drop_member(l, AS_ATOMIC);
}

/* Whether the caller holds S (its member is *own) or W. */
static enum pawl_robust robust_seeks(const pawl_robust_lock *l, unsigned *own)
{
    const uint32_t self = robust_self();
    if (!robust_is_lock(l))
        return PAWL_ROBUST_CORRUPT;
    *own = robust_own(l, self, AS_SEEK);
    if (*own == NO_MEMBER || pawl_load_relaxed32(&l->seeker) != self)
        return PAWL_ROBUST_MISUSE;
    return PAWL_ROBUST_OK;
}

static enum pawl_robust robust_writes(const pawl_robust_lock *l)
{
    if (!robust_is_lock(l))
        return PAWL_ROBUST_CORRUPT;
    return pawl_load_relaxed32(&l->writer) == robust_self() ? PAWL_ROBUST_OK : PAWL_ROBUST_MISUSE;
}

enum pawl_robust pawl_robust_lock_drop_seek(pawl_robust_lock *l)
{
    unsigned own;
    enum pawl_robust how = robust_seeks(l, &own);
    if (how != PAWL_ROBUST_OK)
        return how;
    pawl_store_relaxed32(&l->seeker, 0); /* first, because it was stored last */
    pawl_store_relaxed32(&l->members[own].holder, 0);
    how = robust_put_member(l, own);
    return robust_put(l, &l->seek) == PAWL_ROBUST_OK ? how : PAWL_ROBUST_CORRUPT;
}

enum pawl_robust pawl_robust_lock_drop_write(pawl_robust_lock *l)
{
    enum pawl_robust how = robust_writes(l);
    if (how != PAWL_ROBUST_OK)
        return how;
    if (pawl_load_relaxed32(&l->state) & DEATHS)
        pawl_store_relaxed32(&l->state, LOST);
    pawl_store_relaxed32(&l->writer, 0);
    how = robust_open(l);
    return robust_put(l, &l->seek) == PAWL_ROBUST_OK ? how : PAWL_ROBUST_CORRUPT;
}

/* ---- Moving ---------------------------------------------------------------------------------- */

/* On record as the writer, the caller needs its member no more. */
static enum pawl_robust robust_writes_now(pawl_robust_lock *l, unsigned own)
{
    pawl_store_relaxed32(&l->members[own].holder, 0);
    return robust_put(l, &l->members[own]) == PAWL_ROBUST_OK ? robust_news(l) : PAWL_ROBUST_CORRUPT;
}

static enum pawl_robust robust_seek_to_write(pawl_robust_lock *l, struct patience p)
{
    unsigned own;
    enum pawl_robust how = robust_seeks(l, &own);
    if (how == PAWL_ROBUST_OK)
        how = robust_drain(l, own, p);
    if (how != PAWL_ROBUST_OK)
        return how;
    pawl_store_relaxed32(&l->writer, robust_self());
    pawl_store_relaxed32(&l->seeker, 0);
    return robust_writes_now(l, own);
}

enum pawl_robust pawl_robust_lock_seek_to_write(pawl_robust_lock *l)
{
    return robust_seek_to_write(l, for_ever);
}

enum pawl_robust pawl_robust_lock_seek_to_write_until(pawl_robust_lock *l, uint64_t deadline)
{
    return robust_seek_to_write(l, robust_until(deadline));
}

enum pawl_robust pawl_robust_lock_try_seek_to_write(pawl_robust_lock *l)
{
    return robust_seek_to_write(l, not_at_all);
}

/* R -> seek, which only tries: the holder of seek may wait for the caller's member. */
static enum pawl_robust robust_read_gets_seek(pawl_robust_lock *l, unsigned *own)
{
    if (!robust_is_lock(l))
        return PAWL_ROBUST_CORRUPT;
    *own = robust_own(l, robust_self(), AS_READ);
    return *own == NO_MEMBER ? PAWL_ROBUST_MISUSE : robust_get(l, &l->seek, not_at_all);
}

enum pawl_robust pawl_robust_lock_try_read_to_seek(pawl_robust_lock *l)
{
    const uint32_t self = robust_self();
    unsigned own;
    const enum pawl_robust how = robust_read_gets_seek(l, &own);
    if (how != PAWL_ROBUST_OK)
        return how;
    pawl_store_relaxed32(&l->seeker, self);
    pawl_store_relaxed32(&l->members[own].holder, self | (uint32_t)AS_SEEK << HOLDER_SHIFT);
    return robust_news(l);
}

static enum pawl_robust robust_read_to_write(pawl_robust_lock *l, struct patience p)
{
    unsigned own;
    enum pawl_robust how = robust_read_gets_seek(l, &own);
    if (how != PAWL_ROBUST_OK)
        return how;
    how = robust_drain(l, own, p);
    if (how != PAWL_ROBUST_OK) {
        (void)robust_put(l, &l->seek);
        return how;
    }
    pawl_store_relaxed32(&l->writer, robust_self());
    return robust_writes_now(l, own);
}

enum pawl_robust pawl_robust_lock_try_read_to_write(pawl_robust_lock *l)
{
    return robust_read_to_write(l, not_at_all);
}

enum pawl_robust pawl_robust_lock_read_claim_write(pawl_robust_lock *l)
{
    return robust_read_to_write(l, for_ever);
}

enum pawl_robust pawl_robust_lock_read_claim_write_until(pawl_robust_lock *l, uint64_t deadline)
{
    return robust_read_to_write(l, robust_until(deadline));
}

/* A writer gets a member again: of others at most newcomers have some, and give them back. */
static enum pawl_robust robust_write_gets_member(pawl_robust_lock *l, enum as as)
{
    const uint32_t self = robust_self();
    unsigned own = 0;
    enum pawl_robust how = robust_writes(l);
    if (how == PAWL_ROBUST_OK)
        how = robust_get_a_member(l, self, for_ever, &own);
    if (how != PAWL_ROBUST_OK)
        return how;
    robust_uses(l, own);
    if (as == AS_SEEK)
        pawl_store_relaxed32(&l->seeker, self);
    pawl_store_relaxed32(&l->members[own].holder, self | (uint32_t)as << HOLDER_SHIFT);
    pawl_store_relaxed32(&l->writer, 0);
    return PAWL_ROBUST_OK;
}

enum pawl_robust pawl_robust_lock_write_to_seek(pawl_robust_lock *l)
{
    const enum pawl_robust how = robust_write_gets_member(l, AS_SEEK);
    return how == PAWL_ROBUST_OK ? robust_open(l) : how;
}

enum pawl_robust pawl_robust_lock_write_to_read(pawl_robust_lock *l)
{
    enum pawl_robust how = robust_write_gets_member(l, AS_READ);
    if (how != PAWL_ROBUST_OK)
        return how;
    how = robust_open(l);
    return robust_put(l, &l->seek) == PAWL_ROBUST_OK ? how : PAWL_ROBUST_CORRUPT;
}

enum pawl_robust pawl_robust_lock_seek_to_read(pawl_robust_lock *l)
{
    const uint32_t self = robust_self();
    unsigned own;
    const enum pawl_robust how = robust_seeks(l, &own);
    if (how != PAWL_ROBUST_OK)
        return how;
    pawl_store_relaxed32(&l->members[own].holder, self | (uint32_t)AS_READ << HOLDER_SHIFT);
    pawl_store_relaxed32(&l->seeker, 0);
    return robust_put(l, &l->seek);
}

/* ---- Making, repairing ----------------------------------------------------------------------- */

enum pawl_robust pawl_robust_lock_init(pawl_robust_lock *l)
{
    struct ipawl_robust_cell_ *c;
    if (l == NULL || ((uintptr_t)l & 63u) != 0)
        return PAWL_ROBUST_CORRUPT;
    (void)memset((void *)l, 0, sizeof *l);
    for (unsigned i = 0; i < PAWL_ROBUST_MEMBERS + 2; i++) {
        c = i < 2 ? (i == 0 ? &l->gate : &l->seek) : &l->members[i - 2];
        if (!pawl_os_robust_make(c->mutex))
            return PAWL_ROBUST_CORRUPT;
        c->seal = c->second_seal = SEAL + i;
    }
    l->layout = robust_layout(&l->gate);
    pawl_store_relaxed32(&l->magic, MAGIC);
    return PAWL_ROBUST_OK;
}

enum pawl_robust pawl_robust_lock_consistent(pawl_robust_lock *l)
{
    const uint32_t self = robust_self();
    if (!robust_is_lock(l))
        return PAWL_ROBUST_CORRUPT;
    if (robust_is_lost(l))
        return PAWL_ROBUST_NOT_RECOVERABLE;
    if (pawl_load_relaxed32(&l->writer) != self && robust_own(l, self, AS_READ) == NO_MEMBER &&
        robust_own(l, self, AS_SEEK) == NO_MEMBER && robust_own(l, self, AS_ATOMIC) == NO_MEMBER)
        return PAWL_ROBUST_MISUSE;
    (void)pawl_fetch_and_relaxed32(&l->state, ~(uint32_t)DEATHS);
    return PAWL_ROBUST_OK;
}

unsigned pawl_robust_lock_deaths(const pawl_robust_lock *l)
{
    return robust_is_lock(l) ? pawl_load_relaxed32(&l->state) & DEATHS : 0;
}

#undef TAKE
#undef MAGIC
#undef SEAL
#undef NO_MEMBER
#undef DEATHS
#undef LOST
#undef POLLS
#endif
