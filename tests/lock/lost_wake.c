/* SPDX-License-Identifier: MIT */
/*
 * The lock that sleeps loses no wake, wait lists included, and leaves no PARKED behind. Faults: a
 * PARKED that is not set, a look that comes too early, a hint that is not cleared.
 */
#include "explorer/explorer.h"

#include <pawl/lock.h>

#include "lock/table.h"

#define LOCK pawl_lock32
#define AT_REST(word) ((word) == 0)

static bool regain_read(LOCK *l, uint64_t deadline)
{
    return pawl_lock32_atomic_to_read_until(l, deadline) != PAWL_REGAIN_TIMED_OUT;
}

#include "lock/lost_wake.h"

static uint64_t parked_is_not_set(const struct pawl_operation *o,
                                  uint64_t (*make)(const struct pawl_operation *))
{
    struct pawl_operation instead = *o;
    if (o->tag == PAWL_LOCK_PARK)
        instead.operand = 0;
    return make(&instead);
}

/* The sleeper looks at an old value: it has not seen what came between. */
static uint64_t the_look_is_too_early(const struct pawl_operation *o,
                                      uint64_t (*make)(const struct pawl_operation *))
{
    static uint64_t before[SCHED_THREADS];
    const uint64_t found = make(o);
    if (o->tag == PAWL_LOCK_PARK)
        return before[sched.current];
    if (o->address == &scene.lock.word && o->kind == PAWL_HOOK_LOAD)
        before[sched.current] = found;
    return found;
}

static uint64_t the_hint_stays(const struct pawl_operation *o,
                               uint64_t (*make)(const struct pawl_operation *))
{
    const struct pawl_bucket *buckets = table_here()->first;
    struct pawl_operation instead = *o;
    for (unsigned i = 0; i < 1u << PAWL_TABLE_BITS; i++)
        if (o->kind == PAWL_HOOK_STORE && o->address == &buckets[i].awake_for && o->operand == 0)
            instead.kind = PAWL_HOOK_LOAD;
    return make(&instead);
}

IS_CAUGHT(a_parked_that_is_not_set_is_caught, parked_is_not_set)
IS_CAUGHT(a_look_before_parked_is_caught, the_look_is_too_early)
IS_CAUGHT(a_hint_that_is_not_cleared_is_caught, the_hint_stays)

int main(int argc, char **argv)
{
    return lost_wake_main(argc, argv);
}
