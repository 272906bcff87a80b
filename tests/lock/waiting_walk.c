/* SPDX-License-Identifier: MIT */
/*
 * All states of three threads that take a lock that sleeps in each way, by the rows of waiting.def
 * (lock_ready, lock_claim_of, lock_units_of). Holders that exclude each other are never in
 * together, S never overflows, and at most one waiter has its turn. Where no thread holds the lock,
 * a waiter can go on. tests/spin/walk.c walks transitions.def.
 */
#include "pawl.c" /* the library's own functions; nothing of it is linked */

#include "test.h"

enum { THREADS = 3, HOLDS = 4 };

/* Of one thread. BACK: holds R, comes from A, and waits until it may read. */
enum step { OUTSIDE, WAITS, DRAIN, UPDATE, ALONE, PAST, NEXT, BACK, HOLD, STEPS };

static const enum wait_class claims[STEPS] = {
    [DRAIN] = WAIT_DRAIN, [UPDATE] = WAIT_UPDATE, [ALONE] = WAIT_ALONE,
    [PAST] = WAIT_PAST,   [NEXT] = WAIT_NEXT,
};
static const enum wait_class wishes[HOLDS] = {WAIT_R, WAIT_S, WAIT_W, WAIT_A};
enum { R, S, W, A };
static const uint64_t held[HOLDS] = {UNIT_R, UNITS_R_S, UNITS_W_S_R, UNIT_W};

struct thread {
    unsigned wish;
    enum step step;
};

struct state {
    struct thread threads[THREADS];
};

static struct state all[1 << 16];
static unsigned known;
static bool seen[STEPS * HOLDS][STEPS * HOLDS][STEPS * HOLDS];
static bool went_on; /* a waiter did, in the state that is looked at */

static unsigned number(const struct thread *t)
{
    return t->wish * STEPS + t->step;
}

static uint64_t word_of(const struct state *s)
{
    uint64_t w = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        const struct thread *const t = &s->threads[i];
        w += t->step == HOLD   ? held[t->wish]
             : t->step == BACK ? UNIT_R
                               : lock_units_of(claims[t->step]);
    }
    return w;
}

static bool keeps_a_turn(const struct thread *t)
{
    return t->step == ALONE || t->step == PAST || t->step == NEXT;
}

static void go(const struct state *from, unsigned i, unsigned wish, enum step step)
{
    struct state s = *from;
    s.threads[i].wish = wish;
    s.threads[i].step = step;
    if (seen[number(&s.threads[0])][number(&s.threads[1])][number(&s.threads[2])])
        return;
    seen[number(&s.threads[0])][number(&s.threads[1])][number(&s.threads[2])] = true;
    must(known < sizeof all / sizeof all[0]);
    all[known++] = s;
}

static void go_on(const struct state *s, unsigned i, unsigned wish, enum step step)
{
    went_on = true;
    go(s, i, wish, step);
}

static bool is_free_for(unsigned wish, uint64_t w)
{
    return wish == W   ? ipawl_spin64_nobody_(w)
           : wish == A ? ipawl_spin64_atomics_or_nobody_(w)
                       : (lock_ready(w) & (unsigned)wishes[wish]) != 0;
}

static void claim(const struct state *s, unsigned i, uint64_t w, bool turn)
{
    const unsigned wish = s->threads[i].wish;
    const enum wait_class claim = lock_claim_of(wishes[wish], w, turn);
    unsigned step, keepers = 0;
    for (unsigned k = 0; k < THREADS; k++)
        keepers += keeps_a_turn(&s->threads[k]);
    if (claim == WAIT_NOTHING || (keepers != 0 && claim != WAIT_DRAIN && claim != WAIT_UPDATE))
        return;
    for (step = DRAIN; claims[step] != claim; step++)
        must(step < NEXT);
    must(lock_permits(claim, w, turn));
    go_on(s, i, wish, (enum step)step);
}

/* The claim of a thread can end: it is granted, or keeps another. */
static void end_claim(const struct state *s, unsigned i)
{
    const struct thread *const t = &s->threads[i];
    if (t->step == PAST && t->wish != R)
        go_on(s, i, t->wish, NEXT);
    else if (t->step == NEXT && t->wish == A)
        go_on(s, i, A, UPDATE);
    else
        go_on(s, i, t->wish, HOLD);
}

static void step(const struct state *s, unsigned i)
{
    const struct thread *const t = &s->threads[i];
    const uint64_t w = word_of(s);
    switch (t->step) {
    case OUTSIDE:
        for (unsigned wish = 0; wish < HOLDS; wish++)
            go(s, i, wish, WAITS);
        break;
    case WAITS:
        if (is_free_for(t->wish, w))
            go_on(s, i, t->wish, HOLD);
        claim(s, i, w, false);
        claim(s, i, w, true);
        go(s, i, R, OUTSIDE);
        break;
    case BACK:
        if (lock_ready(w) & WAIT_ENDED)
            go_on(s, i, R, HOLD);
        else if (lock_ready(w) & WAIT_CLAIMED)
            go_on(s, i, R, WAITS);
        break;
    case HOLD:
        go(s, i, R, OUTSIDE);
        if (t->wish == S)
            go(s, i, W, DRAIN);
        if (t->wish == A)
            go(s, i, R, BACK);
        break;
    default:
        if (lock_ready(w) & (unsigned)claims[t->step])
            end_claim(s, i);
        go(s, i, t->wish, WAITS); /* its deadline has passed */
    }
}

static void check(const struct state *s)
{
    unsigned holds[HOLDS] = {0}, holders = 0, waiters = 0, keepers = 0, seekers = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        const struct thread *const t = &s->threads[i];
        holders += t->step == HOLD;
        holds[t->wish] += t->step == HOLD;
        waiters += t->step != HOLD && t->step != OUTSIDE;
        keepers += keeps_a_turn(t);
        seekers += (t->step == HOLD ? t->wish == S || t->wish == W
                                    : (lock_units_of(claims[t->step]) & UNIT_S) != 0);
    }
    must(holds[W] == 0 || holders == 1);
    must(holds[A] == 0 || holds[A] == holders);
    must(holds[S] <= 1);
    must(seekers < 4 && keepers <= 1);
    must(went_on || holders != 0 || waiters == 0);
}

TEST_CASE(no_state_of_three_threads_breaks_exclusion_or_stands_still)
{
    static const struct state nobody;
    go(&nobody, 0, R, OUTSIDE);
    for (unsigned k = 0; k < known; k++) {
        const struct state s = all[k];
        went_on = false;
        for (unsigned i = 0; i < THREADS; i++)
            step(&s, i);
        check(&s);
    }
    must(known > 1000);
    print_message("%u states\n", known);
}

/* And each claim keeps S: by that others tell that it is in the word. */
TEST_CASE(a_claim_keeps_the_units_of_its_row)
{
    static const struct {
        enum wait_class class;
        unsigned w, s, r;
    } rows[] = {
#define WAIT_CLASS(class, w, s, r, wakes) {class, w, s, r},
#include "lock/waiting.def"
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        must(lock_units_of(rows[i].class) ==
             rows[i].w * UNIT_W + rows[i].s * UNIT_S + rows[i].r * UNIT_R);
        must(rows[i].s != 0 || rows[i].w + rows[i].r == 0);
    }
}

TEST_MAIN()
