/* SPDX-License-Identifier: MIT */
/*
 * The mode of the fences, for programs (pawl/fences.h). A thread that has opened a fast path keeps
 * it for its life, and no other thread can close it. Every such thread has a line.
 */
#include <pawl/fences.h>

#include <errno.h>

#include "base.h"

static bool fences_line_is_in_use(const struct pawl_thread_line *line)
{
    const uint32_t owner = pawl_load_relaxed32(&line->owner);
    return owner != 0 && pawl_os_thread_lives(owner);
}

int pawl_fences_strong(void)
{
    const struct pawl_process *process = process_here();
    const uint32_t used = pawl_load_relaxed32(&process->lines_used);
    if (pawl_os_fences_are_strong())
        return 0;
    for (uint32_t i = 0; i < used; i++)
        if (fences_line_is_in_use(&process->lines[i]))
            return EBUSY;
    pawl_os_fences_strong();
    return 0;
}
