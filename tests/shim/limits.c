/* SPDX-License-Identifier: MIT */
/*
 * The limit of readers, a memory that is wrong, and that nothing else in a pthread_rwlock_t
 * changes. These can only be seen in the memory of a lock, or made there (shim/layout.h). Runs with
 * the preload library in front only.
 */
#include "actors.h"
#include "../../tool/shim/layout.h"

static pthread_rwlock_t lock;

static void set_readers(shim_word readers)
{
    shim_lock_of(&lock)->lock.word = readers * SHIM_R;
}

TEST_CASE(one_reader_too_many_gets_eagain)
{
    const struct timespec later = time_in(CLOCK_REALTIME, 200000);
    assert_true(is_pawl());
    set_readers(SHIM_MOST_READERS - 1);
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    assert_int_equal(pthread_rwlock_rdlock(&lock), EAGAIN);
    assert_int_equal(pthread_rwlock_tryrdlock(&lock), EAGAIN);
    assert_int_equal(pthread_rwlock_timedrdlock(&lock, &later), EAGAIN);
    assert_int_equal(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &later), EAGAIN);
    assert_int_equal(pthread_rwlock_trywrlock(&lock), EBUSY);
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    set_readers(1);
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
    assert_true(shim_lock_of(&lock)->lock.word == 0);
}

/* A thread whose read another thread has unlocked remembers what is over, even where the lock does
 * not tell. It does not take a granted writer's R for its own: not before that writer has noted
 * itself as the owner either. */
TEST_CASE(a_wrong_memory_lets_no_reader_in_beside_a_writer)
{
    const struct timespec past = {1, 0};
    struct actor one;
    uint32_t life;
    memset(&lock, 0, sizeof lock);
    actor_start(&one);
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    life = shim_lock_of(&lock)->life;
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    assert_int_not_equal(shim_lock_of(&lock)->life, life);
    shim_lock_of(&lock)->life = life;
    shim_lock_of(&lock)->lock.word += SHIM_HELD_TO_WRITE;
    assert_int_equal(pthread_rwlock_tryrdlock(&lock), EBUSY);
    assert_int_equal(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &past), ETIMEDOUT);
    shim_lock_of(&lock)->owner = 1;
    assert_int_equal(pthread_rwlock_tryrdlock(&lock), EBUSY);
    memset(&lock, 0, sizeof lock);
    actor_end(&one);
}

/* But for the number that its first reader has given it. */
TEST_CASE(a_free_lock_is_as_it_was_initialised)
{
    static const pthread_rwlock_t writers = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
    pthread_rwlock_t l = writers;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_rwlock_rdlock(&l), 0);
        assert_int_equal(pthread_rwlock_unlock(&l), 0);
        assert_int_equal(pthread_rwlock_wrlock(&l), 0);
        assert_int_equal(pthread_rwlock_unlock(&l), 0);
    }
    assert_int_not_equal(shim_lock_of(&l)->life, 0);
    shim_lock_of(&l)->life = 0;
    assert_memory_equal(&l, &writers, sizeof l);
}

/* Garbage of an earlier use of the memory: filled, as a free block of an allocator, or marked where
 * no initialiser writes. glibc's reader often gets in there. A wait for such a lock could last for
 * ever, so the calls that would wait return EINVAL. */
TEST_CASE(memory_that_was_never_initialised_hangs_nobody)
{
    const struct timespec later = time_in(CLOCK_REALTIME, 200000);
    enum { GARBAGE = 5 };
    pthread_rwlock_t garbage[GARBAGE];
    memset(&garbage[0], 0xa5, sizeof garbage[0]);
    memset(&garbage[1], 0, sizeof garbage - sizeof garbage[0]);
    garbage[0].__data.__shared = 0;
    shim_lock_of(&garbage[1])->lock.word = ~(shim_word)0 / 2 + (shim_word)(uintptr_t)&garbage;
    shim_lock_of(&garbage[2])->lock.word = SHIM_W + SHIM_S + SHIM_R;
    garbage[2].__data.__cur_writer = 4711;
    shim_lock_of(&garbage[3])->lock.word = 3 * SHIM_W + SHIM_R; /* no claim is without S */
    shim_lock_of(&garbage[4])->lock.word = SHIM_W + SHIM_S + SHIM_R;
    shim_lock_of(&garbage[4])->owner = 4711;
    for (size_t i = 0; i < GARBAGE; i++) {
        assert_int_equal(pthread_rwlock_rdlock(&garbage[i]), EINVAL);
        assert_int_equal(pthread_rwlock_wrlock(&garbage[i]), EINVAL);
        assert_int_equal(pthread_rwlock_timedrdlock(&garbage[i], &later), EINVAL);
        assert_int_equal(pthread_rwlock_timedwrlock(&garbage[i], &later), EINVAL);
        assert_int_equal(pthread_rwlock_trywrlock(&garbage[i]), EBUSY);
    }
}

TEST_CASE(a_process_shared_lock_is_left_to_the_c_library)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlock_t l;
    assert_int_equal(pthread_rwlockattr_init(&attributes), 0);
    assert_int_equal(pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
    assert_int_equal(pthread_rwlock_init(&l, &attributes), 0);
    assert_int_equal(pthread_rwlock_wrlock(&l), 0);
    assert_int_equal(l.__data.__cur_writer, (int)syscall(SYS_gettid)); /* glibc's own field */
    assert_int_equal(pthread_rwlock_unlock(&l), 0);
    assert_int_equal(pthread_rwlock_destroy(&l), 0);
    assert_int_equal(pthread_rwlockattr_destroy(&attributes), 0);
}

TEST_MAIN()
