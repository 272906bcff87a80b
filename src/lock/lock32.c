/* SPDX-License-Identifier: MIT */
/* The exported halves of the sleeping progressive lock of 32 bits. */
#include "lock_parts.h"

#define PAWL_WORD_BITS 32
#include "lock_calls.inc.h"
