/* SPDX-License-Identifier: MIT */
/* The modes in which a lock is taken, each as a type, for rows that differ only in the mode. */
#pragma once

namespace adapter {

template <class Lock> struct read_mode {
    static void take(Lock &lock) { lock.take_read(); }
    static void drop(Lock &lock) { lock.drop_read(); }
};
template <class Lock> struct seek_mode {
    static void take(Lock &lock) { lock.take_seek(); }
    static void drop(Lock &lock) { lock.drop_seek(); }
};
template <class Lock> struct write_mode {
    static void take(Lock &lock) { lock.take_write(); }
    static void drop(Lock &lock) { lock.drop_write(); }
};
template <class Lock> struct atomic_mode {
    static void take(Lock &lock) { lock.take_atomic(); }
    static void drop(Lock &lock) { lock.drop_atomic(); }
};

} // namespace adapter
