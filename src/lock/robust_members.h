/* SPDX-License-Identifier: MIT */
/*
 * The members of a lock for processes that may be killed, for robust.c. The order of mutexes is
 * seek, gate, members from 0 up. A thread that holds a member and wants seek only tries, and so
 * does one that holds the gate and wants a member of others; the holder of seek may wait for one.
 */
#ifndef PAWL_ROBUST_MEMBERS_H
#define PAWL_ROBUST_MEMBERS_H

#include "robust_parts.h"

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
