/* SPDX-License-Identifier: MIT */
/*
 * A daemon closes its descriptors, and its data file becomes descriptor 2. What the preload library
 * has to say goes nowhere then, and not into the data:
 *
 *   1. A lock that was never initialised is refused, with one sentence.
 *   2. A child of fork ends, and so does the daemon: the counts of each.
 */
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "actors.h"

static void use_locks(void)
{
    static pthread_rwlock_t good = PTHREAD_RWLOCK_INITIALIZER;
    pthread_rwlock_t bad;
    memset(&bad, 0xa5, sizeof bad);
    bad.__data.__shared = 0;
    must(pthread_rwlock_wrlock(&bad) == EINVAL);
    must(pthread_rwlock_rdlock(&good) == 0);
    must(pthread_rwlock_unlock(&good) == 0);
}

/* The daemon, a program of its own; `inherited`: its descriptor 2 was closed before it started. */
static int serve(const char *path, bool inherited)
{
    int status;
    must(inherited || close(STDERR_FILENO) == 0);
    must(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) == STDERR_FILENO);
    must(write(STDERR_FILENO, "data", 4) == 4);
    use_locks();
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0)
        return 0;
    must(waitpid(child, &status, 0) == child && status == 0);
    return 0;
}

static char path[64];

static void start(bool closed)
{
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        must(setenv("PAWL_PRELOAD_STATS", "1", 1) == 0);
        must(!closed || close(STDERR_FILENO) == 0);
        execl("/proc/self/exe", "descriptor_2", "serve", path, closed ? "closed" : "open", NULL);
        _exit(1);
    }
    assert_int_equal(test_wait(child), 0);
}

static void the_data_are_as_written(bool closed)
{
    struct stat now;
    (void)snprintf(path, sizeof path, "shim_descriptor_2.%ld", (long)getpid());
    start(closed);
    assert_int_equal(stat(path, &now), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(now.st_size, 4);
}

TEST_CASE(nothing_is_written_into_a_file_that_became_descriptor_2)
{
    the_data_are_as_written(false);
}

TEST_CASE(nor_where_the_program_started_without_descriptor_2)
{
    the_data_are_as_written(true);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "serve") == 0)
        return serve(argv[2], strcmp(argv[3], "closed") == 0);
    return test_main(argc, argv);
}
