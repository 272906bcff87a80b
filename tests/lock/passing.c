/* SPDX-License-Identifier: MIT */
/*
 * Readers that pass claims, which the preload library has, under all schedules of small programs.
 * They enter beside writers that wait, never beside one that is granted, and none of them sleeps on
 * while a reader is in. A reader once looked for a claim that it could pass before its wait only:
 *
 *   1  A writer is in. A reader finds it, and sleeps.
 *   2  The writer drops. Another reader enters before the sleeper looks again.
 *   3  The next writer claims the lock, and waits for the reader that is in.
 *   4  The sleeper finds the claim, and sleeps on.
 *   5  The reader that is in waits for the sleeper. Neither can go on.
 *
 * And it remembered its own reads, to tell a single reader beside a claim from a granted writer:
 *
 *   1  A writer has claimed the lock behind another writer, whose deadline then passes.
 *   2  One reader is left beside that claim, which has no R. The word is that of a granted writer.
 *   3  A reader that remembers a read of this lock, or of an earlier lock at its address, enters.
 */
#include "explorer/explorer.h"

#include <pawl/lock.h>

#include "lock/table.h"

#define TAKE_READ PAWL_SYMBOL_(pawl_lock32_take_read_counted_ranked)

static struct {
    pawl_lock32 lock;
    unsigned readers, writers;
    uint32_t told; /* the inner reader has been in */
    uint32_t rank; /* of the readers */
} scene;

static unsigned beside_one; /* readers that entered where the word had one R beside W */

static void begins(void)
{
    sched_new_process();
    memset(&scene.lock, 0, sizeof scene.lock);
    memset(table_here(), 0, sizeof *table_here());
    scene.readers = scene.writers = scene.told = 0;
}

static void ends(void)
{
    must(scene.lock.word == 0);
}

static void enter_to_read(void)
{
    scene.readers++;
    must(scene.writers == 0);
}

static void read_to_the_end(void)
{
    sched_pass();
    must(scene.writers == 0);
    scene.readers--;
    pawl_lock32_drop_read_counted(&scene.lock);
}

static bool take_to_write(uint64_t deadline)
{
    if (!pawl_lock32_take_write_until(&scene.lock, deadline))
        return false;
    must(scene.writers++ == 0 && scene.readers == 0);
    return true;
}

static void write_to_the_end(void)
{
    sched_pass();
    must(scene.readers == 0 && scene.writers-- == 1);
    pawl_lock32_drop_write(&scene.lock);
}

/* ---- A reader that is in waits for another one ----------------------------------------------- */

static void write_once(void *unused)
{
    (void)take_to_write(PAWL_NO_DEADLINE);
    write_to_the_end();
}

static void read_and_tell(void *unused)
{
    must(TAKE_READ(&scene.lock, PAWL_NO_DEADLINE, scene.rank));
    enter_to_read();
    read_to_the_end();
    pawl_store_release32(&scene.told, 1, PAWL_WAIT_WAKE);
    (void)pawl_hook_wake(&scene.told, 1);
}

static void read_until_told(void *unused)
{
    must(TAKE_READ(&scene.lock, PAWL_NO_DEADLINE, scene.rank));
    enter_to_read();
    while (pawl_load_acquire32(&scene.told, PAWL_WAIT_WAKE) == 0)
        (void)pawl_hook_wait(&scene.told, 0, PAWL_NO_DEADLINE);
    read_to_the_end();
}

TEST_CASE(a_reader_enters_beside_claims_whenever_they_come)
{
    static void (*const bodies[])(void *) = {write_once, read_and_tell, read_until_told,
                                             write_once};
    scene.rank = PAWL_LOCK_PASSES;
    unsigned count = explore(begins, bodies, 4, ends, 2);
    print_message("%u schedules\n", count);
}

static void look_without(void *unused)
{
    static void (*const bodies[])(void *) = {write_once, read_and_tell, read_until_told,
                                             write_once};
    scene.rank = 0;
    (void)explore(begins, bodies, 4, ends, 2);
}

TEST_CASE(readers_that_pass_no_claim_get_stuck)
{
    assert_aborts_saying(look_without, NULL, "stuck");
}

/* ---- A single reader beside the claim of a turn ---------------------------------------------- */

/* The holder lets a waiter grow old, and reads again whatever has come. */
static void write_then_read_twice(void *unused)
{
    (void)take_to_write(PAWL_NO_DEADLINE);
    sched_pass();
    sched.clock += PAWL_LOCK_HANDOFF_NS;
    scene.writers--;
    scene.readers++;
    pawl_lock32_write_to_read(&scene.lock);
    sched_pass();
    must(TAKE_READ(&scene.lock, PAWL_NO_DEADLINE, PAWL_LOCK_PASSES));
    enter_to_read();
    read_to_the_end();
    read_to_the_end();
}

static void try_to_write(void *unused)
{
    if (take_to_write(sched.clock + 100))
        write_to_the_end();
}

/* The thread's memory is not asked here: this one has no other read. */
static void read_once(void *unused)
{
    if (!TAKE_READ(&scene.lock, sched.clock + 100, PAWL_LOCK_PASSES))
        return;
    enter_to_read();
    read_to_the_end();
}

static uint64_t watch(const struct pawl_operation *o, sched_make_function *make)
{
    const uint64_t found = make(o);
    if (o->address == &scene.lock.word && o->kind == PAWL_HOOK_COMPARE_EXCHANGE &&
        found == o->expected && o->operand == found + PAWL_SPIN32_R &&
        (found & ~(uint64_t)PAWL_LOCK_PARKED) == PAWL_SPIN32_W + PAWL_SPIN32_S + PAWL_SPIN32_R)
        beside_one++;
    return found;
}

TEST_CASE(a_single_reader_beside_a_turn_is_told_from_a_granted_writer)
{
    static void (*const bodies[])(void *) = {write_then_read_twice, write_once, try_to_write,
                                             read_once};
    sched.fault = watch;
    unsigned count = explore_with_deadlines(begins, bodies, 3, ends, 3);
    count += explore_with_deadlines(begins, bodies, 4, ends, 1);
    sched.fault = NULL;
    print_message("%u schedules, %u readers beside one\n", count, beside_one);
    assert_true(beside_one > 0);
}

TEST_MAIN()
