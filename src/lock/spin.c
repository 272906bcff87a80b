/* SPDX-License-Identifier: MIT */
/* The waiting halves of the progressive spinlocks. */
#include <pawl/spin.h>

#include "../base/base.h"

/* ---- The three widths ------------------------------------------------------------------------ */

#define PAWL_WORD_KIND PAWL_KIND_SPIN_
#define PAWL_WORD_BITS 16
#include "spin_word.inc.h"
#undef PAWL_WORD_BITS
#define PAWL_WORD_BITS 32
#include "spin_word.inc.h"
#undef PAWL_WORD_BITS
#define PAWL_WORD_BITS 64
#include "spin_word.inc.h"
#undef PAWL_WORD_BITS
#undef PAWL_WORD_KIND
