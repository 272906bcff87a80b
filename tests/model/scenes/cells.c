/* SPDX-License-Identifier: MIT */
/* The cells of counters: how a counter comes by its place while others count and read, what a place
 * holds that was used before, threads without cells; limit counters, whose credit is in cells. */
#include <pawl/bigref.h>
#include <pawl/counter.h>
#include <pawl/rcu.h>

#include "../../../src/count/cells.h"
#include "scenes.h"

#include <stddef.h>

#define LIMIT 1000

struct stage {
    pawl_counter counter, other;
    pawl_counter_exact exact, second;
    pawl_counter_limit limited, second_limited;
    pawl_bigref reference;
    pawl_counter_exact *done_with; /* its users have finished */
    uint32_t taken;                /* of the limit: what was got and not given back */
    uint32_t released;
};
#define STAGE M_SCENE(struct stage)

static struct pawl_counters *cells(void)
{
    return counters_here();
}

static void three_threads(void)
{
    m_register_threads(3);
}

/* The second thread can have no block for some time. */
static void second_has_no_cells(void)
{
    cells()->mine[1].wait = 100;
}

/* ---- Statistical counters -------------------------------------------------------------------- */

/* The next place to be found holds what the first thread counted in it before. */
static void a_place_used_before(void)
{
    three_threads();
    pawl_counter_add(&STAGE->other, 5);
    (void)pawl_counter_destroy(&STAGE->other);
    m_demand(pawl_counter_read(&STAGE->other) == 5, M_RESTORED, "the last value is not kept");
}

/* Told that a count is there, it finds it. */
static void counts_and_says_so(void)
{
    M_STEP(pawl_counter_add(&STAGE->counter, 1));
    pawl_rcu_assign_pointer(STAGE->done_with, &STAGE->exact);
}

static void reads_until_told(void)
{
    m_begin("pawl_counter_read");
    (void)pawl_counter_read(&STAGE->counter);
    bool told = pawl_rcu_dereference(STAGE->done_with) != NULL;
    int64_t value = pawl_counter_read(&STAGE->counter);
    m_end();
    m_demand(value == 1 || !told, M_VISIBILITY, "a count that was there is not found");
}

static void counts(void)
{
    M_STEP(pawl_counter_add(&STAGE->counter, 1));
}

static void counts_other(void)
{
    M_STEP(pawl_counter_add(&STAGE->other, 1));
}

static void reads_zero_or_one(void)
{
    M_DO(int64_t value = pawl_counter_read(&STAGE->counter));
    m_demand(value == 0 || value == 1, M_VISIBILITY, "a value that never was");
}

static void counted_one(void)
{
    m_demand(pawl_counter_read(&STAGE->counter) == 1, M_RESTORED, "a count is lost");
}

static void counted_two(void)
{
    m_demand(pawl_counter_read(&STAGE->counter) == 2, M_RESTORED, "a count is lost");
}

static void counted_one_each(void)
{
    counted_one();
    m_demand(pawl_counter_read(&STAGE->other) == 1, M_RESTORED, "a count is lost");
}

/* ---- Exact counters -------------------------------------------------------------------------- */

static void exact_of(enum pawl_exact_mode mode)
{
    three_threads();
    pawl_counter_exact_init(&STAGE->exact, mode);
    second_has_no_cells();
}

static void fold_without_cells(void)
{
    exact_of(PAWL_EXACT_FOLD);
}

static void brlock_without_cells(void)
{
    exact_of(PAWL_EXACT_BRLOCK);
}

static void locks_without_cells(void)
{
    exact_of(PAWL_EXACT_LOCKS);
}

static void brlock(void)
{
    three_threads();
    pawl_counter_exact_init(&STAGE->exact, PAWL_EXACT_BRLOCK);
}

/* One after the other they are counted in the same pair. */
static void a_pair_used_before(void)
{
    three_threads();
    pawl_counter_exact_init(&STAGE->exact, PAWL_EXACT_LOCKS);
    pawl_counter_exact_init(&STAGE->second, PAWL_EXACT_LOCKS);
}

static void fold(void)
{
    three_threads();
    pawl_counter_exact_init(&STAGE->exact, PAWL_EXACT_FOLD);
}

static void adds(void)
{
    M_STEP(pawl_counter_exact_add(&STAGE->exact, 1));
}

static void adds_to_second(void)
{
    M_STEP(pawl_counter_exact_add(&STAGE->second, 1));
}

static void adds_and_says_so(void)
{
    adds();
    pawl_rcu_assign_pointer(STAGE->done_with, &STAGE->exact);
    adds_to_second();
}

static void destroys_and_adds_to_second(void)
{
    if (pawl_rcu_dereference(STAGE->done_with) == NULL)
        return;
    M_DO(m_demand(pawl_counter_exact_destroy(&STAGE->exact) == 1, M_RESTORED, "a count is lost"));
    adds_to_second();
}

static void up_and_down(void)
{
    M_STEP(pawl_counter_exact_add(&STAGE->exact, 1));
    M_STEP(pawl_counter_exact_add(&STAGE->exact, -1));
}

static void reads_exactly(void)
{
    M_DO(int64_t value = pawl_counter_exact_read(&STAGE->exact));
    m_demand(value == 0 || value == 1, M_VISIBILITY, "a value that never was");
}

/* As one step, so that a look of the first might pass for one of the second. */
static void reads_twice_at_once(void)
{
    m_begin("pawl_counter_exact_read");
    int64_t first = pawl_counter_exact_read(&STAGE->exact);
    int64_t second = pawl_counter_exact_read(&STAGE->exact);
    m_end();
    m_demand(second >= first, M_VISIBILITY, "the value has gone back");
}

static void added_one(void)
{
    m_demand(pawl_counter_exact_read(&STAGE->exact) == 1, M_RESTORED, "a count is lost");
}

static void added_one_each(void)
{
    added_one();
    m_demand(pawl_counter_exact_read(&STAGE->second) == 1, M_RESTORED, "a count is lost");
}

static void added_two(void)
{
    m_demand(pawl_counter_exact_read(&STAGE->exact) == 2, M_RESTORED, "a count is lost");
}

static void added_none(void)
{
    m_demand(pawl_counter_exact_read(&STAGE->exact) == 0, M_RESTORED, "a count is lost");
}

static void second_is_as_added(void)
{
    const int64_t value = pawl_counter_exact_read(&STAGE->second);
    const bool both =
        pawl_counter_exact_read(&STAGE->exact) == 1 && STAGE->exact.place == PAWL_PLACE_DEAD_;
    m_demand(value == (both ? 2 : 1), M_RESTORED, "a count is lost, or one from before is there");
}

/* ---- Limit counters -------------------------------------------------------------------------- */

static void limited(void)
{
    three_threads();
    pawl_counter_limit_init(&STAGE->limited, LIMIT);
}

/* The first thread has credit, and its next steps are its own. */
static void with_credit(void)
{
    limited();
    (void)!pawl_counter_limit_try_add(&STAGE->limited, 1);
    pawl_counter_limit_sub(&STAGE->limited, 1);
}

static void tries_to_take(uint32_t n)
{
    M_DO(bool got = pawl_counter_limit_try_add(&STAGE->limited, n));
    if (got)
        (void)pawl_fetch_add_relaxed32(&STAGE->taken, n);
}

static void takes_half(void)
{
    tries_to_take(LIMIT / 2);
}

static void takes_more_than_half(void)
{
    tries_to_take(LIMIT / 2 + 1);
}

static void takes_one(void)
{
    tries_to_take(1);
}

static void takes_all(void)
{
    tries_to_take(LIMIT);
}

static void uses_two_counters(void)
{
    M_STEP((void)!pawl_counter_limit_try_add(&STAGE->limited, 1));
    pawl_rcu_assign_pointer(STAGE->done_with, &STAGE->exact);
    M_STEP((void)!pawl_counter_limit_try_add(&STAGE->second_limited, 1));
}

/* The second one comes by the place of the first. */
static void destroys_and_uses_second(void)
{
    if (pawl_rcu_dereference(STAGE->done_with) == NULL)
        return;
    M_DO(m_demand(pawl_counter_limit_destroy(&STAGE->limited) == 1, M_RESTORED, "a count is lost"));
    M_STEP((void)!pawl_counter_limit_try_add(&STAGE->second_limited, 1));
}

static void two_limited(void)
{
    limited();
    pawl_counter_limit_init(&STAGE->second_limited, LIMIT);
}

static void takes_and_gives(void)
{
    takes_one();
    M_STEP(pawl_counter_limit_sub(&STAGE->limited, 1));
    (void)pawl_fetch_sub_relaxed32(&STAGE->taken, 1);
}

static void takes_two_of_two(void)
{
    M_STEP(pawl_counter_limit_set_limit(&STAGE->limited, 2));
    tries_to_take(2);
}

static void reads_limited(void)
{
    M_DO(int64_t value = pawl_counter_limit_read(&STAGE->limited));
    m_demand(value == 0 || value == 1, M_VISIBILITY, "a value that never was");
}

static void limited_is(uint32_t value)
{
    m_demand(pawl_counter_limit_read(&STAGE->limited) == value, M_RESTORED, "a count is lost");
    m_demand(STAGE->taken == value, M_EXCLUSION, "more was got than there was, or less");
}

/* Each fits alone, and not beside the other. */
static void one_of_the_two(void)
{
    const bool half = STAGE->taken == LIMIT / 2;
    limited_is(half ? LIMIT / 2 : LIMIT / 2 + 1);
}

static void one_or_all(void)
{
    const bool one = STAGE->taken == 1;
    limited_is(one ? 1 : LIMIT);
}

static void one_or_two(void)
{
    const bool one = STAGE->taken == 1;
    limited_is(one ? 1 : 2);
}

static void none_taken(void)
{
    limited_is(0);
}

/* ---- References of threads without cells ----------------------------------------------------- */

static void release(pawl_bigref *r, void *arg)
{
    (void)r, (void)arg;
    m_write(0, 1); /* after all that was done under references, and once */
    m_demand(pawl_fetch_add_relaxed32(&STAGE->released, 1) == 0, M_EXCLUSION, "released twice");
}

static void two_references(void)
{
    three_threads();
    pawl_bigref_init(&STAGE->reference, release, NULL);
    pawl_bigref_get(&STAGE->reference);
}

/* Of the second thread and the third; the first will make them shared. */
static void two_references_of_others(void)
{
    three_threads();
    pawl_bigref_init(&STAGE->reference, release, NULL);
    m_become(1);
    pawl_bigref_get(&STAGE->reference);
    m_become(0);
}

static void two_references_without_cells(void)
{
    two_references();
    second_has_no_cells();
}

static void uses_and_drops(void)
{
    (void)m_read(0);
    M_STEP(pawl_bigref_drop(&STAGE->reference));
}

static void kills_and_drops(void)
{
    M_STEP(pawl_bigref_kill(&STAGE->reference));
    uses_and_drops();
}

static void drops_and_kills(void)
{
    (void)m_read(0);
    M_STEP(pawl_bigref_drop(&STAGE->reference));
    M_STEP(pawl_bigref_kill(&STAGE->reference));
}

static void gets_and_uses(void)
{
    M_STEP(pawl_bigref_get(&STAGE->reference));
    uses_and_drops();
}

static void gets_uses_and_drops(void)
{
    gets_and_uses();
    uses_and_drops();
}

static void revives_and_kills(void)
{
    M_DO(m_demand(pawl_bigref_revive(&STAGE->reference), M_RESTORED, "not revived"));
    kills_and_drops();
}

/* Who owned the count before may not take itself for its owner after a revival. */
static void owned_by_the_first(void)
{
    three_threads();
    pawl_bigref_init(&STAGE->reference, release, NULL);
    M_STEP(pawl_bigref_get(&STAGE->reference));
    M_STEP(pawl_bigref_drop(&STAGE->reference));
}

static void gets_two(void)
{
    M_STEP(pawl_bigref_get(&STAGE->reference));
    M_STEP(pawl_bigref_get(&STAGE->reference));
}

static void kills_revives_and_gets(void)
{
    M_STEP(pawl_bigref_kill(&STAGE->reference));
    M_STEP(pawl_bigref_revive(&STAGE->reference));
    M_STEP(pawl_bigref_get(&STAGE->reference));
}

static void four_are_dropped(void)
{
    m_demand(pawl_bigref_read(&STAGE->reference) == 4, M_RESTORED, "a reference is lost");
    (void)pawl_bigref_kill(&STAGE->reference);
    for (unsigned i = 0; i < 4; i++)
        pawl_bigref_drop(&STAGE->reference);
    m_demand(STAGE->released == 1, M_PROGRESS, "never released");
}

static void killed_and_referred_to(void)
{
    two_references();
    (void)pawl_bigref_kill(&STAGE->reference);
}

static void released_once(void)
{
    m_demand(STAGE->released == 1, M_PROGRESS, "never released");
}

extern const struct m_scene m_cells_scenes[];
/* clang-format off */
const struct m_scene m_cells_scenes[] = {
    {"counter_read_beside_its_placing", a_place_used_before, {counts, reads_zero_or_one},
     counted_one, "preempt=3"},
    {"counter_read_when_told", three_threads, {reads_until_told, counts_and_says_so}, counted_one,
     "preempt=2"},
    {"counter_of_two", three_threads, {counts, counts}, counted_two, "preempt=3"},
    {"counters_placed_at_once", three_threads, {counts, counts_other}, counted_one_each,
     "preempt=3"},
    {"exact_placed_by_two", three_threads, {adds, adds}, added_two, "preempt=2"},
    {"exact_counters_placed_at_once", three_threads, {adds, adds_to_second}, added_one_each,
     "preempt=2"},
    {"exact_counters_placed_by_three", three_threads, {adds, adds_to_second, adds_to_second},
     NULL, "preempt=1"},
    {"exact_pair_used_before", a_pair_used_before,
     {adds_and_says_so, destroys_and_adds_to_second}, second_is_as_added, "preempt=2"},
    {"exact_fold_add_beside_two_reads", fold, {adds, reads_twice_at_once}, added_one,
     "preempt=3"},
    {"exact_brlock_two_reads", brlock, {reads_exactly, up_and_down, reads_exactly}, added_none,
     "preempt=1"},
    {"exact_fold_without_cells", fold_without_cells, {reads_exactly, up_and_down}, added_none,
     "preempt=2"},
    {"exact_brlock_without_cells", brlock_without_cells, {reads_exactly, up_and_down},
     added_none, "preempt=2"},
    {"exact_locks_without_cells", locks_without_cells, {reads_exactly, up_and_down}, added_none,
     "preempt=2"},
    {"limit_of_two", limited, {takes_half, takes_more_than_half}, one_of_the_two, "preempt=2"},
    {"limit_beside_credit", with_credit, {takes_one, takes_all}, one_or_all, "preempt=3"},
    {"limit_read_beside_change", with_credit, {takes_and_gives, reads_limited}, none_taken,
     "preempt=2"},
    {"limit_lowered_beside_credit", with_credit, {takes_one, takes_two_of_two}, one_or_two,
     "preempt=2"},
    {"limit_credit_used_before", two_limited, {uses_two_counters, destroys_and_uses_second}, NULL,
     "preempt=2 ipi=1"},
    {"bigref_kill_beside_drop_without_cells", two_references_without_cells,
     {kills_and_drops, uses_and_drops}, released_once, "preempt=2"},
    {"bigref_drop_beside_kill", two_references, {uses_and_drops, drops_and_kills}, released_once,
     "preempt=2"},
    {"bigref_last_drop_after_kill", two_references_of_others,
     {gets_and_uses, drops_and_kills, uses_and_drops}, released_once, "preempt=0"},
    {"bigref_gets_beside_kill", two_references, {kills_and_drops, gets_uses_and_drops},
     released_once, "preempt=1 ipi=1"},
    {"bigref_revived_beside_gets", owned_by_the_first, {gets_two, kills_revives_and_gets},
     four_are_dropped, "preempt=2"},
    {"bigref_revived_beside_drop", killed_and_referred_to, {revives_and_kills, uses_and_drops},
     released_once, "preempt=2"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
