/* SPDX-License-Identifier: MIT */
/* RCU: what an updater has removed is reclaimed only when no reader can be looking at it. */
#include <pawl/rcu.h>

#include "scenes.h"

#include <stddef.h>

struct object {
    uint32_t cell; /* of its contents */
};

struct stage {
    struct object old, fresh;
    struct object *head;
    uint32_t turn;
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
    const struct object *found;
    M_STEP(pawl_rcu_read_lock());
    m_begin("pawl_rcu_dereference");
    found = pawl_rcu_dereference(STAGE->head);
    m_end();
    m_demand(m_read(found->cell) == (found->cell == 0 ? 5 : 6), M_VISIBILITY,
             "an object that was not ready, or gone");
    M_STEP(pawl_rcu_read_unlock());
}

/* What was found in the outer section stays there through the end of the inner one. */
static void nested_reader(void)
{
    const struct object *found;
    M_STEP(pawl_rcu_read_lock());
    m_begin("pawl_rcu_dereference");
    found = pawl_rcu_dereference(STAGE->head);
    m_end();
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
    m_begin("pawl_rcu_assign_pointer");
    pawl_rcu_assign_pointer(STAGE->head, &STAGE->fresh);
    m_end();
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
    uint64_t cookie;
    bool over;
    replace();
    m_begin("pawl_rcu_start_poll");
    cookie = pawl_rcu_start_poll();
    m_end();
    m_begin("pawl_rcu_poll");
    over = pawl_rcu_poll(cookie);
    m_end();
    if (over)
        reclaim();
    else
        M_STEP(pawl_rcu_synchronize_cond(cookie));
}

/* Shares grace periods with the other updater, or drives them. */
static void second_updater(void)
{
    M_STEP(pawl_rcu_synchronize());
}

/* ---- Quiescent states ------------------------------------------------------------------------ */

static void online_reader(void)
{
    const struct object *found;
    M_STEP(pawl_rcu_qs_online());
    m_begin("pawl_rcu_domain_dereference");
    found = pawl_rcu_domain_dereference(pawl_rcu_qs(), STAGE->head);
    m_end();
    (void)m_read(found->cell);
    M_STEP(pawl_rcu_qs_quiescent());
    m_begin("pawl_rcu_domain_dereference");
    found = pawl_rcu_domain_dereference(pawl_rcu_qs(), STAGE->head);
    m_end();
    (void)m_read(found->cell);
    M_STEP(pawl_rcu_qs_offline());
}

static void qs_updater(void)
{
    replace();
    M_STEP(pawl_rcu_domain_synchronize(pawl_rcu_qs()));
    reclaim();
}

extern const struct m_scene m_rcu_scenes[];
const struct m_scene m_rcu_scenes[] = {
    {"rcu_reader_beside_synchronize", old_object, {reader, updater}, NULL, "preempt=3"},
    {"rcu_nested_reader_beside_synchronize", old_object, {nested_reader, updater}, NULL,
     "preempt=2"},
    {"rcu_two_sections_beside_synchronize", old_object, {reads_again, updater}, NULL, "preempt=2"},
    {"rcu_reader_beside_expedited", old_object, {reader, expedited_updater}, NULL, "preempt=2"},
    {"rcu_reader_beside_poll", old_object, {reader, polling_updater}, NULL, "preempt=2"},
    {"rcu_two_readers_beside_synchronize", old_object, {reader, updater, reader}, NULL,
     "preempt=1"},
    {"rcu_two_updaters_beside_a_reader", old_object, {reader, updater, second_updater}, NULL,
     "preempt=1"},
    {"rcu_online_reader_beside_synchronize", old_object, {online_reader, qs_updater}, NULL,
     "preempt=2"},
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
