/* SPDX-License-Identifier: MIT */
#include "counters/ck.h"

#if PAWL_BENCH_CK

#include <ck_brlock.h>
#include <ck_bytelock.h>
#include <ck_pr.h>
#include <ck_sequence.h>

#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, LINES = 256 };

/* As in the C++ rows: the compiler must not merge or drop operations that it could see through. */
#define SEEN() __asm__ __volatile__("" : : : "memory")

static void *aligned(size_t bytes)
{
    void *memory = aligned_alloc(LINES, (bytes + LINES - 1) / LINES * LINES);

    if (!memory)
        abort();
    return memset(memory, 0, (bytes + LINES - 1) / LINES * LINES);
}

void pawl_bench_ck_free(void *object)
{
    free(object);
}

void pawl_bench_ck_add(uint64_t *word, unsigned n)
{
    while (n--) {
        ck_pr_faa_64(word, 1);
        SEEN();
    }
}

struct sequence {
    ck_sequence_t lock;
    char bytes[64];
};

void *pawl_bench_ck_sequence(void)
{
    return aligned(sizeof(struct sequence));
}

void pawl_bench_ck_sequence_read(void *sequence, void *to, unsigned n)
{
    struct sequence *s = sequence;

    while (n--) {
        unsigned version;
        do {
            version = ck_sequence_read_begin(&s->lock);
            memcpy(to, s->bytes, sizeof s->bytes);
        } while (ck_sequence_read_retry(&s->lock, version));
        SEEN();
    }
}

struct brlock {
    ck_brlock_t lock;
    struct {
        ck_brlock_reader_t reader;
        unsigned registered;
        char apart[LINES - sizeof(ck_brlock_reader_t) - sizeof(unsigned)];
    } threads[THREADS];
};

void *pawl_bench_ck_brlock(void)
{
    struct brlock *l = aligned(sizeof *l);

    ck_brlock_init(&l->lock);
    return l;
}

void pawl_bench_ck_brlock_pairs(void *lock, unsigned thread, unsigned n)
{
    struct brlock *l = lock;
    ck_brlock_reader_t *reader = &l->threads[thread].reader;

    if (!l->threads[thread].registered) {
        ck_brlock_read_register(&l->lock, reader);
        l->threads[thread].registered = 1;
    }
    while (n--) {
        ck_brlock_read_lock(&l->lock, reader);
        SEEN();
        ck_brlock_read_unlock(reader);
        SEEN();
    }
}

void *pawl_bench_ck_bytelock(void)
{
    ck_bytelock_t *l = aligned(sizeof *l);

    ck_bytelock_init(l);
    return l;
}

void pawl_bench_ck_bytelock_pairs(void *lock, unsigned thread, unsigned n)
{
    while (n--) {
        ck_bytelock_read_lock(lock, thread + 1);
        SEEN();
        ck_bytelock_read_unlock(lock, thread + 1);
        SEEN();
    }
}

#else

typedef int counters_ck_is_empty;

#endif
