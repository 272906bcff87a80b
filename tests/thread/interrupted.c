/* SPDX-License-Identifier: MIT */
/*
 * Signal handlers at every instruction of a thread's registration, of its end, and of its quiescent
 * states. A handler may read under RCU, count, try a big-reader lock, and fork. What went wrong:
 *
 *   registration   the thread claimed a line; a handler did not see it and registered with another
 *                  one; the thread went on with its own. The thread then owned two lines, and
 *                  pawl_rcu_read_held was false inside a section.
 *   end            the thread had cleared its slot; a handler took the line again, by its number;
 *                  the thread then freed the line. The next thread shared it.
 *   quiescent      the slow path left and entered again; between the two, a grace period ended
 *                  although a handler of an online thread was reading.
 */
#include "test.h"

#if (defined(__x86_64__) || defined(__i386__)) && defined(__linux__) && !TEST_SANITIZED &&         \
    !defined(__SANITIZE_THREAD__)

#include <pawl/brlock.h>
#include <pawl/counter.h>
#include <pawl/rcu.h>

#include <sys/mman.h>

#include "rcu/rcu.h"
#include "support/interrupting.h"
#include "support/extra_lines.h"
#include "support/lines.h"

static pawl_counter counter;
static pawl_cpu_counter by_cpu;
static pawl_brlock lock;
static uint64_t counted;

/* ---- Handlers -------------------------------------------------------------------------------- */

/* No grace period that begins in a section ends in it. */
static void read_one(void)
{
    pawl_rcu_read_lock();
    must(pawl_rcu_read_held());
    uint64_t cookie = pawl_rcu_start_poll();
    must(!pawl_rcu_poll(cookie));
    pawl_rcu_read_unlock();
}

static void count_one(void)
{
    pawl_counter_add_in_handler(&counter, 1);
    pawl_cpu_counter_add(&by_cpu, 1);
    counted++;
}

/* In a handler a try may fail, but only beside a writer. */
static void try_one(void)
{
    must(pawl_brlock_try_read(&lock));
    pawl_brlock_drop_read(&lock);
}

static void do_all(void)
{
    read_one();
    count_one();
    try_one();
    read_one();
}

/* The thread is online all the time. */
static void read_online(void)
{
    must(pawl_rcu_domain_read_held(pawl_rcu_qs()));
    uint64_t cookie = pawl_rcu_domain_start_poll(pawl_rcu_qs());
    pawl_rcu_qs_read_lock();
    must(!pawl_rcu_domain_poll(pawl_rcu_qs(), cookie));
    pawl_rcu_qs_read_unlock();
}

/* ---- What holds after each run --------------------------------------------------------------- */

/* The thread has one line, or none and nothing that lies in one. */
static void check_registered(void)
{
    const struct pawl_thread_line *own = thread_registered();
    const uint32_t id = pawl_os_thread_id();
    const uint32_t used = pawl_load_relaxed32(&process_here()->lines_used);
    for (uint32_t i = 0; i < used; i++)
        must((process_here()->lines[i].owner == id) == (&process_here()->lines[i] == own));
    must(PAWL_RCU_MINE_.line == NULL ||
         (own != NULL && PAWL_RCU_MINE_.line == &rcu_here()->lines[thread_number(own)]));
    must(PAWL_RCU_MINE_.open == 0);
    must(own != NULL || ipawl_counter_mine_()->block == NULL);
}

static void check_run(void)
{
    check_registered();
    must(!pawl_rcu_read_held());
    must(pawl_rcu_poll(pawl_rcu_start_poll()));
    must(pawl_counter_read(&counter) == (int64_t)counted);
    must(pawl_cpu_counter_read(&by_cpu) == (int64_t)counted);
    must(pawl_brlock_try_write(&lock));
    pawl_brlock_drop_write(&lock);
    read_one();
    check_registered();
}

static void be_unknown(void)
{
    ipawl_thread_exit_();
    must(thread_registered() == NULL);
}

static void be_known(void)
{
    be_unknown();
    do_all();
    must(thread_registered() != NULL);
}

/* ---- Registration and end -------------------------------------------------------------------- */

static void do_nothing(void)
{
}

static void ask_for_the_line(void)
{
    must(ipawl_thread_line_() != NULL);
}

static void enter_and_leave(void)
{
    pawl_rcu_read_lock();
    pawl_rcu_read_unlock();
}

static void interrupt_each(void (*prepare)(void), void (*steps)(void), void (*handler)(void))
{
    assert_in_range(interrupt_everywhere(prepare, steps, handler, check_run), 20, 100000);
}

TEST_CASE(registration_may_be_interrupted_at_each_instruction)
{
    interrupt_each(be_unknown, ask_for_the_line, read_one);
    if (PAWL_CHECKED) /* some thousand instructions: one handler must be enough */
        return;
    interrupt_each(be_unknown, ask_for_the_line, count_one);
    interrupt_each(be_unknown, ask_for_the_line, try_one);
}

TEST_CASE(the_first_use_of_a_primitive_may_be_interrupted_at_each_instruction)
{
    if (PAWL_CHECKED) /* it would take too long */
        skip();
    interrupt_each(be_unknown, enter_and_leave, read_one);
    interrupt_each(be_unknown, count_one, count_one);
    interrupt_each(be_unknown, try_one, do_all);
}

TEST_CASE(the_end_of_a_thread_may_be_interrupted_at_each_instruction)
{
    interrupt_each(be_known, ipawl_thread_exit_, do_all);
}

static void no_rcu_line(void)
{
    PAWL_RCU_LINE_ = NULL;
    ipawl_rcu_mine_()->line = NULL;
}

/* As if the thread were a new one, and its line that of a dead one of the same number. */
static void leave_the_line_behind(void)
{
    be_known();
    *pawl_os_thread_slot() = NULL;
    no_rcu_line();
    ipawl_counter_mine_()->block = NULL;
    ipawl_counter_mine_()->rseq = NULL;
    ipawl_counter_mine_()->cpus = NULL;
}

TEST_CASE(a_line_left_behind_is_taken_back_in_the_same_way)
{
    if (PAWL_CHECKED) /* it would take too long */
        skip();
    interrupt_each(leave_the_line_behind, ask_for_the_line, do_all);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static bool in_child;

/* The child goes on with the steps; it ends where the run is checked. */
static void fork_one(void)
{
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        in_child = true;
        return;
    }
    must(test_wait(child) == 0);
}

static void check_and_end_child(void)
{
    check_run();
    if (in_child)
        _exit(0);
}

TEST_CASE(a_handler_that_interrupts_it_may_fork)
{
    if (PAWL_CHECKED) /* thousands of forks more */
        skip();
    assert_in_range(
        interrupt_everywhere(be_unknown, ask_for_the_line, fork_one, check_and_end_child), 20,
        100000);
    assert_in_range(
        interrupt_everywhere(be_known, ipawl_thread_exit_, fork_one, check_and_end_child), 20,
        100000);
}

/* ---- Beyond the lines --------------------------------------------------------------------------
 * Such a thread was only counted. After a fork by a handler between the count and the thread's note
 * of it, the child's count was 0 and the thread counted itself out: no grace period ended. */

/* The thread has no extra line, and finds no block of them: each run maps one. */
static void be_unknown_beyond(void)
{
    void *const block = (void *)(uintptr_t)rcu_here()->extra[0];
    must(ipawl_thread_line_() == NULL);
    must(pawl_rcu_poll(pawl_rcu_start_poll())); /* no driver has noted the lines of the block */
    no_rcu_line();
    PAWL_RCU_MINE_.extra = NULL;
    rcu_here()->extra[0] = 0;
    must(block == NULL || munmap(block, RCU_EXTRA_IN_BLOCK * sizeof(struct pawl_rcu_extra)) == 0);
}

static void be_known_beyond(void)
{
    be_unknown_beyond();
    read_one();
}

static void read_in_both_ways(void)
{
    enter_and_leave();
    pawl_rcu_qs_online();
    pawl_rcu_qs_quiescent();
    pawl_rcu_qs_offline();
}

static void check_beyond(void)
{
    const uint32_t id = pawl_os_thread_id();
    const uint32_t lines = extra_lines();
    must(!pawl_rcu_read_held() && !pawl_rcu_domain_read_held(pawl_rcu_qs()));
    must(pawl_rcu_poll(pawl_rcu_start_poll()));
    must(pawl_rcu_domain_poll(pawl_rcu_qs(), pawl_rcu_domain_start_poll(pawl_rcu_qs())));
    must(PAWL_RCU_MINE_.open == 0);
    for (uint32_t i = 0; i < lines; i++)
        must((extra_line(i)->owner == id) == (extra_line(i) == PAWL_RCU_MINE_.extra));
    read_one();
    if (in_child)
        _exit(0);
}

/* Where the thread claims an extra line. */
static void fork_in_the_claim(void)
{
    if (extra_lines() != 0 && PAWL_RCU_MINE_.extra == NULL)
        fork_one();
}

static void interrupt_beyond(void (*prepare)(void), void (*steps)(void), void (*handler)(void))
{
    must(interrupt_everywhere(prepare, steps, handler, check_beyond) >= 20);
}

static void *be_interrupted_beyond(void *unused)
{
    interrupt_beyond(be_unknown_beyond, enter_and_leave, read_one);
    interrupt_beyond(be_unknown_beyond, enter_and_leave, fork_in_the_claim);
    interrupt_beyond(be_known_beyond,
                     ipawl_fence_light_free_ != 0 ? read_in_both_ways : enter_and_leave, fork_one);
    return NULL;
}

TEST_CASE(so_it_is_for_a_thread_beyond_the_lines)
{
    if (PAWL_CHECKED) /* thousands of forks more */
        skip();
    lines_park_all();
    test_elsewhere(be_interrupted_beyond, NULL);
    lines_free_all();
}

/* ---- Quiescent states ------------------------------------------------------------------------ */

static void say_quiescent(void)
{
    pawl_rcu_qs_quiescent();
}

/* Each run announces; so the grace periods that the handlers began can end. */
static void be_online_throughout(void)
{
    pawl_rcu_qs_online();
    must(interrupt_everywhere(do_nothing, say_quiescent, read_online, do_nothing) > 1);
    pawl_rcu_qs_offline();
    must(pawl_rcu_domain_poll(pawl_rcu_qs(), pawl_rcu_domain_start_poll(pawl_rcu_qs())));
    check_registered();
}

TEST_CASE(an_online_thread_stays_online_while_it_is_quiescent)
{
    be_known();
    be_online_throughout();
}

static void *be_online_without_a_line(void *is_counted)
{
    must(ipawl_thread_line_() == NULL);
    if (is_counted != NULL)
        PAWL_RCU_MINE_.wait = UINT32_MAX; /* it asks for no extra line */
    pawl_rcu_qs_online();
    must((PAWL_RCU_MINE_.extra == NULL) == (is_counted != NULL));
    must(interrupt_everywhere(do_nothing, say_quiescent, read_online, do_nothing) > 1);
    pawl_rcu_qs_offline();
    must(pawl_rcu_domain_poll(pawl_rcu_qs(), pawl_rcu_domain_start_poll(pawl_rcu_qs())));
    must(PAWL_RCU_MINE_.open == 0);
    return NULL;
}

TEST_CASE(so_does_one_without_a_line)
{
    lines_park_all();
    test_elsewhere(be_online_without_a_line, NULL);
    test_elsewhere(be_online_without_a_line, &lock);
    lines_free_all();
}

/* ---------------------------------------------------------------------------------------------- */

TEST_MAIN(must(pawl_brlock_init(&lock, 8) == 0))

#else

TEST_CASE(handlers_interrupt_each_instruction_in_plain_x86_builds)
{
    skip();
}

TEST_MAIN()

#endif
