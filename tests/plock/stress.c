/* SPDX-License-Identifier: MIT */
/* Threads at random on one lock of each kind of word; each looks whether those are in whom its
 * state excludes. Time-boxed; the seed is printed. */
#include <pawl/compat/plock.h>

#include "test.h"

enum { THREADS = 4 };

/* Who is in, counted by those who are. Relaxed, so that the counters order nothing: what the lock
 * orders is seen by the plain data. */
enum who { READERS, SEEKERS, WRITERS, ATOMICS, CLAIMERS, WHO_COUNT };

static struct arena {
    unsigned int lock32;
    unsigned long lock64;
    void *lock_pointer;
    uint32_t in[WHO_COUNT];
    unsigned data[2]; /* equal, but for a writer's moment */
    uint32_t atomic_data;
    uint32_t written; /* 0: nobody has had a turn to write */
    double until;
} arena;

static bool time_is_up(void)
{
    return test_now() > arena.until && pawl_load_relaxed32(&arena.written) != 0;
}

static void come(enum who who)
{
    (void)pawl_fetch_add_relaxed32(&arena.in[who], 1);
}

static void go(enum who who)
{
    (void)pawl_fetch_sub_relaxed32(&arena.in[who], 1);
}

static unsigned in(enum who who)
{
    return pawl_load_relaxed32(&arena.in[who]);
}

static void read_data(void)
{
    must(in(WRITERS) == 0 && in(ATOMICS) == 0 && in(CLAIMERS) == 0);
    must(arena.data[0] == arena.data[1]);
}

static void write_data(void)
{
    must(in(WRITERS) == 1 && in(READERS) == 0 && in(SEEKERS) == 0);
    must(in(ATOMICS) == 0 && in(CLAIMERS) == 0);
    arena.data[0]++;
    arena.data[1]++;
    pawl_store_relaxed32(&arena.written, 1);
}

static void change_data(void)
{
    must(in(READERS) == 0 && in(SEEKERS) == 0 && in(WRITERS) == 0);
    (void)pawl_fetch_add_relaxed32(&arena.atomic_data, 1);
}

/* ---- R S W A --------------------------------------------------------------------------------- */

#define READ_THEN_UP(l, choice)                                                                    \
    do {                                                                                           \
        pl_take_r(l);                                                                              \
        come(READERS);                                                                             \
        read_data();                                                                               \
        go(READERS);                                                                               \
        if ((choice) % 4 == 0 && pl_try_rtow(l)) {                                                 \
            come(WRITERS);                                                                         \
            write_data();                                                                          \
            go(WRITERS);                                                                           \
            pl_wtor(l);                                                                            \
        } else if ((choice) % 4 == 1 && pl_try_rtoa(l)) {                                          \
            come(ATOMICS);                                                                         \
            change_data();                                                                         \
            go(ATOMICS);                                                                           \
            pl_ator(l);                                                                            \
            come(READERS);                                                                         \
            read_data();                                                                           \
            go(READERS);                                                                           \
        } else if ((choice) % 4 == 2 && pl_try_rtos(l)) {                                          \
            pl_stor(l);                                                                            \
        }                                                                                          \
        pl_drop_r(l);                                                                              \
    } while (0)

#define SEEK_THEN_WRITE(l, choice)                                                                 \
    do {                                                                                           \
        if ((choice) % 2 || !pl_try_s(l))                                                          \
            pl_take_s(l);                                                                          \
        come(SEEKERS);                                                                             \
        must(in(SEEKERS) == 1);                                                                    \
        read_data();                                                                               \
        go(SEEKERS);                                                                               \
        pl_stow(l);                                                                                \
        come(WRITERS);                                                                             \
        write_data();                                                                              \
        go(WRITERS);                                                                               \
        pl_wtos(l);                                                                                \
        pl_drop_s(l);                                                                              \
    } while (0)

#define WRITE_OR_CHANGE(l, choice)                                                                 \
    do {                                                                                           \
        if ((choice) % 2) {                                                                        \
            if (((choice) & 2) || !((choice) & 4 ? pl_try_w(l) : pl_try_w_nowait(l)))              \
                pl_take_w(l);                                                                      \
            come(WRITERS);                                                                         \
            write_data();                                                                          \
            go(WRITERS);                                                                           \
            pl_drop_w(l);                                                                          \
        } else {                                                                                   \
            if (((choice) & 2) || !pl_try_a(l))                                                    \
                pl_take_a(l);                                                                      \
            come(ATOMICS);                                                                         \
            change_data();                                                                         \
            go(ATOMICS);                                                                           \
            pl_drop_a(l);                                                                          \
        }                                                                                          \
    } while (0)

#define PROGRESSIVE(name, word)                                                                    \
    static void name(void *unused, unsigned index)                                                 \
    {                                                                                              \
        uint64_t random = test_seed() + index;                                                     \
        (void)unused;                                                                              \
        while (!time_is_up()) {                                                                    \
            const unsigned choice = test_random_below(&random, 1024);                              \
            if (choice < 600)                                                                      \
                READ_THEN_UP(&arena.word, choice);                                                 \
            else if (choice < 800)                                                                 \
                SEEK_THEN_WRITE(&arena.word, choice);                                              \
            else                                                                                   \
                WRITE_OR_CHANGE(&arena.word, choice);                                              \
        }                                                                                          \
    }

PROGRESSIVE(progressive_int, lock32)
PROGRESSIVE(progressive_long, lock64)
PROGRESSIVE(progressive_pointer, lock_pointer)

/* ---- R J C A --------------------------------------------------------------------------------- */

static void claim_and_change(unsigned long *l, unsigned choice)
{
    if (choice & 1) {
        pl_rtoc(l);
    } else {
        pl_rtoj(l);
        must(in(READERS) == 0 && in(ATOMICS) == 0);
        if ((choice & 14) == 0) {
            pl_drop_j(l);
            return;
        }
        pl_jtoc(l);
    }
    come(CLAIMERS);
    must(in(READERS) == 0 && in(ATOMICS) == 0);
    go(CLAIMERS);
    if ((choice & 48) == 0) {
        pl_drop_c(l);
        return;
    }
    pl_ctoa(l);
    come(ATOMICS);
    must(in(CLAIMERS) == 0);
    change_data();
    go(ATOMICS);
    if ((choice & 64) == 0) {
        pl_drop_a(l);
    } else if ((choice & 128) == 0) {
        pl_atoj(l);
        pl_drop_j(l);
    } else {
        pl_ator(l);
        come(READERS);
        read_data();
        go(READERS);
        pl_drop_r(l);
    }
}

static void exclusive(unsigned long *l, unsigned choice)
{
    if ((choice & 1) && !pl_try_j(l))
        return;
    if (!(choice & 1))
        pl_take_j(l);
    must(pl_last_writer(l) || in(WRITERS) == 0);
    come(WRITERS);
    write_data();
    go(WRITERS);
    pl_drop_j(l);
}

static void joining(void *unused, unsigned index)
{
    uint64_t random = test_seed() + index;
    while (!time_is_up()) {
        const unsigned choice = test_random_below(&random, 2048);
        unsigned long *l = &arena.lock64;
        if (choice >= 1800) {
            exclusive(l, choice);
            continue;
        }
        if (choice & 1 || !pl_try_r(l))
            pl_take_r(l);
        come(READERS);
        read_data();
        go(READERS);
        if (choice < 900)
            claim_and_change(l, choice);
        else
            pl_drop_r(l);
    }
}

/* ---- lorw ------------------------------------------------------------------------------------ */

static void readers_and_writers(void *unused, unsigned index)
{
    uint64_t random = test_seed() + index;
    while (!time_is_up()) {
        const unsigned choice = test_random_below(&random, 16);
        if (choice < 12) {
            pl_lorw_rdlock(&arena.lock64);
            come(READERS);
            read_data();
            go(READERS);
            choice & 1 ? pl_lorw_unlock(&arena.lock64) : pl_lorw_rdunlock(&arena.lock64);
        } else {
            pl_lorw_wrlock(&arena.lock64);
            come(WRITERS);
            write_data();
            go(WRITERS);
            choice & 1 ? pl_lorw_unlock(&arena.lock64) : pl_lorw_wrunlock(&arena.lock64);
        }
    }
}

/* ---- The tests ------------------------------------------------------------------------------- */

static void run(void (*body)(void *, unsigned))
{
    memset(&arena, 0, sizeof arena);
    arena.until = test_now() + test_seconds(0.4);
    test_threads(THREADS, body, NULL);
    assert_int_equal(arena.lock32, 0);
    assert_true(arena.lock64 == 0);
    assert_ptr_equal(arena.lock_pointer, NULL);
    assert_int_equal(arena.data[0], arena.data[1]);
}

TEST_CASE(an_int_is_a_progressive_lock)
{
    run(progressive_int);
}

TEST_CASE(a_long_is_a_progressive_lock)
{
    run(progressive_long);
}

TEST_CASE(a_pointer_is_a_progressive_lock)
{
    run(progressive_pointer);
}

TEST_CASE(joiners_and_claimers_exclude_others)
{
    run(joining);
}

TEST_CASE(lorw_readers_and_writers_exclude_each_other)
{
    run(readers_and_writers);
}

TEST_MAIN()
