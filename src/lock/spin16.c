/* SPDX-License-Identifier: MIT */
/* The waiting half of the progressive spinlock of 16 bits. */
#include "waiting.h"

#define PAWL_WORD_BITS 16
#include "spin_word.inc.h"
