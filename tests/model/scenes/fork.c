/* SPDX-License-Identifier: MIT */
/*
 * Fork, as a step of a thread: beside threads that wait for a lock at any of their steps, and
 * beside another thread that forks. An execution goes on either as the parent or as the child. The
 * child has the memory as it is at that moment and one thread (src/fork.rs). The locks that the
 * forking thread holds work there, and nothing of the parent's waiters is left.
 */
#include <pawl/cond.h>
#include <pawl/detail/hook.h>
#include <pawl/lock.h>
#include <pawl/thread.h>

#include <setjmp.h>
#include <string.h>

#include "../../../src/lock/table.h"
#include "scenes.h"

#include <stddef.h>

struct stage {
    pawl_lock32 lock;
    pawl_spin32 spin;
    pawl_cond cond;
    uint32_t told;
};
#define STAGE M_SCENE(struct stage)
#define LOCK (&STAGE->lock)

/* ---- The threads of the parent --------------------------------------------------------------- */

static struct {
    bool stands; /* may end at any access, when the child is over */
    jmp_buf end;
} parents[M_THREADS];

void m_end_with_the_child(void)
{
    const uint32_t me = m_me();
    if (!parents[me].stands || !m_child_is_over())
        return;
    parents[me].stands = false;
    m_end();
    longjmp(parents[me].end, 1);
}

void m_lives_in_the_parent(void (*life)(void))
{
    if (setjmp(parents[m_me()].end) == 0) {
        parents[m_me()].stands = true;
        life();
    }
    parents[m_me()].stands = false;
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static void forks_and_goes_on_as_parent(void)
{
    m_before_fork();
    m_after_fork();
}

static void forks_and_goes_on_as_child(void)
{
    m_before_fork();
    m_goes_on_as_child();
}

static void nobody_is_left(void)
{
    const struct pawl_lists *table = table_here();
    m_demand((pawl_load_relaxed32(&LOCK->word) & ~PAWL_LOCK_BIASED) == 0, M_RESTORED,
             "units, or PARKED, are left");
    m_demand(pawl_load_relaxed32(&table->queues) == 0, M_RESTORED, "a queue is left");
    for (uint32_t i = 0; i < 1u << PAWL_TABLE_BITS; i++) {
        const struct pawl_bucket *b = &table->first[i];
        m_demand(b->queues == NULL && pawl_load_relaxed32(&b->urgent) == 0, M_RESTORED,
                 "a bucket seems to hold a waiter");
        m_demand(PAWL_ADDRESS_(pawl_load_relaxed)(&b->awake_for) == 0, M_RESTORED,
                 "a waiter seems to be awake");
        m_demand(PAWL_ADDRESS_(pawl_load_relaxed)(&b->latch) == 0 &&
                     PAWL_ADDRESS_(pawl_load_relaxed)(&b->holder) == 0,
                 M_RESTORED, "a latch is held");
    }
}

/* The child can take the lock, in the mode that waits for everybody. */
static void uses_the_lock_as_child(void)
{
    M_STEP(pawl_take_write(LOCK));
    M_STEP(pawl_drop_write(LOCK));
    nobody_is_left();
    m_child_ends();
}

/* A program that links locks only has fewer steps. */
static void locks_are_linked_alone(void)
{
    static const struct pawl_subsystem not_linked;
    for (unsigned floor = PAWL_FLOOR_ENTRIES + 1; floor < PAWL_FLOORS; floor++)
        ipawl_subsystem_register_((enum pawl_floor)floor, &not_linked);
}

static void set_up(void)
{
    locks_are_linked_alone();
    memset(parents, 0, sizeof parents);
    m_begin_system();
    ipawl_set_up_();
    m_register_threads(M_THREADS);
}

/* ---- What the forking thread holds, and a waiter --------------------------------------------- */

#define MODE(mode)                                                                                 \
    static void held_for_##mode(void)                                                              \
    {                                                                                              \
        set_up();                                                                                  \
        (void)pawl_take_##mode(LOCK);                                                              \
    }                                                                                              \
    static void takes_##mode(void)                                                                 \
    {                                                                                              \
        M_STEP(pawl_take_##mode(LOCK));                                                            \
        M_STEP(pawl_drop_##mode(LOCK));                                                            \
    }                                                                                              \
    static void waits_for_##mode(void)                                                             \
    {                                                                                              \
        m_lives_in_the_parent(takes_##mode);                                                       \
    }                                                                                              \
    static void child_drops_##mode(void)                                                           \
    {                                                                                              \
        forks_and_goes_on_as_child();                                                              \
        M_STEP(pawl_drop_##mode(LOCK));                                                            \
        uses_the_lock_as_child();                                                                  \
    }                                                                                              \
    static void parent_drops_##mode(void)                                                          \
    {                                                                                              \
        forks_and_goes_on_as_parent();                                                             \
        M_STEP(pawl_drop_##mode(LOCK));                                                            \
    }
MODE(read)
MODE(seek)
MODE(write)
MODE(atomic)

/* ---- A wait that ends by its deadline, at each step of the fork ------------------------------ */

static void wants_write_for_a_time(void)
{
    M_DO(bool in = pawl_take_write_until(LOCK, M_DEADLINE));
    if (in)
        M_STEP(pawl_drop_write(LOCK));
}

static void waits_for_write_for_a_time(void)
{
    m_lives_in_the_parent(wants_write_for_a_time);
}

static void child_after_a_deadline(void)
{
    m_pass_time(M_DEADLINE);
    child_drops_read();
}

/* ---- Readers that scale: the child has its own entries, and those of no other thread --------- */

static void held_by_an_entry(void)
{
    set_up();
    m_readers_scale(M_THREADS, false);
    LOCK->word = PAWL_LOCK_BIASED;
    (void)pawl_take_read(LOCK);
}

/* It claims, finds the entry, and takes its claim back. */
static void tries_write(void)
{
    M_DO(bool in = pawl_try_write(LOCK));
    if (in)
        M_STEP(pawl_drop_write(LOCK));
}

static void tries_write_in_the_parent(void)
{
    m_lives_in_the_parent(tries_write);
}

/* ---- A waiter whose turn has come keeps a claim ---------------------------------------------- */

/* It drops the lock, and overtakes the waiter that it has woken. */
static void lets_a_turn_come(void)
{
    m_begin("gives way");
    pawl_hook_yield();
    m_end();
    m_pass_time(PAWL_LOCK_HANDOFF_NS);
    M_STEP(pawl_drop_write(LOCK));
    M_STEP(pawl_take_write(LOCK));
}

static void child_of_a_turn(void)
{
    lets_a_turn_come();
    child_drops_write();
}

static void parent_of_a_turn(void)
{
    lets_a_turn_come();
    parent_drops_write();
}

/* ---- Two fork at once ------------------------------------------------------------------------ */

/* Its fork may be over while the other thread's system call still lasts. */
static void forks_too(void)
{
    m_lives_in_the_parent(forks_and_goes_on_as_parent);
}

/* ---- A condition variable -------------------------------------------------------------------- */

static void waits_to_be_told(void)
{
    M_STEP(pawl_spin32_take_write(&STAGE->spin));
    m_begin("pawl_cond_wait_write");
    while (STAGE->told == 0)
        pawl_spin32_cond_wait_write(&STAGE->cond, &STAGE->spin);
    m_end();
    M_STEP(pawl_spin32_drop_write(&STAGE->spin));
}

static void waits_for_the_condition(void)
{
    m_lives_in_the_parent(waits_to_be_told);
}

static void child_beside_the_condition(void)
{
    forks_and_goes_on_as_child();
    m_demand(STAGE->cond.waiting == 0, M_RESTORED, "a waiter of the parent is counted");
    M_DO(m_demand(pawl_cond_signal(&STAGE->cond) == 0, M_RESTORED,
                  "a waiter of the parent is woken"));
    nobody_is_left();
    m_child_ends();
}

static void parent_tells(void)
{
    forks_and_goes_on_as_parent();
    M_STEP(pawl_spin32_take_write(&STAGE->spin));
    STAGE->told = 1;
    M_STEP(pawl_spin32_drop_write(&STAGE->spin));
    M_STEP(pawl_cond_signal(&STAGE->cond));
}

/* clang-format off */
#define CHILD(held, waits)                                                                         \
    {"fork_child_with_" #held "_beside_" #waits, held_for_##held,                                  \
     {child_drops_##held, waits_for_##waits}, NULL, "preempt=2"},
#define PARENT(held, waits)                                                                        \
    {"fork_parent_with_" #held "_beside_" #waits, held_for_##held,                                 \
     {parent_drops_##held, waits_for_##waits}, nobody_is_left, "preempt=2"},
#define TURN(waits)                                                                                \
    {"fork_child_beside_a_turn_to_" #waits, held_for_write, {child_of_a_turn, waits_for_##waits},  \
     NULL, "preempt=2"},                                                                           \
    {"fork_parent_beside_a_turn_to_" #waits, held_for_write,                                       \
     {parent_of_a_turn, waits_for_##waits}, nobody_is_left, "preempt=1"},

extern const struct m_scene m_fork_scenes[];
const struct m_scene m_fork_scenes[] = {
    CHILD(read, write)
    CHILD(read, atomic)
    CHILD(seek, seek)
    CHILD(seek, write)
    CHILD(seek, atomic)
    CHILD(write, read)
    CHILD(write, seek)
    CHILD(write, write)
    CHILD(write, atomic)
    CHILD(atomic, read)
    CHILD(atomic, seek)
    CHILD(atomic, write)
    PARENT(read, write)
    PARENT(seek, write)
    PARENT(write, read)
    PARENT(atomic, write)
    TURN(read)
    TURN(seek)
    TURN(write)
    TURN(atomic)
    {"fork_child_with_an_entry_beside_write", held_by_an_entry,
     {child_drops_read, waits_for_write}, NULL, "preempt=2"},
    {"fork_child_with_an_entry_beside_read", held_by_an_entry, {child_drops_read, waits_for_read},
     NULL, "preempt=2"},
    {"fork_child_with_an_entry_beside_a_try", held_by_an_entry,
     {child_drops_read, tries_write_in_the_parent}, NULL, "preempt=2"},
    {"fork_child_beside_a_deadline", held_for_read,
     {child_after_a_deadline, waits_for_write_for_a_time}, NULL, "preempt=2"},
    {"fork_child_beside_two_waiters", held_for_read,
     {child_drops_read, waits_for_write, waits_for_atomic}, NULL, "preempt=1"},
    {"fork_child_beside_a_fork", held_for_read,
     {child_drops_read, forks_too, waits_for_write}, NULL, "preempt=1"},
    {"fork_parent_beside_a_fork", held_for_read,
     {parent_drops_read, forks_too, waits_for_write}, nobody_is_left, "preempt=1"},
    {"fork_child_beside_a_condition", set_up,
     {child_beside_the_condition, waits_for_the_condition}, NULL, "preempt=2"},
    {"fork_parent_beside_a_condition", set_up, {parent_tells, waits_for_the_condition},
     nobody_is_left, "preempt=2"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
