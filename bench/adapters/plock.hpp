/* SPDX-License-Identifier: MIT */
/* The published progressive lock, in its two widths, as HAProxy ships it. */
#pragma once

/* What its macros expand to here is not written for our warnings, and uses two words of gcc's C
 * that C++17 does not know. */
#pragma GCC system_header
#define register
#define typeof __typeof__
#include <plock.h>

namespace adapter {

template <class Word> struct plock {
    Word word = 0;
    void take_read() { pl_take_r(&word); }
    void drop_read() { pl_drop_r(&word); }
    void take_seek() { pl_take_s(&word); }
    void drop_seek() { pl_drop_s(&word); }
    void take_write() { pl_take_w(&word); }
    void drop_write() { pl_drop_w(&word); }
    void take_atomic() { pl_take_a(&word); }
    void drop_atomic() { pl_drop_a(&word); }
    void seek_to_write() { pl_stow(&word); }
    void write_to_seek() { pl_wtos(&word); }
    bool try_read_to_seek() { return pl_try_rtos(&word); }
    bool try_read_to_write() { return pl_try_rtow(&word); }
};
using plock32 = plock<unsigned>;
using plock64 = plock<unsigned long>;

} // namespace adapter
#undef register
#undef typeof
