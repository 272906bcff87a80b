/* SPDX-License-Identifier: MIT */
/*
 * One bit of any word as a lock whose waiters sleep: a lock that costs no memory where a word has a
 * bit to spare, and as many of them in a word as it has bits.
 *
 * Not for: locks that several threads want most of the time (no order among waiters, and each drop
 * looks whether somebody sleeps; lock.h), readers that should share (lock.h), words in memory that
 * processes share.
 *
 *   bit    1: held; 0: free. Changed by the functions below alone.
 *   other  bits of the word are the program's, or other bit locks. Change them with atomic
 *          operations only (a plain store would overwrite a lock bit), of the same width.
 *
 * Transitions: take and try set the bit, drop clears it.
 * Cost: take one atomic read-modify-write; drop two, of which the second asks whether anybody
 * sleeps. No system call unless a thread sleeps. Waiting: wait.h.
 *
 * Invariants
 *   I1  who sets the bit when it was clear holds the lock.
 *   I2  a drop wakes one of those who sleep for its bit, and never one who sleeps for another.
 *   I3  after the drop has cleared the bit it does not touch the word, so the next holder may free
 *       the memory at once.
 *
 * Not fair: a thread that comes may overtake one that is waking up. Not recursive. `bit` counts
 * from 0, the lowest. After fork the child holds what the forking thread held; bits that others
 * held stay set. Not for signal handlers, but for try.
 */
#ifndef PAWL_BITLOCK_H
#define PAWL_BITLOCK_H

#include <pawl/wait.h>

#define PAWL_WORD_BITS 8
#include <pawl/detail/bitlock_word.inc.h>
#undef PAWL_WORD_BITS
#define PAWL_WORD_BITS 16
#include <pawl/detail/bitlock_word.inc.h>
#undef PAWL_WORD_BITS
#define PAWL_WORD_BITS 32
#include <pawl/detail/bitlock_word.inc.h>
#undef PAWL_WORD_BITS
#define PAWL_WORD_BITS 64
#include <pawl/detail/bitlock_word.inc.h>
#undef PAWL_WORD_BITS

#endif
