/* SPDX-License-Identifier: MIT */
/* Big-reader locks: who may be in beside whom, ways in and out, and bad input. */
#include "test.h"

#include <pawl/brlock.h>
#include <pawl/thread.h>

#include <sys/resource.h>

/* Each test runs on each kind of lock: lines or the shared counter, light or fenced readers. */
enum { KINDS = 4 };

static pawl_brlock lock;

static void begin(unsigned kind)
{
    const uint32_t flags = kind & 1 ? PAWL_BRLOCK_FENCED : 0;
    if (kind & 2)
        must(pawl_brlock_init(&lock, flags) == EINVAL); /* no lines: works all the same */
    else
        must(pawl_brlock_init(&lock, PAWL_BRLOCK_LINES | flags) == 0);
}

#define ON_EACH_KIND(body)                                                                         \
    do {                                                                                           \
        unsigned kind;                                                                             \
        for (kind = 0; kind < KINDS; kind++) {                                                     \
            begin(kind);                                                                           \
            body();                                                                                \
            assert_true(pawl_brlock_try_write(&lock)); /* nobody is left in it */                  \
            pawl_brlock_drop_write(&lock);                                                         \
            pawl_brlock_destroy(&lock);                                                            \
        }                                                                                          \
    } while (0)

static uint64_t soon(void)
{
    return (uint64_t)(test_now() * 1e9) + 2000000;
}

/* What another thread may have at this instant; it drops what it gets. */
struct tries {
    bool read, seek, write, read_until, write_until;
};

static void *try_all(void *opaque)
{
    struct tries *t = (struct tries *)opaque;
    if ((t->read = pawl_brlock_try_read(&lock)))
        pawl_brlock_drop_read(&lock);
    if ((t->seek = pawl_brlock_try_seek(&lock)))
        pawl_brlock_drop_seek(&lock);
    if ((t->write = pawl_brlock_try_write(&lock)))
        pawl_brlock_drop_write(&lock);
    if ((t->read_until = pawl_brlock_take_read_until(&lock, soon())))
        pawl_brlock_drop_read(&lock);
    if ((t->write_until = pawl_brlock_take_write_until(&lock, soon())))
        pawl_brlock_drop_write(&lock);
    return NULL;
}

static void others_may(bool read, bool seek, bool write)
{
    struct tries t;
    test_elsewhere(try_all, &t);
    assert_int_equal(t.read, read);
    assert_int_equal(t.seek, seek);
    assert_int_equal(t.write, write);
    assert_int_equal(t.read_until, read);
    assert_int_equal(t.write_until, write);
}

static void unlocked(void)
{
    others_may(true, true, true);
}

TEST_CASE(an_unlocked_lock_is_anybodys)
{
    ON_EACH_KIND(unlocked);
}

static void reading(void)
{
    pawl_brlock_take_read(&lock);
    others_may(true, true, false);
    pawl_brlock_drop_read(&lock);
    assert_true(pawl_brlock_try_read(&lock));
    others_may(true, true, false);
    pawl_brlock_drop_read(&lock);
    assert_true(pawl_brlock_take_read_until(&lock, 0)); /* the deadline is past, but it is free */
    pawl_brlock_drop_read(&lock);
    others_may(true, true, true);
}

TEST_CASE(readers_let_readers_and_a_seeker_in)
{
    ON_EACH_KIND(reading);
}

static void seek(void)
{
    pawl_brlock_take_seek(&lock);
    others_may(true, false, false);
    pawl_brlock_drop_seek(&lock);
    assert_true(pawl_brlock_try_seek(&lock));
    pawl_brlock_drop_seek(&lock);
    assert_true(pawl_brlock_take_seek_until(&lock, 0));
    pawl_brlock_drop_seek(&lock);
}

TEST_CASE(a_seeker_lets_readers_in_and_no_other_seeker)
{
    ON_EACH_KIND(seek);
}

static void writing(void)
{
    pawl_brlock_take_write(&lock);
    others_may(false, false, false);
    pawl_brlock_drop_write(&lock);
    assert_true(pawl_brlock_take_write_until(&lock, 0));
    others_may(false, false, false);
    pawl_brlock_drop_write(&lock);
}

TEST_CASE(a_writer_lets_nobody_in)
{
    ON_EACH_KIND(writing);
}

static void moves(void)
{
    pawl_brlock_take_seek(&lock);
    pawl_brlock_seek_to_write(&lock);
    others_may(false, false, false);
    pawl_brlock_write_to_seek(&lock);
    others_may(true, false, false);
    assert_true(pawl_brlock_try_seek_to_write(&lock));
    others_may(false, false, false);
    pawl_brlock_write_to_read(&lock);
    others_may(true, true, false);
    assert_true(pawl_brlock_try_read_to_seek(&lock));
    others_may(true, false, false);
    assert_true(pawl_brlock_seek_to_write_until(&lock, 0));
    pawl_brlock_write_to_seek(&lock);
    pawl_brlock_seek_to_read(&lock);
    others_may(true, true, false);
    pawl_brlock_drop_read(&lock);
}

TEST_CASE(each_move_lets_in_what_its_new_state_lets_in)
{
    ON_EACH_KIND(moves);
}

/* ---- Beside a holder in another thread ------------------------------------------------------- */

struct holder {
    void (*take)(pawl_brlock *);
    void (*drop)(pawl_brlock *);
    pthread_barrier_t step;
    pthread_t thread;
};

static void *hold(void *opaque)
{
    struct holder *h = (struct holder *)opaque;
    h->take(&lock);
    pthread_barrier_wait(&h->step);
    pthread_barrier_wait(&h->step);
    h->drop(&lock);
    return NULL;
}

static void begin_hold(struct holder *h, void (*take)(pawl_brlock *), void (*drop)(pawl_brlock *))
{
    h->take = take;
    h->drop = drop;
    must(pthread_barrier_init(&h->step, NULL, 2) == 0);
    h->thread = test_start(hold, h);
    pthread_barrier_wait(&h->step);
}

static void end_hold(struct holder *h)
{
    pthread_barrier_wait(&h->step);
    test_join(h->thread);
    pthread_barrier_destroy(&h->step);
}

static void a_move_fails(void)
{
    struct holder h;
    pawl_brlock_take_read(&lock);
    begin_hold(&h, pawl_brlock_take_seek, pawl_brlock_drop_seek);
    assert_false(pawl_brlock_try_read_to_seek(&lock));
    others_may(true, false, false); /* R is still held */
    pawl_brlock_drop_read(&lock);
    end_hold(&h);

    pawl_brlock_take_seek(&lock);
    begin_hold(&h, pawl_brlock_take_read, pawl_brlock_drop_read);
    assert_false(pawl_brlock_try_seek_to_write(&lock));
    assert_false(pawl_brlock_seek_to_write_until(&lock, soon()));
    others_may(true, false, false); /* S is still held, and readers are let in again */
    end_hold(&h);
    pawl_brlock_drop_seek(&lock);
}

TEST_CASE(a_move_that_fails_leaves_the_state_as_it_was)
{
    ON_EACH_KIND(a_move_fails);
}

static void *write_once(void *done)
{
    pawl_brlock_take_write(&lock);
    pawl_store_relaxed32((uint32_t *)done, 1);
    pawl_brlock_drop_write(&lock);
    return NULL;
}

static void *read_once(void *done)
{
    pawl_brlock_take_read(&lock);
    pawl_store_relaxed32((uint32_t *)done, 1);
    pawl_brlock_drop_read(&lock);
    return NULL;
}

/* Long enough for the waiter to fall asleep; nothing is asserted about time. */
static void let_it_sleep(void)
{
    const struct timespec nap = {0, 5000000};
    nanosleep(&nap, NULL);
}

/* Until the writer has come, however late: while it waits it holds newcomers back. */
static void until_held_back(void)
{
    while (pawl_brlock_try_read(&lock)) {
        pawl_brlock_drop_read(&lock);
        sched_yield();
    }
}

static void sleepers(void)
{
    struct holder h;
    uint32_t done = 0;
    begin_hold(&h, pawl_brlock_take_read, pawl_brlock_drop_read);
    pthread_t waiter = test_start(write_once, &done);
    let_it_sleep();
    assert_int_equal(pawl_load_relaxed32(&done), 0);
    until_held_back();
    end_hold(&h);
    test_join(waiter);
    assert_int_equal(done, 1);

    done = 0;
    begin_hold(&h, pawl_brlock_take_write, pawl_brlock_drop_write);
    waiter = test_start(read_once, &done);
    let_it_sleep();
    assert_int_equal(pawl_load_relaxed32(&done), 0);
    end_hold(&h);
    test_join(waiter);
    assert_int_equal(done, 1);

    done = 0;
    begin_hold(&h, pawl_brlock_take_seek, pawl_brlock_drop_seek);
    waiter = test_start(write_once, &done);
    let_it_sleep();
    assert_int_equal(pawl_load_relaxed32(&done), 0);
    end_hold(&h);
    test_join(waiter);
    assert_int_equal(done, 1);
}

TEST_CASE(who_sleeps_is_woken_by_the_last_who_stands_in_its_way)
{
    ON_EACH_KIND(sleepers);
}

/* ---- Holds that outlive or leave their thread ------------------------------------------------ */

static void *take_any_and_end(void *unused)
{
    pawl_brlock_take_read_any(&lock);
    return NULL;
}

static void any_thread(void)
{
    test_elsewhere(take_any_and_end, NULL);
    others_may(true, true, false);
    pawl_brlock_drop_read_any(&lock);
    assert_true(pawl_brlock_try_read_any(&lock));
    others_may(true, true, false);
    pawl_brlock_drop_read_any(&lock);
}

TEST_CASE(a_read_hold_for_any_thread_is_dropped_by_another_one)
{
    ON_EACH_KIND(any_thread);
}

static void *take_read_and_end(void *unused)
{
    pawl_brlock_take_read(&lock);
    return NULL;
}

/* The counter of one thread falls below zero, and only the sum counts. */
TEST_CASE(a_reader_that_ended_holding_can_be_counted_out_by_another)
{
    must(pawl_brlock_init(&lock, PAWL_BRLOCK_LINES) == 0);
    test_elsewhere(take_read_and_end, NULL);
    assert_false(pawl_brlock_try_write(&lock));
    pawl_brlock_drop_read(&lock);
    assert_true(pawl_brlock_try_write(&lock));
    pawl_brlock_drop_write(&lock);
    pawl_brlock_destroy(&lock);
}

/* ---- Handlers -------------------------------------------------------------------------------- */

static uint32_t handler_got;

static void handler(int number)
{
    if (pawl_brlock_try_read(&lock)) {
        pawl_store_relaxed32(&handler_got, 1);
        pawl_brlock_drop_read(&lock);
    }
}

TEST_CASE(a_handler_may_try_to_read_whatever_it_interrupted)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    must(pawl_brlock_init(&lock, PAWL_BRLOCK_LINES) == 0);
    pawl_brlock_take_read(&lock);
    raise(SIGUSR1);
    assert_int_equal(handler_got, 1);
    assert_false(pawl_brlock_try_write(&lock)); /* our own R is still counted */
    pawl_brlock_drop_read(&lock);
    handler_got = 0;
    pawl_brlock_take_write(&lock);
    raise(SIGUSR1);
    assert_int_equal(handler_got, 0);
    pawl_brlock_drop_write(&lock);
    assert_true(pawl_brlock_try_write(&lock));
    pawl_brlock_drop_write(&lock);
    pawl_brlock_destroy(&lock);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static int drop_read_and_write(void)
{
    pawl_brlock_drop_read(&lock);
    pawl_brlock_take_write(&lock);
    pawl_brlock_drop_write(&lock);
    return pawl_brlock_try_read(&lock) ? 0 : 1;
}

static int write_cannot(void)
{
    return pawl_brlock_try_write(&lock) || pawl_brlock_take_write_until(&lock, soon());
}

TEST_CASE(the_child_of_a_fork_owns_what_the_forking_thread_held)
{
    must(pawl_brlock_init(&lock, PAWL_BRLOCK_LINES) == 0);
    pawl_brlock_take_read(&lock);
    assert_int_equal(test_fork(drop_read_and_write), 0);
    pawl_brlock_drop_read(&lock);
    pawl_brlock_destroy(&lock);
}

static int write_and_read(void)
{
    pawl_brlock_drop_write(&lock);
    pawl_brlock_take_read(&lock);
    return drop_read_and_write();
}

TEST_CASE(a_lock_that_is_held_for_writing_around_a_fork_is_whole_in_the_child)
{
    must(pawl_brlock_init(&lock, PAWL_BRLOCK_LINES) == 0);
    pawl_brlock_take_write(&lock);
    assert_int_equal(test_fork(write_and_read), 0);
    pawl_brlock_drop_write(&lock);
    pawl_brlock_destroy(&lock);
}

TEST_CASE(readers_of_other_threads_stay_counted_in_the_child)
{
    struct holder h;
    must(pawl_brlock_init(&lock, PAWL_BRLOCK_LINES) == 0);
    begin_hold(&h, pawl_brlock_take_read, pawl_brlock_drop_read);
    assert_int_equal(test_fork(write_cannot), 0);
    end_hold(&h);
    pawl_brlock_destroy(&lock);
}

static int read_cannot_until_made_anew(void)
{
    if (pawl_brlock_try_read(&lock) || pawl_brlock_take_read_until(&lock, soon()))
        return 1;
    if (pawl_brlock_init(&lock, PAWL_BRLOCK_LINES) != 0)
        return 2;
    pawl_brlock_take_write(&lock);
    pawl_brlock_drop_write(&lock);
    return pawl_brlock_try_read(&lock) ? 0 : 3;
}

TEST_CASE(a_writer_that_waits_for_readers_keeps_newcomers_out_in_the_child)
{
    uint32_t done = 0;
    must(pawl_brlock_init(&lock, PAWL_BRLOCK_LINES) == 0);
    pawl_brlock_take_read_any(&lock);
    const pthread_t writer = test_start(write_once, &done);
    while (pawl_brlock_try_read(&lock)) { /* the writer has not closed the lock yet */
        pawl_brlock_drop_read(&lock);
        sched_yield();
    }
    assert_int_equal(test_fork(read_cannot_until_made_anew), 0);
    pawl_brlock_drop_read_any(&lock);
    test_join(writer);
    pawl_brlock_destroy(&lock);
}

/* ---- Bad input ------------------------------------------------------------------------------- */

TEST_CASE(init_refuses_no_lock_no_lines_and_too_many)
{
    assert_int_equal(pawl_brlock_init(NULL, 1), EINVAL);
    assert_int_equal(pawl_brlock_init(&lock, 0), EINVAL);
    pawl_brlock_destroy(&lock);
    assert_int_equal(pawl_brlock_init(&lock, PAWL_BRLOCK_MOST_LINES + 1), EINVAL);
    pawl_brlock_destroy(&lock);
    assert_int_equal(pawl_brlock_init(&lock, PAWL_BRLOCK_MOST_LINES), 0);
    pawl_brlock_destroy(&lock);
    pawl_brlock_destroy(NULL);
}

TEST_CASE(memory_of_the_caller_must_be_there_aligned_and_have_room)
{
    static pawl_brlock_line lines[3];
    assert_int_equal(pawl_brlock_init_in(NULL, lines, sizeof lines, 0), EINVAL);
    assert_int_equal(pawl_brlock_init_in(&lock, NULL, sizeof lines, 0), EINVAL);
    assert_int_equal(pawl_brlock_init_in(&lock, (char *)lines + 4, sizeof lines - 4, 0), EINVAL);
    assert_int_equal(pawl_brlock_init_in(&lock, lines, sizeof lines[0] - 1, 0), EINVAL);
    assert_int_equal(pawl_brlock_init_in(&lock, lines, sizeof lines, 1), EINVAL);
    others_may(true, true, true);
    assert_int_equal(pawl_brlock_init_in(&lock, lines, sizeof lines, 0), 0);
    assert_int_equal(lock.count, 3);
    reading();
    writing();
    pawl_brlock_destroy(&lock);
}

#if !TEST_SANITIZED
static int without_memory(void)
{
    const struct rlimit none = {0, 0};
    must(setrlimit(RLIMIT_DATA, &none) == 0 && setrlimit(RLIMIT_AS, &none) == 0);
    for (char *fill = (char *)malloc(65536); fill != NULL; fill = (char *)malloc(65536))
        *fill = 1;
    if (pawl_brlock_init(&lock, PAWL_BRLOCK_MOST_LINES) != ENOMEM)
        return 1;
    pawl_brlock_take_read(&lock);
    if (pawl_brlock_try_write(&lock))
        return 2;
    pawl_brlock_drop_read(&lock);
    return pawl_brlock_try_write(&lock) ? 0 : 3;
}
#endif

TEST_CASE(init_without_memory_says_so_and_the_lock_works_all_the_same)
{
#if TEST_SANITIZED
    skip(); /* sanitizers cannot live without memory */
#else
    assert_int_equal(test_fork(without_memory), 0);
#endif
}

TEST_MAIN()
