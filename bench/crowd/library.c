/* SPDX-License-Identifier: MIT */
/*
 * The sleeping lock of one state of the sources, as an object that the crowd's driver loads. $tree
 * is a checkout of that state, and the version script keeps its objects apart from other states':
 *
 *   cc -O2 -DNDEBUG -fPIC -shared -pthread -I$tree/include -I$tree/src -o NAME.so \
 *      bench/crowd/library.c $tree/src/pawl.c -Wl,--version-script=bench/crowd/library.map
 *   pawl-bench-crowd --library NAME=NAME.so
 */
#include "library.h"

#include <pawl/lock.h>

_Static_assert(sizeof(pawl_lock64) == sizeof(uint64_t), "the driver gives the lock one word");

#define LOCK ((pawl_lock64 *)(void *)word)

static void take_read(uint64_t *word)
{
    pawl_lock64_take_read(LOCK);
}

static void drop_read(uint64_t *word)
{
    pawl_lock64_drop_read(LOCK);
}

static void take_write(uint64_t *word)
{
    pawl_lock64_take_write(LOCK);
}

static void drop_write(uint64_t *word)
{
    pawl_lock64_drop_write(LOCK);
}

static bool take_read_until(uint64_t *word, uint64_t deadline)
{
    return pawl_lock64_take_read_until(LOCK, deadline);
}

static bool take_write_until(uint64_t *word, uint64_t deadline)
{
    return pawl_lock64_take_write_until(LOCK, deadline);
}

extern const struct pawl_bench_library pawl_bench_library;
const struct pawl_bench_library pawl_bench_library = {
    take_read, drop_read, take_write, drop_write, take_read_until, take_write_until};
