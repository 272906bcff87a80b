/* SPDX-License-Identifier: MIT */
/*
 * Copies of the library in one process share a thread's block. Each counts lives of its own.
 *
 *   1  A thread asks copy A for its number, in A's first life, and forks.
 *   2  In the child another thread asks copy B, whose first life begins.
 *   3  The child's first thread asks B. It got the number from before the fork: a robust lock that
 *      it took by B named a thread of the parent as its writer.
 */
#include "test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

#include "os/os.h"
#include "os/robust.h"

static uint32_t (*self_of_copy)(void);

static void *ask_copy(void *unused)
{
    must(self_of_copy() == pawl_os_thread_id());
    return unused;
}

TEST_CASE(each_copy_gives_the_number_of_this_life)
{
    void *const copy = dlopen(PROMISES_COPY, RTLD_NOW | RTLD_LOCAL);
    pthread_t thread;
    if (copy == NULL)
        skip();
    *(void **)&self_of_copy = dlsym(copy, "promises_self");
    must(self_of_copy != NULL && pawl_os_robust_self() == pawl_os_thread_id());
    pid_t child = fork();
    if (child == 0) {
        must(pthread_create(&thread, NULL, ask_copy, NULL) == 0 && pthread_join(thread, NULL) == 0);
        must(self_of_copy() == pawl_os_thread_id());
        must(pawl_os_robust_self() == pawl_os_thread_id());
        _exit(0);
    }
    must(child > 0);
    assert_int_equal(test_wait(child), 0);
}

TEST_MAIN()
