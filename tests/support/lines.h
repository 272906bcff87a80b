/* SPDX-License-Identifier: MIT */
/*
 * A process with more threads than lines, at the price of a few: lines are parked. To the registry
 * a parked line is another thread's, which lives. Include it in one file of a program.
 */
#pragma once

#include "test.h"

#include "base/base.h"

static bool lines_parked[PAWL_THREAD_LINES];

/* Parks the lines of these numbers that are free. */
static inline void lines_park(uint32_t from, uint32_t to)
{
    struct pawl_process *process = process_here();
    for (uint32_t i = from; i < to; i++) {
        uint32_t nobody = 0;
        if (pawl_cas_relaxed32(&process->lines[i].owner, &nobody, pawl_os_thread_id()))
            lines_parked[i] = true;
    }
    if (pawl_load_relaxed32(&process->lines_used) < to)
        pawl_store_relaxed32(&process->lines_used, to);
}

static inline void lines_park_all(void)
{
    lines_park(0, PAWL_THREAD_LINES);
}

/* As its thread does when it ends. */
static inline void lines_free(uint32_t number)
{
    must(lines_parked[number]);
    lines_parked[number] = false;
    pawl_store_relaxed32(&process_here()->lines[number].owner, 0);
    pawl_store_relaxed32(&process_here()->full, 0);
}

static inline void lines_free_all(void)
{
    for (uint32_t i = 0; i < PAWL_THREAD_LINES; i++)
        if (lines_parked[i])
            lines_free(i);
}
