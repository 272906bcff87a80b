/* SPDX-License-Identifier: MIT */
/*
 * The operations of spin.h and lock.h as compiled functions. In the checking variant
 * word_face.inc.h forwards to them. In release the shared library exports them, for programs that
 * were compiled where a macro of an older version's headers asked for calls.
 */
#include <pawl/lock.h>

#include "../check/check.h"

#if !PAWL_HOOKS

#define CALLED_void(call) (call)
#define CALLED_bool(call) return (call)
#define CALLED_pawl_regained(call) return (call)

/* As checked functions, the operations must be called: the return address is the call site. */
#define CHECKED_OPERATION __attribute__((noinline))

#define PAWL_WORD_KIND PAWL_KIND_SPIN_
#define PAWL_WORD_BITS 16
#include "calls_word.inc.h"
#define PAWL_WORD_BITS 32
#include "calls_word.inc.h"
#define PAWL_WORD_BITS 64
#include "calls_word.inc.h"
#undef PAWL_WORD_KIND
#define PAWL_WORD_KIND PAWL_KIND_LOCK_
#define PAWL_WORD_BITS 32
#include "calls_word.inc.h"
#define PAWL_WORD_BITS 64
#include "calls_word.inc.h"
#undef PAWL_WORD_KIND

#undef CALLED_void
#undef CALLED_bool
#undef CALLED_pawl_regained
#undef CHECKED_OPERATION

#endif
