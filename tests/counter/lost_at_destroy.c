/* SPDX-License-Identifier: MIT */
/*
 * An exact counter is destroyed while somebody adds. Its last read came before it was closed:
 *
 *   updater    finds the place of the cells
 *   destroyer  turns the phase, adds up the cells that stand still now
 *   updater    counts in the other phase
 *   destroyer  keeps the sum, closes the counter, clears the cells, gives them away
 *
 * and the count was lost. In modes BRLOCK and LOCKS it went into a cell that was another counter's
 * by then; or the updater gave a place to the counter that had just been destroyed. Now the counter
 * is closed before its last read, who holds the lock of its thread looks once more whether there is
 * still a place, and placing excludes destroying; so the count is in the object.
 *
 * And whoever shuts threads out, for a read too, asked how many there are before he did:
 *
 *   destroyer  there are no threads that count
 *   updater    counts for the first time: its line, its flag, a look: nobody is at work
 *   destroyer  shows that he is at work, and waits for no thread
 */
#include "explorer/explorer.h"

#include <pawl/counter.h>

static enum pawl_exact_mode mode;
static pawl_counter_exact counter;
static int64_t last;

static void begin(void)
{
    sched_new_process();
    pawl_counter_exact_init(&counter, mode);
    last = -1;
}

static void end(void)
{
    must(last == 0 || last == 1);
    must(counter.place == PAWL_PLACE_DEAD_ && counter.shared == 1);
}

static void add(void *nothing)
{
    pawl_counter_exact_add(&counter, 1);
}

static void destroy(void *nothing)
{
    last = pawl_counter_exact_destroy(&counter);
}

TEST_CASE(an_add_beside_destroy_is_in_the_object)
{
    static void (*const bodies[])(void *) = {add, destroy};
    static const enum pawl_exact_mode modes[] = {PAWL_EXACT_FOLD, PAWL_EXACT_STALL,
                                                 PAWL_EXACT_BRLOCK, PAWL_EXACT_LOCKS};
    if (PAWL_TSAN_) /* it does not follow a thread from stack to stack */
        skip();
    for (unsigned i = 0; i < 4; i++) {
        mode = modes[i];
        assert_true(explore(begin, bodies, 2, end, 3) > 10);
    }
}

TEST_MAIN()
