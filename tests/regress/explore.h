/* SPDX-License-Identifier: MIT */
/*
 * All schedules of a few simulated threads with at most so many preemptions, for the hook variant:
 * each thread is a coroutine that may be interrupted before each of its accesses, and sleeps in
 * pawl_hook_wait until it is woken or, if it has a deadline, until the schedule says that this has
 * passed. Executions are run again from the start for each schedule, in depth-first order. Memory
 * is sequentially consistent here: weaker orders are the model checker's.
 *
 *   static void body(void *argument);         one thread of the scenario
 *   explore(begin, bodies, count, end, preemptions)
 *
 * calls begin() before each execution and end() after it. A schedule in which nobody can go on,
 * while somebody has not ended, is a lost wake-up: it is printed, and the test fails. Include it in
 * one file of a program.
 */
#ifndef PAWL_TESTS_EXPLORE_H
#define PAWL_TESTS_EXPLORE_H

#include "test.h"

#include <pawl/detail/hook.h>
#include <pawl/thread.h>

#include <ucontext.h>

enum { X_THREADS = 4, X_STACK = 65536, X_CHOICES = 4096, X_STEPS = 3000 };

struct x_thread {
    ucontext_t context;
    void (*body)(void *);
    bool ended, asleep, has_deadline, gave_way;
    bool woken; /* what its wait returns */
    const uint32_t *address;
    struct pawl_thread_line *line;
};

static struct x_thread x_all[X_THREADS];
static char x_stacks[X_THREADS][X_STACK] __attribute__((aligned(64)));
static ucontext_t x_scheduler;
static unsigned x_count, x_current;
static bool x_running;
static uint64_t x_clock;
static unsigned x_system_wakes;  /* calls of pawl_hook_wake */
static bool x_deadlines_allowed; /* a wait that has one although the scenario has none is a bug */

/* The choices of this execution: which of how many. Those beyond x_known are new: the first. */
static uint8_t x_chosen[X_CHOICES], x_options[X_CHOICES];
static unsigned x_depth, x_known, x_budget;
static unsigned long x_executions;

/* ---- The scheduler --------------------------------------------------------------------------- */

static unsigned x_choose(unsigned options)
{
    must(options > 0 && x_depth < X_CHOICES);
    if (x_depth >= x_known)
        x_chosen[x_depth] = 0;
    x_options[x_depth] = (uint8_t)options;
    return x_chosen[x_depth++];
}

static void x_switch_out(void)
{
    must(swapcontext(&x_all[x_current].context, &x_scheduler) == 0);
}

/* Continuing is the first option; each other one costs a preemption, unless the thread cannot or
 * does not want to go on. The number of X_THREADS more means that a deadline passes. */
static unsigned x_next(bool *costs)
{
    unsigned options[2 * X_THREADS];
    unsigned count = 0;
    unsigned i;
    const struct x_thread *current = &x_all[x_current];
    const bool may_go_on = !current->ended && !current->asleep && !current->gave_way;
    if (may_go_on)
        options[count++] = x_current;
    if (!may_go_on || x_budget > 0)
        for (i = 0; i < x_count; i++)
            if (i != x_current && !x_all[i].ended && !x_all[i].asleep)
                options[count++] = i;
    if (count == 0 && !current->ended && !current->asleep)
        options[count++] = x_current; /* gave way, but nobody else is there */
    if (count == 0 || x_budget > 0)
        for (i = 0; i < x_count; i++)
            if (x_all[i].asleep && x_all[i].has_deadline)
                options[count++] = i + X_THREADS;
    if (count == 0)
        return 2 * X_THREADS;
    i = x_choose(count);
    *costs = x_budget > 0 && i > 0 && (may_go_on || options[i] >= X_THREADS);
    return options[i];
}

static void x_entry(void)
{
    struct x_thread *self = &x_all[x_current];
    self->body(self);
    self->ended = true;
    x_switch_out();
}

static void x_fail(const char *why)
{
    unsigned i;
    fprintf(stderr, "%s; execution %lu, choices", why, x_executions);
    for (i = 0; i < x_depth; i++)
        fprintf(stderr, " %u", x_chosen[i]);
    fprintf(stderr, "\n");
    abort();
}

/* Apart from its callers, because getcontext returns like setjmp. */
static void x_make(unsigned index, void (*body)(void *))
{
    struct x_thread *t = &x_all[index];
    memset(t, 0, sizeof *t);
    t->body = body;
    must(getcontext(&t->context) == 0);
    t->context.uc_stack.ss_sp = x_stacks[index];
    t->context.uc_stack.ss_size = X_STACK;
    makecontext(&t->context, x_entry, 0);
}

static void x_resume(unsigned next)
{
    if (next >= X_THREADS) { /* its deadline passes */
        next -= X_THREADS;
        x_all[next].asleep = false;
        x_all[next].woken = false;
    }
    x_all[x_current].gave_way = false;
    x_current = next;
    must(swapcontext(&x_scheduler, &x_all[next].context) == 0);
}

static void x_run(void)
{
    unsigned steps = 0;
    unsigned i;
    x_current = 0;
    x_running = true;
    for (;;) {
        bool costs = false;
        const unsigned next = x_next(&costs);
        if (next == 2 * X_THREADS)
            break;
        x_budget -= costs;
        if (++steps > X_STEPS)
            x_fail("no end in sight");
        x_resume(next);
    }
    x_running = false;
    for (i = 0; i < x_count; i++)
        if (!x_all[i].ended)
            x_fail("lost wake-up");
}

/* Runs every schedule; returns how many there were. */
static unsigned long explore(void (*begin)(void), void (*const *bodies)(void *), unsigned count,
                             void (*end)(void), unsigned preemptions)
{
    unsigned depth = 0;
    unsigned i;
    must(count <= X_THREADS);
    x_count = count;
    x_executions = 0;
    x_known = 0;
    do {
        x_depth = 0;
        x_clock = 0;
        x_budget = preemptions;
        begin();
        for (i = 0; i < count; i++)
            x_make(i, bodies[i]);
        x_run();
        end();
        x_executions++;
        for (depth = x_depth; depth > 0 && x_chosen[depth - 1] + 1 >= x_options[depth - 1];)
            depth--;
        if (depth > 0)
            x_chosen[depth - 1]++;
        x_known = depth;
    } while (depth > 0);
    return x_executions;
}

/* ---- The hooks ------------------------------------------------------------------------------- */

static uint64_t x_read(const void *p, unsigned width)
{
    switch (width) {
    case 1: return *(const uint8_t *)p;
    case 2: return *(const uint16_t *)p;
    case 4: return *(const uint32_t *)p;
    default: return *(const uint64_t *)p;
    }
}

static void x_write(void *p, unsigned width, uint64_t value)
{
    switch (width) {
    case 1: *(uint8_t *)p = (uint8_t)value; break;
    case 2: *(uint16_t *)p = (uint16_t)value; break;
    case 4: *(uint32_t *)p = (uint32_t)value; break;
    default: *(uint64_t *)p = value; break;
    }
}

uint64_t pawl_hook_atomic(const struct pawl_operation *o)
{
    uint64_t found, made;
    if (x_running)
        x_switch_out();
    if (o->kind == PAWL_FENCE)
        return 0;
    found = made = x_read(o->address, o->width);
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
    if (o->kind != PAWL_LOAD)
        x_write(o->address, o->width, made);
    return found;
}

void pawl_hook_relax(void)
{
    if (x_running) {
        x_all[x_current].gave_way = true;
        x_switch_out();
    }
}

void pawl_hook_yield(void)
{
    pawl_hook_relax();
}

bool pawl_hook_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    struct x_thread *self = &x_all[x_current];
    if (deadline != UINT64_MAX && !x_deadlines_allowed)
        x_fail("a time-out that nobody asked for");
    if (!x_running) { /* the test itself, which nobody wakes */
        must(deadline != UINT64_MAX || *address != expected);
        return *address != expected;
    }
    x_switch_out();
    if (*address != expected)
        return true;
    self->asleep = true;
    self->has_deadline = deadline != UINT64_MAX;
    self->address = address;
    x_switch_out();
    return self->woken;
}

unsigned pawl_hook_wake(const uint32_t *address, unsigned count)
{
    unsigned woken = 0;
    unsigned i;
    x_system_wakes++;
    if (x_running)
        x_switch_out();
    for (i = 0; i < x_count && woken < count; i++)
        if (x_all[i].asleep && x_all[i].address == address) {
            x_all[i].asleep = false;
            x_all[i].woken = true;
            woken++;
        }
    return woken;
}

uint64_t pawl_hook_now(void)
{
    return ++x_clock;
}

uint32_t pawl_hook_thread_id(void)
{
    return x_running ? x_current + 2 : 1;
}

struct pawl_thread_line **pawl_hook_thread_slot(void)
{
    static struct pawl_thread_line *own;
    return x_running ? &x_all[x_current].line : &own;
}

#endif
