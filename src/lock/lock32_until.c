/* SPDX-License-Identifier: MIT */
/* The operations with a deadline of the sleeping progressive lock of 32 bits. */
#include <pawl/lock.h>

#include "../os/os.h"

#define PAWL_WORD_BITS 32
#include "lock_until_word.inc.h"
