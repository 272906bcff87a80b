/* SPDX-License-Identifier: MIT */
/*
 * Notes for the models, nothing outside the hook variant: the object is read or written, and every
 * access that conflicts comes before or after. So said of plain memory that a latch protects, and
 * of atomics that a protocol keeps others from touching meanwhile. A checker reports two notes of
 * which neither is ordered before the other, whatever values were seen.
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
