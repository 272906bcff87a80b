/* SPDX-License-Identifier: MIT */
/* What a copy of the library gives this driver (core/module.hpp). */
#include "adapters/pawl_lock.hpp"
#include "crowd/arena.hpp"

extern "C" __attribute__((visibility("default"))) bench::arena_maker pawl_bench_module;

bench::arena *pawl_bench_module()
{
    return new bench::arena_of<adapter::pawl_lock64>();
}
