/* SPDX-License-Identifier: MIT */
/*
 * A copy of the library with its own sleeping lock, for the driver to load. How readers scale is
 * chosen for a whole process by PAWL_BIAS, which each copy reads when it is loaded: so the driver
 * loads a copy for each value, and all are measured in one process. The version script keeps the
 * copies apart.
 */
#include "adapters/pawl_lock.hpp"
#include "readers/candidates.hpp"

extern "C" __attribute__((visibility("default"))) bench::readers_arena *pawl_bench_readers_make();

bench::readers_arena *pawl_bench_readers_make()
{
    return new bench::readers_arena_of<adapter::pawl_lock64>();
}
