/* SPDX-License-Identifier: MIT */
/* The parts of the lock for processes that may be killed: its shape, one mutex, and what is known
 * of a dead holder. For robust_members.h and robust.c. */
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

#endif
