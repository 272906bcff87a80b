/* SPDX-License-Identifier: MIT */
/*
 * What the processor executes when a big-reader lock is read (x86-64, release variant): no locked
 * instruction, no fence and no call, once the thread is registered.
 */
#include "test.h"

#include <pawl/brlock.h>
#include <pawl/thread.h>

#if defined(__x86_64__) && defined(__linux__) && defined(__OPTIMIZE__) && !TEST_SANITIZED &&       \
    !PAWL_TSAN_

#include "support/stepping.h"

#define ALONE __attribute__((noinline)) static void

/* Take and drop of one lock: two looks each at the thread's block and the lines, one at `closed`
 * before and after, two updates of the counter, one look at the drain. gcc 12 makes 38 of it. */
enum { PAIR_AT_MOST = 40 };

static pawl_brlock light, fenced;
static bool ok;

ALONE nothing(void)
{
    __asm__ __volatile__("# nothing");
}

ALONE take_and_drop(void)
{
    pawl_brlock_take_read(&light);
    pawl_brlock_drop_read(&light);
}

ALONE try_and_drop(void)
{
    ok = pawl_brlock_try_read(&light);
    pawl_brlock_drop_read(&light);
}

ALONE take_in_time_and_drop(void)
{
    ok = pawl_brlock_take_read_until(&light, PAWL_BRLOCK_FOREVER);
    pawl_brlock_drop_read(&light);
}

ALONE take_and_drop_fenced(void)
{
    pawl_brlock_take_read(&fenced);
    pawl_brlock_drop_read(&fenced);
}

enum { NOTHING, PAIR, TRY, IN_TIME, FENCED, FUNCTIONS };

static stepped_function *function(unsigned i)
{
    static stepped_function *const all[FUNCTIONS] = {nothing, take_and_drop, try_and_drop,
                                                     take_in_time_and_drop, take_and_drop_fenced};
    return all[i];
}

static void prepare(unsigned i)
{
    function(i)(); /* the first read registers the thread */
}

static struct stepped counted[FUNCTIONS];
static bool refused;

TEST_CASE(a_registered_reader_executes_no_locked_instruction_and_no_call)
{
    if (refused)
        skip();
    for (unsigned i = PAIR; i <= IN_TIME; i++) {
        const int steps = counted[i].steps - counted[NOTHING].steps;
        if (steps < 2 || steps > PAIR_AT_MOST || counted[i].locked != 0 || counted[i].calls != 0)
            fail_msg("function %u: %d instructions, %d locked, %d calls", i, steps,
                     counted[i].locked, counted[i].calls);
    }
}

TEST_CASE(readers_of_a_fenced_lock_call_the_library)
{
#if defined(PAWL_TEST_WHOLE_PROGRAM) && defined(__clang__)
    skip(); /* what it calls may be inlined */
#endif
    if (refused)
        skip();
    assert_true(counted[FENCED].calls >= 2);
}

int main(int argc, char **argv)
{
    must(pawl_brlock_init(&light, PAWL_BRLOCK_LINES) == 0);
    must(pawl_brlock_init(&fenced, PAWL_BRLOCK_LINES | PAWL_BRLOCK_FENCED) == 0);
    /* Without membarrier a reader calls out: there is nothing to count. */
    refused = ipawl_fence_light_free_ == 0 || !step_all(FUNCTIONS, prepare, function, counted);
    return test_main(argc, argv);
}

#else

TEST_SKIPPED("instructions are counted in plain, optimised x86-64 builds")

#endif
