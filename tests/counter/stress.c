/* SPDX-License-Identifier: MIT */
/*
 * All counters at once, by many more threads than cores that come and go, while others read, kill
 * and revive. Each thread remembers what it did; the sums must agree. Rounds get longer until the
 * time is over (PAWL_STRESS_SECONDS); what a thread does follows from the seed (--seed=N).
 */
#include "test.h"

#include <pawl/bigref.h>
#include <pawl/counter.h>

enum { THREADS = 16, FIRST_STEPS = 64, LIMIT = 20000 };

struct shared {
    pawl_counter thread;
    pawl_cpu_counter cpu;
    pawl_counter_exact exact[4];
    pawl_counter_limit limited;
    pawl_bigref ref;
    uint64_t releases;
    unsigned steps;
    uint64_t seed;
    int64_t sums[THREADS], kept[THREADS];
};

static void count_release(pawl_bigref *r, void *arg)
{
    (void)pawl_fetch_add_relaxed64((uint64_t *)arg, 1);
}

static void step(struct shared *s, unsigned index, uint64_t *random)
{
    const int64_t n = (int64_t)test_random_below(random, 2001) - 1000;
    s->sums[index] += n;
    pawl_counter_add(&s->thread, n);
    pawl_cpu_counter_add(&s->cpu, n);
    for (unsigned m = 0; m < 4; m++)
        pawl_counter_exact_add(&s->exact[m], n);
    if (n > 0 && pawl_counter_limit_try_add(&s->limited, (uint64_t)n))
        s->kept[index] += n;
    if (n < 0 && s->kept[index] > 500) {
        s->kept[index] -= 500;
        pawl_counter_limit_sub(&s->limited, 500);
    }
    if (pawl_bigref_try_get(&s->ref))
        pawl_bigref_drop(&s->ref);
    switch (test_random_below(random, 200)) {
    case 0: (void)pawl_counter_exact_read(&s->exact[test_random_below(random, 4)]); break;
    case 1: must(pawl_counter_limit_read(&s->limited) <= LIMIT); break;
    case 2:
        (void)pawl_bigref_kill(&s->ref);
        must(pawl_bigref_revive(&s->ref)); /* the test holds a reference */
        break;
    case 3:
        must(pawl_bigref_read(&s->ref) >= 0);
        (void)pawl_counter_read(&s->thread);
        (void)pawl_cpu_counter_read(&s->cpu);
        break;
    default: break;
    }
}

static void work(void *opaque, unsigned index)
{
    struct shared *s = (struct shared *)opaque;
    uint64_t random = s->seed * THREADS + index;
    for (unsigned i = 0; i < s->steps; i++)
        step(s, index, &random);
}

static void check_and_end(struct shared *s)
{
    int64_t sum = 0, kept = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        sum += s->sums[i];
        kept += s->kept[i];
    }
    assert_int_equal(pawl_counter_destroy(&s->thread), sum);
    assert_int_equal(pawl_cpu_counter_destroy(&s->cpu), sum);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pawl_counter_exact_destroy(&s->exact[i]), sum);
    assert_int_equal(pawl_counter_limit_destroy(&s->limited), kept);
    assert_int_equal(pawl_bigref_read(&s->ref), 1);
    assert_int_equal(s->releases, 0);
    assert_true(pawl_bigref_kill(&s->ref));
    pawl_bigref_drop(&s->ref);
    assert_int_equal(s->releases, 1);
}

static void begin(struct shared *s)
{
    memset(s, 0, sizeof *s);
    for (unsigned m = 0; m < 4; m++)
        pawl_counter_exact_init(&s->exact[m], (enum pawl_exact_mode)m);
    pawl_counter_limit_init(&s->limited, LIMIT);
    pawl_bigref_init(&s->ref, count_release, &s->releases);
}

TEST_CASE(no_count_is_lost_and_nothing_is_released_twice)
{
    static struct shared s;
    const double end = test_now() + test_seconds(2.5);
    unsigned steps = FIRST_STEPS;
    uint64_t round = 0;
    do {
        begin(&s);
        s.steps = steps;
        s.seed = test_seed() + round++;
        test_threads(THREADS, work, &s);
        check_and_end(&s);
        steps = steps < 100000 ? 2 * steps : steps;
    } while (test_now() < end);
}

/* ---- The fences under the counters ----------------------------------------------------------- */

struct two_sides {
    uint64_t light, heavy;
    uint64_t saw_light, saw_heavy;
    unsigned rounds;
    pthread_barrier_t both;
};

/* Store, fence, load on both sides: one of the two must see the other. */
static void one_side(void *opaque, unsigned index)
{
    struct two_sides *t = (struct two_sides *)opaque;
    for (unsigned i = 1; i <= t->rounds; i++) {
        pthread_barrier_wait(&t->both);
        if (index == 0) {
            pawl_store_relaxed64(&t->light, i);
            pawl_fence_light(PAWL_TAG_NONE_);
            t->saw_heavy = pawl_load_relaxed64(&t->heavy);
        } else {
            pawl_store_relaxed64(&t->heavy, i);
            pawl_fence_heavy(PAWL_TAG_NONE_);
            t->saw_light = pawl_load_relaxed64(&t->light);
        }
        pthread_barrier_wait(&t->both);
        must(t->saw_heavy == i || t->saw_light == i);
    }
}

TEST_CASE(of_a_light_and_a_heavy_fence_one_side_sees_the_other)
{
    static struct two_sides t;
    t.rounds = TEST_SCALE(20000);
    must(pthread_barrier_init(&t.both, NULL, 2) == 0);
    test_threads(2, one_side, &t);
    pthread_barrier_destroy(&t.both);
}

TEST_MAIN()
