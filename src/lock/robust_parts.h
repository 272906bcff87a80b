/* SPDX-License-Identifier: MIT */
/*
 * The parts of the lock for processes that may be killed: one mutex, one member, all members, and
 * the repair after a dead holder. For robust.c. The order of mutexes is seek, gate, members from 0
 * up. A thread that holds a member and wants seek only tries, and so does one that holds the gate
 * and wants a member of others; the holder of seek may wait for one.
 */
#ifndef PAWL_ROBUST_PARTS_H
#define PAWL_ROBUST_PARTS_H

#include <pawl/robust.h>

#include "../base/base.h"

#define MAGIC UINT32_C(0x70617722)
#define SEAL UINT32_C(0x5ea1ed00)
#define NO_MEMBER PAWL_ROBUST_MEMBERS
#define DEATHS                                                                                     \
    (PAWL_ROBUST_DIED_READ | PAWL_ROBUST_DIED_SEEK | PAWL_ROBUST_DIED_WRITE |                      \
     PAWL_ROBUST_DIED_ATOMIC)
#define LOST 16u /* in `state`: not recoverable */

/* The looks of a waiter at a mutex before it sleeps, as in wait_parts.h. */
#if PAWL_HOOKS
#define POLLS 0
#else
#define POLLS 100
#endif

enum { ROOM_READ, ROOM_ATOMIC };
enum { HOLDER_SHIFT = 28 };
enum as { AS_READ = 1, AS_SEEK = 2, AS_ATOMIC = 3 };

/* How long an operation may wait. */
struct patience {
    bool tries;
    uint64_t deadline;
};

static const struct patience for_ever = {false, PAWL_NO_DEADLINE};
static const struct patience not_at_all = {true, 0};

PAWL_STATIC struct patience robust_until(uint64_t deadline)
{
    return (struct patience){false, deadline};
}

/* ---- Identity and shape ---------------------------------------------------------------------- */

/* In the hook variant the harness numbers the threads. */
PAWL_STATIC uint32_t robust_self(void)
{
#if PAWL_HOOKS
    const struct pawl_thread_line *line = ipawl_thread_line_();
    return line ? pawl_load_relaxed32(&line->owner) : pawl_os_thread_id();
#else
    return pawl_os_robust_self();
#endif
}

/* A byte of a mutex that never changes tells a mutex from garbage. It is the first byte that is not
 * zero in a new mutex; this byte is the mutex's kind. */
PAWL_STATIC uint32_t robust_layout(const struct ipawl_robust_cell_ *fresh)
{
    const uint8_t *bytes = (const uint8_t *)fresh->mutex;
    uint32_t at = 0;
    while (at < PAWL_OS_ROBUST_SIZE - 1 && bytes[at] == 0)
        at++;
    return (uint32_t)bytes[at] << 24 | at << 16 | (uint32_t)PAWL_OS_ROBUST_USED << 8 |
           PAWL_ROBUST_MEMBERS;
}

static inline PAWL_ALWAYS_INLINE_ bool robust_is_lock(const pawl_robust_lock *l)
{
    if (l == NULL || ((uintptr_t)l & 63u) != 0)
        return false;
    pawl_os_told_plain((void *)(uintptr_t)l, sizeof *l);
    return pawl_load_relaxed32(&l->magic) == MAGIC &&
           (pawl_load_relaxed32(&l->layout) & 0xffffu) ==
               ((uint32_t)PAWL_OS_ROBUST_USED << 8 | PAWL_ROBUST_MEMBERS) &&
           pawl_load_relaxed32(&l->room) <= ROOM_ATOMIC &&
           (pawl_load_relaxed32(&l->state) & ~(DEATHS | LOST)) == 0;
}

static inline PAWL_ALWAYS_INLINE_ bool robust_is_cell(const pawl_robust_lock *l,
                                                      const struct ipawl_robust_cell_ *c)
{
    const uint32_t seal = SEAL + (uint32_t)(c - &l->gate);
    const uint32_t layout = pawl_load_relaxed32(&l->layout);
    const uint32_t at = layout >> 16 & 0xffu;
    return c->seal == seal && c->second_seal == seal && at < PAWL_OS_ROBUST_SIZE &&
           ((const uint8_t *)c->mutex)[at] == layout >> 24;
}

/* ---- Deaths ---------------------------------------------------------------------------------- */

PAWL_STATIC void robust_put_down(pawl_robust_lock *l, uint32_t death)
{
    (void)pawl_fetch_or_relaxed32(&l->state, death);
}

/* I3: the caller got `c` from a dead holder and has not yet healed it. A writer holds seek and
 * gate. So when one of these comes from a dead holder and a writer is on record, that writer has
 * died. A newcomer may have died with a member that it was to give back. */
PAWL_STATIC PAWL_COLD void robust_died(pawl_robust_lock *l, struct ipawl_robust_cell_ *c)
{
    const uint32_t holder = pawl_load_relaxed32(&c->holder);
    const uint32_t id = holder & ((1u << HOLDER_SHIFT) - 1);
    const uint32_t as = holder >> HOLDER_SHIFT;

    PAWL_PROBE2(robust_died, l, id);
    if ((c == &l->seek || c == &l->gate) && pawl_load_relaxed32(&l->writer) != 0) {
        robust_put_down(l, PAWL_ROBUST_DIED_WRITE);
        pawl_store_relaxed32(&l->writer, 0);
    }
    if (pawl_load_relaxed32(&l->seeker) != 0 &&
        (c == &l->seek || (as == AS_SEEK && id == pawl_load_relaxed32(&l->seeker)))) {
        robust_put_down(l, PAWL_ROBUST_DIED_SEEK);
        pawl_store_relaxed32(&l->seeker, 0);
    }
    if (as == AS_READ || as == AS_ATOMIC)
        robust_put_down(l, as == AS_READ ? PAWL_ROBUST_DIED_READ : PAWL_ROBUST_DIED_ATOMIC);
    pawl_store_relaxed32(&c->holder, 0);
}

/* ---- One mutex ------------------------------------------------------------------------------- */

/* A process may be killed between its unlock of a mutex and the wake of the next waiter, or just
 * after its own wake. It then leaves the wake to the kernel, which wakes only while no thread has
 * the mutex. A newcomer that has overtaken the sleepers meanwhile does not know of them and would
 * not wake them either. Hence the count in the cell, and the wake that each holder then owes. (The
 * count needs no order: a sleeper has made a system call since it counted itself.) */
PAWL_STATIC PAWL_COLD enum pawl_robust robust_get_after(pawl_robust_lock *l,
                                                        struct ipawl_robust_cell_ *c,
                                                        struct patience p, enum pawl_os_robust how)
{
    uint32_t others = 0;
    for (unsigned polls = POLLS; how == PAWL_OS_ROBUST_BUSY && !p.tries && polls != 0; polls--) {
        pawl_cpu_relax();
        if (pawl_os_robust_is_free(c->mutex))
            how = pawl_os_robust_try(c->mutex);
    }
    if (how == PAWL_OS_ROBUST_BUSY && !p.tries) {
        PAWL_PROBE1(robust_contended, l);
        (void)pawl_fetch_add_relaxed32(&c->waiting, 1);
        how = pawl_os_robust_lock(c->mutex, p.deadline);
        others = pawl_fetch_sub_relaxed32(&c->waiting, 1) - 1;
    } else if (how <= PAWL_OS_ROBUST_GOT_DEAD) {
        others = pawl_load_relaxed32(&c->waiting);
    }
    if (how <= PAWL_OS_ROBUST_GOT_DEAD && others != 0)
        pawl_os_robust_owe_wake(c->mutex);
    switch (how) {
    case PAWL_OS_ROBUST_GOT_DEAD:
        robust_died(l, c);
        return pawl_os_robust_heal(c->mutex) ? PAWL_ROBUST_OK : PAWL_ROBUST_CORRUPT;
    case PAWL_OS_ROBUST_GOT: return PAWL_ROBUST_OK;
    case PAWL_OS_ROBUST_BUSY: return PAWL_ROBUST_BUSY;
    case PAWL_OS_ROBUST_LATE: return PAWL_ROBUST_TIMED_OUT;
    default: return PAWL_ROBUST_CORRUPT;
    }
}

PAWL_STATIC enum pawl_robust robust_get(pawl_robust_lock *l, struct ipawl_robust_cell_ *c,
                                        struct patience p)
{
    enum pawl_os_robust how;
    if (PAWL_UNLIKELY(!robust_is_cell(l, c)))
        return PAWL_ROBUST_CORRUPT;
    how = pawl_os_robust_try(c->mutex);
    if (PAWL_LIKELY(how == PAWL_OS_ROBUST_GOT && pawl_load_relaxed32(&c->waiting) == 0))
        return PAWL_ROBUST_OK;
    return robust_get_after(l, c, p, how);
}

PAWL_STATIC enum pawl_robust robust_put(pawl_robust_lock *l, struct ipawl_robust_cell_ *c)
{
    if (!robust_is_cell(l, c) || !pawl_os_robust_unlock(c->mutex))
        return PAWL_ROBUST_CORRUPT;
    return PAWL_ROBUST_OK;
}

/* The news for the holder of a state. */
PAWL_STATIC enum pawl_robust robust_news(const pawl_robust_lock *l)
{
    return pawl_load_relaxed32(&l->state) & DEATHS ? PAWL_ROBUST_OWNER_DIED : PAWL_ROBUST_OK;
}

PAWL_STATIC bool robust_is_lost(const pawl_robust_lock *l)
{
    return (pawl_load_relaxed32(&l->state) & LOST) != 0;
}

/* ---- One member ------------------------------------------------------------------------------ */

/* The members in use but the caller's own, a bit for each. */
PAWL_STATIC uint32_t robust_others(const pawl_robust_lock *l, unsigned own)
{
    const uint32_t all = (UINT32_C(1) << PAWL_ROBUST_MEMBERS) - 1;
    return pawl_load_relaxed32(&l->used) & all & ~(UINT32_C(1) << own);
}

/* The caller has the member. Others look there from now on. */
PAWL_STATIC void robust_uses(pawl_robust_lock *l, unsigned own)
{
    const uint32_t bit = UINT32_C(1) << own;
    if (PAWL_UNLIKELY((pawl_load_relaxed32(&l->used) & bit) == 0))
        (void)pawl_fetch_or_relaxed32(&l->used, bit);
}

/* Any free member. */
PAWL_STATIC enum pawl_robust robust_try_members(pawl_robust_lock *l, uint32_t self,
                                                unsigned *member)
{
    enum pawl_robust how = PAWL_ROBUST_BUSY;
    for (unsigned i = 0; how == PAWL_ROBUST_BUSY && i < PAWL_ROBUST_MEMBERS; i++) {
        *member = (self + i) % PAWL_ROBUST_MEMBERS;
        how = robust_get(l, &l->members[*member], not_at_all);
    }
    return how;
}

/* The same, or the next one to become free. */
PAWL_STATIC enum pawl_robust robust_get_a_member(pawl_robust_lock *l, uint32_t self,
                                                 struct patience p, unsigned *member)
{
    const enum pawl_robust how = robust_try_members(l, self, member);
    if (how != PAWL_ROBUST_BUSY || p.tries)
        return how;
    *member = self % PAWL_ROBUST_MEMBERS;
    return robust_get(l, &l->members[*member], p);
}

PAWL_STATIC enum pawl_robust robust_put_member(pawl_robust_lock *l, unsigned own)
{
    /* [ROBUST_LEAVE] release: what the holder did comes before a writer finds the member free. The
     * C library promises that only to who takes the mutex. */
    pawl_fence_release(PAWL_ROBUST_LEAVE);
    return robust_put(l, &l->members[own]);
}

PAWL_STATIC enum pawl_robust robust_open(pawl_robust_lock *l)
{
    /* [ROBUST_OPEN] release: what was done behind the gate comes before a newcomer finds it open.
     */
    pawl_store_release32(&l->draining, 0, PAWL_ROBUST_OPEN);
    return robust_put(l, &l->gate);
}

/* Newcomers wait here while a thread drains or writes. The holder of the gate knows that no other
 * thread does. So it may correct a record that a dead process, or a stray store, left, and it
 * takes a member before the next writer comes. BUSY: no member is free. */
PAWL_STATIC enum pawl_robust robust_enter_by_gate(pawl_robust_lock *l, uint32_t self,
                                                  struct patience p, unsigned *member)
{
    enum pawl_robust how = robust_get(l, &l->gate, p), opened;
    if (how != PAWL_ROBUST_OK)
        return how;
    how = robust_try_members(l, self, member);
    if (how == PAWL_ROBUST_OK)
        robust_uses(l, *member);
    opened = robust_open(l);
    if (how == PAWL_ROBUST_OK && opened != PAWL_ROBUST_OK)
        (void)robust_put_member(l, *member);
    return opened == PAWL_ROBUST_OK ? how : opened;
}

/* The newcomer has the member. It looks whether one drains after its member is in use; a thread
 * that drains looks for members in use after it has said so. So one of them sees the other. A
 * thread that has drained meanwhile may have found the member free, and cleared its bit. */
static inline PAWL_ALWAYS_INLINE_ bool robust_is_in(pawl_robust_lock *l, unsigned own)
{
    do {
        robust_uses(l, own);
        /* [ROBUST_ENTER] full: the member is in use before the newcomer looks whether one drains.
         */
        pawl_fence_full_after_update(PAWL_ROBUST_ENTER);
        /* [ROBUST_SHUT] acquire: the newcomer sees what was done behind the gate. */
        if (PAWL_UNLIKELY(pawl_load_acquire32(&l->draining, PAWL_ROBUST_SHUT) != 0))
            return false;
    } while (PAWL_UNLIKELY((pawl_load_relaxed32(&l->used) & UINT32_C(1) << own) == 0));
    return true;
}

/* A member while nobody drains or writes. */
PAWL_STATIC enum pawl_robust robust_get_member(pawl_robust_lock *l, uint32_t self,
                                               struct patience p, unsigned *member)
{
    enum pawl_robust how = PAWL_ROBUST_OK;
    while (how == PAWL_ROBUST_OK) {
        if (PAWL_UNLIKELY(pawl_load_relaxed32(&l->draining) != 0)) {
            how = robust_enter_by_gate(l, self, p, member);
            if (how != PAWL_ROBUST_BUSY || p.tries)
                return how;
        }
        how = robust_get_a_member(l, self, p, member);
        if (how != PAWL_ROBUST_OK || PAWL_LIKELY(robust_is_in(l, *member)))
            return how;
        how = robust_put_member(l, *member);
    }
    return how;
}

/* ---- All members ----------------------------------------------------------------------------- */

/* The member is free, or the caller got it and gave it back: a dead one's is healed. */
PAWL_STATIC enum pawl_robust robust_await(pawl_robust_lock *l, struct ipawl_robust_cell_ *c,
                                          struct patience p)
{
    enum pawl_robust how;
    if (robust_is_cell(l, c) && pawl_os_robust_is_free(c->mutex))
        return PAWL_ROBUST_OK;
    how = robust_get(l, c, p);
    return how == PAWL_ROBUST_OK ? robust_put(l, c) : how;
}

/* The caller holds seek and, if it has one, its own member. Takes the gate, and returns when no
 * other member is taken; or takes nothing. Until robust_open a newcomer gives back the member that
 * it gets. */
PAWL_STATIC enum pawl_robust robust_drain(pawl_robust_lock *l, unsigned own, struct patience p)
{
    enum pawl_robust how = robust_get(l, &l->gate, p);
    uint32_t used;
    if (how != PAWL_ROBUST_OK)
        return how;
    (void)pawl_exchange_relaxed32(&l->draining, 1);
    /* [ROBUST_DRAIN] full: newcomers can see that the gate is shut before we look for members. */
    pawl_fence_full_after_update(PAWL_ROBUST_DRAIN);
    for (used = robust_others(l, own); how == PAWL_ROBUST_OK && used != 0; used &= used - 1)
        how = robust_await(l, &l->members[__builtin_ctz(used)], p);
    /* [ROBUST_LEFT] acquire: our accesses come after those of the holders that left. */
    pawl_fence_acquire(PAWL_ROBUST_LEFT);
    if (how == PAWL_ROBUST_OK && robust_is_lost(l))
        how = PAWL_ROBUST_NOT_RECOVERABLE;
    if (how != PAWL_ROBUST_OK)
        (void)robust_open(l);
    else
        pawl_store_relaxed32(&l->used, own == NO_MEMBER ? 0 : UINT32_C(1) << own);
    return how;
}

/* Sets the room that the caller wants. The caller then has a member of it. */
PAWL_STATIC enum pawl_robust robust_change_room(pawl_robust_lock *l, uint32_t room, uint32_t self,
                                                bool has_seek, struct patience p, unsigned *member)
{
    enum pawl_robust how = has_seek ? PAWL_ROBUST_OK : robust_get(l, &l->seek, p);
    if (how != PAWL_ROBUST_OK)
        return how;
    how = robust_drain(l, NO_MEMBER, p);
    if (how == PAWL_ROBUST_OK) {
        enum pawl_robust opened;
        pawl_store_relaxed32(&l->room, room);
        how = robust_get_a_member(l, self, p, member);
        if (how == PAWL_ROBUST_OK)
            robust_uses(l, *member);
        opened = robust_open(l);
        how = how == PAWL_ROBUST_OK ? opened : how;
    }
    if (!has_seek && robust_put(l, &l->seek) != PAWL_ROBUST_OK)
        how = PAWL_ROBUST_CORRUPT;
    return how;
}

/* Finds dead holders among the other members. So the next thread to enter learns of them, and not
 * only the next thread that needs their member. */
PAWL_STATIC void robust_look_for_dead(pawl_robust_lock *l, unsigned own)
{
    for (uint32_t used = robust_others(l, own); used != 0; used &= used - 1) {
        struct ipawl_robust_cell_ *c = &l->members[__builtin_ctz(used)];
        if (pawl_os_robust_is_left(c->mutex) && robust_get(l, c, not_at_all) == PAWL_ROBUST_OK)
            (void)robust_put(l, c);
    }
}

PAWL_STATIC enum pawl_robust robust_enter(pawl_robust_lock *l, enum as as, bool has_seek,
                                          struct patience p)
{
    const uint32_t room = as == AS_ATOMIC ? ROOM_ATOMIC : ROOM_READ;
    const uint32_t self = robust_self();
    unsigned own = 0;
    enum pawl_robust how = robust_get_member(l, self, p, &own);

    if (how == PAWL_ROBUST_OK && pawl_load_relaxed32(&l->room) != room) {
        how = robust_put_member(l, own);
        if (how == PAWL_ROBUST_OK)
            how = robust_change_room(l, room, self, has_seek, p, &own);
    }
    if (how != PAWL_ROBUST_OK)
        return how;
    if (robust_is_lost(l)) {
        (void)robust_put_member(l, own);
        return PAWL_ROBUST_NOT_RECOVERABLE;
    }
    robust_look_for_dead(l, own);
    pawl_store_relaxed32(&l->members[own].holder, self | (uint32_t)as << HOLDER_SHIFT);
    if (as == AS_SEEK)
        pawl_store_relaxed32(&l->seeker, self); /* last: without it there is no death to tell */
    return robust_news(l);
}

#endif
