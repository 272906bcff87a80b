/* SPDX-License-Identifier: MIT */
/*
 * The library writes to standard error, and not to descriptor 2 whatever it is by then:
 *
 *   1. A daemon closes descriptor 2 and opens its data file, which gets the number.
 *   2. A reader keeps a grace period waiting, or the library complains of something else.
 *   3. The sentence stood in the middle of the data.
 */
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <pawl/rcu.h>

#include "os/os.h"

static pthread_barrier_t step;

static void *read_long(void *unused)
{
    pawl_rcu_read_lock();
    pthread_barrier_wait(&step);
    usleep(50000);
    pawl_rcu_read_unlock();
    return NULL;
}

static void complain_of_a_stall(void)
{
    must(pthread_barrier_init(&step, NULL, 2) == 0);
    pawl_rcu_domain_stall(pawl_rcu_default(), 1000000, NULL, NULL);
    const pthread_t reader = test_start(read_long, NULL);
    pthread_barrier_wait(&step);
    pawl_rcu_synchronize();
    test_join(reader);
}

/* Where the complaint goes: descriptor 2 is this file from now on. */
static int descriptor_2_is(const char *path)
{
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(file >= 0 && unlink(path) == 0);
    must(dup2(file, STDERR_FILENO) == STDERR_FILENO);
    return file;
}

static off_t size_of(int file)
{
    struct stat now;
    must(fstat(file, &now) == 0);
    return now.st_size;
}

static char path[64];

static void go_on_with_a_data_file(void *unused)
{
    const int file = descriptor_2_is(path);
    complain_of_a_stall();
    pawl_os_complain("a complaint\n", 12);
    must(size_of(file) == 0);
}

static void go_on_without_descriptor_2(void *unused)
{
    must(close(STDERR_FILENO) == 0);
    errno = 7;
    pawl_os_complain("a complaint\n", 12);
    must(errno == 7);
}

static void start_with_that_file(void *unused)
{
    const int file = descriptor_2_is(path);
    pawl_os_remember_errors();
    complain_of_a_stall();
    pawl_os_complain("a complaint\n", 12);
    must(size_of(file) > 12);
}

static void start_without_descriptor_2(void *unused)
{
    must(close(STDERR_FILENO) == 0);
    pawl_os_remember_errors();
    const int file = descriptor_2_is(path);
    pawl_os_complain("a complaint\n", 12);
    must(size_of(file) == 0);
}

static void holds(void (*body)(void *))
{
    char said[256];
    (void)snprintf(path, sizeof path, "descriptor_2.%ld", (long)getpid());
    assert_int_equal(test_in_child(body, NULL, said, sizeof said), 0);
}

TEST_CASE(a_file_that_became_descriptor_2_stays_as_it_is)
{
    holds(go_on_with_a_data_file);
}

TEST_CASE(without_descriptor_2_nothing_is_written_and_errno_stays)
{
    holds(go_on_without_descriptor_2);
}

TEST_CASE(a_file_that_was_descriptor_2_at_the_start_gets_the_text)
{
    holds(start_with_that_file);
}

TEST_CASE(a_program_that_starts_without_descriptor_2_never_gets_the_text)
{
    holds(start_without_descriptor_2);
}

TEST_MAIN()
