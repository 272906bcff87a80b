/* SPDX-License-Identifier: MIT */
/* The beginning and the end of threads, processes, and the recording. */
#include "file.h"

#include <pthread.h>
#include <unistd.h>

static void thread_ends(void *unused)
{
    (void)unused;
    if (trace_self.lane == NULL || trace_control == NULL)
        return;
    trace_self.inside = 1;
    TRACE_HANDLERS_SEE_THIS_ORDER();
    trace_ends_holding();
    trace_note_processor();
    trace_lane_is_free();
    leave();
}

void trace_lane_never(void)
{
    thread_ends(NULL);
    trace_self.refused = 1;
}

/* ---- fork ------------------------------------------------------------------------------------ */

/* The child has a file of its own, as soon as it takes a lock. Its copies of the parent's locks
 * are other locks. */
static void child_begins(void)
{
    trace_tables_in_child();
    trace_file_forget(trace_calls_are_over());
    memset(&trace_self, 0, sizeof trace_self);
    trace_lanes_forget();
}

/* It runs no handlers. Where the C library has none, no program calls it. */
__attribute__((visibility("default"))) pid_t _Fork(void)
{
    const pid_t child = next()->_Fork();
    if (child == 0)
        child_begins();
    return child;
}

/* Before all others: their handlers take locks in the child, too, while this one has not run. */
static void look_at_forks(void)
{
    static bool looks;
    if (!looks)
        (void)next()->__register_atfork(NULL, NULL, child_begins, NULL);
    looks = true;
}

__attribute__((visibility("default"))) int
__register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *of)
{
    look_at_forks();
    return next()->__register_atfork(prepare, parent, child, of);
}

__attribute__((constructor(102))) static void begin(void)
{
    if (!trace_file_is_wanted())
        return;
    trace_lane_ends_by(thread_ends);
    look_at_forks();
    if (trace_imports_locks()) /* now, as there may be no time for it later (sandbox.c) */
        (void)trace_begins();
}

__attribute__((destructor)) static void program_ends(void)
{
    if (trace_control == NULL)
        return;
    trace_file_look_at_clock();
    if (trace_self.lane != NULL)
        trace_note_processor();
    trace_control->ended = 1;
}
