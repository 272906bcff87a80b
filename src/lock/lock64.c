/* SPDX-License-Identifier: MIT */
/* The exported halves of the sleeping progressive lock of 64 bits. */
#include "lock_parts.h"

#define PAWL_WORD_KIND PAWL_KIND_LOCK_
#define PAWL_WORD_BITS 64
#include "lock_calls.inc.h"
#undef PAWL_WORD_BITS
#undef PAWL_WORD_KIND
