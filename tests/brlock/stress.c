/* SPDX-License-Identifier: MIT */
/*
 * All states and moves of a big-reader lock at random: with lines for all threads, with lines for
 * few of them, and with fenced readers; more threads than cores, and threads that come and go. The
 * data is plain, so that ThreadSanitizer sees what the lock orders.
 */
#include "test.h"

#include <pawl/brlock.h>

enum { FIRST_STEPS = 1000, THREADS = 12, STORM = 24 };

struct shared {
    pawl_brlock lock;
    uint64_t number, complement; /* written under W */
    uint64_t searches;           /* written under S and W */
    unsigned steps;
    uint64_t seed;
    uint64_t writes[THREADS], seeks[THREADS];
};

struct worker {
    struct shared *shared;
    uint64_t *writes, *seeks;
    uint64_t random;
};

static void linger(struct worker *w)
{
    const struct timespec nap = {0, 50000};
    switch (test_random_below(&w->random, 64)) {
    case 0:
        nanosleep(&nap, NULL); /* long enough for others to fall asleep */
        break;
    case 1:
    case 2:
    case 3: sched_yield(); break;
    default: break;
    }
}

static uint64_t look(struct worker *w)
{
    const uint64_t n = w->shared->number;
    linger(w);
    must(w->shared->complement == ~n);
    return n;
}

static void search(struct worker *w)
{
    (void)look(w);
    w->shared->searches++;
    ++*w->seeks;
}

static void store(struct worker *w)
{
    const uint64_t n = look(w);
    w->shared->number = n + 1;
    linger(w);
    w->shared->complement = ~(n + 1);
    ++*w->writes;
}

static uint64_t shortly(void)
{
    return (uint64_t)(test_now() * 1e9) + 30000;
}

static void under_read(struct worker *w)
{
    pawl_brlock *l = &w->shared->lock;
    const uint64_t seen = look(w);
    if (test_random_below(&w->random, 4) == 0 && pawl_brlock_try_read_to_seek(l)) {
        must(look(w) == seen); /* no writer came in between */
        search(w);
        pawl_brlock_seek_to_read(l);
    }
    must(look(w) == seen);
    pawl_brlock_drop_read(l);
}

static void under_write(struct worker *w)
{
    pawl_brlock *l = &w->shared->lock;
    store(w);
    switch (test_random_below(&w->random, 4)) {
    case 0:
        pawl_brlock_write_to_read(l);
        under_read(w);
        break;
    case 1:
        pawl_brlock_write_to_seek(l);
        search(w);
        pawl_brlock_drop_seek(l);
        break;
    default: pawl_brlock_drop_write(l);
    }
}

static void under_seek(struct worker *w)
{
    pawl_brlock *l = &w->shared->lock;
    bool writes;
    search(w);
    switch (test_random_below(&w->random, 4)) {
    case 0:
        pawl_brlock_seek_to_write(l);
        writes = true;
        break;
    case 1: writes = pawl_brlock_try_seek_to_write(l); break;
    case 2: writes = pawl_brlock_seek_to_write_until(l, shortly()); break;
    default: writes = false;
    }
    if (writes)
        under_write(w);
    else
        pawl_brlock_drop_seek(l);
}

static void step(struct worker *w)
{
    pawl_brlock *l = &w->shared->lock;
    switch (test_random_below(&w->random, 20)) {
    case 0:
        pawl_brlock_take_write(l);
        under_write(w);
        break;
    case 1:
        if (pawl_brlock_try_write(l))
            under_write(w);
        break;
    case 2:
        if (pawl_brlock_take_write_until(l, shortly()))
            under_write(w);
        break;
    case 3:
        pawl_brlock_take_seek(l);
        under_seek(w);
        break;
    case 4:
        if (test_random_below(&w->random, 2) ? pawl_brlock_try_seek(l)
                                             : pawl_brlock_take_seek_until(l, shortly()))
            under_seek(w);
        break;
    case 5:
        if (pawl_brlock_take_read_until(l, shortly()))
            under_read(w);
        break;
    case 6:
        pawl_brlock_take_read_any(l);
        (void)look(w);
        pawl_brlock_drop_read_any(l);
        break;
    case 7:
        if (pawl_brlock_try_read(l))
            under_read(w);
        break;
    default: pawl_brlock_take_read(l); under_read(w);
    }
    linger(w);
}

static void work(void *opaque, unsigned index)
{
    struct shared *s = (struct shared *)opaque;
    struct worker w;
    w.shared = s;
    w.writes = &s->writes[index];
    w.seeks = &s->seeks[index];
    w.random = s->seed + index * UINT64_C(0x632be59bd9b4e019);
    for (unsigned i = 0; i < s->steps; i++)
        step(&w);
}

/* The same in threads that end after a few steps, so that their lines are taken over by others. */
static void storm(struct shared *s, unsigned threads)
{
    const unsigned steps = s->steps;
    s->steps = steps / STORM + 1;
    for (unsigned i = 0; i < STORM; i++) {
        test_threads(threads, work, s);
        s->seed++;
    }
    s->steps = steps;
}

TEST_CASE(nobody_is_in_beside_whom_it_excludes)
{
    static const uint32_t inits[] = {PAWL_BRLOCK_LINES, 3, PAWL_BRLOCK_LINES | PAWL_BRLOCK_FENCED,
                                     2 | PAWL_BRLOCK_FENCED};
    static const unsigned crowds[] = {2, 3, THREADS};
    const double end = test_now() + test_seconds(4);
    unsigned steps = TEST_SCALE(FIRST_STEPS);
    uint64_t seed = test_seed();
    unsigned rounds = 0;
    do {
        const unsigned threads = crowds[rounds % 3];
        static struct shared s;
        uint64_t writes = 0, seeks = 0;
        print_message("init %#x, %u threads, %u steps each, seed %" PRIu64 "\n", inits[rounds % 4],
                      threads, steps, seed);
        memset(&s, 0, sizeof s);
        s.complement = ~UINT64_C(0);
        s.steps = steps;
        s.seed = seed;
        must(pawl_brlock_init(&s.lock, inits[rounds % 4]) == 0);
        test_threads(threads, work, &s);
        storm(&s, threads);
        for (unsigned i = 0; i < threads; i++) {
            writes += s.writes[i];
            seeks += s.seeks[i];
        }
        assert_true(s.number == writes);
        assert_true(s.complement == ~writes);
        assert_true(s.searches == seeks);
        assert_true(pawl_brlock_try_write(&s.lock)); /* nobody was left counted */
        pawl_brlock_drop_write(&s.lock);
        pawl_brlock_destroy(&s.lock);
        if (++rounds % 12 == 0)
            steps *= 2;
        seed += STORM + 1;
    } while (test_now() < end);
}

TEST_MAIN()
