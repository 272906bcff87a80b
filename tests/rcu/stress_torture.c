/* SPDX-License-Identifier: MIT */
/*
 * Readers, updaters, callers of callbacks and pollers, with checks of an object's age as the
 * kernel's rcutorture makes them. An updater replaces the current object; the old one's age goes on
 * by one, and after each grace period that it has waited for since by one more, until it is used
 * again after a few. So a reader may find age 0 (current) or 1 (just replaced), and whatever it
 * found must not have gone on by more than one while it read. Objects are checked to hold what they
 * held, too.
 *
 * Seconds by PAWL_STRESS_SECONDS, and on until each has had a turn; the seed is printed and taken
 * back by --seed. Before that, broken grace periods are planted in child processes, and the same
 * checks must find them.
 */
#include "test.h"

#include <pawl/rcu.h>
#include <pawl/rcu_call.h>

#include "base/base.h"

#ifndef TORTURE_SECONDS /* other files include this one */
#define TORTURE_SECONDS 5
#endif

enum { OBJECTS = 64, LAST_AGE = 4, READERS = 4, POLLERS = 2, CALLERS = 2, NESTED = 3 };

struct object {
    pawl_rcu_head head;
    uint32_t age;             /* atomic: readers race with it on purpose */
    uint64_t number, negated; /* plain: written while nobody can see the object */
    struct object *free;
};

struct world {
    pawl_rcu_domain *domain;
    bool quiescent;
    struct object objects[OBJECTS];
    struct object *current, *free; /* `free` and the updates under the mutex */
    pthread_mutex_t mutex;
    uint32_t stop, too_old, torn;
    uint32_t turns; /* bits: who has read, updated, polled, called */
    uint64_t reads, updates, polls, calls, seed;
    uint32_t left_out; /* planted: so many of 16 grace periods are left out */
    bool blind;        /* planted: the library's grace periods see no reader */
};

static struct world world;

enum { HAS_READ = 1, HAS_UPDATED = 2, HAS_POLLED = 4, HAS_CALLED = 8, HAVE_ALL = 15 };

static void note_turn(uint32_t who)
{
    if ((pawl_load_relaxed32(&world.turns) & who) == 0)
        (void)pawl_fetch_or_relaxed32(&world.turns, who);
}

/* ---- Objects --------------------------------------------------------------------------------- */

static struct object *get_object(uint64_t number)
{
    must(pthread_mutex_lock(&world.mutex) == 0);
    struct object *o = world.free;
    if (o != NULL) {
        world.free = o->free;
        o->number = number;
        o->negated = ~number;
        pawl_store_relaxed32(&o->age, 0);
    }
    must(pthread_mutex_unlock(&world.mutex) == 0);
    return o;
}

static void put_object(struct object *o)
{
    must(pthread_mutex_lock(&world.mutex) == 0);
    o->free = world.free;
    world.free = o;
    must(pthread_mutex_unlock(&world.mutex) == 0);
}

/* A grace period is over: true when the object has had enough of them. */
static bool grow_older(struct object *o)
{
    return pawl_fetch_add_relaxed32(&o->age, 1) + 1 >= LAST_AGE;
}

/* A new current object; the old one, if there is another to take its place. */
static struct object *replace(uint64_t number)
{
    struct object *made = get_object(number);
    if (made == NULL)
        return NULL;
    struct object *old = pawl_rcu_xchg_pointer(&world.current, made);
    (void)pawl_fetch_add_relaxed32(&old->age, 1);
    return old;
}

/* ---- Readers --------------------------------------------------------------------------------- */

static void enter(void)
{
    if (!world.quiescent)
        pawl_rcu_domain_read_lock(world.domain);
}

static void leave(void)
{
    if (!world.quiescent)
        pawl_rcu_domain_read_unlock(world.domain);
}

static void linger(uint64_t *random)
{
    switch (test_random_below(random, 256)) {
    case 0: usleep(200); break; /* longer than the updaters spin */
    case 1:
    case 2: sched_yield(); break;
    default: break;
    }
}

static void read_once(uint64_t *random)
{
    const unsigned depth = test_random_below(random, NESTED);
    enter();
    const struct object *o = pawl_rcu_domain_dereference(world.domain, world.current);
    uint32_t first = pawl_load_relaxed32(&o->age);
    for (unsigned i = 0; i < depth; i++)
        enter();
    linger(random);
    for (unsigned i = 0; i < depth; i++)
        leave();
    if (o->number != ~o->negated)
        (void)pawl_fetch_add_relaxed32(&world.torn, 1);
    if (first > 1 || pawl_load_relaxed32(&o->age) > 1)
        (void)pawl_fetch_add_relaxed32(&world.too_old, 1);
    leave();
}

static void reader(uint64_t *random)
{
    uint64_t reads = 0;
    if (world.quiescent)
        pawl_rcu_qs_online();
    while (pawl_load_relaxed32(&world.stop) == 0) {
        read_once(random);
        reads++;
        note_turn(HAS_READ);
        if (!world.quiescent)
            continue;
        pawl_rcu_qs_quiescent();
        if (test_random_below(random, 64) == 0) {
            pawl_rcu_qs_offline();
            linger(random);
            pawl_rcu_qs_online();
        }
    }
    if (world.quiescent)
        pawl_rcu_qs_offline();
    (void)pawl_fetch_add_relaxed64(&world.reads, reads);
}

/* ---- Updaters -------------------------------------------------------------------------------- */

static bool left_out(uint64_t *random)
{
    return test_random_below(random, 16) < world.left_out;
}

static void wait_for_readers(uint64_t *random)
{
    if (left_out(random))
        return;
    if (test_random_below(random, 4) == 0)
        pawl_rcu_domain_synchronize_expedited(world.domain);
    else
        pawl_rcu_domain_synchronize(world.domain);
}

static void updater(uint64_t *random)
{
    uint64_t n = 0;
    while (pawl_load_relaxed32(&world.stop) == 0) {
        struct object *old = replace(test_random(random));
        if (old == NULL) {
            sched_yield();
            continue;
        }
        do
            wait_for_readers(random);
        while (!grow_older(old));
        put_object(old);
        n++;
        note_turn(HAS_UPDATED);
    }
    (void)pawl_fetch_add_relaxed64(&world.updates, n);
}

static void poller(uint64_t *random)
{
    uint64_t n = 0;
    while (pawl_load_relaxed32(&world.stop) == 0) {
        struct object *old = replace(test_random(random));
        uint64_t cookie;
        if (old == NULL) {
            sched_yield();
            continue;
        }
        do {
            cookie = pawl_rcu_domain_start_poll(world.domain);
            while (!left_out(random) && !pawl_rcu_domain_poll(world.domain, cookie))
                if (test_random_below(random, 32) == 0)
                    pawl_rcu_domain_synchronize_cond(world.domain, cookie);
                else
                    sched_yield();
        } while (!grow_older(old));
        put_object(old);
        n++;
        note_turn(HAS_POLLED);
    }
    (void)pawl_fetch_add_relaxed64(&world.polls, n);
}

/* ---- Callers --------------------------------------------------------------------------------- */

/* A callback that calls again, until the object is old enough. */
static void called(pawl_rcu_head *head)
{
    struct object *o = (struct object *)(void *)((char *)head - offsetof(struct object, head));
    if (grow_older(o))
        put_object(o);
    else
        must(pawl_rcu_domain_call(world.domain, &o->head, called, sizeof *o) == 0);
}

static void caller(uint64_t *random)
{
    uint64_t n = 0;
    while (pawl_load_relaxed32(&world.stop) == 0) {
        struct object *old = replace(test_random(random));
        if (old == NULL) {
            sched_yield();
            continue;
        }
        if (left_out(random))
            called(&old->head);
        else
            must(pawl_rcu_domain_call(world.domain, &old->head, called, sizeof *old) == 0);
        n++;
        note_turn(HAS_CALLED);
    }
    (void)pawl_fetch_add_relaxed64(&world.calls, n);
}

/* ---- Running --------------------------------------------------------------------------------- */

static void part(void *unused, unsigned index)
{
    uint64_t random = world.seed + index * UINT64_C(0x9e3779b97f4a7c15);
    if (index < READERS)
        reader(&random);
    else if (index < READERS + POLLERS)
        poller(&random);
    else if (index < READERS + POLLERS + CALLERS && !world.blind)
        caller(&random); /* the worker sees nothing then, either */
    else
        updater(&random);
}

/* Where a defect is planted, nobody has to have had a turn. */
static bool all_have_had_turns(void)
{
    return world.left_out > 0 || world.blind || pawl_load_relaxed32(&world.turns) == HAVE_ALL;
}

static void *ring_the_bell(void *seconds)
{
    const double until = test_now() + *(const double *)seconds;
    while ((test_now() < until || !all_have_had_turns()) &&
           pawl_load_relaxed32(&world.too_old) == 0) {
        usleep(10000);
        if (world.blind)
            pawl_store_relaxed32(&process_here()->lines_used, 0);
    }
    pawl_store_relaxed32(&world.stop, 1);
    return NULL;
}

static void torture(pawl_rcu_domain *domain, double seconds, uint32_t left_out, bool blind)
{
    memset(&world, 0, sizeof world);
    world.domain = domain;
    world.quiescent = domain == pawl_rcu_qs();
    world.seed = test_seed();
    world.left_out = left_out;
    world.blind = blind;
    must(pthread_mutex_init(&world.mutex, NULL) == 0);
    for (unsigned i = 0; i < OBJECTS; i++)
        put_object(&world.objects[i]);
    world.current = get_object(1);
    const pthread_t bell = test_start(ring_the_bell, &seconds);
    test_threads(READERS + POLLERS + CALLERS + 2, part, NULL);
    test_join(bell);
    /* A callback that calls again does so three times at most. */
    for (unsigned i = 0; i < LAST_AGE && !blind; i++)
        must(pawl_rcu_domain_barrier(domain) == 0);
    must(pthread_mutex_destroy(&world.mutex) == 0);
}

static unsigned free_objects(void)
{
    unsigned count = 0;
    for (const struct object *o = world.free; o != NULL; o = o->free)
        count++;
    return count;
}

static void assert_no_early_free(void)
{
    printf("%" PRIu64 " reads, %" PRIu64 " updates, %" PRIu64 " polled, %" PRIu64 " called\n",
           world.reads, world.updates, world.polls, world.calls);
    assert_int_equal(world.too_old, 0);
    assert_int_equal(world.torn, 0);
    assert_int_equal(world.turns, HAVE_ALL);
    assert_int_equal(free_objects(), OBJECTS - 1); /* and none is lost */
}

TEST_CASE(no_object_is_used_again_while_it_is_read)
{
    torture(pawl_rcu_default(), test_seconds(TORTURE_SECONDS) / 2, 0, false);
    assert_no_early_free();
}

TEST_CASE(nor_in_a_domain_of_its_own)
{
    pawl_rcu_domain d;
    assert_int_equal(pawl_rcu_domain_init(&d, "torture"), 0);
    torture(&d, test_seconds(TORTURE_SECONDS) / 4, 0, false);
    assert_no_early_free();
    pawl_rcu_domain_destroy(&d);
}

TEST_CASE(nor_with_quiescent_states)
{
    torture(pawl_rcu_qs(), test_seconds(TORTURE_SECONDS) / 4, 0, false);
    assert_no_early_free();
}

/* ---- Planted defects ------------------------------------------------------------------------- */

struct defect {
    pawl_rcu_domain *domain;
    uint32_t left_out;
    bool blind;
};

/* Until it shows, which takes a moment where the machine is not busy. */
enum { LONGEST = 120 };

static void torture_broken(void *opaque)
{
    const struct defect *defect = (const struct defect *)opaque;
    alarm(2 * LONGEST);
    torture(defect->domain, LONGEST, defect->left_out, defect->blind);
    if (world.too_old > 0)
        fprintf(stderr, "found out");
}

static void assert_found_out(pawl_rcu_domain *domain, uint32_t left_out, bool blind)
{
    struct defect defect = {domain, left_out, blind};
    char said[4096];
    (void)test_in_child(torture_broken, &defect, said, sizeof said);
    if (strstr(said, "found out") == NULL)
        fail_msg("nothing was found in %d s; %s", LONGEST, said);
}

TEST_CASE(grace_periods_that_are_left_out_are_found_out)
{
    if (PAWL_TSAN_)
        skip(); /* allows no new threads in the child of a program that had several */
    assert_found_out(pawl_rcu_default(), 12, false);
    assert_found_out(pawl_rcu_qs(), 12, false);
}

TEST_CASE(grace_periods_that_see_no_reader_are_found_out)
{
    if (PAWL_TSAN_)
        skip(); /* allows no new threads in the child of a program that had several */
    assert_found_out(pawl_rcu_default(), 0, true);
    assert_found_out(pawl_rcu_qs(), 0, true);
}

TEST_MAIN()
