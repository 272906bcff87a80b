/* SPDX-License-Identifier: MIT */
/*
 * Locks in the life of a program: many threads that use every call, forks, signals, cancellation,
 * exits, a thousand threads, a million locks. With the C library's locks and with the preload
 * library in front.
 */
#include "actors.h"

/* ---- Every call by many threads -------------------------------------------------------------- */

enum { LOCKS = 4, WORKERS = 8 };

static struct {
    pthread_rwlock_t lock;
    int a, b; /* equal, unless a writer is in */
    uint64_t writes;
} shared[LOCKS];
static uint64_t writes[WORKERS];
static double until;

static void look(unsigned i)
{
    must(__atomic_load_n(&shared[i].a, __ATOMIC_RELAXED) ==
         __atomic_load_n(&shared[i].b, __ATOMIC_RELAXED));
}

static void change(unsigned i, unsigned worker)
{
    look(i);
    __atomic_store_n(&shared[i].a, shared[i].a + 1, __ATOMIC_RELAXED);
    if (shared[i].a % 8 == 0)
        sched_yield();
    __atomic_store_n(&shared[i].b, shared[i].b + 1, __ATOMIC_RELAXED);
    shared[i].writes++;
    writes[worker]++;
}

static int any_read(pthread_rwlock_t *l, unsigned how)
{
    const struct timespec real = time_in(CLOCK_REALTIME, (long)(how % 3));
    const struct timespec monotonic = time_in(CLOCK_MONOTONIC, (long)(how % 3));
    switch (how % 5) {
    case 0: return pthread_rwlock_tryrdlock(l);
    case 1: return pthread_rwlock_timedrdlock(l, &real);
    case 2: return pthread_rwlock_clockrdlock(l, CLOCK_MONOTONIC, &monotonic);
    default: return pthread_rwlock_rdlock(l);
    }
}

static int any_write(pthread_rwlock_t *l, unsigned how)
{
    const struct timespec real = time_in(CLOCK_REALTIME, (long)(how % 3));
    const struct timespec monotonic = time_in(CLOCK_MONOTONIC, (long)(how % 3));
    switch (how % 5) {
    case 0: return pthread_rwlock_trywrlock(l);
    case 1: return pthread_rwlock_timedwrlock(l, &real);
    case 2: return pthread_rwlock_clockwrlock(l, CLOCK_MONOTONIC, &monotonic);
    default: return pthread_rwlock_wrlock(l);
    }
}

static bool granted(int result)
{
    must(result == 0 || result == EBUSY || result == ETIMEDOUT);
    return result == 0;
}

/* A reader that reads again, sometimes under a second lock of a higher number. */
static void read_some(unsigned i, uint64_t *random)
{
    const unsigned depth = test_random_below(random, 3);
    unsigned again = 0, d;
    bool other = false;
    if (!granted(any_read(&shared[i].lock, test_random_below(random, 60))))
        return;
    for (d = 0; d < depth; d++)
        again += granted(any_read(&shared[i].lock, test_random_below(random, 60)));
    if (i + 1 < LOCKS)
        other = granted(pthread_rwlock_tryrdlock(&shared[i + 1].lock));
    look(i);
    if (other) {
        look(i + 1);
        must(pthread_rwlock_unlock(&shared[i + 1].lock) == 0);
    }
    while (again-- > 0)
        must(pthread_rwlock_unlock(&shared[i].lock) == 0);
    look(i);
    must(pthread_rwlock_unlock(&shared[i].lock) == 0);
}

static void work(void *unused, unsigned worker)
{
    uint64_t random = test_seed() + worker;
    while (test_now() < until) {
        const unsigned i = test_random_below(&random, LOCKS);
        if (test_random_below(&random, 4) != 0) {
            read_some(i, &random);
        } else if (granted(any_write(&shared[i].lock, test_random_below(&random, 60)))) {
            change(i, worker);
            must(pthread_rwlock_unlock(&shared[i].lock) == 0);
        }
    }
}

TEST_CASE(many_threads_use_every_call)
{
    uint64_t all = 0, counted = 0;
    /* Of the default kind only: readers read again, which the writers' kind forbids. */
    memset(shared, 0, sizeof shared);
    memset(writes, 0, sizeof writes);
    until = test_now() + test_seconds(2);
    test_threads(WORKERS, work, NULL);
    for (unsigned i = 0; i < LOCKS; i++) {
        look(i);
        all += shared[i].writes;
        assert_int_equal(pthread_rwlock_trywrlock(&shared[i].lock), 0);
        assert_int_equal(pthread_rwlock_unlock(&shared[i].lock), 0);
    }
    for (unsigned i = 0; i < WORKERS; i++)
        counted += writes[i];
    assert_true(all == counted && all != 0);
}

/* ---- A reader that reads again beside claims that come and go -------------------------------- */

/* T reads the lock, and reads it again:
 *   1. T finds the claim of a writer, U, and is about to pass it.
 *   2. U's deadline passes, and it takes its claim back.
 *   3. T looks whom it would pass: nobody. So it takes the usual way of a reader.
 *   4. Another writer, V, claims, before T looks at the lock once more.
 *   5. T waits behind V, and V for T's first read: for ever. */
static pthread_rwlock_t again;
static uint32_t readers_left;

static void read_again_or_write(void *unused, unsigned me)
{
    uint64_t random = test_seed() + me;
    while (me == 0 && test_now() < until) {
        must(pthread_rwlock_rdlock(&again) == 0);
        for (unsigned i = 0; i < 20; i++) {
            must(pthread_rwlock_rdlock(&again) == 0);
            must(pthread_rwlock_unlock(&again) == 0);
        }
        must(pthread_rwlock_unlock(&again) == 0);
    }
    if (me == 0)
        __atomic_store_n(&readers_left, 0, __ATOMIC_RELAXED);
    while (__atomic_load_n(&readers_left, __ATOMIC_RELAXED) != 0) {
        struct timespec soon = time_in(CLOCK_MONOTONIC, 0);
        soon.tv_nsec += (long)test_random_below(&random, 300);
        if (soon.tv_nsec >= 1000000000)
            soon.tv_sec++, soon.tv_nsec -= 1000000000;
        if (me == 1 ? pthread_rwlock_wrlock(&again) == 0
                    : granted(pthread_rwlock_clockwrlock(&again, CLOCK_MONOTONIC, &soon)))
            must(pthread_rwlock_unlock(&again) == 0);
    }
}

TEST_CASE(who_reads_again_never_waits_behind_a_writer)
{
    memset(&again, 0, sizeof again);
    until = test_now() + test_seconds(2);
    readers_left = 1;
    test_threads(4, read_again_or_write, NULL);
}

/* ---- A reader that waits for another reader -------------------------------------------------- */

/* With glibc's default kind this always goes on, and so with readers preferred:
 *   1. A writer is in. A reader sleeps.
 *   2. The writer leaves, and another reader enters.
 *   3. The next writer claims the lock. The first reader finds the claim, and must pass it.
 *   4. The second one unlocks when the first has read. */
static pthread_rwlock_t needed;
static sem_t wanted, had;
static uint32_t rounds_left;

static void read_for_one_another(void *unused, unsigned me)
{
    while (__atomic_load_n(&rounds_left, __ATOMIC_RELAXED) != 0) {
        if (me == 0) {
            must(sem_post(&wanted) == 0 && pthread_rwlock_rdlock(&needed) == 0);
            while (sem_wait(&had) != 0)
                continue;
            __atomic_store_n(&rounds_left, rounds_left - 1, __ATOMIC_RELAXED);
        } else if (me == 1) {
            while (sem_wait(&wanted) != 0)
                continue;
            must(pthread_rwlock_rdlock(&needed) == 0);
        } else {
            must(pthread_rwlock_wrlock(&needed) == 0);
        }
        must(pthread_rwlock_unlock(&needed) == 0);
        if (me == 1)
            must(sem_post(&had) == 0);
    }
    must(sem_post(&wanted) == 0); /* for the one that waits for a last round */
}

TEST_CASE(readers_may_wait_for_one_another)
{
    if (!prefers_readers())
        return;
    assert_int_equal(sem_init(&wanted, 0, 0), 0);
    assert_int_equal(sem_init(&had, 0, 0), 0);
    rounds_left = 2000;
    test_threads(4, read_for_one_another, NULL);
    assert_int_equal(sem_destroy(&wanted), 0);
    assert_int_equal(sem_destroy(&had), 0);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static pthread_rwlock_t held_read, held_write, idle;

static void go_on_as_child(void *unused)
{
    must(pthread_rwlock_rdlock(&idle) == 0 && pthread_rwlock_unlock(&idle) == 0);
    must(pthread_rwlock_wrlock(&idle) == 0 && pthread_rwlock_unlock(&idle) == 0);
    must(pthread_rwlock_unlock(&held_read) == 0);
    if (!is_pawl())
        return; /* glibc knows a writer by its thread number, and the child's is another */
    must(pthread_rwlock_trywrlock(&held_read) == 0 && pthread_rwlock_unlock(&held_read) == 0);
    must(pthread_rwlock_wrlock(&held_write) == EDEADLK);
    must(pthread_rwlock_unlock(&held_write) == 0);
    must(pthread_rwlock_trywrlock(&held_write) == 0 && pthread_rwlock_unlock(&held_write) == 0);
}

/* The child has what the forking thread held, and nobody waits there. */
TEST_CASE(a_child_goes_on_with_what_the_forking_thread_held)
{
    struct actor reader, writer;
    char said[1024];
    actor_start(&reader);
    actor_start(&writer);
    assert_int_equal(pthread_rwlock_rdlock(&held_read), 0);
    assert_int_equal(pthread_rwlock_wrlock(&held_write), 0);
    actor_begin(&writer, pthread_rwlock_wrlock, &held_read);
    actor_begin(&reader, pthread_rwlock_rdlock, &held_write);
    assert_true(actor_waits(&writer) && actor_waits(&reader));
    int status = test_in_child(go_on_as_child, NULL, said, sizeof said);
    if (status != 0)
        fail_msg("the child ended with %#x: %s", (unsigned)status, said);
    assert_int_equal(pthread_rwlock_unlock(&held_read), 0);
    assert_int_equal(pthread_rwlock_unlock(&held_write), 0);
    assert_int_equal(actor_result(&writer), 0);
    assert_int_equal(actor_result(&reader), 0);
    assert_int_equal(actor_do(&writer, pthread_rwlock_unlock, &held_read), 0);
    assert_int_equal(actor_do(&reader, pthread_rwlock_unlock, &held_write), 0);
    actor_end(&reader);
    actor_end(&writer);
}

/* ---- Signals and cancellation ---------------------------------------------------------------- */

static pthread_rwlock_t other;
static int handled;

static void handle(int number)
{
    /* A handler that tries, and one that locks what is free. */
    if (pthread_rwlock_tryrdlock(&other) == 0)
        (void)pthread_rwlock_unlock(&other);
    if (pthread_rwlock_wrlock(&other) == 0)
        (void)pthread_rwlock_unlock(&other);
    __atomic_store_n(&handled, handled + 1, __ATOMIC_RELEASE);
}

/* "If a signal is delivered to a thread waiting for a read-write lock, upon return from the signal
 * handler the thread resumes waiting for the lock as if it was not interrupted." */
TEST_CASE(a_waiting_thread_handles_signals_and_waits_on)
{
    static rwlock_call *const calls[] = {pthread_rwlock_rdlock, pthread_rwlock_wrlock};
    struct sigaction action, before;
    struct actor waiter;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    actor_start(&waiter);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_rwlock_wrlock(&idle), 0);
        actor_begin(&waiter, calls[i], &idle);
        for (int round = 0; round < 20; round++) {
            const int seen = __atomic_load_n(&handled, __ATOMIC_ACQUIRE);
            assert_true(actor_waits(&waiter));
            assert_int_equal(pthread_kill(waiter.id, SIGUSR1), 0);
            test_await(__atomic_load_n(&handled, __ATOMIC_ACQUIRE) != seen);
        }
        assert_true(actor_waits(&waiter));
        assert_int_equal(pthread_rwlock_unlock(&idle), 0);
        assert_int_equal(actor_result(&waiter), 0);
        assert_int_equal(actor_do(&waiter, pthread_rwlock_unlock, &idle), 0);
    }
    actor_end(&waiter);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

static int went_on;

static void *wait_and_go_on(void *unused)
{
    must(pthread_rwlock_wrlock(&idle) == 0);
    must(pthread_rwlock_unlock(&idle) == 0);
    __atomic_store_n(&went_on, 1, __ATOMIC_RELEASE);
    pthread_testcancel();
    return unused;
}

/* "pthread_rwlock_wrlock may be a cancellation point": it is none. */
TEST_CASE(a_waiting_thread_is_not_cancelled_inside)
{
    pthread_t thread;
    void *result = NULL;
    assert_int_equal(pthread_rwlock_rdlock(&idle), 0);
    assert_int_equal(pthread_create(&thread, NULL, wait_and_go_on, NULL), 0);
    assert_int_equal(pthread_cancel(thread), 0);
    sched_yield();
    assert_int_equal(pthread_rwlock_unlock(&idle), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_true(result == PTHREAD_CANCELED);
    assert_int_equal(__atomic_load_n(&went_on, __ATOMIC_ACQUIRE), 1);
    assert_int_equal(pthread_rwlock_trywrlock(&idle), 0);
    assert_int_equal(pthread_rwlock_unlock(&idle), 0);
}

/* ---- Exit ------------------------------------------------------------------------------------ */

static void lock_at_exit(void)
{
    must(pthread_rwlock_wrlock(&idle) == 0 && pthread_rwlock_unlock(&idle) == 0);
    must(pthread_rwlock_rdlock(&idle) == 0 && pthread_rwlock_unlock(&idle) == 0);
}

static void exit_with_locks(void *unused)
{
    must(atexit(lock_at_exit) == 0);
    exit(7);
}

TEST_CASE(functions_of_atexit_may_lock)
{
    char said[65536];
    const int status = test_in_child(exit_with_locks, NULL, said, sizeof said);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

__attribute__((constructor)) static void lock_before_main(void)
{
    lock_at_exit();
}

__attribute__((destructor)) static void lock_after_main(void)
{
    lock_at_exit();
}

/* ---- Many ------------------------------------------------------------------------------------ */

enum { THREADS = 1000 };

static pthread_rwlock_t crowd;
static uint64_t crowd_sum;

static void *one_of_many(void *opaque)
{
    const uint64_t n = (uint64_t)(uintptr_t)opaque;
    for (int round = 0; round < 5; round++) {
        must(pthread_rwlock_rdlock(&crowd) == 0);
        must(pthread_rwlock_unlock(&crowd) == 0);
        must(pthread_rwlock_wrlock(&crowd) == 0);
        crowd_sum += n;
        must(pthread_rwlock_unlock(&crowd) == 0);
    }
    return NULL;
}

TEST_CASE(a_thousand_threads_share_a_lock)
{
    static pthread_t threads[THREADS];
    pthread_attr_t small;
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, 65536), 0);
    assert_int_equal(pthread_rwlock_wrlock(&crowd), 0); /* until all are there */
    for (uint64_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], &small, one_of_many, (void *)(uintptr_t)i), 0);
    assert_int_equal(pthread_rwlock_unlock(&crowd), 0);
    for (uint64_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_true(crowd_sum == UINT64_C(5) * THREADS * (THREADS - 1) / 2);
    assert_int_equal(pthread_attr_destroy(&small), 0);
}

TEST_CASE(a_million_locks_need_no_memory_but_their_own)
{
    enum { HELD = 1000 };
    /* Where all locks have readers that scale, each write looks at the lines of all threads. */
    const size_t count = scales_readers() ? 100000 : 1000000;
    pthread_rwlock_t *const all = (pthread_rwlock_t *)calloc(count, sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pthread_rwlock_init(&all[i], NULL), 0);
        assert_int_equal(pthread_rwlock_rdlock(&all[i]), 0);
        if (i % HELD != 0)
            assert_int_equal(pthread_rwlock_unlock(&all[i]), 0);
    }
    for (size_t i = 0; i < count; i += HELD) /* a thousand that one thread reads at once */
        assert_int_equal(pthread_rwlock_unlock(&all[i]), 0);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pthread_rwlock_trywrlock(&all[i]), 0);
        assert_int_equal(pthread_rwlock_unlock(&all[i]), 0);
        assert_int_equal(pthread_rwlock_destroy(&all[i]), 0);
    }
    free(all);
}

/* Undefined by POSIX, and no error with glibc: nothing hangs or ends. */
TEST_CASE(a_lock_that_is_held_can_be_destroyed_and_made_anew)
{
    pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
    struct actor waiter;
    assert_int_equal(pthread_rwlock_rdlock(&l), 0);
    assert_int_equal(pthread_rwlock_destroy(&l), 0);
    assert_int_equal(pthread_rwlock_init(&l, NULL), 0);
    actor_start(&waiter);
    assert_int_equal(actor_do(&waiter, pthread_rwlock_wrlock, &l), 0);
    assert_int_equal(pthread_rwlock_tryrdlock(&l), EBUSY);
    assert_int_equal(actor_do(&waiter, pthread_rwlock_unlock, &l), 0);
    actor_end(&waiter);
    assert_int_equal(pthread_rwlock_wrlock(&l), 0);
    assert_int_equal(pthread_rwlock_unlock(&l), 0);
}

TEST_MAIN()
