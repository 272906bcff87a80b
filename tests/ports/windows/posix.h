/* SPDX-License-Identifier: MIT */
/*
 * Put before each test that is built for Windows (-include): what tests/test.h and the tests use of
 * POSIX and Windows lacks. A test that asks for a process of its own, or sends a signal to a
 * thread, is marked skipped at that point, and cmocka says so.
 */
#pragma once

#include <io.h>
#include <process.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

/* cmocka's, which tests/test.h includes later. */
void _skip(const char *const file, const int line);

#define fork test_no_fork
static inline pid_t test_no_fork(void)
{
    puts("skipped: Windows has no fork");
    fflush(stdout);
    _skip(__FILE__, __LINE__);
    return -1;
}

/* Only ever followed by fork. */
static inline int pipe(int ends[2])
{
    return _pipe(ends, 4096, 0);
}

static inline unsigned alarm(unsigned seconds)
{
    return 0;
}

#define SIGUSR1 30
#define SIGUSR2 31
#define SIGALRM 14
#define SA_RESTART 0x10000000

struct sigaction {
    void (*sa_handler)(int);
    int sa_flags;
    int sa_mask;
};

static inline int sigemptyset(int *set)
{
    *set = 0;
    return 0;
}

static inline int sigaction(int number, const struct sigaction *new_action,
                            struct sigaction *old_action)
{
    puts("skipped: Windows has no signals between threads");
    fflush(stdout);
    _skip(__FILE__, __LINE__);
    return -1;
}

#define _SC_PAGESIZE 1
#define sysconf(name) ((void)(name), 4096L)

static inline int setenv(const char *name, const char *value, int overwrite)
{
    if (!overwrite && getenv(name) != NULL)
        return 0;
    return _putenv_s(name, value);
}
