/* SPDX-License-Identifier: MIT */
/*
 * What a build of the library shows to the crowd's driver, which loads it beside others: several
 * states of the sources, measured in turn in one process. library.c fills it in.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Deadlines are nanoseconds of CLOCK_MONOTONIC. A word of zero is a free lock. */
struct pawl_bench_library {
    void (*take_read)(uint64_t *word);
    void (*drop_read)(uint64_t *word);
    void (*take_write)(uint64_t *word);
    void (*drop_write)(uint64_t *word);
    bool (*take_read_until)(uint64_t *word, uint64_t deadline);
    bool (*take_write_until)(uint64_t *word, uint64_t deadline);
};

#define PAWL_BENCH_LIBRARY "pawl_bench_library"
