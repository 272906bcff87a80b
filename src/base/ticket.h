/* SPDX-License-Identifier: MIT */
/* Gives a thread its ticket (pawl/thread.h) when it gets its line, and takes it back before it
 * gives the line back. In the hook variant a ticket is computed from the line. */
#ifndef PAWL_TICKET_H
#define PAWL_TICKET_H

#include "process.h"

#if PAWL_THREAD_TICKETS_ && !PAWL_HOOKS

/* The slot has the line by now: in the child of a fork by a handler it stays the thread's. */
static inline void thread_give_ticket(const struct pawl_thread_line *line)
{
    HANDLERS_SEE_THIS_ORDER();
    if (pawl_load_relaxed32(&ipawl_fence_light_free_) != 0)
        pawl_os_own()->ticket = thread_number(line) + 1;
}

/* Before the slot changes: where a handler forks after that, the line is free in the child, and
 * another thread of the child may claim it. */
static inline void thread_take_ticket_back(void)
{
    pawl_os_own()->ticket = 0;
    HANDLERS_SEE_THIS_ORDER();
}

#else

static inline void thread_give_ticket(const struct pawl_thread_line *line)
{
    (void)line;
}

static inline void thread_take_ticket_back(void)
{
}

#endif
#endif
