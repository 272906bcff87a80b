/* SPDX-License-Identifier: MIT */
/* An object on cache lines of its own. */
#ifndef PAWL_BENCH_CORE_PLACED_HPP
#define PAWL_BENCH_CORE_PLACED_HPP

namespace bench {

/* Far enough from others for prefetchers that fetch pairs of lines; and every object of every row
 * is at the same place of its line. */
template <class T> struct alignas(256) placed {
    T object{};
};

} // namespace bench

#endif
