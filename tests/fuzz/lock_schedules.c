/* SPDX-License-Identifier: MIT */
/*
 * The lock that sleeps, by two to four simulated threads of the hook variant: the input says what
 * each does, and before each of its accesses who goes on, so a find can be repeated. What is looked
 * for is in lock/scene.h; threads that get stuck are found too. Its mistakes are made at the
 * library's own accesses.
 *
 *   input   number of threads; then whatever is to be chosen next (sched_below)
 */
#include "fuzz/fuzz.h"

#include <pawl/detail/hook.h>

static struct fuzz choices;

/* A byte each. When they have run out, the rest is made up from a seed that is always the same. */
static unsigned from_the_input(uint64_t *seed, unsigned bound)
{
    if (!fuzz_more(&choices))
        return test_random_below(seed, bound);
    return fuzz_below(&choices, bound);
}

#include "explorer/explorer.h"

#ifndef LOCK /* pshared_schedules.c and scaling_schedules.c include this file */
#include <pawl/lock.h>

#define LOCK pawl_lock32
#define AT_REST(word) ((word) == 0)

static bool regain_read(LOCK *l, uint64_t deadline)
{
    return pawl_lock32_atomic_to_read_until(l, deadline) != PAWL_REGAIN_TIMED_OUT;
}
#endif

#include "lock/scene.h"

/* scaling_schedules.c has more to choose, and more mistakes. */
#ifndef CHOOSE_MORE
#define CHOOSE_MORE() NULL
#endif

/* What is taken back of a claim that was not granted stays in the word. */
static uint64_t nothing_is_taken_back(const struct pawl_operation *o,
                                      uint64_t (*make)(const struct pawl_operation *))
{
    struct pawl_operation instead = *o;
    const bool adds_less_than_nothing =
        o->kind == PAWL_HOOK_ADD && (o->operand >> (8 * o->width - 1) & 1) != 0;
    if ((adds_less_than_nothing || (o->kind == PAWL_HOOK_SUB && o->order == PAWL_ORDER_RELAXED)) &&
        o->address == &scene.lock.word)
        instead.operand = 0;
    return make(&instead);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const bodies[])(void *) = {something, something, something, something};
    choices = fuzz_begin(data, size);
    sched.below = from_the_input;
    unsigned threads = 2 + fuzz_below(&choices, 3);
    sched_fault *more = CHOOSE_MORE();
    scene_begins(NULL);
    scene.seed = 1;
    sched.deaf = fuzz_mistake("a_wake_reaches_nobody");
    sched.fault = fuzz_mistake("nothing_is_taken_back") ? nothing_is_taken_back : more;
    if (!sched_random(threads, bodies, NULL, 1))
        must(!"the threads are stuck");
    scene_ends(NULL);
    return 0;
}
