/* SPDX-License-Identifier: MIT */
/* The library's own sleeping lock, in its two widths. Deadlines are of CLOCK_MONOTONIC. */
#pragma once

#include <pawl/lock.h>

namespace adapter {

#define PAWL_BENCH_SLEEPING(N)                                                                     \
    struct pawl_lock##N {                                                                          \
        ::pawl_lock##N lock = PAWL_LOCK##N##_INIT;                                                 \
        void take_read() { pawl_lock##N##_take_read(&lock); }                                      \
        void drop_read() { pawl_lock##N##_drop_read(&lock); }                                      \
        bool take_read_until(uint64_t ns) { return pawl_lock##N##_take_read_until(&lock, ns); }    \
        bool take_write_until(uint64_t ns) { return pawl_lock##N##_take_write_until(&lock, ns); }  \
        void take_seek() { pawl_lock##N##_take_seek(&lock); }                                      \
        void drop_seek() { pawl_lock##N##_drop_seek(&lock); }                                      \
        void take_write() { pawl_lock##N##_take_write(&lock); }                                    \
        void drop_write() { pawl_lock##N##_drop_write(&lock); }                                    \
        void take_atomic() { pawl_lock##N##_take_atomic(&lock); }                                  \
        void drop_atomic() { pawl_lock##N##_drop_atomic(&lock); }                                  \
        void seek_to_write() { pawl_lock##N##_seek_to_write(&lock); }                              \
        void write_to_seek() { pawl_lock##N##_write_to_seek(&lock); }                              \
        bool try_read_to_seek() { return pawl_lock##N##_try_read_to_seek(&lock); }                 \
        bool try_read_to_write() { return pawl_lock##N##_read_claim_write(&lock); }                \
    }

PAWL_BENCH_SLEEPING(32);
PAWL_BENCH_SLEEPING(64);
#undef PAWL_BENCH_SLEEPING

} // namespace adapter
