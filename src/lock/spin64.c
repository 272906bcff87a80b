/* SPDX-License-Identifier: MIT */
/* The waiting half of the progressive spinlock of 64 bits. */
#include "waiting.h"

#define PAWL_WORD_BITS 64
#include "spin_word.inc.h"
