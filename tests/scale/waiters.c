/* SPDX-License-Identifier: MIT */
/*
 * A join, a sleep and a drop take as many steps under the latch and as many system calls with ten
 * thousand waiters as with sixteen. The test holds the object until all threads sleep on it, and
 * then lets them through one after the other. It counts, and judges no time.
 *
 * A lock that looks at all its waiters under the latch does half a million steps for a thousand of
 * them, and each comes to its section at the pace of the square.
 */
#include "scale/crowd.h"

#include "scale/primitives.h"

static struct crowd crowd;

struct line {
    struct objects objects;
    bool alone;              /* a section keeps all others out */
    uint64_t inside;         /* changes that two at once would lose */
    uint64_t calls_in_drops; /* system calls that threads made while they dropped */
};

static void drop_and_count(struct line *line, const struct primitive *of, void *object)
{
    const uint64_t before = calls_made_here;
    of->drop(object);
    __atomic_fetch_add(&line->calls_in_drops, calls_made_here - before, __ATOMIC_RELAXED);
}

static void pass_once(struct crowd_thread *self, void *argument)
{
    struct line *line = (struct line *)argument;
    void *const object = object_at(&line->objects, self->index);
    crowd_enters(self);
    line->objects.of->take(object);
    if (line->alone)
        line->inside++;
    drop_and_count(line, line->objects.of, object);
}

/* What so many waiters of so many objects count from their first step until the last has left. The
 * holder of the objects is of another kind if the waiters would let each other in. */
static unsigned count_line(const struct primitive *of, const struct primitive *holder,
                           unsigned threads, unsigned objects, struct counts *counted)
{
    struct line line = {objects_make(of, objects), objects == 1 && holder == of, 0, 0};
    const unsigned started = crowd_start(&crowd, threads, pass_once, &line);
    for (unsigned i = 0; i < objects; i++)
        holder->take(object_at(&line.objects, i));
    struct counts before = counts_now();
    crowd_go(&crowd);
    crowd_wait_until_all_sleep(&crowd);
    for (unsigned i = 0; i < objects; i++)
        drop_and_count(&line, holder, object_at(&line.objects, i));
    crowd_end(&crowd);
    struct counts after = counts_now();
    assert_true(!line.alone || line.inside == started);
    objects_destroy(&line.objects);
    counted->steps = after.steps - before.steps;
    counted->calls = after.calls - before.calls;
    counted->calls_in_drops = line.calls_in_drops;
    printf("   %-12s %6u waiters of %6u: %8.1f steps and %5.1f system calls each\n", of->name,
           started, objects, (double)counted->steps / started, (double)counted->calls / started);
    fflush(stdout);
    return started;
}

/* A walk that nobody counts would not fail the test with a thousand waiters, and would take an hour
 * with ten thousand. */
static unsigned most_waiters(void)
{
    return full_size() && steps_are_counted() ? MOST_THREADS : 1000;
}

static void no_more_than_of_few(const struct primitive *of, const struct primitive *holder,
                                bool one_each)
{
    enum { FEW = 16 };
    struct counts few, many;
    const unsigned bound = one_each && of->most < most_waiters() ? of->most : most_waiters();
    count_line(of, holder, FEW, one_each ? FEW : 1, &few);
    for (unsigned threads = 100; threads <= bound; threads *= 10) {
        const unsigned waiting = at_most(threads, of->waiters);
        const unsigned started = count_line(of, holder, waiting, one_each ? waiting : 1, &many);
        assert_true(same_for(many.steps, started, few.steps, FEW, STEPS_MORE));
        if (!one_each || !of->shares_words)
            assert_true(same_for(many.calls, started, few.calls, FEW, CALLS_MORE));
        if (started < waiting)
            break;
    }
}

TEST_CASE(the_price_of_a_section_does_not_grow_with_its_waiters)
{
    if (!steps_are_counted())
        printf("This library does not count its steps: only system calls are judged.\n");
    for (unsigned i = 0; i < EXCLUSIVE; i++)
        no_more_than_of_few(&exclusive[i], &exclusive[i], false);
}

TEST_CASE(nor_with_waiters_of_other_objects)
{
    for (unsigned i = 0; i < EXCLUSIVE; i++)
        no_more_than_of_few(&exclusive[i], &exclusive[i], true);
}

/* A reader or two of each wake lets the next ones in. */
TEST_CASE(nor_for_readers_that_wait_for_a_writer)
{
    no_more_than_of_few(&open_to_all[0], &exclusive[0], false);
}

/* A drop asks the kernel for a writer, and for those with a claim where one sleeps. It made three
 * calls when it asked for seekers and for readers too. Calls outside drops are not judged: a waiter
 * yields for as long as the holder is kept from its CPU. */
TEST_CASE(a_drop_in_shared_memory_asks_for_writers_only)
{
    const struct primitive *of = NULL;
    struct counts counted;
    for (unsigned i = 0; i < EXCLUSIVE; i++)
        if (exclusive[i].take == pshared_take)
            of = &exclusive[i];
    must(of != NULL);
    unsigned started = count_line(of, of, 100, 1, &counted);
    printf("   %.1f system calls in a drop\n", (double)counted.calls_in_drops / (started + 1));
    assert_true(counted.calls_in_drops <= 2u * (uint64_t)(started + 1));
}

TEST_MAIN()
