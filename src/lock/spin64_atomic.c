/* SPDX-License-Identifier: MIT */
/* The waiting half of the progressive spinlock of 64 bits, for atomic users. */
#include <pawl/spin.h>

#include "../base/base.h"

#define PAWL_WORD_KIND PAWL_KIND_SPIN_
#define PAWL_WORD_BITS 64
#include "spin_atomic_word.inc.h"
#undef PAWL_WORD_BITS
#undef PAWL_WORD_KIND
