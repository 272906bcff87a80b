/* SPDX-License-Identifier: MIT */
/* The operations of pawl_spin64 as compiled functions (PAWL_SMALL). */
#include <pawl/spin.h>

#include "../os/os.h"

#define PAWL_WORD_KIND PAWL_KIND_SPIN_
#define PAWL_WORD_BITS 64
#include "small_word.inc.h"
#undef PAWL_WORD_BITS
#undef PAWL_WORD_KIND
