/* SPDX-License-Identifier: MIT */
/* The operations with a deadline of the sleeping progressive lock. A program without deadlines does
 * not contain them. */
#include <pawl/lock.h>

#include "../os/os.h"

#define PAWL_WORD_KIND PAWL_KIND_LOCK_
#define PAWL_WORD_BITS 32
#include "lock_until_word.inc.h"
#define PAWL_WORD_BITS 64
#include "lock_until_word.inc.h"
#undef PAWL_WORD_KIND
