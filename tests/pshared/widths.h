/* SPDX-License-Identifier: MIT */
/* Both widths of the lock for shared memory behind one set of names. */
#pragma once

#include "test.h"

#include <pawl/pshared.h>

/* ---- Both widths behind one set of names ----------------------------------------------------- */

typedef bool (*until)(void *, uint64_t);
typedef void (*operation)(void *);
typedef bool (*attempt)(void *);

struct width {
    const char *name;
    size_t size;
    until take[4], seek_to_write, read_to_write, read_to_atomic, try_write, try_atomic;
    operation drop[4];
    attempt tries[4];
    uint64_t r, s, w;
    bool (*free)(const void *);
    pawl_regained (*turn)(void *, uint64_t);
    bool (*init)(void *);
};

#define UNTIL(N, name)                                                                             \
    static bool name##_##N(void *l, uint64_t deadline)                                             \
    {                                                                                              \
        return pawl_pshared_lock##N##_##name((pawl_pshared_lock##N *)l, deadline);                 \
    }
#define VOID(N, name)                                                                              \
    static void name##_##N(void *l)                                                                \
    {                                                                                              \
        pawl_pshared_lock##N##_##name((pawl_pshared_lock##N *)l);                                  \
    }
#define BOOL(N, name)                                                                              \
    static bool name##_##N(void *l)                                                                \
    {                                                                                              \
        return pawl_pshared_lock##N##_##name((pawl_pshared_lock##N *)l);                           \
    }
#define WIDTH(N)                                                                                   \
    UNTIL(N, take_read_until)                                                                      \
    UNTIL(N, take_seek_until)                                                                      \
    UNTIL(N, take_write_until)                                                                     \
    UNTIL(N, take_atomic_until)                                                                    \
    UNTIL(N, seek_to_write_until)                                                                  \
    UNTIL(N, read_claim_write_until)                                                               \
    UNTIL(N, read_claim_atomic_until)                                                              \
    UNTIL(N, claim_write_until)                                                                    \
    UNTIL(N, claim_atomic_until)                                                                   \
    VOID(N, drop_read)                                                                             \
    VOID(N, drop_seek)                                                                             \
    VOID(N, drop_write)                                                                            \
    VOID(N, drop_atomic)                                                                           \
    BOOL(N, try_read)                                                                              \
    BOOL(N, try_seek)                                                                              \
    BOOL(N, try_write)                                                                             \
    BOOL(N, try_atomic)                                                                            \
    BOOL(N, init)                                                                                  \
    static bool is_free_##N(const void *l)                                                         \
    {                                                                                              \
        return pawl_pshared_lock##N##_is_free((const pawl_pshared_lock##N *)l);                    \
    }                                                                                              \
    static pawl_regained turn_##N(void *l, uint64_t deadline)                                      \
    {                                                                                              \
        return pawl_pshared_lock##N##_atomic_to_read_until((pawl_pshared_lock##N *)l, deadline);   \
    }
WIDTH(32)
WIDTH(64)
#define ROW(N)                                                                                     \
    {#N,                                                                                           \
     sizeof(pawl_pshared_lock##N),                                                                 \
     {take_read_until_##N, take_seek_until_##N, take_write_until_##N, take_atomic_until_##N},      \
     seek_to_write_until_##N,                                                                      \
     read_claim_write_until_##N,                                                                   \
     read_claim_atomic_until_##N,                                                                  \
     claim_write_until_##N,                                                                        \
     claim_atomic_until_##N,                                                                       \
     {drop_read_##N, drop_seek_##N, drop_write_##N, drop_atomic_##N},                              \
     {try_read_##N, try_seek_##N, try_write_##N, try_atomic_##N},                                  \
     PAWL_SPIN##N##_R,                                                                             \
     PAWL_SPIN##N##_S,                                                                             \
     PAWL_SPIN##N##_W,                                                                             \
     is_free_##N,                                                                                  \
     turn_##N,                                                                                     \
     init_##N}
static const struct width widths[] = {ROW(32), ROW(64)};
enum { R, S, W, A, WIDTHS = 2 };

static union {
    pawl_pshared_lock32 l32;
    pawl_pshared_lock64 l64;
} lock;

/* Runs the body once for each width, on an unlocked lock that must be unlocked afterwards. */
#define FOR_EACH_WIDTH(body)                                                                       \
    do {                                                                                           \
        unsigned i_;                                                                               \
        (void)state;                                                                               \
        for (i_ = 0; i_ < WIDTHS; i_++) {                                                          \
            memset(&lock, 0, sizeof lock);                                                         \
            body(&widths[i_]);                                                                     \
            assert_true(widths[i_].free(&lock));                                                   \
        }                                                                                          \
    } while (0)
