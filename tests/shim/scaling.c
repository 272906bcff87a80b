/* SPDX-License-Identifier: MIT */
/*
 * Readers that scale: whether reads are in entries of their threads, which leave no R in the word,
 * and what then still holds. In the mode shared-word no read is in an entry, whatever PAWL_BIAS
 * says.
 */
#include "conformance.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include "../../tool/shim/layout.h"
#include "../../tool/shim/life.h"
#include "support/interrupting.h"

static shim_word readers_in_word(void)
{
    return shim_readers(shim_look(shim_lock_of(&lock)));
}

/* A thread's first drop gives the lock its bit. */
static void read_once(struct actor *a)
{
    assert_int_equal(actor_do(a, pthread_rwlock_rdlock, &lock), 0);
    assert_int_equal(actor_do(a, pthread_rwlock_unlock, &lock), 0);
}

ACTOR_CASE(reads_leave_no_r_in_the_word_where_they_scale)
{
    read_once(&one);
    read_once(&two);
    assert_int_equal(actor_do(&one, pthread_rwlock_rdlock, &lock), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_tryrdlock, &lock), 0);
    assert_int_equal(readers_in_word(), scales_readers() ? 0 : 2);
    assert_int_equal(actor_do(&three, pthread_rwlock_trywrlock, &lock), EBUSY);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(actor_do(&three, pthread_rwlock_trywrlock, &lock), EBUSY);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
}

/* Its first read is in an entry, so the word has no R but perhaps the writer's. */
ACTOR_CASE(a_reader_in_an_entry_reads_again_beside_a_waiting_writer)
{
    read_once(&two);
    assert_int_equal(actor_do(&two, pthread_rwlock_rdlock, &lock), 0);
    actor_begin(&one, pthread_rwlock_wrlock, &lock);
    assert_true(actor_waits(&one));
    assert_int_equal(actor_do(&three, pthread_rwlock_tryrdlock, &lock), EBUSY);
    assert_int_equal(actor_do(&two, pthread_rwlock_rdlock, &lock), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_tryrdlock, &lock), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
    assert_true(actor_waits(&one));
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(actor_result(&one), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
}

ACTOR_CASE(a_reader_in_an_entry_that_wants_to_write_gets_edeadlk)
{
    read_once(&two);
    assert_int_equal(actor_do(&two, pthread_rwlock_rdlock, &lock), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_wrlock, &lock), EDEADLK);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), EPERM);
}

/* More locks than entries, and more than the thread remembers: in any order of unlocking. */
ACTOR_CASE(a_thread_reads_many_locks_at_once)
{
    static pthread_rwlock_t many[40];
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < 40; i++)
            assert_int_equal(pthread_rwlock_rdlock(&many[i]), 0);
        for (size_t i = 0; i < 40; i++) {
            assert_int_equal(actor_do(&one, pthread_rwlock_trywrlock, &many[i]), EBUSY);
            assert_int_equal(pthread_rwlock_unlock(&many[i]), 0);
            assert_int_equal(actor_do(&one, pthread_rwlock_trywrlock, &many[i]), 0);
            assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &many[i]), 0);
        }
    }
}

/* glibc leaves the lock read until some thread unlocks it. */
ACTOR_CASE(a_thread_that_ends_while_it_reads_leaves_the_lock_read)
{
    struct actor gone;
    actor_start(&gone);
    read_once(&gone);
    assert_int_equal(actor_do(&gone, pthread_rwlock_rdlock, &lock), 0);
    actor_end(&gone);
    assert_int_equal(actor_do(&one, pthread_rwlock_trywrlock, &lock), EBUSY);
    assert_int_equal(actor_do(&one, pthread_rwlock_tryrdlock, &lock), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_trywrlock, &lock), EBUSY);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
}

/* Two threads read, and a third one unlocks:
 *   1  It remembers no read. It frees an entry of one of them, which may be the wrong one.
 *   2  That reader unlocks, and does not find its entry. It must end the other read, and not
 *      subtract from the word, which has none. */
ACTOR_CASE(a_read_that_another_thread_unlocks_may_be_any)
{
    struct actor *const readers[] = {&one, &two};
    for (size_t i = 0; i < 2; i++) {
        read_once(&one);
        read_once(&two);
        assert_int_equal(actor_do(&one, pthread_rwlock_rdlock, &lock), 0);
        assert_int_equal(actor_do(&two, pthread_rwlock_rdlock, &lock), 0);
        assert_int_equal(actor_do(&three, pthread_rwlock_unlock, &lock), 0);
        assert_int_equal(actor_do(&three, pthread_rwlock_trywrlock, &lock), EBUSY);
        assert_int_equal(actor_do(readers[i], pthread_rwlock_unlock, &lock), 0);
        assert_free(&lock);
        assert_int_equal(actor_do(&three, pthread_rwlock_unlock, &lock), EPERM);
        memset(&lock, 0, sizeof lock);
    }
}

/* One read is in the word, the other in an entry: each unlock ends one of them, in any order. */
ACTOR_CASE(a_read_in_the_word_and_one_in_an_entry_end_in_any_order)
{
    for (unsigned order = 0; order < 8; order++) {
        struct actor fresh_one;
        actor_start(&fresh_one); /* a thread's first read is in the word */
        read_once(&two);
        assert_int_equal(actor_do(&fresh_one, pthread_rwlock_rdlock, &lock), 0);
        assert_int_equal(actor_do(&two, pthread_rwlock_rdlock, &lock), 0);
        if (order & 4)
            assert_int_equal(actor_do(&two, pthread_rwlock_rdlock, &lock), 0);
        assert_int_equal(actor_do(order & 1 ? &three : &two, pthread_rwlock_unlock, &lock), 0);
        assert_int_equal(actor_do(&one, pthread_rwlock_trywrlock, &lock), EBUSY);
        if (order & 4)
            assert_int_equal(actor_do(&three, pthread_rwlock_unlock, &lock), 0);
        assert_int_equal(actor_do(order & 2 ? &three : &fresh_one, pthread_rwlock_unlock, &lock),
                         0);
        assert_free(&lock);
        actor_end(&fresh_one);
        memset(&lock, 0, sizeof lock);
    }
}

/* A writer sleeps until the reader's entry is free, and another thread frees it. */
ACTOR_CASE(an_unlock_by_another_thread_wakes_the_writer)
{
    read_once(&two);
    assert_int_equal(actor_do(&two, pthread_rwlock_rdlock, &lock), 0);
    actor_begin(&one, pthread_rwlock_wrlock, &lock);
    assert_true(actor_waits(&one));
    assert_int_equal(actor_do(&three, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(actor_result(&one), 0);
    /* What the reader remembers lets it in beside no writer. */
    assert_int_equal(actor_do(&two, pthread_rwlock_tryrdlock, &lock), EBUSY);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    assert_free(&lock);
}

static void unlock_in_child(void *unused)
{
    must(pthread_rwlock_unlock(&lock) == 0);
    must(pthread_rwlock_trywrlock(&lock) == EBUSY);
    must(pthread_rwlock_unlock(&lock) == 0);
    must(pthread_rwlock_trywrlock(&lock) == 0);
}

ACTOR_CASE(a_child_unlocks_what_other_threads_of_the_parent_read)
{
    char said[1024];
    read_once(&one);
    read_once(&two);
    assert_int_equal(actor_do(&one, pthread_rwlock_rdlock, &lock), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_rdlock, &lock), 0);
    assert_int_equal(test_in_child(unlock_in_child, NULL, said, sizeof said), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
}

/* Somebody else's entry stayed, as below. */
ACTOR_CASE(a_lock_that_others_read_can_be_ended_by_a_call)
{
    static rwlock_call *const ends[] = {destroy, make_anew};
    const pthread_rwlock_t zero = PTHREAD_RWLOCK_INITIALIZER;
    struct actor reader;
    for (size_t i = 0; i < 2; i++) {
        actor_start(&reader);
        read_once(&reader);
        assert_int_equal(actor_do(&reader, pthread_rwlock_rdlock, &lock), 0);
        assert_int_equal(actor_do(&one, ends[i], &lock), 0);
        memset(&lock, 0, sizeof lock);
        read_once(&one);
        assert_free(&lock);
        memset(&lock, 0, sizeof lock);
        actor_end(&reader);
        assert_memory_equal(&lock, &zero, sizeof lock);
    }
}

/* ---- Two unlocks at the same time ------------------------------------------------------------ */

#if defined(__linux__) && defined(__x86_64__)

/* The main thread and another one read. A third one unlocks while the main thread does, or reads:
 *   1  The main thread finds its entry, and is about to free it, or has filled it in vain.
 *   2  The third thread frees that entry.
 *   3  The main thread frees it once more. So one entry stays for ever. */
static bool another_has;

static void two_threads_read(void)
{
    another_has = false;
    memset(&lock, 0, sizeof lock);
    must(pthread_rwlock_rdlock(&lock) == 0 && pthread_rwlock_unlock(&lock) == 0);
    read_once(&two);
    must(pthread_rwlock_rdlock(&lock) == 0);
    must(actor_do(&two, pthread_rwlock_rdlock, &lock) == 0);
}

static void unlock_once(void)
{
    must(pthread_rwlock_unlock(&lock) == 0);
}

static void read_again_and_unlock(void)
{
    must(pthread_rwlock_rdlock(&lock) == 0);
    must(pthread_rwlock_unlock(&lock) == 0);
}

static void another_one_unlocks(void)
{
    if (!another_has)
        must(actor_do(&three, pthread_rwlock_unlock, &lock) == 0);
    another_has = true;
}

static void nobody_reads(void)
{
    another_one_unlocks();
    must(actor_do(&three, pthread_rwlock_trywrlock, &lock) == 0);
    must(actor_do(&three, pthread_rwlock_unlock, &lock) == 0);
}

static void one_reads(void)
{
    another_one_unlocks();
    must(actor_do(&three, pthread_rwlock_trywrlock, &lock) == EBUSY);
    must(pthread_rwlock_unlock(&lock) == 0);
    nobody_reads();
}

ACTOR_CASE(two_unlocks_at_the_same_time_end_two_reads)
{
    read_once(&one);
    assert_true(
        interrupt_everywhere(two_threads_read, unlock_once, another_one_unlocks, nobody_reads) > 5);
    assert_true(interrupt_everywhere(two_threads_read, read_again_and_unlock, another_one_unlocks,
                                     one_reads) > 5);
    memset(&lock, 0, sizeof lock);
}

#else

ACTOR_CASE(two_unlocks_at_the_same_time_end_two_reads)
{
    skip(); /* it needs the trap flag of x86-64 */
}

#endif

/* The entry stayed:
 *   1  A thread reads a lock by an entry, and destroys it, or makes it anew.
 *   2  The memory becomes another object, or the new lock gets readers that scale.
 *   3  The thread ends, and adds its R to the object. Or a writer waits for its entry, for ever. */
ACTOR_CASE(a_thread_that_ends_a_lock_which_it_reads_leaves_no_entry)
{
    static rwlock_call *const ends[] = {destroy, make_anew};
    const pthread_rwlock_t zero = PTHREAD_RWLOCK_INITIALIZER;
    struct actor gone;
    for (size_t i = 0; i < 2; i++) {
        actor_start(&gone);
        read_once(&gone);
        assert_int_equal(actor_do(&gone, pthread_rwlock_rdlock, &lock), 0);
        assert_int_equal(actor_do(&gone, pthread_rwlock_rdlock, &lock), 0);
        assert_int_equal(actor_do(&gone, ends[i], &lock), 0);
        memset(&lock, 0, sizeof lock);
        read_once(&one);
        assert_int_equal(actor_do(&two, pthread_rwlock_trywrlock, &lock), 0);
        assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
        memset(&lock, 0, sizeof lock);
        actor_end(&gone);
        assert_memory_equal(&lock, &zero, sizeof lock);
    }
}

/* The memory ended without a call, and the entry stayed:
 *   1  A thread reads a lock by an entry.
 *   2  The memory becomes another lock, whose readers scale. Its writers waited for the entry.
 *   3  Or it becomes another object, and the thread ends. It added its R to the object. */
ACTOR_CASE(a_read_of_memory_that_is_no_lock_any_more_disturbs_nobody)
{
    const pthread_rwlock_t zero = PTHREAD_RWLOCK_INITIALIZER;
    struct actor gone;
    for (size_t i = 0; i < 2; i++) {
        actor_start(&gone);
        read_once(&gone);
        assert_int_equal(actor_do(&gone, pthread_rwlock_rdlock, &lock), 0);
        memset(&lock, 0, sizeof lock);
        if (i == 0) {
            read_once(&one);
            assert_int_equal(actor_do(&two, pthread_rwlock_trywrlock, &lock), 0);
            assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
            memset(&lock, 0, sizeof lock);
        }
        actor_end(&gone);
        assert_memory_equal(&lock, &zero, sizeof lock);
        read_once(&one);
        read_once(&two);
        assert_free(&lock);
        memset(&lock, 0, sizeof lock);
    }
}

/* The reader had to wait, for ever:
 *   1  Two threads read, by entries. The second one hands its read to a third thread.
 *   2  The third thread unlocks it, and frees the entry of the first.
 *   3  A writer waits for the other entry.
 *   4  The first thread reads again. It has no entry that says that it reads. */
ACTOR_CASE(a_reader_whose_entry_is_gone_reads_again_beside_a_waiting_writer)
{
    struct actor *const readers[] = {&one, &two};
    struct actor writer;
    for (size_t i = 0; i < 2; i++) {
        read_once(&one);
        read_once(&two);
        assert_int_equal(actor_do(&one, pthread_rwlock_rdlock, &lock), 0);
        assert_int_equal(actor_do(&two, pthread_rwlock_rdlock, &lock), 0);
        assert_int_equal(actor_do(&three, pthread_rwlock_unlock, &lock), 0);
        actor_start(&writer);
        actor_begin(&writer, pthread_rwlock_wrlock, &lock);
        assert_true(actor_waits(&writer));
        assert_int_equal(actor_do(readers[i], pthread_rwlock_tryrdlock, &lock), 0);
        assert_int_equal(actor_do(readers[i], pthread_rwlock_rdlock, &lock), 0);
        assert_int_equal(actor_do(readers[i], pthread_rwlock_unlock, &lock), 0);
        assert_int_equal(actor_do(readers[i], pthread_rwlock_unlock, &lock), 0);
        assert_true(actor_waits(&writer));
        assert_int_equal(actor_do(readers[i], pthread_rwlock_unlock, &lock), 0);
        assert_int_equal(actor_result(&writer), 0);
        assert_int_equal(actor_do(&writer, pthread_rwlock_unlock, &lock), 0);
        actor_end(&writer);
        memset(&lock, 0, sizeof lock);
    }
}

/* As read_once. */
static void begin_to_scale(struct actor *a, pthread_rwlock_t *locks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(actor_do(a, pthread_rwlock_rdlock, &locks[i]), 0);
        assert_int_equal(actor_do(a, pthread_rwlock_unlock, &locks[i]), 0);
    }
}

static void each(struct actor *a, rwlock_call *call, pthread_rwlock_t *locks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(actor_do(a, call, &locks[i]), 0);
}

/* The count of a thread's entries was 0 again, and its unlock subtracted R from a word without R:
 *   1  A thread reads a lock by an entry.
 *   2  It reads others, and hands each read to another thread, which frees the entry. Only the
 *      thread itself changes its count, so that grows to its end, and begins anew.
 *   3  The thread unlocks the first lock, and finds that it need not look for an entry. */
ACTOR_CASE(a_thread_that_hands_many_reads_on_still_finds_its_own)
{
    static pthread_rwlock_t pool[1000];
    pthread_rwlock_t *locks[16] = {NULL}; /* the thread finds the record of each at once */
    struct actor reader;
    for (size_t count = 0; count < 16; count++) {
        memset(pool, 0, sizeof pool);
        for (size_t i = 0; i < 1000; i++)
            locks[life_of(&shim_lock_of(&pool[i])->life, 0).hash >> 28] = &pool[i];
        actor_start(&reader);
        for (size_t i = 0; i <= count; i++)
            begin_to_scale(&reader, locks[i], 1);
        each(&reader, pthread_rwlock_rdlock, locks[0], 1);
        for (size_t i = 1; i <= count; i++) {
            each(&reader, pthread_rwlock_rdlock, locks[i], 1);
            each(&two, pthread_rwlock_unlock, locks[i], 1);
        }
        each(&reader, pthread_rwlock_unlock, locks[0], 1);
        for (size_t i = 0; i <= count; i++)
            assert_free(locks[i]);
        actor_end(&reader);
    }
}

/* The same came about by the reads of a thread that had ended:
 *   1  A thread ends while it reads locks by entries. The next thread with its number has them.
 *   2  That thread fills the other entries. So it reads the same locks in their words.
 *   3  Its unlocks free the entries that were there, and its count is too low.
 *   4  It unlocks the other locks, and looks for no entry. */
ACTOR_CASE(a_thread_finds_its_entries_beside_those_of_one_that_has_ended)
{
    static pthread_rwlock_t locks[8];
    struct actor gone, next;
    size_t i;
    for (size_t count = 1; count < 8; count++) {
        pthread_rwlock_t *const left = &locks[8 - count];
        memset(locks, 0, sizeof locks);
        actor_start(&gone);
        begin_to_scale(&gone, left, count);
        each(&gone, pthread_rwlock_rdlock, left, count);
        actor_end(&gone);
        actor_start(&next);
        begin_to_scale(&next, locks, 8 - count);
        each(&next, pthread_rwlock_rdlock, locks, 8);
        for (i = 8; i-- > 0;)
            each(&next, pthread_rwlock_unlock, &locks[i], 1);
        for (i = 0; i < 8 - count; i++)
            assert_free(&locks[i]);
        for (; i < 8; i++) {
            assert_int_equal(actor_do(&next, pthread_rwlock_trywrlock, &locks[i]), EBUSY);
            each(&two, pthread_rwlock_unlock, &locks[i], 1);
            assert_free(&locks[i]);
        }
        actor_end(&next);
    }
}

/* The new lock would stay read for ever:
 *   1  A thread reads a lock by an entry, and the memory becomes another lock without a call.
 *   2  The thread, or one that has its line, reads that one, in its word.
 *   3  It unlocks, and frees the entry. */
ACTOR_CASE(a_read_of_a_new_lock_ends_beside_one_of_its_memory)
{
    static pthread_rwlock_t other;
    struct actor reader;
    size_t i;
    for (i = 0; i < 2; i++) {
        actor_start(&reader);
        read_once(&reader);
        assert_int_equal(actor_do(&reader, pthread_rwlock_rdlock, &lock), 0);
        memset(&lock, 0, sizeof lock);
        if (i == 1) {
            actor_end(&reader);
            actor_start(&reader);
            begin_to_scale(&reader, &other, 1);
        }
        read_once(&reader);
        assert_free(&lock);
        actor_end(&reader);
    }
}

/* The child added R to memory that was no lock:
 *   1  A thread reads a lock by an entry, and perhaps ends.
 *   2  The memory of the lock ends without a call.
 *   3  The process forks. The child moved reads of other threads to the words of locks. */
ACTOR_CASE(a_child_leaves_memory_alone_that_is_no_lock_any_more)
{
    for (unsigned ends = 0; ends < 2; ends++) {
        void *const page =
            mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct actor reader;
        int status = -1;
        assert_ptr_not_equal(page, MAP_FAILED);
        actor_start(&reader);
        begin_to_scale(&reader, page, 1);
        each(&reader, pthread_rwlock_rdlock, page, 1);
        if (ends)
            actor_end(&reader);
        assert_int_equal(munmap(page, 1), 0);
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        if (!ends)
            actor_end(&reader);
    }
}

TEST_MAIN()
