/* SPDX-License-Identifier: MIT */
/* plock's name for the header of its atomic helpers: a program that includes "atomic-ops.h" beside
 * "plock.h" changes its include path to .../pawl/compat, and nothing else (doc/plock.md). */
#ifndef PAWL_COMPAT_ATOMIC_OPS_H
#define PAWL_COMPAT_ATOMIC_OPS_H

#include <pawl/compat/plock_atomic.h>

#endif
