/* SPDX-License-Identifier: MIT */
/*
 * Robust mutexes, step by step as glibc takes and drops them and as Linux treats them when a thread
 * ends (exit_robust_list), for threads that may end at any access.
 *
 *   word   the holder's number | WAITERS | OWNER_DIED; 0: nobody has it
 *
 * A thread lists what it holds, and names as pending what it is about to take or to give up. At its
 * end the system goes through the list, the youngest first, marks each and wakes a sleeper; if
 * nobody has the pending one it wakes a sleeper there, who might else never learn that it is free.
 */
#include "robust_mutex.h"

#include <pawl/atomic.h>

#include <setjmp.h>
#include <string.h>

#define WAITERS 0x80000000u
#define OWNER_DIED 0x40000000u
#define HOLDER 0x3fffffffu
#define KIND 0x70u

struct mutex {
    uint32_t word;
    uint32_t kind;
    bool inconsistent; /* the holder's */
};

enum { MOST_HELD = 8 };

static struct owner {
    struct mutex *held[MOST_HELD];
    unsigned count;
    struct mutex *pending;
    bool mortal;
    jmp_buf end;
} owners[M_THREADS];

static void (*at_death)(void);

/* src/mortal.rs */
void m_mortals(void);
bool m_killed(void);
uint64_t m_system_access(const struct pawl_operation *operation);

static struct owner *self(void)
{
    return &owners[m_me()];
}

static uint32_t id(void)
{
    return m_me() + 1;
}

static uint32_t access_word(struct mutex *m, enum pawl_kind kind, enum pawl_order order,
                            uint32_t operand, uint32_t expected)
{
    struct pawl_operation o;
    o.address = &m->word;
    o.width = sizeof m->word;
    o.kind = kind;
    o.order = order;
    o.tag = PAWL_TAG_NONE_;
    o.operand = operand;
    o.expected = expected;
    return (uint32_t)m_system_access(&o);
}

/* ---- The end of a thread --------------------------------------------------------------------- */

static void mark(struct mutex *m, bool pending)
{
    uint32_t found = access_word(m, PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, 0, 0);
    uint32_t seen;
    do {
        seen = found;
        if (pending && (seen & HOLDER) == 0) {
            (void)pawl_hook_wake(&m->word, 1);
            return;
        }
        if ((seen & HOLDER) != id())
            return;
        found = access_word(m, PAWL_HOOK_COMPARE_EXCHANGE, PAWL_ORDER_ACQ_REL,
                            (seen & WAITERS) | OWNER_DIED, seen);
    } while (found != seen);
    if (seen & WAITERS)
        (void)pawl_hook_wake(&m->word, 1);
}

void m_live_or_die(void)
{
    struct owner *me = self();
    if (!me->mortal || !m_killed())
        return;
    me->mortal = false;
    m_begin("is killed");
    at_death();
    while (me->count > 0)
        if (me->held[--me->count] != me->pending)
            mark(me->held[me->count], false);
    if (me->pending != NULL)
        mark(me->pending, true);
    m_end();
    longjmp(me->end, 1);
}

void m_robust_begin(void)
{
    memset(owners, 0, sizeof owners);
}

void m_robust_mortals(void (*dies)(void))
{
    at_death = dies;
    m_mortals();
}

bool m_mortal(void (*life)(void))
{
    struct owner *me = self();
    if (setjmp(me->end) != 0)
        return false;
    me->mortal = true;
    life();
    me->mortal = false;
    return true;
}

/* ---- Taking ---------------------------------------------------------------------------------- */

/* As the thread itself does it. */
static uint32_t step(struct mutex *m, enum pawl_kind kind, enum pawl_order order, uint32_t operand,
                     uint32_t expected)
{
    m_live_or_die();
    return access_word(m, kind, order, operand, expected);
}

static uint32_t exchange_if(struct mutex *m, uint32_t seen, uint32_t made)
{
    return step(m, PAWL_HOOK_COMPARE_EXCHANGE, PAWL_ORDER_ACQUIRE, made, seen);
}

static enum pawl_hook_robust got(struct mutex *m, bool from_the_dead)
{
    struct owner *me = self();
    m_demand(me->count < MOST_HELD, "harness", "room in the list");
    m->inconsistent = from_the_dead;
    me->held[me->count++] = m;
    me->pending = NULL;
    return from_the_dead ? PAWL_HOOK_ROBUST_GOT_DEAD : PAWL_HOOK_ROBUST_GOT;
}

static enum pawl_hook_robust not_got(enum pawl_hook_robust how)
{
    self()->pending = NULL;
    return how;
}

enum pawl_hook_robust pawl_hook_robust_try(void *mutex)
{
    struct mutex *m = (struct mutex *)mutex;
    uint32_t seen;

    self()->pending = m;
    uint32_t found = step(m, PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, 0, 0);
    do {
        while (found & OWNER_DIED) {
            seen = found;
            found = exchange_if(m, seen, id() | (seen & WAITERS));
            if (found == seen)
                return got(m, true);
        }
        found = exchange_if(m, 0, id());
        if (found == 0)
            return got(m, false);
    } while (found & OWNER_DIED);
    return not_got(PAWL_HOOK_ROBUST_BUSY);
}

enum pawl_hook_robust pawl_hook_robust_look(const void *mutex)
{
    struct mutex *m = (struct mutex *)(uintptr_t)mutex;
    const uint32_t seen = step(m, PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, 0, 0);
    if (seen == 0)
        return PAWL_HOOK_ROBUST_FREE;
    return seen & OWNER_DIED ? PAWL_HOOK_ROBUST_GOT_DEAD : PAWL_HOOK_ROBUST_BUSY;
}

/* Whether the word shows by now that somebody waits. */
static bool shows_waiters(struct mutex *m, uint32_t seen)
{
    return (seen & WAITERS) ||
           step(m, PAWL_HOOK_COMPARE_EXCHANGE, PAWL_ORDER_RELAXED, seen | WAITERS, seen) == seen;
}

enum pawl_hook_robust pawl_hook_robust_lock(void *mutex, uint64_t deadline)
{
    struct mutex *m = (struct mutex *)mutex;
    uint32_t others = 0; /* who has slept cannot know that nobody sleeps */
    uint32_t seen, found;
    bool in_time;

    self()->pending = m;
    for (;;) {
        seen = step(m, PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, 0, 0);
        if (seen == 0) {
            found = exchange_if(m, 0, id() | others);
            if (found == 0)
                return got(m, false);
        } else if (seen & OWNER_DIED) {
            found = exchange_if(m, seen, id() | (seen & WAITERS) | others);
            if (found == seen)
                return got(m, true);
        } else if (shows_waiters(m, seen)) {
            others = WAITERS;
            m_live_or_die();
            in_time = pawl_hook_wait(&m->word, seen | WAITERS, deadline);
            m_live_or_die();
            if (!in_time)
                return not_got(PAWL_HOOK_ROBUST_LATE);
        }
    }
}

void pawl_hook_robust_owe_wake(void *mutex)
{
    (void)step((struct mutex *)mutex, PAWL_HOOK_OR, PAWL_ORDER_RELAXED, WAITERS, 0);
}

bool pawl_hook_robust_heal(void *mutex)
{
    ((struct mutex *)mutex)->inconsistent = false;
    return true;
}

/* ---- Giving up ------------------------------------------------------------------------------- */

static void unlist(struct owner *me, const struct mutex *m)
{
    unsigned i = 0;
    while (i < me->count && me->held[i] != m)
        i++;
    for (me->count--; i < me->count; i++)
        me->held[i] = me->held[i + 1];
}

bool pawl_hook_robust_unlock(void *mutex)
{
    struct mutex *m = (struct mutex *)mutex;
    struct owner *me = self();

    if ((step(m, PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, 0, 0) & HOLDER) != id())
        return false;
    m_demand(!m->inconsistent, M_RESTORED, "what came from the dead is given up unhealed");
    me->pending = m;
    unlist(me, m);
    if (step(m, PAWL_HOOK_EXCHANGE, PAWL_ORDER_RELEASE, 0, 0) & WAITERS) {
        m_live_or_die();
        (void)pawl_hook_wake(&m->word, 1);
    }
    me->pending = NULL;
    return true;
}

bool pawl_hook_robust_make(void *mutex)
{
    struct mutex *m = (struct mutex *)mutex;
    m->kind = KIND;
    return true;
}
