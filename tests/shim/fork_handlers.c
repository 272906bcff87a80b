/* SPDX-License-Identifier: MIT */
/*
 * Handlers of pthread_atfork lock for the fork, in a program that knows nothing of Pawl. Those of
 * libraries that the program needs are registered before the preload library's own.
 *
 *   1  A thread forks. The preload library's handler took the latches of all wait lists.
 *   2  A handler that was registered before it waits for a lock, or for a thread that does.
 *   3  It waited for a latch of its own thread: the fork never returned.
 */
#include "actors.h"

enum order { BEFORE_OURS, BY_A_CONSTRUCTOR, LATER, ORDERS };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static enum order whose;
static bool stop, anew;
static uint64_t a, b;

static void takes(enum order order)
{
    if (order == whose)
        must(pthread_rwlock_wrlock(&lock) == 0);
}

static void drops(enum order order)
{
    if (order == whose)
        must(pthread_rwlock_unlock(&lock) == 0);
}

static void drops_or_makes_anew(enum order order)
{
    if (order == whose && anew)
        must(pthread_rwlock_init(&lock, NULL) == 0);
    else
        drops(order);
}

#define HANDLERS(order, name)                                                                      \
    static void before_##name(void)                                                                \
    {                                                                                              \
        takes(order);                                                                              \
    }                                                                                              \
    static void in_parent_##name(void)                                                             \
    {                                                                                              \
        drops(order);                                                                              \
    }                                                                                              \
    static void in_child_##name(void)                                                              \
    {                                                                                              \
        drops_or_makes_anew(order);                                                                \
    }                                                                                              \
    static void register_##name(void)                                                              \
    {                                                                                              \
        must(pthread_atfork(before_##name, in_parent_##name, in_child_##name) == 0);               \
    }
HANDLERS(BEFORE_OURS, early)
HANDLERS(BY_A_CONSTRUCTOR, built)
HANDLERS(LATER, late)

/* Before the constructors of all libraries. */
__attribute__((section(".preinit_array"), used)) static void (*const early)(void) = register_early;
__attribute__((constructor)) static void built(void)
{
    register_built();
}

static void *writes(void *nothing)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        must(pthread_rwlock_wrlock(&lock) == 0);
        a++;
        b++;
        must(pthread_rwlock_unlock(&lock) == 0);
    }
    return nothing;
}

static void *reads(void *nothing)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        must(pthread_rwlock_rdlock(&lock) == 0);
        must(a == b);
        must(pthread_rwlock_unlock(&lock) == 0);
    }
    return nothing;
}

static void forks(void)
{
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        alarm(TEST_HANGS);
        must(a == b);
        must(pthread_rwlock_trywrlock(&lock) == 0);
        must(pthread_rwlock_unlock(&lock) == 0);
        must(pthread_rwlock_rdlock(&lock) == 0);
        must(pthread_rwlock_unlock(&lock) == 0);
        _exit(0);
    }
    assert_int_equal(test_wait(child), 0);
}

TEST_CASE(handlers_lock_a_lock_that_others_use)
{
    pthread_t others[4];
    for (unsigned i = 0; i < 4; i++)
        must(pthread_create(&others[i], NULL, i < 2 ? writes : reads, NULL) == 0);
    for (whose = BEFORE_OURS; whose < ORDERS; whose++)
        for (unsigned i = 0; i < 100; i++) {
            anew = i % 2 == 0;
            forks();
        }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < 4; i++)
        must(pthread_join(others[i], NULL) == 0);
}

int main(int argc, char **argv)
{
    register_late();
    alarm(TEST_HANGS);
    return test_main(argc, argv);
}
