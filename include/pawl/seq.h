/* SPDX-License-Identifier: MIT */
/*
 * Sequence locks. A reader copies a small value and looks at a number before and after; if the
 * number has changed, it copies again. Readers never write: they cost the writer nothing and scale
 * like plain loads. For values that are read much more than written: a clock, a route, a set of
 * statistics.
 *
 * Not for: values that are written all the time (readers starve); values of more than some hundred
 * bytes; pointers to memory that a writer frees. (A reader would follow them before it knows that
 * they are old: use RCU.)
 *
 *   PAWL_SEQ_TYPE(name, type)                     PAWL_SEQ_LATCH_TYPE(name, type)
 *     sequence | lock | writer | words             sequence | lock | writer | words[0] | words[1]
 *
 *   sequence  pawl_seq_word, 64 bits (32 on 32-bit targets); changed by the writer only.
 *   lock      pawl_spin32, for writers and bounded readers that ask for it.
 *   writer    the checking variant's: the writer, or the declared one; 0 in the others.
 *   words     the value, in words that only this header accesses, one relaxed atomic access a word.
 *
 * States  lock   even: the words are whole. odd: they are being written, readers wait.
 *         latch  4k: both copies are whole, readers take words[0]. 4k+1: words[0] is being written,
 *                readers take words[1]. 4k+2: words[1] is being written, readers take words[0].
 *
 * Zero bytes are a lock whose value is zero bytes: calloc makes locks.
 *
 * Writers must exclude each other. Three ways, for both forms:
 *   own lock       pawl_seq_take_write ... pawl_seq_drop_write around the write
 *   caller's lock  any lock of the caller's around the write
 *   single writer  pawl_seq_declare_writer once, by the only thread that writes
 *
 * Cost
 *   read   two loads of the number beside the copy; no store to shared memory; no call unless a
 *          write is under way.
 *   write  two stores of the number (latch: three, and the value twice); for the own lock a pair of
 *          atomic read-modify-writes more.
 *
 * Invariants
 *   I1  a read that ends saw the words of one write, the one that stored the number it began with.
 *   I2  a reader stores nothing that other threads see, unless it asks for the lock.
 *   I3  in a latch, the copy that the number names is whole at every instant. So a reader retries
 *       only after a writer made progress; one that interrupted the writer's thread never retries.
 *   I4  the next write repairs one that was cut off (in the child of a fork, or by a thread's end).
 *       Until then, readers of a lock wait; readers of a latch find the last whole value.
 *   I5  between writes the number is even (latch: a multiple of 4), also after it wraps.
 *
 * I1 has a limit: a reader that stops in its section while the writer makes exactly a multiple of
 * 2^63 writes (2^31 on 32-bit targets; half of that for a latch). At 10 ns a write that takes 2900
 * years, or 21 seconds.
 *
 * A reader that meets a write waits as for a spinlock: exponential back-off with jitter, then
 * sched_yield (PAWL_SPIN_SUSPECT_NS). So a preempted writer delays it until that writer runs.
 *
 * Signal handlers: latch reads always; of a lock only the try forms, because a handler must not
 * wait for the writer that it interrupted. doc/seq.md has the whole contract.
 */
#ifndef PAWL_SEQ_H
#define PAWL_SEQ_H

#include <string.h>

#include <pawl/spin.h>

#if UINTPTR_MAX > UINT32_MAX
typedef uint64_t pawl_seq_word;
#define PAWL_SEQ_AT_(operation) PAWL_CAT_(operation, 64)
#else
typedef uint32_t pawl_seq_word;
#define PAWL_SEQ_AT_(operation) PAWL_CAT_(operation, 32)
#endif

typedef struct pawl_seq {
    pawl_seq_word sequence;
    pawl_spin32 lock;
    uint32_t writer;
} pawl_seq;

typedef struct pawl_seq_latch {
    pawl_seq_word sequence;
    pawl_spin32 lock;
    uint32_t writer;
} pawl_seq_latch;

#define PAWL_SEQ_INIT {0, PAWL_SPIN32_INIT, 0}

/* Words that hold so many bytes. */
#define PAWL_SEQ_WORDS(bytes) (((bytes) + sizeof(pawl_seq_word) - 1) / sizeof(pawl_seq_word))

/* A bounded reader: how many retries are left before it takes the lock. */
typedef struct pawl_seq_reader {
    pawl_seq_word begun;
    unsigned left;
    bool locked;
} pawl_seq_reader;

#define PAWL_SEQ_READER(retries) {0, (retries), false}

PAWL_C_BEGIN

/* Waits until no write is under way; returns the number then found. */
PAWL_API PAWL_COLD pawl_seq_word PAWL_SYMBOL_(pawl_seq_wait)(const pawl_seq *s);

#if PAWL_CHECKED
PAWL_API void PAWL_SYMBOL_(pawl_seq_check)(void *s, unsigned what);
PAWL_API bool PAWL_SYMBOL_(pawl_seq_own)(pawl_spin32 *lock, unsigned what);
#endif

PAWL_C_END

#define ipawl_seq_wait_ PAWL_SYMBOL_(pawl_seq_wait)
#define ipawl_seq_check_ PAWL_SYMBOL_(pawl_seq_check)
#define ipawl_seq_own_ PAWL_SYMBOL_(pawl_seq_own)

/* The checks of the checking variant. */
enum ipawl_seq_what_ {
    PAWL_SEQ_DECLARED_,
    PAWL_SEQ_BEGINS_,
    PAWL_SEQ_ENDS_,
    PAWL_SEQ_DESTROYED_,
    PAWL_SEQ_LATCH_DECLARED_,
    PAWL_SEQ_LATCH_BEGINS_,
    PAWL_SEQ_LATCH_ENDS_,
    PAWL_SEQ_LATCH_DESTROYED_,
    PAWL_SEQ_ENDED_
};

/* The operations on the own lock, which is a pawl_spin32 that reports call by the name of the
 * whole. For a latch, PAWL_SEQ_OWN_LATCH_ is added. */
enum ipawl_seq_own_what_ {
    PAWL_SEQ_OWN_take_write,
    PAWL_SEQ_OWN_try_write,
    PAWL_SEQ_OWN_drop_write,
    PAWL_SEQ_OWN_take_read,
    PAWL_SEQ_OWN_drop_read,
    PAWL_SEQ_OWN_init,
    PAWL_SEQ_OWN_destroy,
    PAWL_SEQ_OWN_LATCH_
};

#if PAWL_CHECKED
#define PAWL_SEQ_STAY_() __asm__ __volatile__("") /* the call stays one: it returns to the site */
#define PAWL_SEQ_CHECK_(s, what)                                                                   \
    do {                                                                                           \
        ipawl_seq_check_((s), (what));                                                             \
        PAWL_SEQ_STAY_();                                                                          \
    } while (0)
#define PAWL_SEQ_OWN_(s, verb, latch)                                                              \
    do {                                                                                           \
        (void)ipawl_seq_own_(&(s)->lock, PAWL_SEQ_OWN_##verb + (latch));                           \
        PAWL_SEQ_STAY_();                                                                          \
    } while (0)
#define PAWL_SEQ_TRIES_(s, latch)                                                                  \
    const bool taken = ipawl_seq_own_(&(s)->lock, PAWL_SEQ_OWN_try_write + (latch));               \
    PAWL_SEQ_STAY_();                                                                              \
    return taken
#else
#define PAWL_SEQ_STAY_() ((void)0)
#define PAWL_SEQ_CHECK_(s, what) ((void)(s))
#define PAWL_SEQ_OWN_(s, verb, latch) pawl_spin32_##verb(&(s)->lock)
#define PAWL_SEQ_TRIES_(s, latch) return pawl_spin32_try_write(&(s)->lock)
#endif

PAWL_INLINE_BEGIN

/* ---- Copying --------------------------------------------------------------------------------- */

#define PAWL_SEQ_OUT_(i)                                                                           \
    do {                                                                                           \
        const pawl_seq_word word_ = PAWL_SEQ_AT_(pawl_load_relaxed)(from + (i));                   \
        memcpy(out + (i) * sizeof word_, &word_, sizeof word_);                                    \
    } while (0)
#define PAWL_SEQ_IN_(i)                                                                            \
    do {                                                                                           \
        pawl_seq_word word_;                                                                       \
        memcpy(&word_, in + (i) * sizeof word_, sizeof word_);                                     \
        PAWL_SEQ_AT_(pawl_store_relaxed)(to + (i), word_);                                         \
    } while (0)
/* Eight words at a time, written out: at -O2 gcc would leave a loop for constant sizes too. */
/* clang-format off */
#define PAWL_SEQ_EIGHT_(step)                                                                      \
    step(0); step(1); step(2); step(3); step(4); step(5); step(6); step(7)
/* clang-format on */

/* Copies `bytes` from the words of a lock into plain memory, for parts of a value and for sections
 * that are written out. Relaxed; valid only between begin and retry, or for a writer. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_seq_copy_out(void *to, const pawl_seq_word *from,
                                                       size_t bytes)
{
    char *out = (char *)to;
    for (; bytes >= 8 * sizeof *from; bytes -= 8 * sizeof *from) {
        PAWL_SEQ_EIGHT_(PAWL_SEQ_OUT_);
        from += 8;
        out += 8 * sizeof *from;
    }
    for (; bytes >= sizeof *from; bytes -= sizeof *from) {
        PAWL_SEQ_OUT_(0);
        from++;
        out += sizeof *from;
    }
    if (bytes > 0) {
        const pawl_seq_word last = PAWL_SEQ_AT_(pawl_load_relaxed)(from);
        memcpy(out, &last, bytes);
    }
}

/* The other way; between begin_write and end_write. Bytes behind the last one become zero. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_seq_copy_in(pawl_seq_word *to, const void *from,
                                                      size_t bytes)
{
    const char *in = (const char *)from;
    for (; bytes >= 8 * sizeof *to; bytes -= 8 * sizeof *to) {
        PAWL_SEQ_EIGHT_(PAWL_SEQ_IN_);
        to += 8;
        in += 8 * sizeof *to;
    }
    for (; bytes >= sizeof *to; bytes -= sizeof *to) {
        PAWL_SEQ_IN_(0);
        to++;
        in += sizeof *to;
    }
    if (bytes > 0) {
        pawl_seq_word last = 0;
        memcpy(&last, in, bytes);
        PAWL_SEQ_AT_(pawl_store_relaxed)(to, last);
    }
}

#undef PAWL_SEQ_OUT_
#undef PAWL_SEQ_IN_
#undef PAWL_SEQ_EIGHT_

/* ---- Readers of a lock ----------------------------------------------------------------------- */

/* The compiled wait may have been built without ThreadSanitizer, which then misses its acquire. */
#if PAWL_TOLD_
PAWL_INLINE pawl_seq_word ipawl_seq_await_(const pawl_seq *s)
{
    const pawl_seq_word n = ipawl_seq_wait_(s);
    ipawl_told_get_(&s->sequence);
    return n;
}
#else
PAWL_INLINE pawl_seq_word ipawl_seq_await_(const pawl_seq *s)
{
    return ipawl_seq_wait_(s);
}
#endif

/* Begins a section: waits until no write is under way. Acquire. Not in signal handlers. */
PAWL_INLINE pawl_seq_word pawl_seq_begin(const pawl_seq *s)
{
    /* [SEQ_READ_BEGIN] acquire: the words are at least as new as the number. */
    pawl_seq_word n = PAWL_SEQ_AT_(pawl_load_acquire)(&s->sequence, PAWL_SEQ_READ_BEGIN);
    if (PAWL_UNLIKELY((n & 1) != 0)) {
        n = ipawl_seq_await_(s);
        PAWL_SEQ_STAY_();
    }
    return n;
}

/* The same, but false when a write is under way. Never waits; for signal handlers too. */
PAWL_TRYING bool pawl_seq_try_begin(const pawl_seq *s, pawl_seq_word *begun)
{
    /* [SEQ_READ_BEGIN] acquire: the words are at least as new as the number. */
    *begun = PAWL_SEQ_AT_(pawl_load_acquire)(&s->sequence, PAWL_SEQ_READ_BEGIN);
    return (*begun & 1) == 0;
}

/* Ends the section. True: a writer came in between; discard the copy and begin again. */
PAWL_TRYING bool pawl_seq_retry(const pawl_seq *s, pawl_seq_word begun)
{
    /* [SEQ_READ_END] acquire: the number is at least as new as the words. */
    pawl_fence_acquire(PAWL_SEQ_READ_END);
    return PAWL_UNLIKELY(PAWL_SEQ_AT_(pawl_load_relaxed)(&s->sequence) != begun);
}

/* For locks whose writers use the own lock: a reader that retries at most reader->left times, and
 * then holds writers back for one section. For that it writes shared memory, and waits for the
 * present writer: never in signal handlers. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_seq_begin_or_lock(pawl_seq *s, pawl_seq_reader *reader)
{
    if (reader->locked)
        PAWL_SEQ_OWN_(s, take_read, 0);
    reader->begun = pawl_seq_begin(s);
}

PAWL_TRYING PAWL_ALWAYS_INLINE_ bool pawl_seq_retry_or_unlock(pawl_seq *s, pawl_seq_reader *reader)
{
    const bool again = pawl_seq_retry(s, reader->begun);
    if (reader->locked)
        PAWL_SEQ_OWN_(s, drop_read, 0);
    else if (again)
        reader->locked = reader->left-- == 0;
    return again;
}

/* ---- Writers of a lock ----------------------------------------------------------------------- */

/* From now on only the calling thread writes. Checked in the checking variant. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_seq_declare_writer(pawl_seq *s)
{
    PAWL_SEQ_CHECK_(s, PAWL_SEQ_DECLARED_);
}

/* The own lock. Readers go on: only begin_write stops them. The try form never waits. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_seq_take_write(pawl_seq *s)
{
    PAWL_SEQ_OWN_(s, take_write, 0);
}

PAWL_TRYING PAWL_ALWAYS_INLINE_ bool pawl_seq_try_write(pawl_seq *s)
{
    PAWL_SEQ_TRIES_(s, 0);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_seq_drop_write(pawl_seq *s)
{
    PAWL_SEQ_OWN_(s, drop_write, 0);
}

/* Around the stores, by a writer that is alone. Neither waits. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_seq_begin_write(pawl_seq *s)
{
    const pawl_seq_word n = PAWL_SEQ_AT_(pawl_load_relaxed)(&s->sequence);
    PAWL_SEQ_CHECK_(s, PAWL_SEQ_BEGINS_);
    PAWL_SEQ_AT_(pawl_store_relaxed)(&s->sequence, n | 1); /* I4: it may be odd already */
    /* [SEQ_WRITE_BEGIN] release: a reader that sees one of our words sees the odd number. */
    pawl_fence_release(PAWL_SEQ_WRITE_BEGIN);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_seq_end_write(pawl_seq *s)
{
    const pawl_seq_word n = PAWL_SEQ_AT_(pawl_load_relaxed)(&s->sequence);
    PAWL_SEQ_CHECK_(s, PAWL_SEQ_ENDS_);
    /* [SEQ_WRITE_END] release: a reader that sees the even number sees all our words. */
    PAWL_SEQ_AT_(pawl_store_release)(&s->sequence, n + 1, PAWL_SEQ_WRITE_END);
    PAWL_SEQ_CHECK_(s, PAWL_SEQ_ENDED_);
}

/* The value becomes zero bytes. No thread may use the lock meanwhile. */
PAWL_INLINE void pawl_seq_init(pawl_seq *s)
{
    PAWL_SEQ_AT_(pawl_store_relaxed)(&s->sequence, 0);
    pawl_store_relaxed32(&s->writer, 0);
    PAWL_SEQ_OWN_(s, init, 0);
}

/* The lock is not used after this. The checking variant reports a write that goes on. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_seq_destroy(pawl_seq *s)
{
    PAWL_SEQ_CHECK_(s, PAWL_SEQ_DESTROYED_);
    PAWL_SEQ_OWN_(s, destroy, 0);
}

PAWL_INLINE_END

#include <pawl/seq_latch.h>
#include <pawl/seq_type.h>

#endif
