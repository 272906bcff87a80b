/* SPDX-License-Identifier: MIT */
/* The library's own spinning lock, in its three widths. */
#pragma once

#include <pawl/spin.h>

namespace adapter {

#define PAWL_BENCH_SPIN(N)                                                                         \
    struct pawl_spin##N {                                                                          \
        ::pawl_spin##N lock = PAWL_SPIN##N##_INIT;                                                 \
        void take_read() { pawl_spin##N##_take_read(&lock); }                                      \
        void drop_read() { pawl_spin##N##_drop_read(&lock); }                                      \
        void take_seek() { pawl_spin##N##_take_seek(&lock); }                                      \
        void drop_seek() { pawl_spin##N##_drop_seek(&lock); }                                      \
        void take_write() { pawl_spin##N##_take_write(&lock); }                                    \
        void drop_write() { pawl_spin##N##_drop_write(&lock); }                                    \
        void take_atomic() { pawl_spin##N##_take_atomic(&lock); }                                  \
        void drop_atomic() { pawl_spin##N##_drop_atomic(&lock); }                                  \
        void seek_to_write() { pawl_spin##N##_seek_to_write(&lock); }                              \
        void write_to_seek() { pawl_spin##N##_write_to_seek(&lock); }                              \
        bool try_read_to_seek() { return pawl_spin##N##_try_read_to_seek(&lock); }                 \
        bool try_read_to_write() { return pawl_spin##N##_read_claim_write(&lock); }                \
    }

PAWL_BENCH_SPIN(16);
PAWL_BENCH_SPIN(32);
PAWL_BENCH_SPIN(64);
#undef PAWL_BENCH_SPIN

} // namespace adapter
