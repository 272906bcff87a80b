/* SPDX-License-Identifier: MIT */
/*
 * A machine as the simulator sees it: its topology, and the price of each event. A machine file
 * (sim/machines, read by the command) gives these in nanoseconds, here they are picoseconds.
 * doc/sim.md explains each.
 */
#pragma once

#include <cstdint>

#include <stdexcept>
#include <string>

namespace sim {

using ps = std::int64_t; /* picoseconds: a clock, or a duration */
constexpr ps ns = 1000;
constexpr ps never = INT64_MAX;
constexpr unsigned most_cores = 256;
constexpr unsigned most_threads = 4096;

/* Two cores' distance, the nearest first. */
enum level : std::uint8_t { same_core, same_pair, same_cluster, same_socket, far_socket, levels };

struct machine {
    unsigned sockets = 1, clusters = 1; /* a cluster shares its last-level cache; per socket */
    unsigned cores = 4;                 /* per cluster */
    unsigned pair = 1;                  /* cores that share a level-2 cache */
    unsigned smt = 1;                   /* hardware threads per core */
    unsigned store_buffer = 42;         /* stores */
    unsigned fetches = 10;              /* lines on their way that a thread asked for ahead */
    unsigned futex_buckets = 1024;

    ps load = 1600, store = 400; /* on a line that the core has */
    ps plain = 800;              /* a read or write that is not atomic, on such a line */
    ps rmw = 6000, fence = 8000;
    ps failed = 0; /* what a compare-exchange that failed costs its thread besides */
    ps window = 0; /* work that a core does while the access before it is still under way */
    ps relax = 4000, clock = 20000;
    ps transfer[levels] = {0, 20000, 50000, 70000, 120000};   /* of a modified line, by distance */
    ps copy[levels] = {0, 15000, 21000, 60000, 100000};       /* of a line that others share */
    ps invalidate[levels] = {0, 20000, 40000, 60000, 110000}; /* of the farthest sharer */
    ps invalidate_each = 1000;                                /* and of each one more */
    ps copy_gap = 4000;                                       /* between two copies of one line */
    ps memory = 90000;                                        /* a line that no cache has */

    /* What a busy sibling on the core makes of a duration: of computing, of waiting for the
     * caches, and of either beside a sibling that spins with relax hints or waits for a line. */
    double smt_compute = 1.6, smt_walk = 1.3, smt_beside_waiter = 1.1;

    bool queue = true;     /* false: the ablation in which a contended line serves all at once */
    double request = 0.4;  /* the share of a transfer that is the request's way; a request that
                            * waited in the queue has made it meanwhile */
    ps keep = 10000;       /* a core that got a line has it so long, though others wait for it; the
                            * next one's request is on its way to that core meanwhile */
    double spread = 1;     /* of keep and syscall, from none to twice that; 0: always that */
    double near_first = 0; /* share of grants that go to the nearest waiter, not the oldest */

    ps slice = 3000000000, context = 1500000; /* of the scheduler */
    ps syscall = 150000, futex_wait = 500000, futex_wake = 600000, futex_hold = 100000;
    bool wakes_locked = false; /* a futex bucket stays locked while others are woken: Linux < 4.2 */
    ps wake_latency = 3000000; /* until a woken thread's hardware thread runs again */
    ps wake_work = 0;          /* what that has to compute before the thread goes on */
    ps interrupt = 800000, membarrier = 1500000;

    unsigned all_cores() const { return sockets * clusters * cores; }

    level between(unsigned a, unsigned b) const
    {
        if (a == b)
            return same_core;
        if (a / pair == b / pair)
            return same_pair;
        if (a / cores == b / cores)
            return same_cluster;
        if (a / (cores * clusters) == b / (cores * clusters))
            return same_socket;
        return far_socket;
    }
};

/* Something the user can mend: the text says how. */
struct bad_input : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/* Sets one value by its name ("transfer.same_cluster" in nanoseconds). */
void set(machine &m, const std::string &name, const std::string &value);

/* Refuses a machine that cannot be. */
void check(const machine &m);

} // namespace sim
