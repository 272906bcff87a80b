/* SPDX-License-Identifier: MIT */
/* For small programs that the tests of the command start: what must hold, or the program ends. */
#pragma once

#include <stdio.h>
#include <unistd.h>

#define must(what)                                                                                 \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "line %d: %s\n", __LINE__, #what);                                     \
            _exit(99);                                                                             \
        }                                                                                          \
    } while (0)

#define NOINLINE __attribute__((noinline))
