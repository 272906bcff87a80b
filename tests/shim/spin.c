/* SPDX-License-Identifier: MIT */
/* The spinlocks of POSIX, with the C library's and with libpawl-preload-spin.so in front. */
#include "test.h"

#include <dlfcn.h>

static bool is_pawl(void)
{
    Dl_info info;
    void *const address = dlsym(RTLD_DEFAULT, "pthread_spin_lock");
    must(address != NULL && dladdr(address, &info) != 0 && info.dli_fname != NULL);
    return strstr(info.dli_fname, "libpawl-preload-spin.so") != NULL;
}

static pthread_spinlock_t lock;
static uint64_t sum;

static void add(void *unused, unsigned index)
{
    for (int i = 0; i < TEST_SCALE(20000); i++) {
        must(pthread_spin_lock(&lock) == 0);
        sum++;
        must(pthread_spin_unlock(&lock) == 0);
    }
}

TEST_CASE(a_spinlock_guards_a_sum)
{
    sum = 0;
    assert_int_equal(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE), 0);
    test_threads(4, add, NULL);
    assert_true(sum == UINT64_C(4) * TEST_SCALE(20000));
    assert_int_equal(pthread_spin_destroy(&lock), 0);
}

TEST_CASE(a_try_says_whether_the_lock_was_free)
{
    memset((void *)(uintptr_t)&lock, 0xa5, sizeof lock);
    assert_int_equal(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE), 0);
    assert_int_equal(pthread_spin_trylock(&lock), 0);
    assert_int_equal(pthread_spin_trylock(&lock), EBUSY);
    assert_int_equal(pthread_spin_unlock(&lock), 0);
    assert_int_equal(pthread_spin_trylock(&lock), 0);
    assert_int_equal(pthread_spin_unlock(&lock), 0);
    assert_int_equal(pthread_spin_destroy(&lock), 0);
}

/* As a new program: the library keeps to the standard error of the start. */
static void make_a_shared_one(void *unused)
{
    (void)execl("/proc/self/exe", "spin", "shared", (char *)NULL);
}

TEST_CASE(a_spinlock_between_processes_is_refused_in_words)
{
    char said[1024];
    const int status = test_in_child(make_a_shared_one, NULL, said, sizeof said);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), is_pawl() ? 2 : 0);
    assert_true((strstr(said, "--spin=libc") != NULL) == is_pawl());
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "shared") == 0)
        return pthread_spin_init(&lock, PTHREAD_PROCESS_SHARED);
    return test_main(argc, argv);
}
