/* SPDX-License-Identifier: MIT */
/* What a copy of the library gives this driver (core/module.hpp). */
#include "adapters/pawl_lock.hpp"
#include "readers/candidates.hpp"

extern "C" __attribute__((visibility("default"))) bench::readers_maker pawl_bench_module;

bench::readers_arena *pawl_bench_module()
{
    return new bench::readers_arena_of<adapter::pawl_lock64>();
}
