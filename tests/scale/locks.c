/* SPDX-License-Identifier: MIT */
/*
 * A section that nobody else wants costs as many steps and system calls among a hundred thousand
 * locks as among sixteen, and with ten thousand threads as with sixteen. Each thread has locks of
 * its own, so that no count depends on who runs when.
 *
 * A primitive that kept a list of its objects, or that looked at all threads, would fail here: the
 * other tests of this folder have many sleepers, or one object that all pass.
 */
#include "scale/crowd.h"

#include "scale/primitives.h"

enum { FEW = 16, PASSES = 64 };

static struct crowd crowd;

struct owning {
    struct objects objects;
    unsigned threads;
    uint64_t *inside;        /* one for each object, changed in its section */
    struct gate known, done; /* after the first pass, after the last */
};

static void pass(struct owning *o, unsigned index)
{
    void *const object = object_at(&o->objects, index);
    o->objects.of->take(object);
    o->inside[index]++;
    o->objects.of->drop(object);
}

/* Thread i of n has the objects i, i + n, i + 2n and so on. */
static void pass_own(struct crowd_thread *self, void *argument)
{
    struct owning *o = (struct owning *)argument;
    const unsigned own = o->objects.count / o->threads;
    uint64_t random = test_seed() + self->index;
    pass(o, self->index);
    gate_pass(&o->known);
    for (unsigned i = 0; i < PASSES; i++)
        pass(o, self->index + o->threads * (unsigned)test_random_below(&random, own));
    gate_pass(&o->done);
}

/* Returns the number of threads; what each counted in all its passes but the first. */
static unsigned count_own(const struct primitive *of, unsigned threads, unsigned objects,
                          struct counts *counted)
{
    struct owning o = {objects_make(of, objects), threads, NULL, GATE_INIT, GATE_INIT};
    uint64_t inside = 0;
    must((o.inside = (uint64_t *)calloc(objects, sizeof o.inside[0])) != NULL);
    unsigned started = crowd_start(&crowd, threads, pass_own, &o);
    crowd_go(&crowd);
    gate_wait_for(&o.known, started);
    struct counts before = counts_now();
    gate_open(&o.known);
    gate_wait_for(&o.done, started);
    struct counts after = counts_now();
    gate_open(&o.done);
    crowd_end(&crowd);
    for (unsigned i = 0; i < objects; i++)
        inside += o.inside[i];
    assert_true(inside == (uint64_t)started * (PASSES + 1));
    free(o.inside);
    objects_destroy(&o.objects);
    counted->steps = after.steps - before.steps;
    counted->calls = after.calls - before.calls;
    printf("   %-13s %6u threads, %6u objects: %6.2f steps and %6.2f system calls a pass\n",
           of->name, started, objects, (double)counted->steps / started / PASSES,
           (double)counted->calls / started / PASSES);
    fflush(stdout);
    return started;
}

/* A call that a thread makes once may fall into any pass, so up to one more in four passes counts
 * as the same. A look at each object would make thousands more. */
static void assert_same(const struct counts *many, unsigned threads, const struct counts *few)
{
    assert_true(many->steps * FEW <= few->steps * threads + PASSES / 4 * threads * FEW);
    assert_true(many->calls * FEW <= few->calls * threads + PASSES / 4 * threads * FEW);
}

static void over_locks(const struct primitive *of)
{
    struct counts few, many;
    if (of->most == 1)
        return; /* all threads share it: threads.c */
    count_own(of, FEW, FEW, &few);
    for (unsigned objects = 100; objects <= of->most; objects *= full_size() ? 10 : 1000) {
        const unsigned started = count_own(of, FEW, objects, &many);
        assert_same(&many, started, &few);
    }
}

TEST_CASE(a_section_costs_the_same_among_a_hundred_thousand_locks)
{
    for (unsigned i = 0; i < EXCLUSIVE; i++)
        over_locks(&exclusive[i]);
    for (unsigned i = 0; i < SPINNING; i++)
        over_locks(&spinning[i]);
    for (unsigned i = 0; i < OPEN_TO_ALL; i++)
        over_locks(&open_to_all[i]);
}

/* The waiters of a spinlock do not sleep, so waiters.c cannot count them. What can be said of any
 * number of threads is that nobody pays for those who want another lock. */
TEST_CASE(a_spinlock_that_nobody_else_wants_makes_no_system_call)
{
    static const unsigned crowds[] = {1, FEW, 1000, MOST_THREADS};
    for (unsigned i = 0; i < SPINNING; i++)
        for (unsigned k = 0; k < 3 + (unsigned)full_size(); k++) {
            struct counts counted;
            count_own(&spinning[i], crowds[k], crowds[k], &counted);
            assert_int_equal(counted.calls, 0);
            assert_int_equal(counted.steps, 0);
        }
}

TEST_MAIN()
