/* SPDX-License-Identifier: MIT */
/*
 * The operations of spin.h and lock.h as compiled functions of the checking variant, to which
 * word_face.inc.h forwards. The other variants have them inline.
 */
#include <pawl/lock.h>

#include "../check/check.h"

#if PAWL_CHECKED

/* As checked functions, the operations must be called: the return address is the call site. */
#define CHECKED_OPERATION __attribute__((noinline))

#define PAWL_WORD_KIND PAWL_KIND_SPIN_
#define PAWL_WORD_BITS 16
#include "check_word.inc.h"
#undef PAWL_WORD_BITS
#define PAWL_WORD_BITS 32
#include "check_word.inc.h"
#undef PAWL_WORD_BITS
#define PAWL_WORD_BITS 64
#include "check_word.inc.h"
#undef PAWL_WORD_BITS
#undef PAWL_WORD_KIND
#define PAWL_WORD_KIND PAWL_KIND_LOCK_
#define PAWL_WORD_BITS 32
#include "check_word.inc.h"
#undef PAWL_WORD_BITS
#define PAWL_WORD_BITS 64
#include "check_word.inc.h"
#undef PAWL_WORD_BITS
#undef PAWL_WORD_KIND

#undef CHECKED_OPERATION

#endif
