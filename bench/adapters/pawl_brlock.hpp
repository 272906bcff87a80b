/* SPDX-License-Identifier: MIT */
/* The library's big-reader lock, with light readers and with fenced ones. */
#pragma once

#include <pawl/brlock.h>

namespace adapter {

template <uint32_t Flags> struct pawl_brlock_of {
    ::pawl_brlock lock;
    pawl_brlock_of() { pawl_brlock_init(&lock, PAWL_BRLOCK_LINES | Flags); }
    pawl_brlock_of(const pawl_brlock_of &) = delete;
    ~pawl_brlock_of() { pawl_brlock_destroy(&lock); }
    void take_read() { pawl_brlock_take_read(&lock); }
    void drop_read() { pawl_brlock_drop_read(&lock); }
    void take_seek() { pawl_brlock_take_seek(&lock); }
    void drop_seek() { pawl_brlock_drop_seek(&lock); }
    void take_write() { pawl_brlock_take_write(&lock); }
    void drop_write() { pawl_brlock_drop_write(&lock); }
    void seek_to_write() { pawl_brlock_seek_to_write(&lock); }
    void write_to_seek() { pawl_brlock_write_to_seek(&lock); }
};
using pawl_brlock = pawl_brlock_of<0>;
using pawl_brlock_fenced = pawl_brlock_of<PAWL_BRLOCK_FENCED>;

} // namespace adapter
