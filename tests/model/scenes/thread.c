/* SPDX-License-Identifier: MIT */
/* The registry of threads: lines are claimed by a thread's first use, given back at its end, and
 * used again by others, beside a grace period that goes through all of them. */
#include <pawl/detail/hook.h>
#include <pawl/rcu.h>

#include "../../../src/base/base.h"
#include "scenes.h"

#include <stddef.h>
#include <string.h>

struct stage {
    uint32_t *shown; /* the number of a cell */
    uint32_t old, fresh, over;
    uint64_t cookie;
};
#define STAGE M_SCENE(struct stage)

/* ---- The system's side ----------------------------------------------------------------------- */

enum { KEY = 7, KEY_CELL = 3 };

static void (*at_exit)(void *);
static void *armed[M_THREADS];
static void (*before_fork[2])(void), (*after_fork[2])(void), (*in_child[2])(void);
static uint32_t watches;

bool pawl_hook_watch_threads(uint32_t *key, void (*function)(void *))
{
    m_write(KEY_CELL, KEY);
    *key = KEY;
    at_exit = function;
    return true;
}

void pawl_hook_watch_this_thread(uint32_t key, void *value)
{
    m_demand(m_read(KEY_CELL) == KEY && key == KEY, M_VISIBILITY, "a key that was not made yet");
    armed[m_me()] = value;
}

void pawl_hook_watch_forks(void (*before)(void), void (*in_parent)(void), void (*child)(void))
{
    before_fork[watches] = before;
    in_child[watches] = child;
    after_fork[watches++] = in_parent;
}

void m_begin_system(void)
{
    memset(armed, 0, sizeof armed);
    watches = 0;
}

void m_thread_ends(void)
{
    void *value = armed[m_me()];
    if (value == NULL)
        return;
    armed[m_me()] = NULL;
    m_begin("the end of the thread");
    at_exit(value);
    m_end();
}

void m_before_fork(void)
{
    for (uint32_t i = watches; i > 0; i--) {
        m_begin("before fork");
        before_fork[i - 1]();
        m_end();
    }
}

void m_after_fork(void)
{
    for (uint32_t i = 0; i < watches; i++) {
        m_begin("after fork");
        after_fork[i]();
        m_end();
    }
}

void m_goes_on_as_child(void)
{
    m_child_begins();
    for (uint32_t i = 0; i < watches; i++) {
        m_begin("in the child");
        in_child[i]();
        m_end();
    }
}

/* ---- Lives ----------------------------------------------------------------------------------- */

static void nobody_is_registered(void)
{
    m_begin_system();
    STAGE->old = 0;
    STAGE->fresh = 1;
    STAGE->shown = &STAGE->old;
    m_write(0, 5);
}

/* The last line is that of the thread that waits for the others. */
static void the_last_is_registered(void)
{
    nobody_is_registered();
    m_register_threads(1);
    m_become(2);
    *pawl_hook_thread_slot() = &process_here()->lines[0];
    m_become(0);
    *pawl_hook_thread_slot() = NULL;
    process_here()->lines[0].owner = 3;
}

/* Thread 0 had died in a section, and its number comes up again. */
static void a_line_was_left_behind(void)
{
    nobody_is_registered();
    m_register_threads(2);
    M_STEP(pawl_rcu_read_lock());
    memset(ipawl_rcu_mine_(), 0, sizeof(struct pawl_rcu_mine));
    *pawl_hook_thread_slot() = NULL;
}

static void looks(void)
{
    M_DO(const uint32_t *found = pawl_rcu_dereference(STAGE->shown));
    m_demand(m_read(*found) == (*found == 0 ? 5 : 6), M_VISIBILITY, "what is not ready, or gone");
}

static void reads(void)
{
    M_STEP(pawl_rcu_read_lock());
    looks();
    M_STEP(pawl_rcu_read_unlock());
}

/* A whole life: the first section registers it. */
static void lives(void)
{
    reads();
    M_STEP(ipawl_thread_exit_());
}

static void ends_in_a_section(void)
{
    M_STEP(pawl_rcu_read_lock());
    looks();
    M_STEP(ipawl_thread_exit_());
}

static void replace(void)
{
    m_write(1, 6);
    M_STEP(pawl_rcu_assign_pointer(STAGE->shown, &STAGE->fresh));
}

static void synchronizes(void)
{
    M_STEP(pawl_rcu_synchronize());
}

static void updates(void)
{
    replace();
    synchronizes();
    m_write(0, 0);
}

/* Thread 1 has replaced what thread 0 has found in its section, and waits for it. */
static void thread_1_waits(void)
{
    m_become(1);
    replace();
    m_begin("pawl_rcu_poll");
    STAGE->cookie = pawl_rcu_start_poll();
    m_demand(!pawl_rcu_poll(STAGE->cookie), M_VISIBILITY, "over beside a section");
    m_end();
    m_become(0);
}

/* Thread 2 is not registered. */
static void a_section_is_waited_for(void)
{
    nobody_is_registered();
    m_register_threads(2);
    M_STEP(pawl_rcu_read_lock());
    thread_1_waits();
}

static void a_section_was_left_behind(void)
{
    a_line_was_left_behind();
    thread_1_waits();
}

/* The first thing that it does in the line of the dead is to wake who waits for them. */
static void stays_until_it_is_over(void)
{
    M_STEP(pawl_rcu_read_lock());
    while (pawl_load_relaxed32(&STAGE->over) == 0)
        (void)pawl_hook_wait(&STAGE->over, 0, UINT64_MAX);
    M_STEP(pawl_rcu_read_unlock());
}

static void waits_and_tells(void)
{
    M_STEP(pawl_rcu_synchronize_cond(STAGE->cookie));
    m_write(0, 0);
    pawl_store_relaxed32(&STAGE->over, 1);
    (void)pawl_hook_wake(&STAGE->over, 1);
}

static void reclaims_if_over(void)
{
    M_DO(bool over = pawl_rcu_poll(STAGE->cookie));
    if (over)
        m_write(0, 0);
}

static void ends_in_its_section(void)
{
    (void)m_read(0);
    M_STEP(ipawl_thread_exit_());
}

/* Its end is a fence where fences interrupt. The look at who has the line is what loom needs to try
 * the others before that. */
static void ends_in_its_section_and_looks(void)
{
    ends_in_its_section();
    (void)pawl_load_relaxed32(&process_here()->lines[0].owner);
}

/* Its own section holds up the grace period that it asks for in it. */
static void asks_in_its_first_section(void)
{
    M_STEP(pawl_rcu_read_lock());
    M_DO(m_demand(!pawl_rcu_poll(pawl_rcu_start_poll()), M_VISIBILITY, "over beside a section"));
    M_STEP(pawl_rcu_read_unlock());
}

/* A word that is left in a section would be waited for for ever. */
static void nobody_reads(void)
{
    for (uint32_t i = 0; i < 2; i++)
        m_demand(pawl_load_relaxed32(&process_here()->lines[i].owner) == 0, M_RESTORED,
                 "a line was not given back");
    M_STEP(pawl_rcu_synchronize());
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

/* By a copy of the library that is loaded while threads run. */
static void sets_up(void)
{
    M_STEP(ipawl_set_up_());
}

/* Its own line is watched, too. */
static void reads_and_sets_up(void)
{
    reads();
    sets_up();
    m_demand(armed[m_me()] != NULL, M_RESTORED, "nobody will give the line back");
    m_thread_ends();
}

static void lives_to_the_end(void)
{
    reads();
    if (armed[m_me()] == NULL)
        M_STEP(ipawl_thread_exit_());
    m_thread_ends();
}

static void set_up_once(void)
{
    m_demand(watches == 1, M_EXCLUSION, "set up twice, or not at all");
    nobody_reads();
}

extern const struct m_scene m_thread_scenes[];
/* clang-format off */
const struct m_scene m_thread_scenes[] = {
    {"thread_beside_a_thread", nobody_is_registered, {lives, lives}, nobody_reads, "preempt=2"},
    {"thread_beside_a_grace_period", nobody_is_registered, {lives, updates}, NULL, "preempt=2"},
    {"thread_that_ends_in_a_section", nobody_is_registered, {ends_in_a_section, updates}, NULL,
     "preempt=2"},
    {"thread_after_thread_beside_a_grace_period", the_last_is_registered, {lives, lives, updates},
     NULL, "preempt=1"},
    {"rcu_reader_whose_thread_ends", a_section_is_waited_for,
     {ends_in_its_section, reclaims_if_over, lives}, NULL, "preempt=1 fences=1"},
    {"rcu_reader_in_the_line_of_another", a_section_is_waited_for,
     {ends_in_its_section_and_looks, reclaims_if_over, lives}, NULL, "preempt=2 ipi=1"},
    {"thread_asks_in_its_first_section", nobody_is_registered,
     {synchronizes, asks_in_its_first_section}, NULL, "preempt=2"},
    {"thread_takes_back_its_line", a_line_was_left_behind, {lives, updates}, NULL, "preempt=2"},
    {"thread_stays_in_a_line_that_it_took_back", a_section_was_left_behind,
     {stays_until_it_is_over, waits_and_tells}, NULL, "preempt=2"},
    {"thread_beside_set_up", nobody_is_registered, {sets_up, lives_to_the_end}, set_up_once,
     "preempt=2"},
    {"thread_that_sets_up", nobody_is_registered, {reads_and_sets_up, lives_to_the_end},
     set_up_once, "preempt=1"},
    {"thread_set_up_by_two", nobody_is_registered, {sets_up, sets_up}, set_up_once, ""},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
