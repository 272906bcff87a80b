/* SPDX-License-Identifier: MIT */
/* Between the bit locks (bitlock.c) and the wait lists (wait.c). */
#ifndef PAWL_BIT_H
#define PAWL_BIT_H

#include <pawl/wait.h>

/* Sleeps while the bit, a mask of the word of so many bits, is set: until a drop of the bit wakes
 * the caller. The caller then tries to take the bit, in any case. */
PAWL_INTERNAL enum pawl_waited wait_for_bit(const void *word, uint32_t bits, uint64_t bit,
                                            uint64_t deadline);

#endif
