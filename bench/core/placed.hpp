/* SPDX-License-Identifier: MIT */
/* An object on cache lines of its own. */
#pragma once

namespace bench {

/* Far enough from other objects for prefetchers that fetch pairs of lines. Every object of every
 * row has the same place within its line. */
template <class T> struct alignas(256) placed {
    T object{};
};

} // namespace bench
