/* SPDX-License-Identifier: MIT */
/*
 * What lets threads pass costs thread 2,000 as many system calls as thread 16. On 32 bits the
 * library has lines for 1,024 threads only, on 64 bits for 32,768. All threads are alive at once,
 * and each passes repeatedly.
 *
 * A thread without a line that looked for one at each operation would make 1,024 system calls then.
 */
#include "scale/crowd.h"

#include "scale/primitives.h"

enum { PASSES = 32 };

static struct crowd crowd;

struct passing {
    struct objects objects;
    struct gate known, done; /* after the first pass, after the last */
};

static void pass(const struct passing *p, void *object)
{
    p->objects.of->take(object);
    p->objects.of->drop(object);
}

static void pass_often(struct crowd_thread *self, void *argument)
{
    struct passing *p = (struct passing *)argument;
    void *const object = object_at(&p->objects, self->index);
    pass(p, object);
    gate_pass(&p->known);
    for (unsigned i = 0; i < PASSES; i++)
        pass(p, object);
    gate_pass(&p->done);
}

static unsigned count_passes(const struct primitive *of, unsigned threads, struct counts *counted)
{
    struct passing p = {objects_make(of, 1), GATE_INIT, GATE_INIT};
    const unsigned started = crowd_start(&crowd, threads, pass_often, &p);
    crowd_go(&crowd);
    gate_wait_for(&p.known, started);
    struct counts before = counts_now();
    gate_open(&p.known);
    gate_wait_for(&p.done, started);
    struct counts after = counts_now();
    gate_open(&p.done);
    crowd_end(&crowd);
    objects_destroy(&p.objects);
    counted->steps = after.steps - before.steps;
    counted->calls = after.calls - before.calls;
    printf("   %-12s %6u threads: %8.2f steps and %8.2f system calls a pass\n", of->name, started,
           (double)counted->steps / started / PASSES, (double)counted->calls / started / PASSES);
    fflush(stdout);
    return started;
}

TEST_CASE(a_thread_without_a_line_pays_the_price_of_a_common_lock)
{
    enum { FEW = 16 };
    static const unsigned counts[] = {2000, MOST_THREADS};
    for (unsigned i = 0; i < OPEN_TO_ALL; i++) {
        struct counts few, many;
        count_passes(&open_to_all[i], FEW, &few);
        for (unsigned k = 0; k < 1 + (unsigned)full_size(); k++) {
            const unsigned started = count_passes(&open_to_all[i], counts[k], &many);
            assert_true(same_for(many.calls, started, few.calls, FEW, CALLS_MORE));
            assert_true(same_for(many.steps, started, few.steps, FEW, STEPS_MORE));
        }
    }
}

TEST_MAIN()
