/* SPDX-License-Identifier: MIT */
/* The states of each primitive, for fork.c, which forks in them; of locks: fork_locks.h. */
#pragma once

#include "all/fork_locks.h"

#include <pawl/bigref.h>
#include <pawl/cond.h>
#include <pawl/counter.h>
#include <pawl/counter_exact.h>
#include <pawl/counter_limit.h>
#include <pawl/counter_seq.h>
#include <pawl/idtable.h>
#include <pawl/rcu.h>
#include <pawl/rcu_call.h>

/* ---- Counters and references -------------------------------------------------------------------
 * A thread in a state has counted. Both processes know of all. */

static pawl_counter counter;
static pawl_cpu_counter by_cpu;
static pawl_atomic_counter by_atom;
static pawl_seq_counter by_seq;
static pawl_counter_exact exact[4];
static pawl_counter_limit limited;
static pawl_bigref ref;

#define COUNT_STATE(id, add_it, sub_it)                                                            \
    static void id##_enter(void)                                                                   \
    {                                                                                              \
        add_it;                                                                                    \
    }                                                                                              \
    static bool id##_at_once(void)                                                                 \
    {                                                                                              \
        id##_enter();                                                                              \
        return true;                                                                               \
    }                                                                                              \
    static void id##_leave(void)                                                                   \
    {                                                                                              \
        sub_it;                                                                                    \
    }

static void add_to_all(int64_t n)
{
    pawl_counter_add(&counter, n);
    pawl_cpu_counter_add(&by_cpu, n);
    (void)pawl_atomic_counter_add(&by_atom, n);
    pawl_seq_counter_add(&by_seq, n);
    for (unsigned mode = 0; mode < 4; mode++)
        pawl_counter_exact_add(&exact[mode], n);
}

COUNT_STATE(counted, add_to_all(3), add_to_all(-3))
COUNT_STATE(counted_limited, must(pawl_counter_limit_try_add(&limited, 3)),
            pawl_counter_limit_sub(&limited, 3))
COUNT_STATE(referred, pawl_bigref_get(&ref), pawl_bigref_drop(&ref))

static unsigned others; /* threads in a state beside the caller; those of a parent stay counted */

static void counters_make(void)
{
    const pawl_seq_count zero = {0, 0};
    (void)pawl_counter_destroy(&counter);
    pawl_counter_init(&counter);
    (void)pawl_cpu_counter_destroy(&by_cpu);
    pawl_cpu_counter_init(&by_cpu);
    pawl_atomic_counter_init(&by_atom, 0);
    pawl_seq_counter_init(&by_seq, &zero);
    for (unsigned mode = 0; mode < 4; mode++) {
        (void)pawl_counter_exact_destroy(&exact[mode]);
        pawl_counter_exact_init(&exact[mode], (enum pawl_exact_mode)mode);
    }
}

static void counters_check(void)
{
    const int64_t sum = 3 * (int64_t)others;
    must(pawl_counter_read(&counter) == sum);
    must(pawl_cpu_counter_read(&by_cpu) == sum);
    must(pawl_atomic_counter_read(&by_atom) == sum);
    must(pawl_seq_counter_now(&by_seq).sum == sum);
    for (unsigned mode = 0; mode < 4; mode++)
        must(pawl_counter_exact_read(&exact[mode]) == sum);
}

static void limited_make(void)
{
    (void)pawl_counter_limit_destroy(&limited);
    pawl_counter_limit_init(&limited, 20);
}

static void limited_check(void)
{
    must(pawl_counter_limit_read(&limited) == 3 * (int64_t)others);
    must(!pawl_counter_limit_try_add(&limited, 21 - 3 * others));
}

static void ref_make(void)
{
    pawl_bigref_destroy(&ref);
    pawl_bigref_init(&ref, NULL, NULL);
}

static void ref_check(void)
{
    must(pawl_bigref_read(&ref) == 1 + (int64_t)others);
}

static const struct state counted_states[] = {ROW(counted)};
static const struct state limited_states[] = {ROW(counted_limited)};
static const struct state ref_states[] = {ROW(referred)};

/* ---- Waits ----------------------------------------------------------------------------------- */

static uint32_t word;
static pawl_cond cond;
static pawl_lock32 cond_lock;
static bool cond_true;
static pawl_eventcount event;

/* A state of its own cannot be a wait: the forking thread would not come to the fork. */
static bool never(void)
{
    return false;
}
#define ONLY_WAIT_ROW(id) {#id, never, id##_enter, id##_leave, id##_wake}

static void nothing(void)
{
}
#define word_wait_leave nothing
#define cond_wait_leave nothing
#define event_wait_leave nothing

static void word_wait_enter(void)
{
    while (pawl_load_relaxed32(&word) == 0)
        (void)pawl_wait32(&word, 0);
}

static void word_wait_wake(void)
{
    pawl_store_relaxed32(&word, 1);
    (void)pawl_wake_all(&word);
}

static void word_make(void)
{
    pawl_store_relaxed32(&word, 0);
}

static void word_check(void)
{
    must(pawl_wake_all(&word) == 0);
    (void)pawl_wait32_until(&word, pawl_load_relaxed32(&word), 1);
}

static void cond_wait_enter(void)
{
    pawl_lock32_take_write(&cond_lock);
    while (!cond_true)
        pawl_lock32_cond_wait_write(&cond, &cond_lock);
    pawl_lock32_drop_write(&cond_lock);
}

static void cond_wait_wake(void)
{
    pawl_lock32_take_write(&cond_lock);
    cond_true = true;
    pawl_lock32_drop_write(&cond_lock);
    (void)pawl_cond_broadcast(&cond);
}

STATE(cond_locked, pawl_lock32_try_write(&cond_lock), pawl_lock32_take_write(&cond_lock),
      pawl_lock32_drop_write(&cond_lock))

static void cond_make(void)
{
    pawl_lock32_init(&cond_lock);
    cond.waiting = 0;
    cond_true = false;
}

/* No waiter of the parent is counted. */
static void cond_check(void)
{
    must(pawl_cond_signal(&cond) == 0 && pawl_cond_broadcast(&cond) == 0);
    pawl_lock32_take_write(&cond_lock);
    must(!pawl_lock32_cond_wait_write_until(&cond, &cond_lock, 1));
    pawl_lock32_drop_write(&cond_lock);
    must(pawl_load_relaxed32(&cond.waiting) == 0);
}

static void event_wait_enter(void)
{
    pawl_eventcount_commit(&event, pawl_eventcount_prepare(&event));
}

static void event_wait_wake(void)
{
    pawl_eventcount_notify_all(&event);
}

/* One thread of each process at a time. */
COUNT_STATE(event_prepared, (void)pawl_eventcount_prepare(&event), pawl_eventcount_cancel(&event))

static void event_make(void)
{
    const pawl_eventcount fresh = PAWL_EVENTCOUNT_INIT;
    event = fresh;
}

/* A waiter of the parent may stay counted: then each notify goes on to the wake, which wakes
 * nobody. Made anew it counts none. */
static void event_check(void)
{
    const uint32_t key = pawl_eventcount_prepare(&event);
    pawl_eventcount_notify_all(&event);
    must(pawl_eventcount_commit_until(&event, key, 1));
    must(!pawl_eventcount_commit_until(&event, pawl_eventcount_prepare(&event), 1));
    must(others != 0 || pawl_load_relaxed32(&event.waiters) == 0);
}

static const struct state word_states[] = {ONLY_WAIT_ROW(word_wait)};
static const struct state cond_states[] = {ONLY_WAIT_ROW(cond_wait), ROW(cond_locked)};
static const struct state event_states[] = {ONLY_WAIT_ROW(event_wait), ROW(event_prepared)};

/* ---- RCU and the ID table -------------------------------------------------------------------- */

static pawl_rcu_head my_head, its_head;
static uint32_t called;

COUNT_STATE(reading, pawl_rcu_read_lock(), pawl_rcu_read_unlock())
COUNT_STATE(online, pawl_rcu_qs_online(), pawl_rcu_qs_offline())

static void count_call(pawl_rcu_head *unused)
{
    (void)pawl_fetch_add_relaxed32(&called, 1);
}

/* They wait for the forking thread, in a section or online: two drive a grace period, the third
 * sleeps until a callback has run. */
static void synchronizing_enter(void)
{
    pawl_rcu_synchronize();
}

static void synchronizing_qs_enter(void)
{
    pawl_rcu_domain_synchronize(pawl_rcu_qs());
}

static void expediting_enter(void)
{
    pawl_rcu_synchronize_expedited();
}

static void expediting_qs_enter(void)
{
    pawl_rcu_domain_synchronize_expedited(pawl_rcu_qs());
}

static void in_barrier_enter(void)
{
    must(pawl_rcu_call(&its_head, count_call, 16) == 0);
    must(pawl_rcu_barrier() == 0);
}
#define synchronizing_leave nothing
#define synchronizing_wake nothing
#define synchronizing_qs_leave nothing
#define synchronizing_qs_wake nothing
#define expediting_leave nothing
#define expediting_wake nothing
#define expediting_qs_leave nothing
#define expediting_qs_wake nothing
#define in_barrier_leave nothing
#define in_barrier_wake nothing

/* A child of a process with threads may start none under ThreadSanitizer: no worker. */
static void rcu_check(void)
{
    must(!pawl_rcu_read_held() && !pawl_rcu_domain_read_held(pawl_rcu_qs()));
    pawl_rcu_synchronize();
    pawl_rcu_domain_synchronize(pawl_rcu_qs());
    pawl_rcu_synchronize_expedited();
    if (PAWL_TSAN_)
        return;
    must(pawl_rcu_barrier() == 0); /* that of the other thread, in the child too */
    pawl_store_relaxed32(&called, 0);
    must(pawl_rcu_call(&my_head, count_call, 16) == 0);
    must(pawl_rcu_barrier() == 0);
    must(pawl_load_relaxed32(&called) == 1);
}

static const struct state rcu_states[] = {ROW(reading),
                                          ROW(online),
                                          ONLY_WAIT_ROW(synchronizing),
                                          ONLY_WAIT_ROW(synchronizing_qs),
                                          ONLY_WAIT_ROW(expediting),
                                          ONLY_WAIT_ROW(expediting_qs),
                                          ONLY_WAIT_ROW(in_barrier)};

/* ---- A domain of the program's own ----------------------------------------------------------- */

static pawl_rcu_domain domain;
static bool domain_is_made;
static pawl_rcu_head my_domain_head, its_domain_head;

/* A child has its parent's domain: nobody uses it, and it ends as any domain does. */
static void domain_make(void)
{
    if (domain_is_made)
        pawl_rcu_domain_destroy(&domain);
    must(pawl_rcu_domain_init(&domain, "forked") == 0);
    domain_is_made = true;
}

COUNT_STATE(domain_reading, pawl_rcu_domain_read_lock(&domain),
            pawl_rcu_domain_read_unlock(&domain))

static void domain_synchronizing_enter(void)
{
    pawl_rcu_domain_synchronize(&domain);
}

static void domain_expediting_enter(void)
{
    pawl_rcu_domain_synchronize_expedited(&domain);
}

/* The domain's worker begins beside the fork, and the child starts one of its own. ThreadSanitizer
 * forbids that, and AddressSanitizer's allocator may be locked by the parent's worker for ever. */
static void domain_barrier_enter(void)
{
    if (TEST_SANITIZED) {
        pawl_rcu_domain_synchronize(&domain);
        return;
    }
    must(pawl_rcu_domain_call(&domain, &its_domain_head, count_call, 16) == 0);
    must(pawl_rcu_domain_barrier(&domain) == 0);
}
#define domain_synchronizing_leave nothing
#define domain_synchronizing_wake nothing
#define domain_expediting_leave nothing
#define domain_expediting_wake nothing
#define domain_barrier_leave nothing
#define domain_barrier_wake nothing

static void domain_check(void)
{
    must(!pawl_rcu_domain_read_held(&domain));
    pawl_rcu_domain_synchronize(&domain);
    pawl_rcu_domain_synchronize_expedited(&domain);
    if (TEST_SANITIZED)
        return;
    must(pawl_rcu_domain_barrier(&domain) == 0);
    pawl_store_relaxed32(&called, 0);
    must(pawl_rcu_domain_call(&domain, &my_domain_head, count_call, 16) == 0);
    must(pawl_rcu_domain_barrier(&domain) == 0);
    must(pawl_load_relaxed32(&called) == 1);
}

static const struct state domain_states[] = {
    ROW(domain_reading), ONLY_WAIT_ROW(domain_synchronizing), ONLY_WAIT_ROW(domain_expediting),
    ONLY_WAIT_ROW(domain_barrier)};

struct thing {
    pawl_idtable_entry entry;
    pawl_lock32 lock;
};

static pawl_idtable table;
static struct thing thing;
static pawl_id thing_id;

PAWL_IDTABLE_TYPE(things, struct thing, entry, lock);

STATE(found_to_read, things_try_read(&table, thing_id, NULL) != NULL,
      must(things_take_read(&table, thing_id) != NULL), things_drop_read(&thing))
STATE(found_to_write, things_try_write(&table, thing_id, NULL) != NULL,
      must(things_take_write(&table, thing_id) != NULL), things_drop_write(&thing))

static void table_make(void)
{
    memset(&thing, 0, sizeof thing);
    must(pawl_idtable_init(&table, NULL) == 0);
    must(things_insert(&table, &thing, &thing_id) == 0);
}

static const struct state table_states[] = {ROW(found_to_read), ROW(found_to_write)};

/* ---- The table ------------------------------------------------------------------------------- */

static const struct primitive primitives[] = {
    {"spin", spin_make, NULL, ANEW_IF_WANTED, STATES(spin_states)},
    {"plock's names", plock_make, NULL, ANEW_IF_WANTED, STATES(plock_states)},
    {"plock's lorw", lorw_make, NULL, ANEW_IF_WANTED, STATES(lorw_states)},
    {"lock", lock_make, NULL, ANEW_IF_HELD, STATES(lock_states)},
    {"lock of 64 bits", wide_make, NULL, ANEW_IF_HELD, STATES(wide_states)},
    {"lock between states", wide_make, NULL, ANEW_IF_WANTED, STATES(between_states)},
    {"pshared", pshared_make, NULL, ANEW_IF_WANTED, STATES(pshared_states)},
    {"robust", robust_make, NULL, ANEW_IF_USED, STATES(robust_states)},
    {"brlock", brlock_make, NULL, ANEW_IF_WANTED, STATES(brlock_states)},
    {"sift", sift_make, NULL, ANEW_IF_WANTED, STATES(sift_states)},
    {"sift that lends", lending_make, NULL, ANEW_IF_WANTED, STATES(lending_states)},
    {"seq", seq_make, seq_check, ANEW_IF_WANTED, STATES(seq_states)},
    {"seq latch", latch_make, NULL, ANEW_IF_WANTED, STATES(latch_states)},
    {"bitlock", bits_make, NULL, ANEW_IF_HELD, STATES(bit_states)},
    {"counters", counters_make, counters_check, ANEW_NEVER, STATES(counted_states)},
    {"limit counter", limited_make, limited_check, ANEW_NEVER, STATES(limited_states)},
    {"big reference", ref_make, ref_check, ANEW_NEVER, STATES(ref_states)},
    {"word", word_make, word_check, ANEW_NEVER, STATES(word_states)},
    {"cond", cond_make, cond_check, ANEW_IF_HELD, STATES(cond_states)},
    {"event count", event_make, event_check, ANEW_NEVER, STATES(event_states)},
    {"rcu", nothing, rcu_check, ANEW_NEVER, STATES(rcu_states)},
    {"domain", domain_make, domain_check, ANEW_NEVER, STATES(domain_states)},
    {"id table", table_make, NULL, ANEW_IF_HELD, STATES(table_states)},
};
