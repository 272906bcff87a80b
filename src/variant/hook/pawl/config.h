/* SPDX-License-Identifier: MIT */
/*
 * The hook variant: a test or model checker controls every step of the library.
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

/* 1: every atomic operation, wait, clock and thread identity calls a hook (the seam, atomic.h). */
#define PAWL_HOOKS 1

/* 1: Valgrind's tools that look for data races are told what each operation promises
 * (doc/valgrind.md). */
#define PAWL_VALGRIND 0

/* The token that internal symbols and the C++ inline namespace carry. */
#define PAWL_VARIANT hook

#endif
