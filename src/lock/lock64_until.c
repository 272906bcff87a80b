/* SPDX-License-Identifier: MIT */
/* The operations with a deadline of the sleeping progressive lock of 64 bits. */
#include <pawl/lock.h>

#include "../os/os.h"

#define PAWL_WORD_KIND PAWL_KIND_LOCK_
#define PAWL_WORD_BITS 64
#include "lock_until_word.inc.h"
#undef PAWL_WORD_BITS
#undef PAWL_WORD_KIND
