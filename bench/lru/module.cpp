/* SPDX-License-Identifier: MIT */
/* What a copy of the library gives this driver (core/module.hpp). */
#include "adapters/pawl_lock.hpp"
#include "lru/candidates.hpp"

extern "C" __attribute__((visibility("default"))) bench::cell_maker pawl_bench_module;

bench::cell *pawl_bench_module(bool seeks, std::size_t size, std::size_t chains)
{
    using lock = adapter::pawl_lock64;
    if (seeks)
        return new bench::cell_of<bench::locked_lru<pawl_example::read_seek_write<lock>>>(size,
                                                                                          chains);
    return new bench::cell_of<bench::locked_lru<pawl_example::read_write<lock>>>(size, chains);
}
