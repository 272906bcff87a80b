/* SPDX-License-Identifier: MIT */
/*
 * Notes for the models, empty outside the hook variant. A note says that the thread reads or writes
 * the object, and that every conflicting access comes before or after. It serves for plain memory
 * that a latch protects, and for atomics that a protocol keeps others from touching meanwhile. A
 * checker reports two conflicting notes of which neither is ordered before the other, whatever
 * values the threads saw.
 */
#ifndef PAWL_PLAIN_H
#define PAWL_PLAIN_H

#include <pawl/atomic.h>

#if PAWL_HOOKS
#define PLAIN_READ(object) pawl_hook_plain((const void *)&(object), #object, false)
#define PLAIN_WRITE(object) pawl_hook_plain((const void *)&(object), #object, true)
#else
#define PLAIN_READ(object) ((void)0)
#define PLAIN_WRITE(object) ((void)0)
#endif

#endif
