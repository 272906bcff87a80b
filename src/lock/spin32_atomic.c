/* SPDX-License-Identifier: MIT */
/* The waiting half of the progressive spinlock of 32 bits, for atomic users. */
#include "waiting.h"

#define PAWL_WORD_BITS 32
#include "spin_atomic_word.inc.h"
