/* SPDX-License-Identifier: MIT */
/*
 * Grace periods over all schedules of a reader or two and an updater or two with a few preemptions:
 * no reader finds an object dead that it has reached, and nobody sleeps whom nobody would wake.
 * Then the same with faults in the grace period, each of which a schedule must show.
 */
#include "explorer/explorer.h"

#include <pawl/rcu.h>

#include "rcu/rcu.h"

enum { OBJECTS = SCHED_THREADS + 1, DOMAIN = 2 };

struct object {
    uint32_t alive;
};

static struct {
    struct object objects[OBJECTS];
    struct object *head;
    pawl_rcu_domain domain;
    bool without_lines; /* the threads have none */
    unsigned found_dead;
    uint64_t begun; /* grace periods at the end of the schedule */
} scene;

/* ---- The threads ----------------------------------------------------------------------------- */

static void look(void)
{
    struct object *o = pawl_rcu_domain_dereference(&scene.domain, scene.head);
    if (o != NULL && pawl_load_relaxed32(&o->alive) == 0)
        scene.found_dead++;
}

static void read_once(void *unused)
{
    pawl_rcu_domain_read_lock(&scene.domain);
    look();
    pawl_rcu_domain_read_unlock(&scene.domain);
}

static void read_nested_and_again(void *unused)
{
    pawl_rcu_domain_read_lock(&scene.domain);
    pawl_rcu_domain_read_lock(&scene.domain);
    look();
    pawl_rcu_domain_read_unlock(&scene.domain);
    look();
    pawl_rcu_domain_read_unlock(&scene.domain);
    pawl_rcu_domain_read_lock(&scene.domain);
    look();
    pawl_rcu_domain_read_unlock(&scene.domain);
}

static void loop_with_quiescent_states(void *unused)
{
    pawl_rcu_qs_online();
    for (unsigned i = 0; i < 2; i++) {
        pawl_rcu_qs_read_lock();
        look();
        pawl_rcu_qs_read_unlock();
        pawl_rcu_qs_quiescent();
    }
    pawl_rcu_qs_offline();
}

static struct object *take_out(void)
{
    struct object *made = &scene.objects[sched.current + 1];
    made->alive = 1;
    return pawl_rcu_xchg_pointer(&scene.head, made);
}

static void replace(void *unused)
{
    struct object *old = take_out();
    pawl_rcu_domain_synchronize(&scene.domain);
    if (old != NULL)
        pawl_store_relaxed32(&old->alive, 0);
}

static void replace_by_poll(void *unused)
{
    struct object *old = take_out();
    const uint64_t cookie = pawl_rcu_domain_start_poll(&scene.domain);
    while (!pawl_rcu_domain_poll(&scene.domain, cookie))
        pawl_cpu_relax();
    if (old != NULL)
        pawl_store_relaxed32(&old->alive, 0);
}

/* ---- The scene ------------------------------------------------------------------------------- */

/* As the threads find it that have registered already: what they do then is what is explored. */
static void before(void *unused)
{
    struct pawl_process *process = process_here();
    memset(rcu_here(), 0, sizeof *rcu_here());
    for (unsigned i = 0; i < 2 * PAWL_RCU_LINES; i++)
        memset(&process->lines[i], 0, sizeof process->lines[i]);
    for (unsigned i = 0; i < SCHED_THREADS; i++) {
        const unsigned number = i + (scene.without_lines ? PAWL_RCU_LINES : 0);
        *sched_slot_of(i) = &process->lines[number];
        process->lines[number].owner = i + 2;
        if (!scene.without_lines)
            rcu_here()->mine[number].line = &rcu_here()->lines[number];
    }
    process->lines_used = SCHED_THREADS + (scene.without_lines ? PAWL_RCU_LINES : 0);
    memset(scene.objects, 0, sizeof scene.objects);
    scene.objects[0].alive = 1;
    scene.head = &scene.objects[0];
}

static void after(void *unused)
{
    const struct pawl_rcu *rcu = rcu_here();
    const struct pawl_rcu_state *state = &rcu->states[scene.domain.index];
    scene.begun = state->started;
    must(state->started == state->completed);
    must(state->driver == 0 && state->sleepers == 0 && state->noted == 0);
    must(state->apart[0] == 0 && state->apart[1] == 0);
    for (unsigned i = 0; i < PAWL_RCU_LINES; i++)
        must((rcu->lines[i].read[scene.domain.index] & PAWL_RCU_NESTING_) == 0);
}

typedef void (*body)(void *);

/* Runs all schedules; false: in one of them somebody slept for ever, or found a dead object. */
static bool holds(uint32_t domain, bool without_lines, unsigned count, const body *bodies,
                  unsigned preemptions)
{
    unsigned schedules = 0;
    if (TEST_SANITIZED) /* they do not follow a thread from stack to stack */
        skip();
    memset(&scene, 0, sizeof scene);
    scene.domain.index = domain;
    scene.without_lines = without_lines;
    bool ended = sched_all(count, bodies, NULL, preemptions, before, after, &schedules);
    must(!ended || schedules > 10);
    return ended && scene.found_dead == 0;
}

static const body one_each[] = {read_nested_and_again, replace};
static const body a_poller[] = {read_nested_and_again, replace_by_poll};
static const body two_updaters[] = {read_once, replace, replace};
static const body waiter_and_poller[] = {read_once, replace, replace_by_poll};
static const body event_loop[] = {loop_with_quiescent_states, replace};
static const body two_readers[] = {read_once, replace, read_nested_and_again};

#define HOLDS(domain, without_lines, bodies, preemptions)                                          \
    holds(domain, without_lines, sizeof(bodies) / sizeof((bodies)[0]), bodies, preemptions)

TEST_CASE(no_reader_finds_a_dead_object_and_no_wake_is_lost)
{
    sched.fault = NULL;
    assert_true(HOLDS(DOMAIN, false, one_each, 3));
    assert_true(HOLDS(DOMAIN, false, a_poller, 3));
    assert_true(HOLDS(DOMAIN, false, two_readers, 2));
    assert_true(HOLDS(DOMAIN, false, two_updaters, 2));
    assert_true(HOLDS(DOMAIN, false, waiter_and_poller, 2));
}

TEST_CASE(the_same_holds_for_threads_without_a_line)
{
    sched.fault = NULL;
    assert_true(HOLDS(DOMAIN, true, one_each, 3));
    assert_true(HOLDS(DOMAIN, true, a_poller, 2));
    assert_true(HOLDS(DOMAIN, true, two_readers, 2));
    assert_true(HOLDS(DOMAIN, true, two_updaters, 2));
}

TEST_CASE(the_same_holds_for_quiescent_states)
{
    sched.fault = NULL;
    assert_true(HOLDS(PAWL_RCU_QS_, false, event_loop, 3));
    assert_true(HOLDS(PAWL_RCU_QS_, true, event_loop, 2));
}

/* ---- Faults ---------------------------------------------------------------------------------- */

typedef uint64_t make_function(const struct pawl_operation *);

static bool is_word(const struct pawl_operation *o)
{
    const struct pawl_rcu *rcu = rcu_here();
    return (const char *)o->address >= (const char *)rcu->lines &&
           (const char *)o->address < (const char *)(rcu->lines + PAWL_RCU_LINES);
}

/* The grace period does not see that anybody reads. */
static uint64_t nobody_is_seen(const struct pawl_operation *o, make_function *make)
{
    return o->tag == PAWL_RCU_GONE ? 0 : make(o);
}

/* ... or sees it once, and then takes it for gone. */
static uint64_t everybody_has_left(const struct pawl_operation *o, make_function *make)
{
    static uint64_t sequence;
    const uint64_t found = make(o);
    if (o->tag == PAWL_RCU_GONE && is_word(o))
        return found ^ (++sequence << 16 & 0xffff0000u);
    return found;
}

/* A reader enters without a trace, as it would if its store came too late. */
static uint64_t readers_leave_no_trace(const struct pawl_operation *o, make_function *make)
{
    struct pawl_operation instead = *o;
    if (o->tag == PAWL_RCU_AGAIN && is_word(o) && (o->operand & PAWL_RCU_NESTING_) == 1)
        instead.operand--;
    return make(&instead);
}

/* A cookie names the grace period that is under way, which may have noted the readers already. */
static uint64_t cookies_are_too_low(const struct pawl_operation *o, make_function *make)
{
    static enum pawl_tag last[SCHED_THREADS];
    const struct pawl_rcu_state *state = &rcu_here()->states[scene.domain.index];
    const bool asks = last[sched.current] == PAWL_RCU_START;
    const uint64_t found = make(o);
    last[sched.current] = o->tag;
    return asks && found > state->completed ? found - 1 : found;
}

TEST_CASE(a_grace_period_that_sees_nobody_is_found_out)
{
    sched.fault = nobody_is_seen;
    assert_false(HOLDS(DOMAIN, false, one_each, 2));
    assert_true(scene.found_dead > 0);
    assert_false(HOLDS(DOMAIN, true, one_each, 2));
    assert_true(scene.found_dead > 0);
    assert_false(HOLDS(PAWL_RCU_QS_, false, event_loop, 2));
    assert_true(scene.found_dead > 0);
    assert_false(HOLDS(DOMAIN, false, a_poller, 2));
    assert_true(scene.found_dead > 0);
}

TEST_CASE(a_grace_period_that_takes_readers_for_gone_is_found_out)
{
    sched.fault = everybody_has_left;
    assert_false(HOLDS(DOMAIN, false, one_each, 2));
    assert_true(scene.found_dead > 0);
}

TEST_CASE(readers_that_leave_no_trace_are_found_out)
{
    sched.fault = readers_leave_no_trace;
    assert_false(HOLDS(DOMAIN, false, two_readers, 2));
    assert_true(scene.found_dead > 0);
}

TEST_CASE(a_cookie_of_the_grace_period_under_way_is_found_out)
{
    static const body bodies[] = {replace, read_once, replace_by_poll};
    sched.fault = cookies_are_too_low;
    assert_false(HOLDS(DOMAIN, false, bodies, 2));
    assert_true(scene.found_dead > 0);
}

/* Readers do not look whether they are waited for. */
static uint64_t nobody_is_waited_for(const struct pawl_operation *o, make_function *make)
{
    const struct pawl_rcu *rcu = rcu_here();
    for (unsigned i = 0; i < PAWL_RCU_LINES; i++)
        if (o->kind == PAWL_HOOK_LOAD && o->address == &rcu->lines[i].waited)
            return 0;
    if (o->kind == PAWL_HOOK_LOAD && o->address == &rcu->states[scene.domain.index].apart_waited)
        return 0;
    return make(o);
}

/* The driver sleeps without another look. */
static uint64_t the_turn_stands_still(const struct pawl_operation *o, make_function *make)
{
    const struct pawl_rcu_state *state = &rcu_here()->states[scene.domain.index];
    struct pawl_operation instead = *o;
    if (o->kind == PAWL_HOOK_ADD && o->address == &state->turn)
        instead.operand = 0;
    return make(&instead);
}

/* Those who wait for the driver are not counted. */
static uint64_t no_sleepers_are_seen(const struct pawl_operation *o, make_function *make)
{
    const struct pawl_rcu_state *state = &rcu_here()->states[scene.domain.index];
    return o->kind == PAWL_HOOK_LOAD && o->address == &state->sleepers ? 0 : make(o);
}

TEST_CASE(a_lost_wake_is_found_out)
{
    sched.fault = nobody_is_waited_for;
    assert_false(HOLDS(DOMAIN, false, one_each, 2));
    assert_int_equal(scene.found_dead, 0);
    assert_false(HOLDS(DOMAIN, true, one_each, 2));
    assert_int_equal(scene.found_dead, 0);
    sched.fault = the_turn_stands_still;
    assert_false(HOLDS(DOMAIN, false, one_each, 3));
    sched.fault = no_sleepers_are_seen;
    assert_false(HOLDS(DOMAIN, false, two_updaters, 2));
    assert_int_equal(scene.found_dead, 0);
}

/* ---- Sharing --------------------------------------------------------------------------------- */

static unsigned most, fewest;

static void after_counting(void *unused)
{
    after(unused);
    most = scene.begun > most ? (unsigned)scene.begun : most;
    fewest = scene.begun < fewest ? (unsigned)scene.begun : fewest;
}

static void synchronize(void *unused)
{
    pawl_rcu_domain_synchronize(&scene.domain);
}

TEST_CASE(waiters_share_grace_periods)
{
    static const body bodies[] = {synchronize, synchronize, synchronize};
    unsigned schedules;
    if (TEST_SANITIZED) /* as in `holds` */
        skip();
    sched.fault = NULL;
    memset(&scene, 0, sizeof scene);
    scene.domain.index = DOMAIN;
    most = 0;
    fewest = UINT32_MAX;
    assert_true(sched_all(3, bodies, NULL, 2, before, after_counting, &schedules));
    assert_int_equal(most, 3); /* one after the other */
    assert_in_range(fewest, 1, 2);
}

TEST_MAIN()
