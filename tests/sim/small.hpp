/* SPDX-License-Identifier: MIT */
/* What the tests of the simulator's rules share: a machine whose prices are round numbers, so that
 * each sum shows what it is made of. */
#pragma once

#include "engine/engine.hpp"

#include <algorithm>

namespace {

using sim::engine;
using sim::ns;
using sim::ps;

sim::machine round_numbers()
{
    sim::machine m;
    m.sockets = 2;
    m.clusters = 2;
    m.cores = 4;
    m.pair = 2;
    m.load = 1 * ns;
    m.store = 2 * ns;
    m.plain = 3 * ns;
    m.rmw = 10 * ns;
    m.fence = 30 * ns;
    m.relax = 5 * ns;
    m.clock = 20 * ns;
    const ps transfer[] = {0, 20 * ns, 100 * ns, 200 * ns, 400 * ns};
    const ps copy[] = {0, 15 * ns, 40 * ns, 80 * ns, 160 * ns};
    const ps invalidate[] = {0, 25 * ns, 50 * ns, 75 * ns, 300 * ns};
    std::copy(transfer, transfer + 5, m.transfer);
    std::copy(copy, copy + 5, m.copy);
    std::copy(invalidate, invalidate + 5, m.invalidate);
    m.invalidate_each = 1 * ns;
    m.copy_gap = 4 * ns;
    m.memory = 1000 * ns;
    m.request = 0;
    m.keep = 0;
    m.spread = 0;
    m.syscall = 100 * ns;
    m.futex_wait = 300 * ns;
    m.futex_wake = 200 * ns;
    m.futex_hold = 10 * ns;
    m.wake_latency = 5000 * ns;
    m.context = 1000 * ns;
    m.slice = 100000 * ns;
    m.interrupt = 700 * ns;
    m.membarrier = 900 * ns;
    return m;
}

/* A line of its own. */
std::uint32_t *word()
{
    return static_cast<std::uint32_t *>(sim::arena_take(64));
}

/* How long each statement takes, in ns. */
#define TOOK(statement)                                                                            \
    [&] {                                                                                          \
        const ps before_ = engine::running->now();                                                 \
        statement;                                                                                 \
        return (engine::running->now() - before_) / ns;                                            \
    }()

inline void heavy()
{
    (void)ipawl_hook_call_(nullptr, 0, PAWL_HOOK_FENCE, PAWL_ORDER_SEQ_CST, PAWL_TAG_NONE_,
                           PAWL_HOOK_FENCE_HEAVY, 0);
}

void until(ps time)
{
    engine &e = *engine::running;
    e.work(time * ns - e.now());
    e.turn();
}

} // namespace
