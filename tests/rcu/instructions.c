/* SPDX-License-Identifier: MIT */
/*
 * What the processor executes when RCU is read (x86-64, release variant): no locked instruction and
 * no call, and where quiescent states say when nobody reads, nothing at all.
 */
#include "test.h"

#include <pawl/rcu.h>

#if defined(__x86_64__) && defined(__OPTIMIZE__) && !TEST_SANITIZED && !PAWL_TSAN_

#include "support/stepping.h"

#define ALONE __attribute__((noinline)) static void

static int object;
static int *pointer;
static int *volatile plain;
static int *volatile found;
static pawl_rcu_domain domain;

ALONE nothing(void)
{
    __asm__ __volatile__("# nothing"); /* not to be left out, nor merged with the next one */
}

ALONE read_quiescent(void)
{
    pawl_rcu_qs_read_lock();
    __asm__ __volatile__("# read");
    pawl_rcu_qs_read_unlock();
}

ALONE read_default(void)
{
    pawl_rcu_read_lock();
    pawl_rcu_read_unlock();
}

ALONE read_nested(void)
{
    pawl_rcu_read_lock();
    pawl_rcu_read_lock();
    pawl_rcu_read_unlock();
    pawl_rcu_read_unlock();
}

ALONE read_domain(void)
{
    pawl_rcu_domain_read_lock(&domain);
    pawl_rcu_domain_read_unlock(&domain);
}

ALONE dereference(void)
{
    pawl_rcu_read_lock();
    found = pawl_rcu_dereference(pointer);
    pawl_rcu_read_unlock();
}

ALONE load(void)
{
    found = plain;
}

ALONE quiescent(void)
{
    pawl_rcu_qs_quiescent();
}

enum { NOTHING, READ_QUIESCENT, READ, NESTED, DOMAIN, DEREFERENCE, LOAD, QUIESCENT, FUNCTIONS };

static stepped_function *function(unsigned i)
{
    static stepped_function *const all[FUNCTIONS] = {nothing,     read_quiescent, read_default,
                                                     read_nested, read_domain,    dereference,
                                                     load,        quiescent};
    return all[i];
}

static void prepare(unsigned i)
{
    if (i == QUIESCENT)
        pawl_rcu_qs_online();
    else
        function(i)(); /* the first read registers the thread */
}

static struct stepped counted[FUNCTIONS];
static bool refused;

TEST_CASE(reading_between_quiescent_states_executes_no_instruction)
{
    if (refused)
        skip();
    assert_true(counted[NOTHING].steps >= 1); /* the return */
    assert_int_equal(counted[READ_QUIESCENT].steps, counted[NOTHING].steps);
}

TEST_CASE(reading_executes_no_locked_instruction_and_no_call)
{
    if (refused)
        skip();
    for (unsigned i = READ; i < FUNCTIONS; i++)
        if (counted[i].steps < 2 || counted[i].locked != 0 || counted[i].calls != 0)
            fail_msg("function %u: %d steps, %d locked, %d calls", i, counted[i].steps,
                     counted[i].locked, counted[i].calls);
}

TEST_CASE(a_dereference_is_a_load)
{
    if (refused)
        skip();
    assert_int_equal(counted[DEREFERENCE].steps - counted[READ].steps,
                     counted[LOAD].steps - counted[NOTHING].steps);
}

int main(int argc, char **argv)
{
    pawl_rcu_assign_pointer(pointer, &object);
    must(pawl_rcu_domain_init(&domain, "stepped through") == 0);
    /* Without membarrier a reader calls out: there is nothing to count. */
    refused = ipawl_fence_light_free_ == 0 || !step_all(FUNCTIONS, prepare, function, counted);
    return test_main(argc, argv);
}

#else

TEST_SKIPPED("instructions are counted in plain, optimised x86-64 builds")

#endif
