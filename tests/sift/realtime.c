/* SPDX-License-Identifier: MIT */
/*
 * Priority-sifting locks and the right to real-time scheduling: with it writers are raised and come
 * back, without it a lock that needs it is refused, and priorities are lent where none is needed.
 * What this process may not do is skipped, and says so.
 */
#include "test.h"

#include <pawl/sift.h>

#include <sys/prctl.h>
#include <sys/resource.h>

enum { CEILING = 20 };

static pawl_sift lock;

static pawl_sift_use use_of(uint32_t readers, uint32_t flags)
{
    pawl_sift_use use;
    memset(&use, 0, sizeof use);
    use.readers = readers | PAWL_SIFT_READS(PAWL_SIFT_THREAD);
    use.flags = flags;
    use.ceiling = flags & (PAWL_SIFT_RAISE | PAWL_SIFT_REALTIME_HANDLERS) ? CEILING : 0;
    if (readers & PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT))
        use.interrupt = PAWL_SIFT_SIGNAL(SIGUSR2);
    return use;
}

static int begin(uint32_t readers, uint32_t flags)
{
    const pawl_sift_use use = use_of(readers, flags);
    return pawl_sift_init(&lock, &use);
}

static bool may_be_raised(void)
{
    const int error = begin(PAWL_SIFT_READS(PAWL_SIFT_REALTIME), PAWL_SIFT_RAISE);
    must(error == 0 || error == EPERM);
    if (error != 0)
        print_message("skipped: this process has no right to real-time scheduling\n");
    return error == 0;
}

/* The calling thread's policy and priority as the kernel has them: the C library remembers. */
static int scheduling(int *priority)
{
    struct sched_param param;
    must(sched_getparam(0, &param) == 0);
    *priority = param.sched_priority;
    return sched_getscheduler(0);
}

static int without_the_right(void)
{
    const struct rlimit none = {0, 0};
    if (geteuid() == 0 && setuid(65534) != 0)
        return 0; /* it stays root, and may */
    must(setrlimit(RLIMIT_RTPRIO, &none) == 0);
    if (begin(PAWL_SIFT_READS(PAWL_SIFT_REALTIME), PAWL_SIFT_RAISE) != EPERM)
        return 1;
    if (begin(PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT), PAWL_SIFT_REALTIME_HANDLERS) != EPERM)
        return 2;
    /* What needs no right works. */
    if (begin(PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT), 0) != 0)
        return 3;
    return begin(PAWL_SIFT_READS(PAWL_SIFT_REALTIME), 0) == 0 ? 0 : 4;
}

TEST_CASE(a_lock_that_must_raise_its_writers_is_refused_without_the_right)
{
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        alarm(TEST_HANGS);
        _exit(without_the_right());
    }
    assert_int_equal(test_wait(child), 0);
}

/* ---- Raising --------------------------------------------------------------------------------- */

TEST_CASE(writers_run_at_the_ceiling_and_come_back)
{
    static const uint32_t readers[] = {
        PAWL_SIFT_READS(PAWL_SIFT_REALTIME), PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT),
        PAWL_SIFT_READS(PAWL_SIFT_REALTIME) | PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT)};
    int priority, policy;
    if (!may_be_raised())
        return;
    for (unsigned i = 0; i < 3; i++)
        for (unsigned slow = 0; slow < 2; slow++) {
            assert_int_equal(begin(readers[i], PAWL_SIFT_REALTIME_HANDLERS), 0);
            lock.word = slow ? PAWL_SIFT_WAITED_ : 0; /* a stale one: the slow path */
            policy = scheduling(&priority);
            assert_int_equal(policy, SCHED_OTHER);
            pawl_sift_take_write(&lock);
            assert_int_equal(scheduling(&priority), SCHED_FIFO);
            assert_int_equal(priority, CEILING);
            pawl_sift_drop_write(&lock);
            assert_int_equal(scheduling(&priority), SCHED_OTHER);
            pawl_sift_destroy(&lock);
        }
}

static void *write_from_above(void *unused)
{
    struct sched_param param;
    int priority;
    param.sched_priority = CEILING + 1;
    must(pthread_setschedparam(pthread_self(), SCHED_RR, &param) == 0);
    pawl_sift_take_write(&lock);
    must(scheduling(&priority) == SCHED_RR && priority == CEILING + 1);
    pawl_sift_drop_write(&lock);
    must(scheduling(&priority) == SCHED_RR && priority == CEILING + 1);
    return NULL;
}

/* The kernel gives a thread that is real-time no longer the default slack, not the one it had. */
TEST_CASE(a_writer_that_comes_back_has_its_timer_slack)
{
    enum { OWN = 123456 }; /* nanoseconds */
    const int before = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    must(prctl(PR_SET_TIMERSLACK, OWN, 0, 0, 0) == 0);
    if (!may_be_raised())
        skip();
    assert_int_equal(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), OWN); /* init tries it */
    pawl_sift_take_write(&lock);
    pawl_sift_drop_write(&lock);
    assert_int_equal(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), OWN);
    must(prctl(PR_SET_TIMERSLACK, before, 0, 0, 0) == 0);
}

TEST_CASE(a_writer_that_stands_higher_is_left_there)
{
    if (!may_be_raised())
        return;
    test_elsewhere(write_from_above, NULL);
    pawl_sift_destroy(&lock);
}

TEST_CASE(a_try_that_fails_comes_back_too)
{
    int priority;
    if (!may_be_raised())
        return;
    pawl_sift_take_read(&lock, PAWL_SIFT_REALTIME);
    assert_false(pawl_sift_try_write(&lock));
    assert_int_equal(scheduling(&priority), SCHED_OTHER);
    assert_false(pawl_sift_take_write_until(&lock, 1));
    assert_int_equal(scheduling(&priority), SCHED_OTHER);
    pawl_sift_drop_read(&lock, PAWL_SIFT_REALTIME);
    pawl_sift_destroy(&lock);
}

/* ---- Lending --------------------------------------------------------------------------------- */

static uint32_t writer_number; /* of the thread, for the kernel */

/* The priority that the kernel uses for the thread: field 18 of its stat, less than 0 when real
 * time, lent or own. */
static long kernel_priority(void)
{
    char text[1024];
    snprintf(text, sizeof text, "/proc/self/task/%u/stat",
             (unsigned)pawl_load_relaxed32(&writer_number));
    FILE *file = fopen(text, "r");
    must(file != NULL);
    size_t length = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    text[length] = 0;
    char *field = strrchr(text, ')') + 1; /* behind field 2 */
    for (unsigned i = 0; i < 15; i++)
        field = strchr(field + 1, ' ');
    return strtol(field, NULL, 10);
}

static uint32_t holds, may_drop;

/* It sleeps until it may drop: with a priority that was lent to it, it would let nobody else run on
 * a single CPU. */
static void *hold_write(void *unused)
{
    const struct timespec nap = {0, 1000000};
    pawl_sift_take_write(&lock);
    pawl_store_relaxed32(&writer_number, pawl_load_relaxed32(&lock.gate) & 0x3fffffff);
    pawl_store_relaxed32(&holds, 1);
    while (pawl_load_relaxed32(&may_drop) == 0)
        nanosleep(&nap, NULL);
    pawl_sift_drop_write(&lock);
    return NULL;
}

static void *read_in_realtime(void *unused)
{
    struct sched_param param;
    param.sched_priority = CEILING;
    must(pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) == 0);
    pawl_sift_take_read(&lock, PAWL_SIFT_REALTIME);
    pawl_sift_drop_read(&lock, PAWL_SIFT_REALTIME);
    return NULL;
}

TEST_CASE(a_realtime_reader_that_waits_lends_the_writer_its_priority)
{
    const struct timespec nap = {0, 1000000};
    if (!may_be_raised())
        return;
    assert_int_equal(begin(PAWL_SIFT_READS(PAWL_SIFT_REALTIME), 0), 0);
    const pthread_t writer = test_start(hold_write, NULL);
    test_await(pawl_load_relaxed32(&holds) != 0);
    assert_true(kernel_priority() >= 0);
    const pthread_t reader = test_start(read_in_realtime, NULL);
    while (kernel_priority() != -1 - CEILING)
        nanosleep(&nap, NULL);
    pawl_store_relaxed32(&may_drop, 1);
    test_join(reader);
    test_join(writer);
    assert_int_equal(lock.gate, 0);
    pawl_sift_destroy(&lock);
}

TEST_CASE(a_waiting_realtime_reader_keeps_its_deadline)
{
    struct timespec now;
    pawl_store_relaxed32(&holds, 0);
    pawl_store_relaxed32(&may_drop, 0);
    assert_int_equal(begin(PAWL_SIFT_READS(PAWL_SIFT_REALTIME), 0), 0);
    const pthread_t writer = test_start(hold_write, NULL);
    test_await(pawl_load_relaxed32(&holds) != 0);
    must(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    assert_false(pawl_sift_take_read_until(&lock, PAWL_SIFT_REALTIME,
                                           (uint64_t)now.tv_sec * 1000000000u +
                                               (uint64_t)now.tv_nsec + 2000000));
    assert_false(pawl_sift_try_read(&lock, PAWL_SIFT_REALTIME));
    pawl_store_relaxed32(&may_drop, 1);
    test_join(writer);
    assert_true(pawl_sift_try_read(&lock, PAWL_SIFT_REALTIME));
    pawl_sift_drop_read(&lock, PAWL_SIFT_REALTIME);
    pawl_sift_destroy(&lock);
}

TEST_MAIN()
