/* SPDX-License-Identifier: MIT */
/* Priority-sifting locks of threads: who may be in beside whom, deadlines, fork, bad input. */
#include "test.h"

#include <pawl/sift.h>

/* Each test runs on each kind of lock: of threads alone, with handlers that read, with real-time
 * readers that lend their priority, with both. */
enum { KINDS = 4 };

static pawl_sift lock;

static pawl_sift_use use_of(unsigned kind)
{
    pawl_sift_use use;
    memset(&use, 0, sizeof use);
    use.readers = PAWL_SIFT_READS(PAWL_SIFT_THREAD);
    if (kind & 1) {
        use.readers |= PAWL_SIFT_READS(PAWL_SIFT_DEFERRED) | PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT);
        use.deferred = PAWL_SIFT_SIGNAL(SIGUSR1);
        use.interrupt = PAWL_SIFT_SIGNAL(SIGUSR2);
    }
    if (kind & 2)
        use.readers |= PAWL_SIFT_READS(PAWL_SIFT_REALTIME);
    return use;
}

static bool begin(unsigned kind)
{
    const pawl_sift_use use = use_of(kind);
    const int error = pawl_sift_init(&lock, &use);
    must(error == 0 || (error == ENOTSUP && (kind & 2)));
    return error == 0;
}

#define ON_EACH_KIND(body)                                                                         \
    do {                                                                                           \
        unsigned kind;                                                                             \
        for (kind = 0; kind < KINDS; kind++) {                                                     \
            if (!begin(kind))                                                                      \
                continue;                                                                          \
            body();                                                                                \
            assert_true(pawl_sift_try_write(&lock)); /* nobody is left in it */                    \
            pawl_sift_drop_write(&lock);                                                           \
            assert_true((lock.word & ~PAWL_SIFT_WAITED_) == 0);                                    \
            pawl_sift_destroy(&lock);                                                              \
        }                                                                                          \
    } while (0)

static uint64_t soon(void)
{
    return (uint64_t)(test_now() * 1e9) + 2000000;
}

/* What another thread may have at this instant; it drops what it gets. */
struct tries {
    bool read, write, read_until, write_until;
};

static void drop_read(void)
{
    pawl_sift_drop_read(&lock, PAWL_SIFT_THREAD);
}

static void *try_all(void *opaque)
{
    struct tries *t = (struct tries *)opaque;
    if ((t->read = pawl_sift_try_read(&lock, PAWL_SIFT_THREAD)))
        drop_read();
    if ((t->write = pawl_sift_try_write(&lock)))
        pawl_sift_drop_write(&lock);
    if ((t->read_until = pawl_sift_take_read_until(&lock, PAWL_SIFT_THREAD, soon())))
        drop_read();
    if ((t->write_until = pawl_sift_take_write_until(&lock, soon())))
        pawl_sift_drop_write(&lock);
    return NULL;
}

static void others_may(bool read, bool write)
{
    struct tries t;
    test_elsewhere(try_all, &t);
    assert_int_equal(t.read, read);
    assert_int_equal(t.write, write);
    assert_int_equal(t.read_until, read);
    assert_int_equal(t.write_until, write);
}

static void reading(void)
{
    others_may(true, true);
    pawl_sift_take_read(&lock, PAWL_SIFT_THREAD);
    others_may(true, false);
    others_may(true, false); /* a writer that gave up leaves no trace */
    drop_read();
    assert_true(pawl_sift_try_read(&lock, PAWL_SIFT_THREAD));
    assert_true(pawl_sift_try_read(&lock, PAWL_SIFT_THREAD)); /* again, by a try */
    others_may(true, false);
    drop_read();
    drop_read();
    assert_true(pawl_sift_take_read_until(&lock, PAWL_SIFT_THREAD, 0)); /* past, but it is free */
    drop_read();
    others_may(true, true);
}

TEST_CASE(readers_let_readers_in_and_no_writer)
{
    ON_EACH_KIND(reading);
}

static void writing(void)
{
    pawl_sift_take_write(&lock);
    others_may(false, false);
    pawl_sift_drop_write(&lock);
    assert_true(pawl_sift_take_write_until(&lock, 0));
    others_may(false, false);
    pawl_sift_drop_write(&lock);
    assert_true(pawl_sift_try_write(&lock));
    others_may(false, false);
    pawl_sift_drop_write(&lock);
    others_may(true, true);
}

TEST_CASE(a_writer_lets_nobody_in)
{
    ON_EACH_KIND(writing);
}

TEST_CASE(zero_bytes_are_an_unlocked_lock_of_threads)
{
    memset(&lock, 0, sizeof lock);
    reading();
    writing();
    pawl_sift_destroy(&lock);
}

/* ---- Beside a holder in another thread ------------------------------------------------------- */

struct holder {
    bool writes;
    pthread_barrier_t step;
    pthread_t thread;
};

static void *hold(void *opaque)
{
    struct holder *h = (struct holder *)opaque;
    if (h->writes)
        pawl_sift_take_write(&lock);
    else
        pawl_sift_take_read(&lock, PAWL_SIFT_THREAD);
    pthread_barrier_wait(&h->step);
    pthread_barrier_wait(&h->step);
    if (h->writes)
        pawl_sift_drop_write(&lock);
    else
        drop_read();
    return NULL;
}

static void begin_hold(struct holder *h, bool writes)
{
    h->writes = writes;
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

static void *write_once(void *done)
{
    pawl_sift_take_write(&lock);
    pawl_store_relaxed32((uint32_t *)done, 1);
    pawl_sift_drop_write(&lock);
    return NULL;
}

static void *read_once(void *done)
{
    pawl_sift_take_read(&lock, PAWL_SIFT_THREAD);
    pawl_store_relaxed32((uint32_t *)done, 1);
    drop_read();
    return NULL;
}

/* Long enough for the waiter to fall asleep; nothing is asserted about time. */
static void let_it_sleep(void)
{
    const struct timespec nap = {0, 5000000};
    nanosleep(&nap, NULL);
}

static void one_sleeper(bool held_writes, void *(*waits)(void *))
{
    struct holder h;
    uint32_t done = 0;
    begin_hold(&h, held_writes);
    const pthread_t waiter = test_start(waits, &done);
    let_it_sleep();
    assert_int_equal(pawl_load_relaxed32(&done), 0);
    while (!held_writes && pawl_sift_try_read(&lock, PAWL_SIFT_THREAD)) {
        drop_read(); /* until the writer has come: while it waits it holds newcomers back */
        sched_yield();
    }
    end_hold(&h);
    test_join(waiter);
    assert_int_equal(done, 1);
}

static void sleepers(void)
{
    one_sleeper(false, write_once);
    one_sleeper(true, read_once);
    one_sleeper(true, write_once);
}

TEST_CASE(who_sleeps_is_woken_by_the_last_who_stands_in_its_way)
{
    ON_EACH_KIND(sleepers);
}

/* ---- Cancellation ---------------------------------------------------------------------------- */

static uint32_t cancelled_has_read;

static void *read_and_pause(void *unused)
{
    pawl_sift_take_read(&lock, PAWL_SIFT_THREAD);
    pawl_store_relaxed32(&cancelled_has_read, 1);
    drop_read();
    pause(); /* a cancellation point */
    return NULL;
}

TEST_CASE(waiting_is_no_cancellation_point)
{
    struct holder h;
    void *result;
    must(begin(0));
    begin_hold(&h, true);
    const pthread_t waiter = test_start(read_and_pause, NULL);
    let_it_sleep();
    must(pthread_cancel(waiter) == 0);
    end_hold(&h);
    must(pthread_join(waiter, &result) == 0);
    assert_true(result == PTHREAD_CANCELED);
    assert_int_equal(cancelled_has_read, 1);
    assert_true(pawl_sift_try_write(&lock));
    pawl_sift_drop_write(&lock);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static int drop_read_and_write(void)
{
    drop_read();
    pawl_sift_take_write(&lock);
    pawl_sift_drop_write(&lock);
    return pawl_sift_try_read(&lock, PAWL_SIFT_THREAD) ? 0 : 1;
}

static int drop_write_and_write(void)
{
    sigset_t mask;
    pawl_sift_drop_write(&lock);
    must(sigprocmask(SIG_BLOCK, NULL, &mask) == 0);
    if (sigismember(&mask, SIGUSR1) || sigismember(&mask, SIGUSR2))
        return 2;
    pawl_sift_take_read(&lock, PAWL_SIFT_THREAD);
    return drop_read_and_write();
}

static void forked(void)
{
    pawl_sift_take_read(&lock, PAWL_SIFT_THREAD);
    assert_int_equal(test_fork(drop_read_and_write), 0);
    drop_read();
    pawl_sift_take_write(&lock);
    assert_int_equal(test_fork(drop_write_and_write), 0);
    pawl_sift_drop_write(&lock);
}

TEST_CASE(the_child_of_a_fork_owns_what_the_forking_thread_held)
{
    ON_EACH_KIND(forked);
}

static int write_cannot(void)
{
    return pawl_sift_try_write(&lock) || pawl_sift_take_write_until(&lock, soon());
}

TEST_CASE(readers_of_other_threads_stay_counted_in_the_child)
{
    struct holder h;
    must(begin(0));
    begin_hold(&h, false);
    assert_int_equal(test_fork(write_cannot), 0);
    end_hold(&h);
}

static int nobody_can_until_made_anew(void)
{
    if (pawl_sift_try_read(&lock, PAWL_SIFT_THREAD) || write_cannot() != 0)
        return 1;
    if (pawl_sift_init(&lock, NULL) != 0)
        return 2;
    pawl_sift_take_write(&lock);
    pawl_sift_drop_write(&lock);
    return pawl_sift_try_read(&lock, PAWL_SIFT_THREAD) ? 0 : 3;
}

TEST_CASE(a_writer_of_another_thread_stays_in_in_the_child)
{
    struct holder h;
    must(begin(0));
    begin_hold(&h, true);
    assert_int_equal(test_fork(nobody_can_until_made_anew), 0);
    end_hold(&h);
}

static void *write_after_the_readers(void *unused)
{
    pawl_sift_take_write(&lock);
    pawl_sift_drop_write(&lock);
    return unused;
}

static int readers_cannot_until_made_anew(void)
{
    if (pawl_sift_try_read(&lock, PAWL_SIFT_THREAD) || pawl_sift_try_write(&lock))
        return 1;
    if (pawl_sift_init(&lock, NULL) != 0)
        return 2;
    return pawl_sift_try_write(&lock) ? 0 : 3;
}

TEST_CASE(a_writer_that_waits_has_shut_readers_out_of_the_child_too)
{
    struct holder h;
    must(begin(0));
    begin_hold(&h, false);
    const pthread_t writer = test_start(write_after_the_readers, NULL);
    while (pawl_sift_try_read(&lock, PAWL_SIFT_THREAD)) {
        drop_read();
        sched_yield();
    }
    assert_int_equal(test_fork(readers_cannot_until_made_anew), 0);
    end_hold(&h);
    test_join(writer);
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static int refusal(uint32_t readers, uint32_t writers, uint32_t flags, uint32_t ceiling,
                   uint64_t deferred, uint64_t interrupt)
{
    pawl_sift_use use;
    use.readers = readers;
    use.writers = writers;
    use.flags = flags;
    use.ceiling = ceiling;
    use.deferred = deferred;
    use.interrupt = interrupt;
    return pawl_sift_init(&lock, &use);
}

TEST_CASE(init_refuses_contradictions)
{
    const uint64_t one = PAWL_SIFT_SIGNAL(SIGUSR1), two = PAWL_SIFT_SIGNAL(SIGUSR2);
    assert_int_equal(pawl_sift_init(NULL, NULL), EINVAL);
    assert_int_equal(refusal(16, 0, 0, 0, 0, 0), EINVAL); /* no such context */
    assert_int_equal(refusal(1, 4, 0, 0, 0, 0), EINVAL);
    assert_int_equal(refusal(1, 0, 8, 0, 0, 0), EINVAL);            /* no such flag */
    assert_int_equal(refusal(9, 0, 0, 0, 0, 0), EINVAL);            /* handlers without signals */
    assert_int_equal(refusal(1, 0, 0, 0, 0, one), EINVAL);          /* signals without handlers */
    assert_int_equal(refusal(13, 0, 0, 0, one, one | two), EINVAL); /* of two classes */
    assert_int_equal(refusal(9, 3, 0, 0, 0, one), EINVAL);          /* reads below the writers */
    assert_int_equal(refusal(1, 0, 0, 5, 0, 0), EINVAL);            /* a ceiling, and no RAISE */
    assert_int_equal(refusal(3, 0, PAWL_SIFT_RAISE, 0, 0, 0), EINVAL);
    assert_int_equal(refusal(3, 0, PAWL_SIFT_RAISE, 100, 0, 0), EINVAL);
    assert_int_equal(refusal(13, 0, 0, 0, one, two), 0);
    assert_int_equal(refusal(8, 3, 0, 0, 0, two), 0); /* handlers write */
}

TEST_CASE(init_refuses_signals_that_cannot_be_held_back)
{
    static const int numbers[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, 32};
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        assert_int_equal(refusal(9, 0, 0, 0, 0, PAWL_SIFT_SIGNAL(numbers[i])), EINVAL);
    assert_int_equal(refusal(9, 0, 0, 0, 0, PAWL_SIFT_SIGNAL(SIGRTMIN)), 0);
}

TEST_CASE(destroy_takes_null)
{
    pawl_sift_destroy(NULL);
}

TEST_MAIN()
