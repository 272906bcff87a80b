/* SPDX-License-Identifier: MIT */
#pragma once

#include <pawl/lock.h>

/* Whether the word of a sleeping lock has no unit and no sleeper. It may have BIASED, which says
 * nothing of holders. */
#define LOCK_IS_UNUSED(l)                                                                          \
    ((__atomic_load_n(&(l).word, __ATOMIC_RELAXED) | PAWL_LOCK_BIASED) == PAWL_LOCK_BIASED)
