/* SPDX-License-Identifier: MIT */
/* Windows has no <sys/wait.h>; tests/test.h includes it for tests that fork, which skip here. */
#pragma once

#include <sys/types.h>

#define WIFSIGNALED(status) ((void)(status), 0)
#define WTERMSIG(status) (status)
#define WIFEXITED(status) ((status) == 0)
#define WEXITSTATUS(status) (status)

static inline pid_t waitpid(pid_t child, int *status, int options)
{
    *status = 0;
    return 0;
}
