/* SPDX-License-Identifier: MIT */
/*
 * One bit of any word as a mutex whose waiters sleep (take is lock, drop is unlock). It costs no
 * memory where a word has a bit to spare, and a word holds as many of them as it has bits.
 *
 * Not for: locks that several threads want most of the time (a waiter may be overtaken any
 * number of times; lock.h), readers that should share (lock.h), words in memory that processes
 * share.
 *
 *   bit    1: held; 0: free. Changed by the functions below alone.
 *   other  bits of the word are the program's, or other bit locks. Change them with atomic
 *          operations only (a plain store would overwrite a lock bit), of the same width.
 *
 * Transitions: take and try set the bit, drop clears it.
 * Cost: take one atomic read-modify-write; drop one, a full fence (on x86 no instruction), and a
 * load that asks whether a waiter sleeps. No system call unless a thread sleeps; one waiter at a
 * time is on its way (I2). Waiting: wait.h.
 *
 * Invariants
 *   I1  A thread that sets the bit when it was clear holds the lock.
 *   I2  A drop wakes one waiter that sleeps for its bit, and never one that sleeps for another bit.
 *       It may leave that to a waiter that was woken before and has not run yet: this one tries to
 *       take the bit, and its drop, or that of the thread that has the bit then, wakes the next.
 *   I3  After the drop has cleared the bit it does not touch the word, so the next holder may free
 *       the memory at once.
 *
 * Not fair: a newcomer may overtake a waiter that is waking up. Not recursive. `bit` counts from 0,
 * the lowest, and is below the width of the word. After fork the child holds what the forking
 * thread held; bits that others held stay set. Signal handlers may only try.
 */
#ifndef PAWL_BITLOCK_H
#define PAWL_BITLOCK_H

#include <pawl/detail/alphabet.h>
#include <pawl/wait.h>

/* One contract serves the widths below it. */
PAWL_INLINE_BEGIN

/* prototypes:begin (scripts/prototypes reads them) */
/* Waits until the bit is the caller's. Acquire. */
PAWL_INLINE void pawl_bitlock8_take(uint8_t *word, unsigned bit);
PAWL_INLINE void pawl_bitlock16_take(uint16_t *word, unsigned bit);
PAWL_INLINE void pawl_bitlock32_take(uint32_t *word, unsigned bit);
PAWL_INLINE void pawl_bitlock64_take(uint64_t *word, unsigned bit);
/* The same, or false (nothing changed) once the deadline has passed. A free bit is taken. */
PAWL_TRYING bool pawl_bitlock8_take_until(uint8_t *word, unsigned bit, uint64_t deadline);
PAWL_TRYING bool pawl_bitlock16_take_until(uint16_t *word, unsigned bit, uint64_t deadline);
PAWL_TRYING bool pawl_bitlock32_take_until(uint32_t *word, unsigned bit, uint64_t deadline);
PAWL_TRYING bool pawl_bitlock64_take_until(uint64_t *word, unsigned bit, uint64_t deadline);
/* True when the bit was free. Never waits. Acquire when true. */
PAWL_TRYING bool pawl_bitlock8_try(uint8_t *word, unsigned bit);
PAWL_TRYING bool pawl_bitlock16_try(uint16_t *word, unsigned bit);
PAWL_TRYING bool pawl_bitlock32_try(uint32_t *word, unsigned bit);
PAWL_TRYING bool pawl_bitlock64_try(uint64_t *word, unsigned bit);
/* Gives the bit back and wakes one waiter of it. Release. */
PAWL_INLINE void pawl_bitlock8_drop(uint8_t *word, unsigned bit);
PAWL_INLINE void pawl_bitlock16_drop(uint16_t *word, unsigned bit);
PAWL_INLINE void pawl_bitlock32_drop(uint32_t *word, unsigned bit);
PAWL_INLINE void pawl_bitlock64_drop(uint64_t *word, unsigned bit);
/* Whether the bit is held at this instant; for reports, not for decisions. */
PAWL_INLINE bool pawl_bitlock8_is_held(const uint8_t *word, unsigned bit);
PAWL_INLINE bool pawl_bitlock16_is_held(const uint16_t *word, unsigned bit);
PAWL_INLINE bool pawl_bitlock32_is_held(const uint32_t *word, unsigned bit);
PAWL_INLINE bool pawl_bitlock64_is_held(const uint64_t *word, unsigned bit);
/* prototypes:end */

PAWL_INLINE_END

#define PAWL_WORD_KIND PAWL_KIND_BITLOCK_
#define PAWL_WORD_BITS 8
#include <pawl/detail/bitlock_word.inc.h>
#define PAWL_WORD_BITS 16
#include <pawl/detail/bitlock_word.inc.h>
#define PAWL_WORD_BITS 32
#include <pawl/detail/bitlock_word.inc.h>
#define PAWL_WORD_BITS 64
#include <pawl/detail/bitlock_word.inc.h>
#undef PAWL_WORD_KIND

#endif
