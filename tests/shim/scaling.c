/* SPDX-License-Identifier: MIT */
/*
 * The mode scale-readers: whether reads are in entries of their threads, which leave no R in the
 * word, and what then still holds. In the other modes no read is in an entry, whatever PAWL_BIAS
 * says, because any thread may unlock it.
 */
#include "conformance.h"
#include "../../shim/layout.h"

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

static void reads_leave_no_r_in_the_word_where_they_scale(void **state)
{
    (void)state;
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
static void a_reader_in_an_entry_reads_again_beside_a_waiting_writer(void **state)
{
    (void)state;
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

static void a_reader_in_an_entry_that_wants_to_write_gets_edeadlk(void **state)
{
    (void)state;
    read_once(&two);
    assert_int_equal(actor_do(&two, pthread_rwlock_rdlock, &lock), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_wrlock, &lock), EDEADLK);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), EPERM);
}

/* More locks than entries, and more than the thread remembers: in any order of unlocking. */
static void a_thread_reads_many_locks_at_once(void **state)
{
    static pthread_rwlock_t many[40];
    size_t round, i;
    (void)state;
    for (round = 0; round < 3; round++) {
        for (i = 0; i < 40; i++)
            assert_int_equal(pthread_rwlock_rdlock(&many[i]), 0);
        for (i = 0; i < 40; i++) {
            assert_int_equal(actor_do(&one, pthread_rwlock_trywrlock, &many[i]), EBUSY);
            assert_int_equal(pthread_rwlock_unlock(&many[i]), 0);
            assert_int_equal(actor_do(&one, pthread_rwlock_trywrlock, &many[i]), 0);
            assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &many[i]), 0);
        }
    }
}

/* glibc leaves the lock read for ever, and so does this: nobody else may unlock it here. */
static void a_thread_that_ends_while_it_reads_leaves_the_lock_read(void **state)
{
    struct actor gone;
    (void)state;
    actor_start(&gone);
    read_once(&gone);
    assert_int_equal(actor_do(&gone, pthread_rwlock_rdlock, &lock), 0);
    actor_end(&gone);
    assert_int_equal(actor_do(&one, pthread_rwlock_trywrlock, &lock), EBUSY);
    assert_int_equal(actor_do(&one, pthread_rwlock_tryrdlock, &lock), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    fresh(&lock, PTHREAD_RWLOCK_DEFAULT_NP);
}

/* The entry stayed:
 *   1  A thread reads a lock by an entry, and destroys it, or makes it anew.
 *   2  The memory becomes another object, or the new lock gets readers that scale.
 *   3  The thread ends, and adds its R to the object. Or a writer waits for its entry, for ever. */
static void a_thread_that_ends_a_lock_which_it_reads_leaves_no_entry(void **state)
{
    static rwlock_call *const ends[] = {destroy, make_anew};
    const pthread_rwlock_t zero = PTHREAD_RWLOCK_INITIALIZER;
    struct actor gone;
    size_t i;
    (void)state;
    for (i = 0; i < 2; i++) {
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_leave_no_r_in_the_word_where_they_scale),
        TEST(a_reader_in_an_entry_reads_again_beside_a_waiting_writer),
        TEST(a_reader_in_an_entry_that_wants_to_write_gets_edeadlk),
        TEST(a_thread_reads_many_locks_at_once),
        TEST(a_thread_that_ends_while_it_reads_leaves_the_lock_read),
        TEST(a_thread_that_ends_a_lock_which_it_reads_leaves_no_entry),
    };
    return test_run(argc, argv, tests);
}
