/* SPDX-License-Identifier: MIT */
/*
 * What POSIX.1 says of read-write locks, page by page, a test for each sentence that a program can
 * observe. The same program runs with the C library's locks and with the preload library in front
 * (tests/tests.cmake, kind shim). Where the two differ, the test says which of them does what, and
 * doc/shim.md has the reason.
 */
#include "conformance.h"

/* ---- pthread_rwlock_init, pthread_rwlock_destroy --------------------------------------------- */

/* "If attr is NULL, the default attributes are used ... the state becomes initialized and
 * unlocked." */
ACTOR_CASE(init_without_attributes_makes_an_unlocked_lock)
{
    pthread_rwlock_t l;
    memset(&l, 0xa5, sizeof l);
    assert_int_equal(pthread_rwlock_init(&l, NULL), 0);
    assert_free(&l);
    assert_int_equal(pthread_rwlock_destroy(&l), 0);
}

/* "A destroyed read-write lock object can be reinitialized using pthread_rwlock_init()." */
ACTOR_CASE(a_destroyed_lock_can_be_made_anew)
{
    pthread_rwlock_t l;
    for (int round = 0; round < 3; round++) {
        assert_int_equal(pthread_rwlock_init(&l, NULL), 0);
        assert_int_equal(pthread_rwlock_wrlock(&l), 0);
        assert_int_equal(pthread_rwlock_unlock(&l), 0);
        assert_int_equal(pthread_rwlock_destroy(&l), 0);
    }
}

/* "In cases where default attributes are appropriate, PTHREAD_RWLOCK_INITIALIZER can be used ...
 * the effect shall be equivalent to dynamic initialization with attr NULL." glibc has two more. */
ACTOR_CASE(static_initialisers_make_unlocked_locks)
{
    static pthread_rwlock_t plain = PTHREAD_RWLOCK_INITIALIZER;
    static pthread_rwlock_t writers = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
    static pthread_rwlock_t zeroed;
    pthread_rwlock_t *const all[] = {&plain, &writers, &zeroed};
    for (size_t i = 0; i < 3; i++) {
        assert_free(all[i]);
        assert_int_equal(pthread_rwlock_rdlock(all[i]), 0);
        assert_int_equal(actor_do(&one, pthread_rwlock_trywrlock, all[i]), EBUSY);
        assert_int_equal(pthread_rwlock_unlock(all[i]), 0);
        assert_free(all[i]);
    }
}

/* "A read-write lock that uses the writer initialiser holds newcomers back", as glibc says of it:
 * the static one and the attribute mean the same. */
ACTOR_CASE(the_static_writer_initialiser_prefers_writers)
{
    static pthread_rwlock_t l = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
    assert_int_equal(pthread_rwlock_rdlock(&l), 0);
    actor_begin(&one, pthread_rwlock_wrlock, &l);
    assert_true(actor_waits(&one));
    actor_begin(&two, pthread_rwlock_rdlock, &l);
    assert_true(actor_waits(&two));
    assert_int_equal(pthread_rwlock_unlock(&l), 0);
    assert_int_equal(actor_result(&one), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &l), 0);
    assert_int_equal(actor_result(&two), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &l), 0);
    assert_free(&l);
}

/* "After a read-write lock attributes object has been used to initialize one or more locks, any
 * function affecting it (including destruction) shall not affect any previously initialized
 * locks." */
ACTOR_CASE(attributes_may_go_before_their_locks)
{
    const int kinds[] = {PTHREAD_RWLOCK_PREFER_READER_NP, PTHREAD_RWLOCK_PREFER_WRITER_NP,
                         PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP};
    pthread_rwlock_t l;
    for (size_t i = 0; i < 3; i++) {
        fresh(&l, kinds[i]);
        assert_int_equal(pthread_rwlock_rdlock(&l), 0);
        assert_int_equal(actor_do(&one, pthread_rwlock_tryrdlock, &l), 0);
        assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &l), 0);
        assert_int_equal(pthread_rwlock_unlock(&l), 0);
        assert_free(&l);
        assert_int_equal(pthread_rwlock_destroy(&l), 0);
    }
}

/* ---- pthread_rwlockattr_* -------------------------------------------------------------------- */

/* "The default value of the process-shared attribute shall be PTHREAD_PROCESS_PRIVATE." "EINVAL:
 * the new value is outside the range of legal values." */
ACTOR_CASE(attributes_have_their_defaults_and_refuse_others)
{
    pthread_rwlockattr_t attributes;
    int value = -1;
    assert_int_equal(pthread_rwlockattr_init(&attributes), 0);
    assert_int_equal(pthread_rwlockattr_getpshared(&attributes, &value), 0);
    assert_int_equal(value, PTHREAD_PROCESS_PRIVATE);
    assert_int_equal(pthread_rwlockattr_getkind_np(&attributes, &value), 0);
    assert_int_equal(value, PTHREAD_RWLOCK_DEFAULT_NP);
    assert_int_equal(pthread_rwlockattr_setpshared(&attributes, 77), EINVAL);
    assert_int_equal(pthread_rwlockattr_setkind_np(&attributes, 77), EINVAL);
    assert_int_equal(pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
    assert_int_equal(pthread_rwlockattr_getpshared(&attributes, &value), 0);
    assert_int_equal(value, PTHREAD_PROCESS_SHARED);
    assert_int_equal(pthread_rwlockattr_destroy(&attributes), 0);
}

struct shared_page {
    pthread_rwlock_t lock;
    int written;
};

static struct shared_page *page;

static void write_in_child(void *unused)
{
    must(pthread_rwlock_wrlock(&page->lock) == 0);
    page->written++;
    must(pthread_rwlock_unlock(&page->lock) == 0);
    must(pthread_rwlock_rdlock(&page->lock) == 0);
    must(pthread_rwlock_tryrdlock(&page->lock) == 0);
    must(pthread_rwlock_trywrlock(&page->lock) == EBUSY);
    must(pthread_rwlock_unlock(&page->lock) == 0 && pthread_rwlock_unlock(&page->lock) == 0);
}

/* "PTHREAD_PROCESS_SHARED permits a read-write lock to be operated upon by any thread that has
 * access to the memory where it is allocated, even if that memory is shared by processes." */
ACTOR_CASE(a_process_shared_lock_serves_two_processes)
{
    const struct timespec past = {1, 0}, bad = {0, -1};
    pthread_rwlockattr_t attributes;
    char said[1024];
    page = (struct shared_page *)mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    assert_int_equal(pthread_rwlockattr_init(&attributes), 0);
    assert_int_equal(pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
    assert_int_equal(pthread_rwlock_init(&page->lock, &attributes), 0);
    int status = test_in_child(write_in_child, NULL, said, sizeof said);
    if (status != 0)
        fail_msg("the child ended with %#x: %s", (unsigned)status, said);
    assert_int_equal(pthread_rwlock_rdlock(&page->lock), 0);
    assert_int_equal(page->written, 1);
    assert_int_equal(pthread_rwlock_timedwrlock(&page->lock, &past), ETIMEDOUT);
    assert_int_equal(pthread_rwlock_clockwrlock(&page->lock, CLOCK_MONOTONIC, &past), ETIMEDOUT);
    assert_int_equal(pthread_rwlock_timedrdlock(&page->lock, &bad), EINVAL);
    assert_int_equal(pthread_rwlock_clockrdlock(&page->lock, CLOCK_MONOTONIC, &past), 0);
    assert_int_equal(pthread_rwlock_unlock(&page->lock), 0);
    assert_int_equal(pthread_rwlock_unlock(&page->lock), 0);
    assert_free(&page->lock);
    assert_int_equal(pthread_rwlock_destroy(&page->lock), 0);
    assert_int_equal(munmap(page, sizeof *page), 0);
    assert_int_equal(pthread_rwlockattr_destroy(&attributes), 0);
}

/* ---- pthread_rwlock_rdlock, pthread_rwlock_tryrdlock ----------------------------------------- */

/* "The calling thread acquires the read lock if a writer does not hold the lock and there are no
 * writers blocked on the lock." */
ACTOR_CASE(readers_read_together)
{
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_rdlock, &lock), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_tryrdlock, &lock), 0);
    assert_int_equal(actor_do(&three, pthread_rwlock_trywrlock, &lock), EBUSY);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
}

/* "... if the read lock is not acquired, the calling thread shall block until it can acquire the
 * lock." */
ACTOR_CASE(a_reader_waits_for_the_writer)
{
    assert_int_equal(pthread_rwlock_wrlock(&lock), 0);
    actor_begin(&one, pthread_rwlock_rdlock, &lock);
    actor_begin(&two, pthread_rwlock_rdlock, &lock);
    assert_true(actor_waits(&one));
    assert_true(actor_waits(&two));
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
    assert_int_equal(actor_result(&one), 0);
    assert_int_equal(actor_result(&two), 0); /* both, for readers read together */
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
}

/* "A thread may hold multiple concurrent read locks (that is, successfully call rdlock n times). If
 * so, the application shall ensure that the thread performs matching unlocks (n times)." */
ACTOR_CASE(a_thread_reads_n_times_and_unlocks_n_times)
{
    enum { TIMES = 40 };
    for (int i = 0; i < TIMES; i++)
        assert_int_equal((i % 2 ? pthread_rwlock_tryrdlock : pthread_rwlock_rdlock)(&lock), 0);
    for (int i = 0; i < TIMES; i++) {
        assert_int_equal(actor_do(&one, pthread_rwlock_trywrlock, &lock), EBUSY);
        assert_int_equal(pthread_rwlock_unlock(&lock), 0);
    }
}

/* "EDEADLK: the current thread already owns the read-write lock for writing." */
ACTOR_CASE(a_writer_that_reads_gets_edeadlk)
{
    const struct timespec soon = time_in(CLOCK_REALTIME, 20000);
    assert_int_equal(pthread_rwlock_wrlock(&lock), 0);
    assert_int_equal(pthread_rwlock_rdlock(&lock), EDEADLK);
    assert_int_equal(pthread_rwlock_timedrdlock(&lock, &soon), EDEADLK);
    assert_int_equal(pthread_rwlock_tryrdlock(&lock), EBUSY);
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
}

/* A thread that reads, and a writer that waits for it: the thread may read again, or no thread
 * could ever go on. So glibc does for its default kind. */
ACTOR_CASE(a_reader_reads_again_beside_a_waiting_writer)
{
    const int kinds[] = {PTHREAD_RWLOCK_PREFER_READER_NP, PTHREAD_RWLOCK_PREFER_WRITER_NP};
    const struct timespec later = time_in(CLOCK_REALTIME, 200000);
    pthread_rwlock_t l;
    for (size_t i = 0; i < 2; i++) {
        fresh(&l, kinds[i]);
        assert_int_equal(pthread_rwlock_rdlock(&l), 0);
        actor_begin(&one, pthread_rwlock_wrlock, &l);
        assert_true(actor_waits(&one));
        assert_int_equal(pthread_rwlock_rdlock(&l), 0);
        assert_int_equal(pthread_rwlock_tryrdlock(&l), 0);
        assert_int_equal(pthread_rwlock_timedrdlock(&l, &later), 0);
        assert_int_equal(pthread_rwlock_unlock(&l), 0);
        assert_int_equal(pthread_rwlock_unlock(&l), 0);
        assert_int_equal(pthread_rwlock_unlock(&l), 0);
        assert_true(actor_waits(&one)); /* one read is still there */
        assert_int_equal(pthread_rwlock_unlock(&l), 0);
        assert_int_equal(actor_result(&one), 0);
        assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &l), 0);
        assert_int_equal(pthread_rwlock_destroy(&l), 0);
    }
}

/* The thread reads many other locks as well, more than it remembers (shim/record.h): it passes. */
ACTOR_CASE(a_reader_of_many_locks_reads_again_too)
{
    static pthread_rwlock_t others[64];
    memset(others, 0, sizeof others);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(pthread_rwlock_rdlock(&others[i]), 0);
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    actor_begin(&one, pthread_rwlock_wrlock, &lock);
    assert_true(actor_waits(&one));
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    for (size_t i = 0; i < 64; i++) /* in the order of locking */
        assert_int_equal(pthread_rwlock_unlock(&others[i]), 0);
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
    assert_int_equal(actor_result(&one), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    for (size_t i = 0; i < 64; i++)
        assert_free(&others[i]);
}

/* Whether another reader passes a waiting writer is left to the implementation: glibc's default
 * kind lets it, ours does not unless told to prefer readers. The writer kind never does. */
ACTOR_CASE(newcomers_pass_a_waiting_writer_only_where_readers_are_preferred)
{
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    actor_begin(&one, pthread_rwlock_wrlock, &lock);
    assert_true(actor_waits(&one));
    if (prefers_readers()) {
        assert_int_equal(actor_do(&two, pthread_rwlock_tryrdlock, &lock), 0);
        assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
        assert_int_equal(actor_do(&two, pthread_rwlock_rdlock, &lock), 0);
        assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
        assert_int_equal(pthread_rwlock_unlock(&lock), 0);
        assert_int_equal(actor_result(&one), 0);
    } else {
        assert_int_equal(actor_do(&two, pthread_rwlock_tryrdlock, &lock), EBUSY);
        actor_begin(&two, pthread_rwlock_rdlock, &lock);
        assert_true(actor_waits(&two));
        assert_int_equal(pthread_rwlock_unlock(&lock), 0);
        assert_int_equal(actor_result(&one), 0);
        assert_true(actor_waits(&two));
    }
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    if (!prefers_readers()) {
        assert_int_equal(actor_result(&two), 0);
        assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
    }
}

/* "pthread_rwlock_tryrdlock shall fail if the equivalent rdlock call would have blocked." */
ACTOR_CASE(a_try_to_read_never_waits)
{
    assert_int_equal(pthread_rwlock_wrlock(&lock), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_tryrdlock, &lock), EBUSY);
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_tryrdlock, &lock), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
}

/* ---- pthread_rwlock_wrlock, pthread_rwlock_trywrlock ----------------------------------------- */

/* "The calling thread acquires the write lock if no thread (reader or writer) holds the lock.
 * Otherwise the thread shall block until it can acquire the lock." */
ACTOR_CASE(a_writer_waits_for_readers_and_writers)
{
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    actor_begin(&one, pthread_rwlock_wrlock, &lock);
    assert_true(actor_waits(&one));
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
    assert_int_equal(actor_result(&one), 0);
    actor_begin(&two, pthread_rwlock_wrlock, &lock);
    assert_true(actor_waits(&two));
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(actor_result(&two), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
}

/* "EDEADLK: the current thread already owns the read-write lock for writing or reading." */
ACTOR_CASE(a_writer_that_writes_gets_edeadlk)
{
    const struct timespec soon = time_in(CLOCK_REALTIME, 20000);
    assert_int_equal(pthread_rwlock_wrlock(&lock), 0);
    assert_int_equal(pthread_rwlock_wrlock(&lock), EDEADLK);
    assert_int_equal(pthread_rwlock_timedwrlock(&lock, &soon), EDEADLK);
    assert_int_equal(pthread_rwlock_trywrlock(&lock), EBUSY);
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
    if (!is_pawl())
        return; /* glibc waits for itself when a reader wants to write */
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    assert_int_equal(pthread_rwlock_wrlock(&lock), EDEADLK);
    assert_int_equal(pthread_rwlock_timedwrlock(&lock, &soon), EDEADLK);
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
}

/* "pthread_rwlock_trywrlock shall fail if any thread currently holds rwlock for reading or
 * writing." */
ACTOR_CASE(a_try_to_write_fails_beside_anybody)
{
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    assert_int_equal(pthread_rwlock_trywrlock(&lock), EBUSY);
    assert_int_equal(actor_do(&one, pthread_rwlock_trywrlock, &lock), EBUSY);
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_trywrlock, &lock), 0);
    assert_int_equal(pthread_rwlock_trywrlock(&lock), EBUSY);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
}

/* ---- pthread_rwlock_unlock ------------------------------------------------------------------- */

/* "If there are other read locks currently held on this object, it remains in the read locked
 * state. If this function releases the last read lock, the object shall be put in the unlocked
 * state with no owners." */
ACTOR_CASE(the_last_unlock_of_a_reader_frees_the_lock)
{
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_rdlock, &lock), 0);
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
    assert_int_equal(pthread_rwlock_trywrlock(&lock), EBUSY);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    assert_free(&lock);
}

/* Undefined by POSIX, and good with glibc: a thread unlocks what another one has read. */
ACTOR_CASE(another_thread_may_unlock_what_a_reader_locked)
{
    assert_int_equal(actor_do(&one, pthread_rwlock_rdlock, &lock), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
    assert_free(&lock);
    /* The first thread still remembers a read, and must not take itself for a reader: not when it
     * wants to write beside a reader, and not beside a writer. */
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    actor_begin(&one, pthread_rwlock_wrlock, &lock);
    assert_true(actor_waits(&one));
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
    assert_int_equal(actor_result(&one), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(pthread_rwlock_wrlock(&lock), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_tryrdlock, &lock), EBUSY);
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
}

/* "Results are undefined if the read-write lock is not held by the calling thread." Ours says EPERM
 * where it can know. */
ACTOR_CASE(an_unlock_of_what_nobody_holds_gets_eperm)
{
    if (!is_pawl())
        return; /* glibc's lock is broken afterwards */
    assert_int_equal(pthread_rwlock_unlock(&lock), EPERM);
    assert_int_equal(actor_do(&one, pthread_rwlock_wrlock, &lock), 0);
    assert_int_equal(pthread_rwlock_unlock(&lock), EPERM);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
}

TEST_MAIN()
