/* SPDX-License-Identifier: MIT */
/*
 * The operations of spin.h and lock.h as compiled functions, which the shared library exports: for
 * programs that were compiled where a macro of the headers of 0.1.0 asked for calls.
 */
#include <pawl/lock.h>

#include "../os/os.h"

#if !PAWL_CHECKED && !PAWL_HOOKS

#define CALLED_void(call) (call)
#define CALLED_bool(call) return (call)
#define CALLED_pawl_regained(call) return (call)

#define PAWL_WORD_KIND PAWL_KIND_SPIN_
#define PAWL_WORD_BITS 16
#include "calls_word.inc.h"
#undef PAWL_WORD_BITS
#define PAWL_WORD_BITS 32
#include "calls_word.inc.h"
#undef PAWL_WORD_BITS
#define PAWL_WORD_BITS 64
#include "calls_word.inc.h"
#undef PAWL_WORD_BITS
#undef PAWL_WORD_KIND

#define PAWL_WORD_KIND PAWL_KIND_LOCK_
#define PAWL_WORD_BITS 32
#include "calls_word.inc.h"
#undef PAWL_WORD_BITS
#define PAWL_WORD_BITS 64
#include "calls_word.inc.h"
#undef PAWL_WORD_BITS
#undef PAWL_WORD_KIND

#undef CALLED_void
#undef CALLED_bool
#undef CALLED_pawl_regained

#endif
