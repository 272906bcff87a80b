/* SPDX-License-Identifier: MIT */
/* RCU: what an updater has removed is reclaimed only when no reader can be looking at it. */
#include <pawl/rcu.h>

#include "../../../src/rcu/rcu.h"
#include "scenes.h"

#include <stddef.h>

struct object {
    uint32_t cell; /* of its contents */
};

struct stage {
    struct object old, fresh;
    struct object *head;
    pawl_rcu_domain domain, next;
    uint64_t cookie;
    uint32_t over;
};
#define STAGE M_SCENE(struct stage)

static void old_object(void)
{
    m_register_threads(4);
    STAGE->old.cell = 0;
    STAGE->fresh.cell = 1;
    m_write(0, 5);
    STAGE->head = &STAGE->old;
}

static void reader(void)
{
    M_STEP(pawl_rcu_read_lock());
    M_DO(const struct object *found = pawl_rcu_dereference(STAGE->head));
    m_demand(m_read(found->cell) == (found->cell == 0 ? 5 : 6), M_VISIBILITY,
             "an object that was not ready, or gone");
    M_STEP(pawl_rcu_read_unlock());
}

/* What was found in the outer section stays there through the end of the inner one. */
static void nested_reader(void)
{
    M_STEP(pawl_rcu_read_lock());
    M_DO(const struct object *found = pawl_rcu_dereference(STAGE->head));
    reader();
    (void)m_read(found->cell);
    M_STEP(pawl_rcu_read_unlock());
}

/* Reads, leaves and reads again: the second section must not hide the first one's end. */
static void reads_again(void)
{
    reader();
    reader();
}

static void replace(void)
{
    m_write(1, 6);
    M_STEP(pawl_rcu_assign_pointer(STAGE->head, &STAGE->fresh));
}

static void reclaim(void)
{
    m_write(0, 0);
}

static void updater(void)
{
    replace();
    M_STEP(pawl_rcu_synchronize());
    reclaim();
}

static void expedited_updater(void)
{
    replace();
    M_STEP(pawl_rcu_synchronize_expedited());
    reclaim();
}

static void polling_updater(void)
{
    replace();
    M_DO(uint64_t cookie = pawl_rcu_start_poll());
    M_DO(bool over = pawl_rcu_poll(cookie));
    if (over)
        reclaim();
    else
        M_STEP(pawl_rcu_synchronize_cond(cookie));
}

static void synchronizes(void)
{
    M_STEP(pawl_rcu_synchronize());
}

/* A mark that somebody sleeps is gone when nobody does. That of a reader may have come when it had
 * left already, and goes when it leaves the next time. */
static void no_mark_stands(void)
{
    struct pawl_rcu *rcu = rcu_here();
    for (uint32_t i = 0; i < 3; i++) {
        m_become(i);
        M_STEP(pawl_rcu_read_lock());
        M_STEP(pawl_rcu_read_unlock());
        m_demand(pawl_load_relaxed32(&rcu->lines[i].waited) == 0, M_RESTORED,
                 "a reader takes itself for waited for");
    }
    m_become(0);
    m_demand(pawl_load_relaxed32(&rcu->states[0].apart_waited) == 0, M_RESTORED,
             "readers without a line take themselves for waited for");
    m_demand(pawl_load_relaxed32(&rcu->states[0].sleepers) == 0, M_RESTORED,
             "drivers think that somebody waits for them");
}

/* ---- Who waits for whom ---------------------------------------------------------------------- */

static void it_is_over(void)
{
    pawl_store_relaxed32(&STAGE->over, 1);
    (void)pawl_hook_wake(&STAGE->over, 1);
}

static void wait_until_it_is_over(void)
{
    while (pawl_load_relaxed32(&STAGE->over) == 0)
        (void)pawl_hook_wait(&STAGE->over, 0, UINT64_MAX);
}

static void stays_until_it_is_over(void)
{
    wait_until_it_is_over();
    M_STEP(pawl_rcu_read_unlock());
}

/* ---- Grace periods that are handed over ------------------------------------------------------ */

static uint64_t start_poll(void)
{
    M_DO(uint64_t cookie = pawl_rcu_start_poll());
    return cookie;
}

static bool poll(uint64_t cookie)
{
    M_DO(bool over = pawl_rcu_poll(cookie));
    return over;
}

/* Thread 1 is in a section, and has found the old object. */
static void old_object_has_a_reader(void)
{
    old_object();
    m_become(1);
    M_STEP(pawl_rcu_read_lock());
    m_become(0);
}

static void leaves(void)
{
    (void)m_read(STAGE->old.cell);
    M_STEP(pawl_rcu_read_unlock());
}

/* Drives others' grace periods, and hands them over. */
static void polls(void)
{
    (void)poll(start_poll());
}

static void polls_twice(void)
{
    const uint64_t cookie = start_poll();
    (void)poll(cookie);
    (void)poll(cookie);
}

static void updates_if_over(void)
{
    replace();
    uint64_t cookie = start_poll();
    if (poll(cookie))
        reclaim();
}

/* The grace period that it asked for must wait for itself, and so for another driver. */
static void updates_in_a_section(void)
{
    M_STEP(pawl_rcu_read_lock());
    replace();
    uint64_t cookie = start_poll();
    M_STEP(pawl_rcu_read_unlock());
    M_STEP(pawl_rcu_synchronize_cond(cookie));
    reclaim();
}

/* Who reads since the first grace period holds up the second. */
static void updates_after_a_grace_period(void)
{
    m_write(1, 6);
    m_begin("pawl_rcu_synchronize, an update, and the same again");
    pawl_rcu_synchronize();
    pawl_rcu_assign_pointer(STAGE->head, &STAGE->fresh);
    pawl_rcu_synchronize();
    m_end();
    reclaim();
}

/* Its own section holds up the grace period that it asks for in it, though there was another one
 * after it asked before. */
static void asks_before_and_in_a_section(void)
{
    m_begin("pawl_rcu_start_poll, and again in a section");
    (void)pawl_rcu_start_poll();
    pawl_rcu_read_lock();
    m_demand(!pawl_rcu_poll(pawl_rcu_start_poll()), M_VISIBILITY,
             "a grace period is over beside a section that began before it");
    pawl_rcu_read_unlock();
    m_end();
}

static void a_cookie_is_there(void)
{
    old_object();
    STAGE->cookie = start_poll();
}

static void waits_for_the_cookie(void)
{
    M_STEP(pawl_rcu_synchronize_cond(STAGE->cookie));
    it_is_over();
}

/* When its grace period is over, so is that of the cookie: nobody waits for what it reads then. */
static void synchronizes_and_reads(void)
{
    synchronizes();
    M_STEP(pawl_rcu_read_lock());
    stays_until_it_is_over();
}

/* Thread 0 has asked for a grace period, thread 2 has begun it and handed it over, and thread 1 has
 * left since, and reads again. To thread 0 it is one operation, from the cookie on. */
static void another_has_begun_it(void)
{
    old_object_has_a_reader();
    m_begin("pawl_rcu_start_poll and pawl_rcu_synchronize_cond");
    STAGE->cookie = pawl_rcu_start_poll();
    m_become(2);
    m_demand(!poll(start_poll()), M_VISIBILITY, "a grace period is over beside a reader");
    m_become(1);
    M_STEP(pawl_rcu_read_unlock());
    M_STEP(pawl_rcu_read_lock());
    m_become(0);
}

static void ends_what_another_has_begun(void)
{
    pawl_rcu_synchronize_cond(STAGE->cookie);
    m_end();
    it_is_over();
}

/* ---- Threads beyond the lines ---------------------------------------------------------------- */

/* All lines that RCU has are others'; so these are counted in the domain. */
static void old_object_without_lines(void)
{
    old_object();
    for (uint32_t i = 0; i < 3; i++) {
        m_become(i);
        *pawl_hook_thread_slot() = &process_here()->lines[PAWL_RCU_LINES + i];
    }
    m_become(0);
}

static void old_object_has_a_reader_without_a_line(void)
{
    old_object_without_lines();
    m_become(1);
    M_STEP(pawl_rcu_read_lock());
    m_become(0);
}

/* The same, and the grace period has noted it; thread 2 has come later. */
static void a_newcomer_without_a_line(void)
{
    old_object_has_a_reader_without_a_line();
    replace();
    STAGE->cookie = start_poll();
    m_demand(!poll(STAGE->cookie), M_VISIBILITY, "a grace period is over beside a reader");
    m_become(2);
    M_STEP(pawl_rcu_read_lock());
    m_become(0);
}

static void reclaims_by_the_cookie(void)
{
    M_STEP(pawl_rcu_synchronize_cond(STAGE->cookie));
    reclaim();
    it_is_over();
}

/* ---- Reports --------------------------------------------------------------------------------- */

static void old_object_has_a_reader_while_time_flies(void)
{
    old_object_has_a_reader();
    m_time_flies();
}

static void report(const pawl_rcu_stall *stall, void *argument)
{
    m_demand(stall->thread == 2 && argument == &STAGE->over, M_VISIBILITY, "another reader");
    it_is_over();
}

/* It stays in its section until it has been reported. */
static void wants_to_be_reported(void)
{
    M_STEP(pawl_rcu_domain_stall(pawl_rcu_default(), 1, report, &STAGE->over));
    stays_until_it_is_over();
}

/* ---- Domains --------------------------------------------------------------------------------- */

static void another_domain(void)
{
    old_object();
    m_demand(pawl_rcu_domain_init(&STAGE->domain, "another") == 0, M_PROGRESS, "no domain");
}

/* A reader of the one domain waits in its section for the other one's grace period. */
static void reads_until_it_is_over(void)
{
    M_STEP(pawl_rcu_read_lock());
    stays_until_it_is_over();
}

static void updates_the_other(void)
{
    M_STEP(pawl_rcu_domain_synchronize(&STAGE->domain));
    it_is_over();
}

/* One thread ends a domain, another one may get the next in its place, and use it. */
static void ends_the_other(void)
{
    M_STEP(pawl_rcu_domain_destroy(&STAGE->domain));
}

static void makes_one_more(void)
{
    m_demand(pawl_rcu_domain_init(&STAGE->next, "one more") == 0, M_PROGRESS, "no domain");
    M_STEP(pawl_rcu_domain_synchronize(&STAGE->next));
}

/* The first two that there are, whoever got which. */
static void its_place_is_free_again(void)
{
    const uint32_t first = STAGE->domain.index;
    pawl_rcu_domain last;
    m_demand(pawl_rcu_domain_init(&last, "the last") == 0, M_RESTORED, "no domain");
    m_demand(last.index == (STAGE->next.index == first ? first + 1 : first), M_RESTORED,
             "the place of a domain that has ended is lost");
}

/* ---- Quiescent states ------------------------------------------------------------------------ */

static void online_reader(void)
{
    M_STEP(pawl_rcu_qs_online());
    M_DO(const struct object *found = pawl_rcu_domain_dereference(pawl_rcu_qs(), STAGE->head));
    (void)m_read(found->cell);
    M_STEP(pawl_rcu_qs_quiescent());
    M_DO(found = pawl_rcu_domain_dereference(pawl_rcu_qs(), STAGE->head));
    (void)m_read(found->cell);
    M_STEP(pawl_rcu_qs_offline());
}

static void qs_updater(void)
{
    replace();
    M_STEP(pawl_rcu_domain_synchronize(pawl_rcu_qs()));
    reclaim();
}

/* Who waits for the others is offline meanwhile: two can wait for each other's references. */
static void online_updater(void)
{
    M_STEP(pawl_rcu_qs_online());
    M_STEP(pawl_rcu_domain_synchronize(pawl_rcu_qs()));
    M_STEP(pawl_rcu_qs_offline());
}

static void online_updater_of_objects(void)
{
    M_STEP(pawl_rcu_qs_online());
    qs_updater();
    M_STEP(pawl_rcu_qs_offline());
}

/* A grace period has noted thread 1, which is online and has found the old object. */
static void an_online_reader_is_waited_for(void)
{
    old_object();
    m_become(1);
    M_STEP(pawl_rcu_qs_online());
    m_become(0);
    replace();
    STAGE->cookie = pawl_rcu_domain_start_poll(pawl_rcu_qs());
    m_demand(!pawl_rcu_domain_poll(pawl_rcu_qs(), STAGE->cookie), M_VISIBILITY,
             "a grace period is over beside a reader");
}

static void reclaims_by_the_cookie_of_qs(void)
{
    M_STEP(pawl_rcu_domain_synchronize_cond(pawl_rcu_qs(), STAGE->cookie));
    reclaim();
    it_is_over();
}

/* Its one quiescent state is enough: it stays online. */
static void is_quiescent_once(void)
{
    (void)m_read(STAGE->old.cell);
    M_STEP(pawl_rcu_qs_quiescent());
    wait_until_it_is_over();
    M_STEP(pawl_rcu_qs_offline());
}

extern const struct m_scene m_rcu_scenes[];
/* clang-format off */
const struct m_scene m_rcu_scenes[] = {
    {"rcu_reader_beside_synchronize", old_object, {reader, updater}, no_mark_stands,
     "preempt=3"},
    {"rcu_nested_reader_beside_synchronize", old_object, {nested_reader, updater}, NULL,
     "preempt=2"},
    {"rcu_two_sections_beside_synchronize", old_object, {reads_again, updater}, NULL, "preempt=2"},
    {"rcu_reader_beside_expedited", old_object, {reader, expedited_updater}, NULL, "preempt=2"},
    {"rcu_reader_beside_poll", old_object, {reader, polling_updater}, NULL, "preempt=2"},
    {"rcu_two_readers_beside_synchronize", old_object, {reader, updater, reader}, NULL,
     "preempt=1"},
    {"rcu_two_updaters_beside_a_reader", old_object, {reader, updater, synchronizes},
     no_mark_stands, "preempt=1"},
    {"rcu_online_reader_beside_synchronize", old_object, {online_reader, qs_updater}, NULL,
     "preempt=2"},
    {"rcu_two_online_updaters", old_object, {online_updater, online_updater}, NULL, "preempt=2"},
    {"rcu_two_updaters", old_object, {synchronizes, synchronizes}, no_mark_stands,
     "preempt=2"},
    /* Who asks for a grace period, who drives it and who waits for it are others. */
    {"rcu_poll_beside_another_driver", old_object, {polls, reader, updates_if_over}, NULL,
     "preempt=2"},
    {"rcu_poll_of_another_driver", old_object_has_a_reader, {updates_if_over, leaves, polls_twice},
     NULL, "preempt=2"},
    {"rcu_grace_period_handed_over", old_object_has_a_reader,
     {updates_in_a_section, leaves, polls_twice}, NULL, "preempt=2"},
    {"rcu_ask_in_a_section", old_object, {asks_before_and_in_a_section, synchronizes}, NULL,
     "preempt=2"},
    {"rcu_reader_beside_a_second_grace_period", old_object, {updates_after_a_grace_period, reader},
     NULL, "preempt=2"},
    {"rcu_no_grace_period_too_many", a_cookie_is_there,
     {waits_for_the_cookie, synchronizes_and_reads}, NULL, "preempt=2"},
    {"rcu_no_grace_period_but_the_one_begun", another_has_begun_it,
     {ends_what_another_has_begun, stays_until_it_is_over}, NULL, "preempt=2"},
    {"rcu_reader_without_a_line", old_object_without_lines, {reader, updater}, no_mark_stands,
     "preempt=3"},
    {"rcu_newcomer_without_a_line", a_newcomer_without_a_line,
     {reclaims_by_the_cookie, leaves, stays_until_it_is_over}, NULL, "preempt=1"},
    {"rcu_reader_is_reported", old_object_has_a_reader_while_time_flies,
     {synchronizes, wants_to_be_reported}, NULL, "preempt=2"},
    {"rcu_two_sections_without_a_line", old_object_without_lines, {reads_again, updater}, NULL,
     "preempt=2"},
    {"rcu_nested_reader_without_a_line", old_object_without_lines, {nested_reader, updater}, NULL,
     "preempt=2"},
    {"rcu_two_readers_without_lines", old_object_without_lines, {reader, updater, reads_again},
     NULL, "preempt=1"},
    {"rcu_reader_beside_each_order_of_fences", old_object, {reader, updater}, NULL,
     "preempt=2 fences=1"},
    {"rcu_two_sections_beside_each_order_of_fences", old_object_without_lines,
     {reads_again, updater}, NULL, "preempt=2 fences=1"},
    {"rcu_online_updaters_beside_each_order_of_fences", old_object,
     {online_reader, online_updater_of_objects}, NULL, "preempt=2 fences=1"},
    {"rcu_poll_beside_each_order_of_fences", old_object_has_a_reader,
     {updates_if_over, leaves, polls_twice}, NULL, "preempt=2 fences=1"},
    {"rcu_poll_without_lines_beside_each_order_of_fences", old_object_has_a_reader_without_a_line,
     {updates_if_over, leaves, polls_twice}, NULL, "preempt=2 fences=1"},
    {"rcu_domain_beside_a_reader_of_another", another_domain,
     {reads_until_it_is_over, updates_the_other}, NULL, "preempt=2"},
    {"rcu_domain_made_beside_an_end", another_domain, {ends_the_other, makes_one_more},
     its_place_is_free_again, "preempt=2"},
    {"rcu_online_reader_is_quiescent_once", an_online_reader_is_waited_for,
     {reclaims_by_the_cookie_of_qs, is_quiescent_once}, NULL, "preempt=2"},
    /* The same with heavy fences that interrupt: a grace period is one membarrier, and no reader
     * passes a fence of its own. */
    {"rcu_reader_interrupted", old_object, {reader, updater}, NULL, "preempt=3 ipi=1"},
    {"rcu_nested_reader_interrupted", old_object, {nested_reader, updater}, NULL,
     "preempt=2 ipi=1"},
    {"rcu_two_sections_interrupted", old_object, {reads_again, updater}, NULL, "preempt=2 ipi=1"},
    {"rcu_polled_reader_interrupted", old_object, {reader, polling_updater}, NULL,
     "preempt=2 ipi=1"},
    {"rcu_two_readers_interrupted", old_object, {reader, updater, reader}, NULL,
     "preempt=1 ipi=1"},
    {"rcu_online_reader_interrupted", old_object, {online_reader, qs_updater}, NULL,
     "preempt=2 ipi=1"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
