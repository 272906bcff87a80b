/* SPDX-License-Identifier: MIT */
/*
 * The helper macros by which one body serves several types and widths. Each body is a file
 * *_word.inc.h, in include/pawl/detail and in src/lock, included once for each width with
 *
 *   PAWL_WORD_KIND   one of the kinds below
 *   PAWL_WORD_BITS   8, 16, 32 or 64
 *
 * defined. The macros are evaluated where they are used, so they are defined once. The public names
 * that the bodies make stand in full in spin.h, lock.h, pshared.h and bitlock.h.
 */
#ifndef PAWL_ALPHABET_H
#define PAWL_ALPHABET_H

#include <pawl/atomic.h>

#define PAWL_KIND_SPIN_ 1
#define PAWL_KIND_LOCK_ 2
#define PAWL_KIND_PSHARED_ 3
#define PAWL_KIND_BITLOCK_ 4
#define PAWL_KIND_PLOCK_ 5 /* compat/plock.h: names of its own on the words of spin.h */

#define PAWL_STEM_1 pawl_spin
#define PAWL_STEM_2 pawl_lock
#define PAWL_STEM_3 pawl_pshared_lock
#define PAWL_STEM_4 pawl_bitlock
#define PAWL_STEM_5 pawl_plock
#define PAWL_STEM_(kind) PAWL_CAT_(PAWL_STEM_, kind)

/* The names: pawl_lock32_<verb>, and its compiled half, which carries version and variant. */
#define PAWL_NAME_(verb) PAWL_CAT_(PAWL_CAT_(PAWL_STEM_(PAWL_WORD_KIND), PAWL_WORD_BITS), _##verb)
#define PAWL_SLOW_(verb) PAWL_SYMBOL_(PAWL_NAME_(verb))

/* An internal name, of a verb with a trailing underscore: ipawl_lock32_<verb>. */
#define PAWL_INNER_OF_(name) i##name
#define PAWL_INNER_BY_(name) PAWL_INNER_OF_(name)
#define PAWL_INNER_(verb) PAWL_INNER_BY_(PAWL_NAME_(verb))

/* The body of a public operation. Where callers are checked or annotated it has a name of its own,
 * and the public name is a wrapper (word_face.inc.h). */
#if PAWL_CHECKED || PAWL_TOLD_ || PAWL_TRACED_
#define PAWL_BODY_(verb) PAWL_INNER_(verb##_unchecked_)
#else
#define PAWL_BODY_(verb) PAWL_NAME_(verb)
#endif

/* The type of what a body returns, and the result of the operation from it. */
#define PAWL_TYPE_void_ bool
#define PAWL_TYPE_bool_ bool
#define PAWL_TYPE_pawl_regained_ pawl_regained
#define PAWL_RETURN_void_(value) (void)(value)
#define PAWL_RETURN_bool_(value) return value
#define PAWL_RETURN_pawl_regained_(value) return value

/* The macros around an operation, by its kind in transitions.def (around.h). */
#define PAWL_FACE_take_(name, from, to, call) PAWL_FACE_WAITS_(0u, name, from, to, call)
#define PAWL_FACE_claim_(name, from, to, call) PAWL_FACE_WAITS_(0u, name, from, to, call)
#define PAWL_FACE_try_(name, from, to, call) PAWL_TRIES_(WORD, 0u, from, to, call)
#define PAWL_FACE_drop_(name, from, to, call) PAWL_DROPS_(WORD, from, call)
#define PAWL_FACE_tells_(name, from, to, call) PAWL_REGAINS_(call)
#define PAWL_FACE_move_(name, from, to, call) PAWL_FACE_##name(from, to, call)
#define PAWL_FACE_seek_to_write(from, to, call) PAWL_FACE_WAITS_(0u, seek_to_write, from, to, call)
#define PAWL_FACE_write_to_seek(from, to, call) PAWL_MOVES_(WORD, from, to, call)
#define PAWL_FACE_write_to_read(from, to, call) PAWL_MOVES_(WORD, from, to, call)
#define PAWL_FACE_seek_to_read(from, to, call) PAWL_MOVES_(WORD, from, to, call)
#define PAWL_FACE_WAITS_(flags, name, from, to, call)                                              \
    PAWL_WAITS_(WORD, flags, from, to, PAWL_TRIED_(PAWL_FIRST_##name)(l), call, value)

/* The try of an operation that may wait. */
#define PAWL_TRIED_(verb) PAWL_CAT_(PAWL_TRIED_, PAWL_WORD_KIND)(verb)
#define PAWL_TRIED_1(verb) PAWL_BODY_(verb)
#define PAWL_TRIED_2(verb) PAWL_BODY_(verb)
#define PAWL_TRIED_3(verb) PAWL_DO_(verb)
#define PAWL_FIRST_take_read try_read
#define PAWL_FIRST_take_seek try_seek
#define PAWL_FIRST_take_write try_write
#define PAWL_FIRST_take_atomic try_atomic
#define PAWL_FIRST_claim_write try_write
#define PAWL_FIRST_claim_atomic try_atomic
#define PAWL_FIRST_seek_to_write try_seek_to_write
#define PAWL_FIRST_read_claim_write try_read_to_write
#define PAWL_FIRST_read_claim_atomic try_read_to_atomic

/* The types: the lock, the spinlock on the same word, the word. */
#define PAWL_LOCK_ PAWL_CAT_(PAWL_STEM_(PAWL_WORD_KIND), PAWL_WORD_BITS)
#define PAWL_SPIN_ PAWL_CAT_(pawl_spin, PAWL_WORD_BITS)
#define PAWL_WORD_ PAWL_CAT_(PAWL_CAT_(uint, PAWL_WORD_BITS), _t)

/* An operation of the seam in this width. */
#define PAWL_AT_(operation) PAWL_CAT_(operation, PAWL_WORD_BITS)

/* A test of a word's value, or a field of it (word_tests.inc.h): all kinds have the same word. */
#define PAWL_IS_(test) PAWL_CAT_(PAWL_CAT_(ipawl_spin, PAWL_WORD_BITS), _##test##_)

/* One unit of R, S and W, and their sums. */
#define PAWL_R_ PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _R)
#define PAWL_S_ PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _S)
#define PAWL_W_ PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _W)
#define PAWL_R_S_ ((PAWL_WORD_)(PAWL_S_ + PAWL_R_))
#define PAWL_W_S_ ((PAWL_WORD_)(PAWL_W_ + PAWL_S_))
#define PAWL_W_S_R_ ((PAWL_WORD_)(PAWL_W_ + PAWL_S_ + PAWL_R_))

#endif
