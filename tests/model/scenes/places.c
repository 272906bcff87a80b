/* SPDX-License-Identifier: MIT */
/* What is left in the cells when a counter or a reference ends: who is late counts in the object or
 * is refused, and the next owner of the place finds it as new. Who owns a reference that is alone,
 * shared, or alone again. */
#include <pawl/bigref.h>
#include <pawl/counter.h>
#include <pawl/rcu.h>

#include "../../../src/count/cells.h"
#include "scenes.h"

#include <stddef.h>

#define LIMIT 20000
#define MOST (2 * PAWL_LIMIT_CREDIT)

struct stage {
    pawl_counter_exact exact, second;
    pawl_counter_limit limited, second_limited;
    pawl_bigref reference;
    pawl_counter_exact *done_with; /* told */
    int64_t ended;                 /* what destroy returned */
    uint64_t taken;                /* of the limit: what was got */
    uint32_t released;
};
#define STAGE M_SCENE(struct stage)

static struct pawl_counters *cells(void)
{
    return counters_here();
}

static void no_place_is_taken(void)
{
    const uint32_t words = sizeof cells()->used[1] / sizeof cells()->used[1][0];
    for (uint32_t i = 0; i < words; i++)
        m_demand(cells()->used[1][i] == 0, M_RESTORED, "a place is not given back");
}

/* ---- Exact counters -------------------------------------------------------------------------- */

static void exact_of(enum pawl_exact_mode mode)
{
    m_register_threads(3);
    pawl_counter_exact_init(&STAGE->exact, mode);
    pawl_counter_exact_init(&STAGE->second, mode);
    pawl_counter_exact_add(&STAGE->exact, 1);
}

static void fold(void)
{
    exact_of(PAWL_EXACT_FOLD);
}

static void stall(void)
{
    exact_of(PAWL_EXACT_STALL);
}

static void brlock(void)
{
    exact_of(PAWL_EXACT_BRLOCK);
}

static void locks(void)
{
    exact_of(PAWL_EXACT_LOCKS);
}

static void destroys(void)
{
    M_DO(STAGE->ended = pawl_counter_exact_destroy(&STAGE->exact));
}

/* Only the first thread has ever called the library. */
static void known_to_one(enum pawl_exact_mode mode)
{
    m_register_threads(1);
    pawl_counter_exact_init(&STAGE->exact, mode);
}

static void fold_known_to_one(void)
{
    known_to_one(PAWL_EXACT_FOLD);
}

static void fold_counted_by_one(void)
{
    fold_known_to_one();
    pawl_counter_exact_add(&STAGE->exact, 1);
}

static void brlock_known_to_one(void)
{
    known_to_one(PAWL_EXACT_BRLOCK);
}

/* Counted in both phases, and ended. */
static void fold_ended(void)
{
    fold();
    M_STEP(pawl_counter_exact_read(&STAGE->exact));
    M_STEP(pawl_counter_exact_add(&STAGE->exact, 1));
    destroys();
    m_demand(STAGE->ended == 2, M_RESTORED, "a count is lost");
}

static void adds(void)
{
    M_STEP(pawl_counter_exact_add(&STAGE->exact, 1));
}

static void reads_zero_or_one(void)
{
    M_DO(int64_t value = pawl_counter_exact_read(&STAGE->exact));
    m_demand(value == 0 || value == 1, M_VISIBILITY, "a value that never was");
}

static void one_in_all(void)
{
    m_demand(pawl_counter_exact_read(&STAGE->exact) == 1, M_RESTORED, "a count is lost");
}

static void adds_to_second(void)
{
    M_STEP(pawl_counter_exact_add(&STAGE->second, 1));
}

/* As one step, so that a look of the first might pass for one of the second. */
static void reads_all_when_told(pawl_counter_exact *counter, int64_t all)
{
    m_begin("pawl_counter_exact_read");
    (void)pawl_counter_exact_read(counter);
    bool told = pawl_rcu_dereference(STAGE->done_with) != NULL;
    int64_t value = pawl_counter_exact_read(counter);
    m_end();
    m_demand(value == all || !told, M_VISIBILITY, "a count that was there is not found");
}

static void reads_until_told(void)
{
    reads_all_when_told(&STAGE->second, 1);
}

/* The same of a thread that is new. */
static void reads_until_told_by_another(void)
{
    reads_all_when_told(&STAGE->exact, 2);
}

static void adds_and_says_so(void)
{
    adds();
    pawl_rcu_assign_pointer(STAGE->done_with, &STAGE->exact);
}

static void two_in_all(void)
{
    m_demand(pawl_counter_exact_read(&STAGE->exact) == 2, M_RESTORED, "a count is lost");
}

static void adds_to_second_and_says_so(void)
{
    adds_to_second();
    pawl_rcu_assign_pointer(STAGE->done_with, &STAGE->second);
}

/* Twice: in either phase. */
static void second_is(int64_t value)
{
    m_demand(pawl_counter_exact_read(&STAGE->second) == value, M_RESTORED,
             "a count is lost, or one from before is there");
    m_demand(pawl_counter_exact_read(&STAGE->second) == value, M_RESTORED,
             "a count is lost, or one from before is there");
}

static void second_is_one(void)
{
    second_is(1);
}

/* The one that may have been late is in the object; the place is as new. */
static void both_are_in_the_object(void)
{
    m_demand(STAGE->ended == 1 || STAGE->ended == 2, M_VISIBILITY, "a value that never was");
    m_demand(pawl_counter_exact_read(&STAGE->exact) == 2, M_RESTORED, "a count is lost");
    no_place_is_taken();
    adds_to_second();
    m_demand(STAGE->second.place >= PAWL_PLACE_FIRST_, M_RESTORED, "no place");
    second_is_one();
}

/* ---- Limit counters -------------------------------------------------------------------------- */

/* 3000 are taken, and the first thread has some credit. */
static void limited(void)
{
    m_register_threads(3);
    pawl_counter_limit_init(&STAGE->limited, LIMIT);
    pawl_counter_limit_init(&STAGE->second_limited, LIMIT);
    (void)!pawl_counter_limit_try_add(&STAGE->limited, 3000);
}

/* More than its credit: by the latch, after a look at the gate. */
static void takes_more_than_its_credit(void)
{
    M_DO(bool got = pawl_counter_limit_try_add(&STAGE->limited, MOST));
    STAGE->taken = got ? MOST : 0;
}

/* More than it may keep as credit. */
static void gives_more_than_it_keeps(void)
{
    M_STEP(pawl_counter_limit_sub(&STAGE->limited, MOST));
}

static void sets_the_limit_again(void)
{
    M_STEP(pawl_counter_limit_set_limit(&STAGE->limited, LIMIT));
}

static void destroys_limited(void)
{
    M_DO(STAGE->ended = pawl_counter_limit_destroy(&STAGE->limited));
}

static void limited_is(uint64_t value)
{
    m_demand(pawl_counter_limit_read(&STAGE->limited) == (int64_t)value, M_RESTORED,
             "a count is lost");
}

static void taken_as_counted(void)
{
    limited_is(3000 + STAGE->taken);
}

/* Nothing fits any more, nothing can be given back, and the next owner keeps the place, even when
 * the first one ends twice. */
static void limited_has_ended(void)
{
    limited_is((uint64_t)STAGE->ended);
    no_place_is_taken();
    m_demand(!pawl_counter_limit_try_add(&STAGE->limited, 1), M_RESTORED, "added after the end");
    M_STEP(pawl_counter_limit_sub(&STAGE->limited, 1));
    limited_is((uint64_t)STAGE->ended);
    (void)!pawl_counter_limit_try_add(&STAGE->second_limited, 1);
    m_demand(pawl_counter_limit_destroy(&STAGE->limited) == STAGE->ended, M_RESTORED,
             "ended twice with two values");
    m_demand(pawl_counter_limit_read(&STAGE->second_limited) == 1, M_RESTORED,
             "a credit is lost, or the place is another one's too");
}

static void refused_or_counted(void)
{
    m_demand(STAGE->ended == (int64_t)(3000 + STAGE->taken), M_EXCLUSION,
             "got, and not counted at the end");
    limited_has_ended();
}

static void given_back_or_too_late(void)
{
    m_demand(STAGE->ended == 3000 || STAGE->ended == 3000 - MOST, M_VISIBILITY,
             "a value that never was");
    limited_has_ended();
}

/* ---- References ------------------------------------------------------------------------------ */

static void release(pawl_bigref *r, void *arg)
{
    (void)r, (void)arg;
    m_demand(pawl_fetch_add_relaxed32(&STAGE->released, 1) == 0, M_EXCLUSION, "released twice");
}

static void is_owned_by(uint32_t thread)
{
    const pawl_bigref *r = &STAGE->reference;
    m_demand(r->owner == (ipawl_address_)(uintptr_t)cells()->mine[thread].block, M_RESTORED,
             "alone, and its first user does not own the count");
    m_demand(r->place == PAWL_PLACE_NONE_, M_RESTORED, "alone, and cells are taken");
}

static void is_shared(void)
{
    const pawl_bigref *r = &STAGE->reference;
    m_demand(r->place >= PAWL_PLACE_FIRST_, M_RESTORED, "shared, and nobody has a cell");
    m_demand(r->owner == 0 && r->own == 0, M_RESTORED, "shared, and somebody owns the count");
}

/* The creator's reference, and the first thread is the first user. */
static void one_reference(void)
{
    m_register_threads(3);
    pawl_bigref_init(&STAGE->reference, release, NULL);
    M_STEP(pawl_bigref_get(&STAGE->reference));
    M_STEP(pawl_bigref_drop(&STAGE->reference));
    is_owned_by(0);
}

static void one_shared_reference(void)
{
    one_reference();
    m_become(1);
    M_STEP(pawl_bigref_get(&STAGE->reference));
    M_STEP(pawl_bigref_drop(&STAGE->reference));
    m_become(0);
    is_shared();
}

static void gets(void)
{
    M_STEP(pawl_bigref_get(&STAGE->reference));
}

static void kills_and_revives(void)
{
    M_STEP(pawl_bigref_kill(&STAGE->reference));
    M_DO(m_demand(pawl_bigref_revive(&STAGE->reference), M_RESTORED, "not revived"));
}

static void kills_revives_and_gets(void)
{
    kills_and_revives();
    gets();
}

/* By the main thread, which is the first. */
static void are_dropped(int64_t count)
{
    m_demand(pawl_bigref_read(&STAGE->reference) == count, M_RESTORED, "a reference is lost");
    M_STEP(pawl_bigref_kill(&STAGE->reference));
    m_demand(STAGE->reference.place == PAWL_PLACE_NONE_ && STAGE->reference.owner == 0, M_RESTORED,
             "killed, and somebody has a part of his own");
    no_place_is_taken();
    while (count-- > 0)
        M_STEP(pawl_bigref_drop(&STAGE->reference));
    m_demand(STAGE->released == 1, M_PROGRESS, "never released");
}

static void two_are_dropped(void)
{
    are_dropped(2);
}

static void three_are_shared_and_dropped(void)
{
    is_shared();
    are_dropped(3);
}

static void second_owns_two(void)
{
    is_owned_by(1);
    are_dropped(2);
}

static void does_nothing(void)
{
}

extern const struct m_scene m_places_scenes[];
/* clang-format off */
const struct m_scene m_places_scenes[] = {
    {"exact_fold_pair_used_before", fold_ended, {adds_to_second, does_nothing}, second_is_one,
     "preempt=1"},
    {"exact_fold_read_beside_a_first_add", fold_known_to_one, {reads_zero_or_one, adds},
     one_in_all, "preempt=2"},
    {"exact_brlock_read_beside_a_first_add", brlock_known_to_one, {reads_zero_or_one, adds},
     one_in_all, "preempt=2"},
    {"exact_read_when_told", fold, {reads_until_told, adds_to_second_and_says_so}, second_is_one,
     "preempt=2"},
    {"exact_read_when_told_by_another", fold_counted_by_one,
     {reads_until_told_by_another, adds_and_says_so}, two_in_all, "preempt=2"},
    {"exact_fold_destroyed_beside_add", fold, {adds, destroys}, both_are_in_the_object,
     "preempt=2"},
    {"exact_stall_destroyed_beside_add", stall, {adds, destroys}, both_are_in_the_object,
     "preempt=2"},
    {"exact_brlock_destroyed_beside_add", brlock, {adds, destroys}, both_are_in_the_object,
     "preempt=2"},
    {"exact_locks_destroyed_beside_add", locks, {adds, destroys}, both_are_in_the_object,
     "preempt=2"},
    {"limit_set_beside_credit", limited, {takes_more_than_its_credit, sets_the_limit_again},
     taken_as_counted, "preempt=2"},
    {"limit_destroyed_beside_a_try", limited, {takes_more_than_its_credit, destroys_limited},
     refused_or_counted, "preempt=2"},
    {"limit_destroyed_beside_a_sub", limited, {gives_more_than_it_keeps, destroys_limited},
     given_back_or_too_late, "preempt=2"},
    {"bigref_shared_by_two_at_once", one_reference, {does_nothing, gets, gets},
     three_are_shared_and_dropped, "preempt=2"},
    {"bigref_revived_is_alone", one_reference, {does_nothing, kills_revives_and_gets},
     second_owns_two, "preempt=1"},
    {"bigref_shared_revived_beside_get", one_shared_reference, {gets, kills_and_revives},
     two_are_dropped, "preempt=3"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
