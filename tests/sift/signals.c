/* SPDX-License-Identifier: MIT */
/* Priority-sifting locks read by real signal handlers: when they run, what they see, and that the
 * signals are as before in the end. SIGUSR1 is deferred, SIGUSR2 interrupt. */
#include "test.h"

#include <pawl/sift.h>

static pawl_sift lock;
static unsigned value;               /* protected by the lock */
static uint32_t ran[2], saw[2];      /* by class; what the handlers did and saw */
static uint32_t stays_in, may_leave; /* a handler that reads for long */

static void on_signal(int number)
{
    const unsigned c = number == SIGUSR1 ? 0 : 1;
    const enum pawl_sift_context context = c == 0 ? PAWL_SIFT_DEFERRED : PAWL_SIFT_INTERRUPT;
    pawl_sift_take_read(&lock, context);
    pawl_store_relaxed32(&saw[c], value);
    pawl_sift_drop_read(&lock, context);
    (void)pawl_fetch_add_relaxed32(&ran[c], 1);
}

static void install(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaddset(&action.sa_mask, SIGUSR1); /* the class below is held back */
    must(sigaction(number, &action, NULL) == 0);
}

static void begin(void)
{
    pawl_sift_use use;
    memset(&use, 0, sizeof use);
    use.readers = PAWL_SIFT_READS(PAWL_SIFT_THREAD) | PAWL_SIFT_READS(PAWL_SIFT_DEFERRED) |
                  PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT);
    use.deferred = PAWL_SIFT_SIGNAL(SIGUSR1);
    use.interrupt = PAWL_SIFT_SIGNAL(SIGUSR2);
    must(pawl_sift_init(&lock, &use) == 0);
    install(SIGUSR1, on_signal);
    install(SIGUSR2, on_signal);
    memset(ran, 0, sizeof ran);
    memset(saw, 0, sizeof saw);
    value = 0;
    stays_in = may_leave = 0;
}

static uint32_t runs(unsigned c)
{
    return pawl_load_relaxed32(&ran[c]);
}

static uint32_t seen(unsigned c)
{
    return pawl_load_relaxed32(&saw[c]);
}

static void until(const uint32_t *flag, uint32_t wanted)
{
    test_await(pawl_load_relaxed32(flag) >= wanted);
}

static bool is_blocked(int number)
{
    sigset_t mask;
    must(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
    return sigismember(&mask, number) == 1;
}

/* ---- Around a write -------------------------------------------------------------------------- */

TEST_CASE(a_handler_runs_after_the_drop_and_sees_what_was_written)
{
    begin();
    pawl_sift_take_write(&lock);
    must(raise(SIGUSR1) == 0 && raise(SIGUSR2) == 0);
    assert_int_equal(runs(0) + runs(1), 0);
    value = 7;
    pawl_sift_drop_write(&lock);
    assert_int_equal(runs(0), 1);
    assert_int_equal(runs(1), 1);
    assert_int_equal(seen(0), 7);
    assert_int_equal(seen(1), 7);
    pawl_sift_destroy(&lock);
}

/* A WAITED that nobody waits for sends the writer through the slow path. */
TEST_CASE(the_same_on_the_slow_path)
{
    begin();
    lock.word = PAWL_SIFT_WAITED_;
    pawl_sift_take_write(&lock);
    assert_true((lock.word & PAWL_SIFT_WRITER_) == 0); /* it is the slow one */
    must(raise(SIGUSR1) == 0 && raise(SIGUSR2) == 0);
    assert_int_equal(runs(0) + runs(1), 0);
    value = 8;
    pawl_sift_drop_write(&lock);
    assert_int_equal(runs(0), 1);
    assert_int_equal(runs(1), 1);
    assert_int_equal(seen(0), 8);
    assert_int_equal(seen(1), 8);
    assert_true(lock.word == 0);
    pawl_sift_destroy(&lock);
}

TEST_CASE(what_was_blocked_before_stays_blocked)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    for (unsigned slow = 0; slow < 2; slow++) {
        begin();
        must(pthread_sigmask(SIG_BLOCK, &one, NULL) == 0);
        lock.word = slow ? PAWL_SIFT_WAITED_ : 0;
        pawl_sift_take_write(&lock);
        assert_true(is_blocked(SIGUSR1) && is_blocked(SIGUSR2));
        pawl_sift_drop_write(&lock);
        assert_false(is_blocked(SIGUSR1));
        assert_true(is_blocked(SIGUSR2));
        must(pthread_sigmask(SIG_UNBLOCK, &one, NULL) == 0);
        pawl_sift_destroy(&lock);
    }
}

TEST_CASE(a_write_that_fails_leaves_signals_as_they_were)
{
    begin();
    pawl_sift_take_read(&lock, PAWL_SIFT_THREAD);
    assert_false(pawl_sift_try_write(&lock));
    assert_false(is_blocked(SIGUSR1) || is_blocked(SIGUSR2));
    assert_false(pawl_sift_take_write_until(&lock, 1));
    assert_false(is_blocked(SIGUSR1) || is_blocked(SIGUSR2));
    pawl_sift_drop_read(&lock, PAWL_SIFT_THREAD);
    pawl_sift_destroy(&lock);
}

/* Neither the reader that is in nor the writer that waits for it keeps handlers out. */
TEST_CASE(a_handler_may_read_whatever_reader_it_interrupts)
{
    begin();
    pawl_sift_take_read(&lock, PAWL_SIFT_THREAD);
    must(raise(SIGUSR1) == 0 && raise(SIGUSR2) == 0);
    assert_int_equal(runs(0), 1);
    assert_int_equal(runs(1), 1);
    pawl_sift_drop_read(&lock, PAWL_SIFT_THREAD);
    pawl_sift_destroy(&lock);
}

/* ---- Beside a writer that waits -------------------------------------------------------------- */

static void *write_once(void *done)
{
    pawl_sift_take_write(&lock);
    value = 9;
    pawl_store_relaxed32((uint32_t *)done, 1);
    pawl_sift_drop_write(&lock);
    return NULL;
}

static void wait_for_slow_writer(void)
{
    test_await((pawl_load_relaxed32(&lock.contexts[PAWL_SIFT_THREAD]) >> 16) != 0);
}

TEST_CASE(signals_stay_open_while_a_writer_waits_for_slow_readers)
{
    uint32_t done = 0;
    begin();
    pawl_sift_take_read(&lock, PAWL_SIFT_THREAD);
    const pthread_t writer = test_start(write_once, &done);
    wait_for_slow_writer();
    must(pthread_kill(writer, SIGUSR1) == 0 && pthread_kill(writer, SIGUSR2) == 0);
    until(&ran[0], 1); /* both have read, on the writer's own thread */
    until(&ran[1], 1);
    assert_int_equal(seen(0) + seen(1), 0);
    assert_int_equal(pawl_load_relaxed32(&done), 0);
    must(raise(SIGUSR2) == 0); /* and on ours */
    assert_int_equal(runs(1), 2);
    pawl_sift_drop_read(&lock, PAWL_SIFT_THREAD);
    test_join(writer);
    assert_int_equal(done, 1);
    pawl_sift_destroy(&lock);
}

static void on_long_read(int number)
{
    pawl_sift_take_read(&lock, PAWL_SIFT_INTERRUPT);
    pawl_store_relaxed32(&stays_in, 1);
    test_await(pawl_load_relaxed32(&may_leave) != 0);
    pawl_store_relaxed32(&saw[1], value);
    pawl_sift_drop_read(&lock, PAWL_SIFT_INTERRUPT);
}

static void *be_interrupted(void *unused)
{
    must(raise(SIGUSR2) == 0);
    return NULL;
}

TEST_CASE(a_handler_that_leaves_wakes_the_writer_that_sleeps)
{
    uint32_t done = 0;
    const struct timespec nap = {0, 5000000};
    begin();
    install(SIGUSR2, on_long_read);
    const pthread_t reader = test_start(be_interrupted, NULL);
    until(&stays_in, 1);
    const pthread_t writer = test_start(write_once, &done);
    nanosleep(&nap, NULL); /* long enough to fall asleep; nothing is asserted about time */
    assert_int_equal(pawl_load_relaxed32(&done), 0);
    pawl_store_relaxed32(&may_leave, 1);
    test_join(reader);
    test_join(writer);
    assert_int_equal(seen(1), 0);
    assert_int_equal(done, 1);
    pawl_sift_destroy(&lock);
}

/* ---- Handlers that write --------------------------------------------------------------------- */

static void on_write(int number)
{
    pawl_sift_take_write(&lock);
    value++;
    pawl_sift_drop_write(&lock);
}

TEST_CASE(a_handler_writes_what_threads_read_that_hold_it_back)
{
    pawl_sift_use use;
    sigset_t one;
    memset(&use, 0, sizeof use);
    use.readers = PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT);
    use.writers = PAWL_SIFT_INTERRUPT;
    use.interrupt = PAWL_SIFT_SIGNAL(SIGUSR2);
    must(pawl_sift_init(&lock, &use) == 0);
    install(SIGUSR2, on_write);
    value = 0;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    for (unsigned i = 0; i < 10; i++) {
        must(pthread_sigmask(SIG_BLOCK, &one, NULL) == 0); /* raised to the handlers' context */
        pawl_sift_take_read(&lock, PAWL_SIFT_INTERRUPT);
        unsigned before = value;
        must(raise(SIGUSR2) == 0);
        assert_int_equal(value, before);
        pawl_sift_drop_read(&lock, PAWL_SIFT_INTERRUPT);
        must(pthread_sigmask(SIG_UNBLOCK, &one, NULL) == 0);
        assert_int_equal(value, before + 1);
    }
    pawl_sift_destroy(&lock);
}

TEST_MAIN()
