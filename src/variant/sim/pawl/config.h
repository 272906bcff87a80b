/* SPDX-License-Identifier: MIT */
/*
 * The sim variant: release code whose atomic operations, waits and clock go to the simulator
 * (sim/). Tables, back-off and thread-local state are those of release; only the seam differs.
 *
 * The include path chooses the variant, never a macro of the user's, so that all objects of a
 * program agree. src/variant/<name> stands before include/ in the search order: the compiler finds
 * its config.h first. Internal names carry PAWL_VARIANT, so objects of two variants do not link
 * together.
 */
#ifndef PAWL_CONFIG_H
#define PAWL_CONFIG_H

/* 1: every operation checks that its caller may do it, and reports misuse (doc/checking.md). */
#define PAWL_CHECKED 0

/* 1: Valgrind's tools that look for data races are told what each operation promises
 * (doc/valgrind.md). */
#define PAWL_VALGRIND 0

/* 0: no harness that explores schedules; the code above the seam is that of release. */
#define PAWL_HOOKS 0

/* The seam's operations call the functions of <pawl/detail/hook.h> all the same (atomic.h). */
#define PAWL_SIM 1

/* The token that internal symbols and the C++ inline namespace carry. */
#define PAWL_VARIANT sim

#endif
