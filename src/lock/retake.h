/* SPDX-License-Identifier: MIT */
#ifndef PAWL_RETAKE_H
#define PAWL_RETAKE_H

#include "../base/base.h"

/* A thread whose wait for a condition has ended takes its lock again between these two. Where the
 * lock is held, it joins the lock's queue at once, as if the signal had moved it there. Each of a
 * crowd that is signalled would otherwise read the lock's word for a while first. Always false in
 * models and in the simulator, whose threads share variables, and on systems without ELF. */
PAWL_INTERNAL void retake_begins(void);
PAWL_INTERNAL void retake_ends(void);
PAWL_INTERNAL bool is_retake(void);

#endif
