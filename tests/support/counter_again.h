/* SPDX-License-Identifier: MIT */
/* Two tests that run their own program again in an environment that forbids what the kernel offers:
 * in the first run of a program they are tests, in the second they do nothing. */
#pragma once

#include "test.h"

#include <pawl/detail/counter_cells.h>

static char **again_argv;

static inline void again_arguments(char **argv)
{
    again_argv = argv;
}

static inline void run_again(void *variable)
{
    must(setenv((const char *)variable, "1", 1) == 0);
    must(setenv("PAWL_TEST_AGAIN", "1", 1) == 0);
    alarm(0);
    execv("/proc/self/exe", again_argv);
    must(!"execv came back");
}

static inline void runs_again_with(const char *variable)
{
    static char said[65536];
    if (getenv("PAWL_TEST_AGAIN") != NULL)
        return;
    int status = test_in_child(run_again, (void *)(uintptr_t)variable, said, sizeof said);
    if (status != 0)
        fail_msg("with %s=1: status %#x\n%s", variable, (unsigned)status, said);
}

/* The forbidden ways are really gone in the second run. */
TEST_CASE(everything_holds_without_restartable_sequences)
{
    if (getenv("PAWL_NO_RSEQ") != NULL || getenv("PAWL_NO_MEMBARRIER") != NULL)
        assert_null(ipawl_counter_mine_()->rseq);
    runs_again_with("PAWL_NO_RSEQ");
}

TEST_CASE(everything_holds_without_membarrier)
{
    if (getenv("PAWL_NO_MEMBARRIER") != NULL)
        assert_int_equal(ipawl_fence_light_free_, 0);
    runs_again_with("PAWL_NO_MEMBARRIER");
}
