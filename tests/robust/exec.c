/* SPDX-License-Identifier: MIT */
/*
 * A holder calls exec. Its first thread: that is a death, and takers are told. Another thread:
 *
 * 1. Thread 2 of a process takes the lock. Its mutexes have the number of that thread.
 * 2. It calls exec. The kernel ends the other threads, and gives it the number of the first.
 * 3. The kernel walks the list of the mutexes that it holds, and releases those with its number.
 *    None has the new one, so all stay held, also when the process has ended.
 *
 * That is the kernel's doing, and so a robust mutex of the C library has the same end. This is
 * asked of the lock: nobody gets it as if it were free, and deadlines hold.
 */
#include "test.h"

#include <pawl/robust.h>

#include <pthread.h>
#include <sys/mman.h>

typedef enum pawl_robust (*operation)(pawl_robust_lock *);

static const operation takes[] = {pawl_robust_lock_take_read, pawl_robust_lock_take_seek,
                                  pawl_robust_lock_take_write, pawl_robust_lock_take_atomic};

static struct both {
    pawl_robust_lock lock;
    pthread_mutex_t mutex;
} *shared;

static int set_up(void **state)
{
    pthread_mutexattr_t attributes;
    if (shared == NULL)
        shared = (struct both *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(shared != MAP_FAILED);
    memset(shared, 0, sizeof *shared);
    must(pthread_mutexattr_init(&attributes) == 0);
    must(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
    must(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
    must(pthread_mutex_init(&shared->mutex, &attributes) == 0);
    return pawl_robust_lock_init(&shared->lock) == PAWL_ROBUST_OK ? 0 : -1;
}

static void *takes_and_executes(void *take)
{
    must(pawl_robust_held((*(const operation *)take)(&shared->lock)));
    must(pthread_mutex_lock(&shared->mutex) == 0);
    execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
    _exit(1);
}

/* A process takes both, executes another program, and ends. */
static void executes(const operation *take, bool in_first_thread)
{
    fflush(NULL);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        pthread_t thread;
        if (!in_first_thread &&
            pthread_create(&thread, NULL, takes_and_executes, (void *)take) == 0)
            pthread_join(thread, NULL);
        takes_and_executes((void *)take);
    }
    const int status = test_wait(child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static enum pawl_robust taken_soon(void)
{
    const uint64_t now = (uint64_t)(test_now() * 1e9);
    return pawl_robust_lock_take_write_until(&shared->lock, now + 20000000);
}

TEST_CASE(exec_by_the_first_thread_is_a_death)
{
    for (unsigned i = 0; i < 4; i++) {
        must(set_up(state) == 0);
        executes(&takes[i], true);
        assert_int_equal(taken_soon(), PAWL_ROBUST_OWNER_DIED);
        assert_int_equal(pthread_mutex_trylock(&shared->mutex), EOWNERDEAD);
    }
}

TEST_CASE(exec_by_another_thread_leaves_it_held_as_a_robust_mutex)
{
    for (unsigned i = 0; i < 4; i++) {
        must(set_up(state) == 0);
        executes(&takes[i], false);
        bool told =
            pthread_mutex_trylock(&shared->mutex) == EOWNERDEAD; /* no kernel that we know */
        assert_int_equal(taken_soon(), told ? PAWL_ROBUST_OWNER_DIED : PAWL_ROBUST_TIMED_OUT);
    }
}

int main(int argc, char **argv)
{
    if (TEST_SANITIZED)
        return test_skipped("ThreadSanitizer does not know that exec ends a holder");
    alarm(TEST_HANGS);
    return test_main(argc, argv);
}
