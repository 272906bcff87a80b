/* SPDX-License-Identifier: MIT */
/*
 * The latch form of seq.h: two copies, of which the number always names a whole one. So a reader
 * never waits for a writer that stands still. This holds even in a signal handler that interrupted
 * the writer between two of its stores. Include seq.h, whose head has the picture, the states and
 * the invariants.
 *
 * A read returns the value of the last write that has reached its second half, or of the write
 * before that one. A reader retries each time a writer makes progress during its section.
 */
#include <pawl/seq.h> /* outside the guard: seq.h includes this file where it needs it */

#ifndef PAWL_SEQ_LATCH_H
#define PAWL_SEQ_LATCH_H

#define PAWL_SEQ_LATCH_INIT {0, PAWL_SPIN32_INIT, 0}

/* The copy that a number names, and the writer's step. */
#define PAWL_SEQ_COPY(number) ((number) & 1)
#define PAWL_SEQ_STATE_(number) ((number) & 3)

PAWL_INLINE_BEGIN

/* ---- Readers. Any thread, any signal handler; never wait. ------------------------------------ */

/* Begins a section: read words[PAWL_SEQ_COPY(number returned)]. Acquire. */
PAWL_INLINE pawl_seq_word pawl_seq_latch_begin(const pawl_seq_latch *l)
{
    /* [SEQ_LATCH_READ] acquire: the copy is at least as new as the number that names it. */
    return PAWL_SEQ_AT_(pawl_load_acquire)(&l->sequence, PAWL_SEQ_LATCH_READ);
}

/* Ends the section. True: that copy was written in between, begin again. */
PAWL_TRYING bool pawl_seq_latch_retry(const pawl_seq_latch *l, pawl_seq_word begun)
{
    pawl_seq_word now;
    /* [SEQ_LATCH_READ_END] acquire: the number is at least as new as the words. */
    pawl_fence_acquire(PAWL_SEQ_LATCH_READ_END);
    now = PAWL_SEQ_AT_(pawl_load_relaxed)(&l->sequence);
    if (PAWL_LIKELY(now == begun))
        return false;
    /* The writer has only finished the other copy. */
    return !(PAWL_SEQ_STATE_(begun) == 2 && (pawl_seq_word)(now - begun) == 2);
}

/* ---- Writers --------------------------------------------------------------------------------- */

/* From now on only the calling thread writes. Checked in the checking variant. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_seq_latch_declare_writer(pawl_seq_latch *l)
{
    PAWL_SEQ_CHECK_(l, PAWL_SEQ_LATCH_DECLARED_);
}

/* The latch's own lock, which readers never look at. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_seq_latch_take_write(pawl_seq_latch *l)
{
    PAWL_SEQ_OWN_(l, take_write, PAWL_SEQ_OWN_LATCH_);
}

PAWL_TRYING PAWL_ALWAYS_INLINE_ bool pawl_seq_latch_try_write(pawl_seq_latch *l)
{
    PAWL_SEQ_TRIES_(l, PAWL_SEQ_OWN_LATCH_);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_seq_latch_drop_write(pawl_seq_latch *l)
{
    PAWL_SEQ_OWN_(l, drop_write, PAWL_SEQ_OWN_LATCH_);
}

/* Sends the readers on to the state `n`. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_seq_latch_turn_(pawl_seq_latch *l, pawl_seq_word n)
{
    /* [SEQ_LATCH_TURN] release: a reader that sees the number sees the copy that it names. */
    PAWL_SEQ_AT_(pawl_store_release)(&l->sequence, n, PAWL_SEQ_LATCH_TURN);
    /* [SEQ_LATCH_WRITE] release: a reader that sees a word that we store next sees the number. */
    pawl_fence_release(PAWL_SEQ_LATCH_WRITE);
}

/* Stores the value into both copies, one after the other; `copies` is words[0], and words[1]
 * follows it. For a writer that is alone. Never waits. Not for a handler that may interrupt the
 * writer's thread in here. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_seq_latch_store(pawl_seq_latch *l, pawl_seq_word *copies,
                                                          const void *value, size_t bytes)
{
    pawl_seq_word *const second = copies + PAWL_SEQ_WORDS(bytes);
    pawl_seq_word n = PAWL_SEQ_AT_(pawl_load_relaxed)(&l->sequence);
    PAWL_SEQ_CHECK_(l, PAWL_SEQ_LATCH_BEGINS_);
    if (PAWL_UNLIKELY(PAWL_SEQ_STATE_(n) == 2)) {
        /* I4: a write was cut off in its second half, and words[0] is the whole copy. */
        ipawl_seq_latch_turn_(l, n);
        pawl_seq_copy_in(second, value, bytes);
        n += 2;
    }
    n = (n & ~(pawl_seq_word)3) + 1; /* a write cut off in its first half left this */
    ipawl_seq_latch_turn_(l, n);
    pawl_seq_copy_in(copies, value, bytes);
    ipawl_seq_latch_turn_(l, n + 1);
    pawl_seq_copy_in(second, value, bytes);
    PAWL_SEQ_CHECK_(l, PAWL_SEQ_LATCH_ENDS_);
    /* Relaxed: the number names words[0], which the last turn's fence has published already. */
    PAWL_SEQ_AT_(pawl_store_relaxed)(&l->sequence, n + 3);
}

/* The value becomes zero bytes. No thread may use the latch meanwhile. */
PAWL_INLINE void pawl_seq_latch_init(pawl_seq_latch *l)
{
    PAWL_SEQ_AT_(pawl_store_relaxed)(&l->sequence, 0);
    pawl_store_relaxed32(&l->writer, 0);
    PAWL_SEQ_OWN_(l, init, PAWL_SEQ_OWN_LATCH_);
}

/* The latch is not used after this. The checking variant reports a write that goes on. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_seq_latch_destroy(pawl_seq_latch *l)
{
    PAWL_SEQ_CHECK_(l, PAWL_SEQ_LATCH_DESTROYED_);
    PAWL_SEQ_OWN_(l, destroy, PAWL_SEQ_OWN_LATCH_);
}

PAWL_INLINE_END

#endif
