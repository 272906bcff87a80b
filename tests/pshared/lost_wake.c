/* SPDX-License-Identifier: MIT */
/*
 * The lock for shared memory loses no wake. Faults: a count that does not move, a PARKED that is
 * not set again, a LEAVING that waiters do not see.
 */
#include "explorer/explorer.h"

#include <pawl/pshared.h>

#ifndef BITS /* lost_wake_64.c includes this file */
#define BITS 32
#endif
#define LOCK PAWL_CAT_(pawl_pshared_lock, BITS)
#define AT_REST(word) (((word) & ~PAWL_PSHARED_PARKED) == 0)

static bool regain_read(LOCK *l, uint64_t deadline)
{
    return PAWL_CAT_(LOCK, _atomic_to_read_until)(l, deadline) != PAWL_REGAIN_TIMED_OUT;
}

#include "lock/lost_wake.h"

static uint64_t count_stands_still(const struct pawl_operation *o,
                                   uint64_t (*make)(const struct pawl_operation *))
{
    struct pawl_operation instead = *o;
    if (o->tag == PAWL_PSHARED_TELL)
        instead.operand = 0;
    return make(&instead);
}

static uint64_t leaving_is_not_seen(const struct pawl_operation *o,
                                    uint64_t (*make)(const struct pawl_operation *))
{
    const uint64_t found = make(o);
    if (o->address == &scene.lock.word && (o->kind == PAWL_HOOK_LOAD || o->kind == PAWL_HOOK_OR))
        return found & ~(uint64_t)PAWL_PSHARED_LEAVING;
    return found;
}

static uint64_t parked_is_set_once_only(const struct pawl_operation *o,
                                        uint64_t (*make)(const struct pawl_operation *))
{
    struct pawl_operation instead = *o;
    static unsigned before[SCHED_THREADS];
    if (o->kind == PAWL_HOOK_OR) {
        if (before[sched.current] == sched.slept) /* it returns from its sleep */
            instead.operand = 0;
        before[sched.current] = sched.slept + 1;
    }
    return make(&instead);
}

static void a_count_that_stands_still_is_caught(void **state)
{
    (void)state;
    assert_true(shows(count_stands_still));
}

static void a_leaving_that_is_not_seen_is_caught(void **state)
{
    (void)state;
    assert_true(shows(leaving_is_not_seen));
}

static void a_parked_that_is_not_set_again_is_caught(void **state)
{
    (void)state;
    assert_true(shows(parked_is_set_once_only));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        LOST_WAKE_TESTS,
        cmocka_unit_test(a_count_that_stands_still_is_caught),
        cmocka_unit_test(a_leaving_that_is_not_seen_is_caught),
        cmocka_unit_test(a_parked_that_is_not_set_again_is_caught),
    };
    return lost_wake_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
