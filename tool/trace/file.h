/* SPDX-License-Identifier: MIT */
/* The raw file: made by a process, mapped, allocated lane by lane. */
#pragma once

#include "state.h"

/* PAWL_TRACE_DIR is set: the folder of the raw files. */
TRACE_HIDDEN bool trace_file_is_wanted(void);
/* False: it cannot be made, and the process has said so once. */
PAWL_COLD TRACE_HIDDEN bool trace_file_open(void);
/* imports.c: an object of the program asks for a function that is recorded. */
TRACE_HIDDEN bool trace_imports_locks(void);
/* The process has a sandbox that its parent made. */
TRACE_HIDDEN bool trace_file_came_sandboxed(void);
/* In the child of a fork. */
TRACE_HIDDEN void trace_file_forget(bool sandboxed);
/* Under the lock of the tables: allocates a lane. NULL: there is no room. */
TRACE_HIDDEN struct trace_lane *trace_file_lane(uint32_t index);
TRACE_HIDDEN struct trace_lane *trace_file_at(uint32_t index);
TRACE_HIDDEN uint32_t trace_file_index(const struct trace_lane *lane);
/* The table of stacks, which the first call allocates. NULL: there is none. */
TRACE_HIDDEN struct trace_stacks *trace_file_stacks(void);
/* lane.c: opens the file. The last moment for calls: allocates for threads that come later. */
TRACE_HIDDEN bool trace_begins(void);
PAWL_COLD TRACE_HIDDEN void trace_sandbox_comes(void);
/* What to call at the end of a thread that has a lane. The calling thread's may be another's from
 * now on; in the child of a fork, all are free. */
TRACE_HIDDEN void trace_lane_ends_by(void (*thread_ends)(void *));
TRACE_HIDDEN void trace_lane_is_free(void);
TRACE_HIDDEN void trace_lanes_forget(void);
/* life.c: the thread is not recorded any more, and does not look at the clock. */
TRACE_HIDDEN void trace_lane_never(void);
/* Notes ticks and nanoseconds of this moment. */
TRACE_HIDDEN void trace_file_look_at_clock(void);
