/* SPDX-License-Identifier: MIT */
/*
 * Goes through the schedules of a few simulated threads, for the hook variant: every atomic access,
 * sleep and wake of the library is a point at which another thread may go on. Threads are fibers of
 * one real thread, so an execution is determined by its choices, and a few microseconds long.
 *
 *   sched_all(threads, bodies, argument, preemptions)   every schedule that takes the processor
 *                                  away from a thread that could go on at most so often
 *   sched_random(threads, bodies, argument, seed)       one schedule
 *
 * Both return false when the threads got stuck: nobody can go on, or only polls what nobody will
 * change. A sleeper that has a deadline may be timed out at any point; the clock then jumps there.
 * Waking follows the kernel: by address, expected value and classes, oldest first.
 *
 * Accesses are sequentially consistent here; orders are for the model checker.
 */
#ifndef PAWL_TESTS_SCHEDULES_H
#define PAWL_TESTS_SCHEDULES_H

#include "test.h"

#include <pawl/detail/hook.h>
#include <pawl/thread.h>

#include <ucontext.h>

enum { SCHED_THREADS = 4, SCHED_STACK = 65536, SCHED_CHOICES = 4096, SCHED_POLLS_IN_VAIN = 400 };

enum sched_state { SCHED_RUNS, SCHED_POLLS, SCHED_SLEEPS, SCHED_ENDED };

struct sched_thread {
    ucontext_t context;
    void (*body)(void *argument, unsigned index);
    enum sched_state state;
    const uint32_t *address;
    uint32_t classes;
    uint64_t deadline;
    unsigned asleep_since;
    bool timed_out;
    bool dropping, gave; /* for sched_drop: the lock has been given up */
    char *stack;
};

static struct {
    struct sched_thread threads[SCHED_THREADS];
    ucontext_t scheduler;
    unsigned count, current, sleeps, idle;
    uint64_t clock;
    void *argument;
    /* choices */
    bool random;
    uint64_t seed;
    unsigned preemptions, spent, sharpness;
    unsigned choice[SCHED_CHOICES], choices[SCHED_CHOICES];
    unsigned depth, scripted;
    /* what the test may look at or change */
    const void *word;          /* the lock's word, for sched_drop */
    unsigned touched_late;     /* accesses after a drop had given the lock up */
    unsigned woken, slept, timed_out;
    uint64_t (*fault)(const struct pawl_operation *operation, uint64_t (*make)(
                          const struct pawl_operation *)); /* NULL: none */
    bool deaf; /* no wake reaches anybody */
} sched;

/* ---- Choosing -------------------------------------------------------------------------------- */

/* A number below `bound`, of a sequence; a fuzzer takes it from its input instead. */
#ifndef SCHED_FUZZ
static unsigned sched_below(uint64_t *seed, unsigned bound)
{
    return test_random_below(seed, bound);
}
#endif

static unsigned sched_choose(unsigned count)
{
    if (sched.random)
        return sched_below(&sched.seed, count);
    must(sched.depth < SCHED_CHOICES);
    if (sched.depth >= sched.scripted)
        sched.choice[sched.depth] = 0;
    sched.choices[sched.depth] = count;
    return sched.choice[sched.depth++];
}

/* The next script: the last choice that had another alternative takes it. False: all are done. */
static bool sched_next_script(void)
{
    while (sched.depth > 0 && sched.choice[sched.depth - 1] + 1 >= sched.choices[sched.depth - 1])
        sched.depth--;
    if (sched.depth == 0)
        return false;
    sched.choice[sched.depth - 1]++;
    sched.scripted = sched.depth;
    return true;
}

/* ---- Switching ------------------------------------------------------------------------------- */

static void sched_out(void)
{
    must(swapcontext(&sched.threads[sched.current].context, &sched.scheduler) == 0);
}

static void sched_fiber(void)
{
    struct sched_thread *self = &sched.threads[sched.current];
    self->body(sched.argument, sched.current);
    self->state = SCHED_ENDED;
    for (;;)
        sched_out();
}

static void sched_somebody_wrote(void)
{
    unsigned i;
    sched.idle = 0;
    for (i = 0; i < sched.count; i++)
        if (sched.threads[i].state == SCHED_POLLS)
            sched.threads[i].state = SCHED_RUNS;
}

static void sched_time_out(unsigned i)
{
    struct sched_thread *t = &sched.threads[i];
    if (sched.clock < t->deadline)
        sched.clock = t->deadline;
    t->timed_out = true;
    t->state = SCHED_RUNS;
    sched.timed_out++;
}

/* Who goes on. SCHED_THREADS: nobody ever can. */
static unsigned sched_pick(void)
{
    unsigned able[SCHED_THREADS], late[SCHED_THREADS];
    unsigned i, ables = 0, lates = 0, pick, wanted;
    const unsigned self = sched.current;
    const bool goes_on = sched.threads[self].state == SCHED_RUNS;

    if (goes_on)
        able[ables++] = self;
    for (i = 0; i < sched.count; i++)
        if (i != self && sched.threads[i].state == SCHED_RUNS)
            able[ables++] = i;
    for (i = 0; i < sched.count; i++)
        if (sched.threads[i].state == SCHED_SLEEPS && sched.threads[i].deadline != UINT64_MAX)
            late[lates++] = i;
    if (ables == 0) /* those who poll may be counting how often */
        for (i = 0; i < sched.count && ++sched.idle < SCHED_POLLS_IN_VAIN; i++)
            if (sched.threads[i].state == SCHED_POLLS)
                able[ables++] = i;
    if (ables + lates == 0)
        return SCHED_THREADS;
    wanted = ables + lates;
    if (goes_on && sched.random && sched_below(&sched.seed, sched.sharpness) != 0)
        wanted = 1;
    if (goes_on && !sched.random && sched.spent >= sched.preemptions)
        wanted = 1;
    pick = wanted == 1 ? 0 : sched_choose(wanted);
    if (goes_on && pick != 0)
        sched.spent++;
    if (pick >= ables) {
        sched_time_out(late[pick - ables]);
        return late[pick - ables];
    }
    return able[pick];
}

/* On its own: getcontext returns twice in the eyes of the compiler. */
static void sched_prepare(struct sched_thread *t)
{
    if (t->stack == NULL)
        t->stack = (char *)malloc(SCHED_STACK);
    must(t->stack != NULL);
    if (getcontext(&t->context) != 0)
        abort();
    t->context.uc_stack.ss_sp = t->stack;
    t->context.uc_stack.ss_size = SCHED_STACK;
    t->context.uc_link = NULL;
    makecontext(&t->context, sched_fiber, 0);
}

static bool sched_run(unsigned threads, void (*const bodies[])(void *, unsigned), void *argument)
{
    unsigned i, ended, next;
    sched.count = threads;
    sched.argument = argument;
    sched.current = sched.sleeps = sched.idle = sched.depth = sched.spent = 0;
    sched.clock = 1000;
    for (i = 0; i < threads; i++) {
        struct sched_thread *t = &sched.threads[i];
        sched_prepare(t);
        t->body = bodies[i];
        t->state = SCHED_RUNS;
        t->dropping = t->gave = t->timed_out = false;
    }
    for (;;) {
        for (i = ended = 0; i < threads; i++)
            ended += sched.threads[i].state == SCHED_ENDED;
        if (ended == threads)
            return true;
        next = sched_pick();
        if (next == SCHED_THREADS)
            return false;
        sched.current = next;
        if (sched.threads[next].state == SCHED_POLLS)
            sched.threads[next].state = SCHED_RUNS;
        must(swapcontext(&sched.scheduler, &sched.threads[next].context) == 0);
    }
}

static inline bool sched_random(unsigned threads, void (*const bodies[])(void *, unsigned),
                                void *argument, uint64_t seed)
{
    sched.random = true;
    sched.seed = seed;
    sched.sharpness = 1u + sched_below(&sched.seed, 12);
    return sched_run(threads, bodies, argument);
}

/* `before` sets the scene anew for each schedule, `after` checks it. Counts the schedules. */
static inline bool sched_all(unsigned threads, void (*const bodies[])(void *, unsigned),
                             void *argument, unsigned preemptions, void (*before)(void *),
                             void (*after)(void *), unsigned *count)
{
    sched.random = false;
    sched.preemptions = preemptions;
    sched.scripted = 0;
    *count = 0;
    do {
        before(argument);
        ++*count;
        if (!sched_run(threads, bodies, argument))
            return false;
        after(argument);
    } while (sched_next_script());
    return true;
}

/* ---- The hooks ------------------------------------------------------------------------------- */

static uint64_t sched_make(const struct pawl_operation *o)
{
    uint64_t found = 0, made;
    if (o->kind == PAWL_FENCE)
        return 0;
    memcpy(&found, o->address, o->width); /* little-endian, as all that this is run on */
    made = found;
    switch (o->kind) {
    case PAWL_STORE:
    case PAWL_EXCHANGE: made = o->operand; break;
    case PAWL_ADD: made = found + o->operand; break;
    case PAWL_SUB: made = found - o->operand; break;
    case PAWL_AND: made = found & o->operand; break;
    case PAWL_OR: made = found | o->operand; break;
    case PAWL_XOR: made = found ^ o->operand; break;
    case PAWL_COMPARE_EXCHANGE: made = found == o->expected ? o->operand : found; break;
    default: break;
    }
    if (o->width < 8)
        made &= (UINT64_C(1) << (8 * o->width)) - 1;
    if (made != found) {
        struct sched_thread *self = &sched.threads[sched.current];
        memcpy(o->address, &made, o->width);
        sched_somebody_wrote();
        if (self->dropping && o->address == sched.word && (made ^ found) >> 2 != 0)
            self->gave = true;
    }
    return found;
}

uint64_t pawl_hook_atomic(const struct pawl_operation *operation)
{
    sched_out();
    /* The lock and the words beside it, not the wait lists of the table. */
    if (sched.threads[sched.current].gave &&
        (uintptr_t)operation->address - (uintptr_t)sched.word < 16)
        sched.touched_late++;
    return sched.fault ? sched.fault(operation, sched_make) : sched_make(operation);
}

void pawl_hook_relax(void)
{
    sched.threads[sched.current].state = SCHED_POLLS;
    sched_out();
}

void pawl_hook_yield(void)
{
    pawl_hook_relax();
}

#ifdef __cplusplus
extern "C" {
#endif
bool pawl_hook_wait_classes(const uint32_t *address, uint32_t expected, uint32_t classes,
                            uint64_t deadline)
{
    struct sched_thread *self = &sched.threads[sched.current];
    sched_out();
    if (*address != expected)
        return true;
    if (sched.clock >= deadline)
        return false;
    self->address = address;
    self->classes = classes;
    self->deadline = deadline;
    self->asleep_since = sched.sleeps++;
    self->timed_out = false;
    self->state = SCHED_SLEEPS;
    sched.slept++;
    sched_out();
    return !self->timed_out;
}

unsigned pawl_hook_wake_classes(const uint32_t *address, uint32_t classes, unsigned count)
{
    unsigned woken, i;
    sched_out();
    for (woken = 0; woken < count && !sched.deaf; woken++) {
        struct sched_thread *oldest = NULL;
        for (i = 0; i < sched.count; i++) {
            struct sched_thread *t = &sched.threads[i];
            if (t->state == SCHED_SLEEPS && t->address == address && (t->classes & classes) &&
                (!oldest || t->asleep_since < oldest->asleep_since))
                oldest = t;
        }
        if (!oldest)
            break;
        oldest->state = SCHED_RUNS;
        sched.idle = 0;
    }
    sched.woken += woken;
    return woken;
}
#ifdef __cplusplus
}
#endif

bool pawl_hook_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    return pawl_hook_wait_classes(address, expected, UINT32_MAX, deadline);
}

unsigned pawl_hook_wake(const uint32_t *address, unsigned count)
{
    return pawl_hook_wake_classes(address, UINT32_MAX, count);
}

uint64_t pawl_hook_now(void)
{
    return sched.clock;
}

uint32_t pawl_hook_thread_id(void)
{
    return sched.current + 2;
}

struct pawl_thread_line **pawl_hook_thread_slot(void)
{
    static struct pawl_thread_line *slots[SCHED_THREADS];
    return &slots[sched.current];
}

/* Around a drop: what it touches after it has given the lock up is counted. */
static inline void sched_drop_begins(const void *word)
{
    sched.word = word;
    sched.threads[sched.current].dropping = true;
}

static inline void sched_drop_ends(void)
{
    sched.threads[sched.current].dropping = sched.threads[sched.current].gave = false;
}

#endif
