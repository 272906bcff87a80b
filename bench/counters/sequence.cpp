/* SPDX-License-Identifier: MIT */
/* Reading 64 bytes under a sequence lock, and big-reader locks, beside what they replace. */
#include <pthread.h>

#include <pawl/brlock.h>
#include <pawl/seq.h>

#include "counters/counters.hpp"
#include "counters/ck.h"

namespace bench::counters {
namespace {

struct value {
    std::uint64_t words[8];
};

PAWL_SEQ_TYPE(value_seq, struct value);
PAWL_SEQ_LATCH_TYPE(value_latch, struct value);

/* ---- Sequence locks -------------------------------------------------------------------------- */

struct pawl_seqlock : subject {
    placed<value_seq> lock;
    void run(measure &m, unsigned) override
    {
        value v;
        m([&] {
            value_seq_read(&lock.object, &v);
            __asm__ __volatile__("" : : "r"(&v) : "memory");
        });
    }
};

struct pawl_seqlatch : subject {
    placed<value_latch> lock;
    void run(measure &m, unsigned) override
    {
        value v;
        m([&] {
            value_latch_read(&lock.object, &v);
            __asm__ __volatile__("" : : "r"(&v) : "memory");
        });
    }
};

/* The floor: the same words, one relaxed load each, without a check that they belong together. */
struct relaxed_copy : subject {
    placed<std::uint64_t[8]> words;
    void run(measure &m, unsigned) override
    {
        value v;
        m([&] {
            for (unsigned i = 0; i < 8; i++)
                v.words[i] = __atomic_load_n(&words.object[i], __ATOMIC_RELAXED);
            __asm__ __volatile__("" : : "r"(&v) : "memory");
        });
    }
};

#if PAWL_BENCH_CK
struct ck_sequence_racy : subject {
    void *lock = pawl_bench_ck_sequence();
    ~ck_sequence_racy() override { pawl_bench_ck_free(lock); }
    void run(measure &m, unsigned) override
    {
        value v;
        m.batches(measure::many, [&](unsigned n) { pawl_bench_ck_sequence_read(lock, &v, n); });
    }
};
#endif

/* ---- Big-reader locks ------------------------------------------------------------------------ */

template <std::uint32_t flags> struct pawl_big_reader : subject {
    pawl_brlock lock;
    pawl_big_reader()
    {
        if (pawl_brlock_init(&lock, PAWL_BRLOCK_LINES | flags) != 0)
            throw std::bad_alloc();
    }
    ~pawl_big_reader() override { pawl_brlock_destroy(&lock); }
    void run(measure &m, unsigned) override
    {
        m([&] {
            pawl_brlock_take_read(&lock);
            pawl_brlock_drop_read(&lock);
        });
    }
};

template <std::uint32_t flags> struct pawl_big_reader_write : pawl_big_reader<flags> {
    void run(measure &m, unsigned) override
    {
        m.slow([&] {
            pawl_brlock_take_write(&this->lock);
            pawl_brlock_drop_write(&this->lock);
        });
    }
};

struct pthread_rwlock : subject {
    placed<pthread_rwlock_t> lock;
    pthread_rwlock() { pthread_rwlock_init(&lock.object, nullptr); }
    ~pthread_rwlock() override { pthread_rwlock_destroy(&lock.object); }
    void run(measure &m, unsigned) override
    {
        m([&] {
            pthread_rwlock_rdlock(&lock.object);
            pthread_rwlock_unlock(&lock.object);
        });
    }
};

#if PAWL_BENCH_CK
struct ck_brlock_rows : subject {
    void *lock = pawl_bench_ck_brlock();
    ~ck_brlock_rows() override { pawl_bench_ck_free(lock); }
    void run(measure &m, unsigned thread) override
    {
        m.batches(measure::many, [&](unsigned n) { pawl_bench_ck_brlock_pairs(lock, thread, n); });
    }
};

struct ck_bytelock_rows : subject {
    void *lock = pawl_bench_ck_bytelock();
    ~ck_bytelock_rows() override { pawl_bench_ck_free(lock); }
    void run(measure &m, unsigned thread) override
    {
        m.batches(measure::many,
                  [&](unsigned n) { pawl_bench_ck_bytelock_pairs(lock, thread, n); });
    }
};
#endif

} // namespace

void sequence_candidates(candidates &all)
{
    offer_both<relaxed_copy>(all, "seq", "relaxed_copy");
    offer_both<pawl_seqlock>(all, "seq", "pawl_seq");
    offer_both<pawl_seqlatch>(all, "seq", "pawl_seq_latch");
#if PAWL_BENCH_CK
    offer_both<ck_sequence_racy>(all, "seq", "ck_sequence_racy");
#else
    offer_none(all, "seq", "ck_sequence_racy", adapter::to_install("libck-dev"));
#endif
}

void big_reader_candidates(candidates &all)
{
    offer_both<pthread_rwlock>(all, "br", "pthread_rwlock");
    offer_both<pawl_big_reader<0>>(all, "br", "pawl_brlock");
    offer_both<pawl_big_reader<PAWL_BRLOCK_FENCED>>(all, "br", "pawl_brlock_fenced");
    offer<pawl_big_reader_write<0>>(all, "br", "pawl_brlock_write");
    offer<pawl_big_reader_write<PAWL_BRLOCK_FENCED>>(all, "br", "pawl_brlock_fenced_write");
#if PAWL_BENCH_CK
    offer_both<ck_brlock_rows>(all, "br", "ck_brlock");
    offer_both<ck_bytelock_rows>(all, "br", "ck_bytelock");
#else
    offer_none(all, "br", "ck_brlock", adapter::to_install("libck-dev"));
    offer_none(all, "br", "ck_bytelock", adapter::to_install("libck-dev"));
#endif
}

} // namespace bench::counters
