/* SPDX-License-Identifier: MIT */
/* The waiting half of the progressive spinlock of 32 bits. */
#include "waiting.h"

#define PAWL_WORD_BITS 32
#include "spin_word.inc.h"
