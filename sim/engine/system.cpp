/* SPDX-License-Identifier: MIT */
/* The system of the simulated machine: who runs where, futexes, timers. */
#include "engine/apply.hpp"
#include "engine/engine.hpp"

namespace sim {

/* ---- The scheduler ---------------------------------------------------------------------------
 * A hardware thread runs its queue in turn, a slice each. A woken thread goes to its last hardware
 * thread if that idles, else to the nearest idle one, else into its last one's queue. A hardware
 * thread that runs out of threads takes one from the longest queue. */

void engine::next_on(unsigned hw, ps at)
{
    hardware &h = hardware_[hw];
    hardware *from = &h;
    if (h.queue.empty())
        for (auto &other : hardware_)
            if (other.queue.size() > from->queue.size())
                from = &other;
    h.runs = nullptr;
    h.mode = doing::nothing;
    if (from->queue.empty())
        return;
    fiber &f = *from->queue.front();
    from->queue.pop_front();
    h.runs = &f;
    f.hw = hw;
    f.core = hw % m.all_cores();
    make_ready(f, std::max(at, f.clock) + m.context);
    f.slice_end = f.clock + m.slice;
}

void engine::preempt()
{
    fiber &f = *current_;
    hardware &h = hardware_[f.hw];
    if (h.queue.empty()) {
        f.slice_end = f.clock + m.slice;
        return;
    }
    counted.preemptions++;
    h.queue.push_back(&f);
    next_on(f.hw, f.clock); /* takes the first of the queue, which is another one */
    leave(standing::runnable);
}

void engine::yield()
{
    fiber &f = *current_;
    counted.yields++;
    charge(m.syscall, doing::computes);
    turn();
    if (!hardware_[f.hw].queue.empty()) {
        preempt();
        turn();
    }
}

/* Gives a thread that can run a place. */
void engine::place(fiber &f, ps at)
{
    unsigned best = f.hw;
    bool idle = hardware_[best].runs == nullptr;
    unsigned distance = levels;
    for (unsigned hw = 0; hw < hardware_.size() && !idle; hw++) {
        const unsigned d = levels_[f.core][hw % m.all_cores()];
        if (hardware_[hw].runs == nullptr && d < distance) {
            best = hw;
            distance = d;
        }
    }
    idle = idle || distance < levels;
    hardware &h = hardware_[best];
    if (idle) {
        h.runs = &f;
        f.hw = best;
        f.core = best % m.all_cores();
        make_ready(f, std::max(at, f.clock) + m.wake_latency);
        f.slice_end = f.clock + m.slice;
        return;
    }
    f.state = standing::runnable;
    f.clock = std::max(at, f.clock);
    h.queue.push_back(&f);
    fiber &runs = *h.runs;
    if (runs.state == standing::polling) { /* it now has to notice the end of its slice */
        for (auto &[number, all] : pollers_)
            for (std::size_t i = 0; i < all.size(); i++)
                if (all[i] == &runs)
                    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i--));
        const ps late = at > runs.poll_since ? at - runs.poll_since : 0;
        make_ready(runs, runs.poll_since +
                             (late + runs.poll_period - 1) / runs.poll_period * runs.poll_period);
    }
}

/* ---- Futexes --------------------------------------------------------------------------------- */

engine::bucket &engine::bucket_of(const std::uint32_t *address)
{
    const auto a = reinterpret_cast<std::uintptr_t>(address) / 4;
    return buckets_[(a * UINT64_C(0x9E3779B97F4A7C15) >> 32) % buckets_.size()];
}

/* The lock's line comes from the core that had the bucket last. `inside`: how much of the time until
 * now the caller needs the lock for. */
void engine::enter_bucket(bucket &b, ps inside)
{
    fiber &f = *current_;
    turn();
    const ps move = m.transfer[levels_[b.core][f.core]];
    f.clock = std::max(f.clock, b.busy + inside) + move;
    charge(m.futex_hold, doing::computes);
    b.busy = f.clock;
    b.core = f.core;
}

/* No two calls last equally long. If they did, two threads could meet in the kernel at each turn. */
void engine::call()
{
    drain();
    charge(about(m.syscall), doing::computes);
}

bool engine::sleep(const std::uint32_t *address, std::uint32_t expected, std::uint32_t classes,
                   ps deadline)
{
    fiber &f = *current_;
    call();
    bucket &b = bucket_of(address);
    b.coming++;
    pawl_operation op = {};
    op.address = const_cast<std::uint32_t *>(address);
    op.width = 4;
    op.kind = PAWL_HOOK_LOAD;
    const ps asked = f.clock;
    (void)access(op); /* under the bucket's lock */
    enter_bucket(b, f.clock - asked);
    turn();
    b.coming--;
    if (apply(op) != expected)
        return true;
    if (deadline <= f.clock)
        return false;
    f.sleeps_at = address;
    f.classes = classes;
    f.deadline = deadline;
    f.timed_out = false;
    f.sleep++;
    b.sleepers.push_back(&f);
    counted.sleeps++;
    charge(m.futex_wait, doing::computes);
    if (deadline != never)
        push(std::max(deadline, f.clock), kind::timer, f.number, f.sleep);
    next_on(f.hw, f.clock);
    leave(standing::sleeping);
    charge(m.wake_work, doing::computes);
    return !f.timed_out;
}

/* The kernel takes the bucket's lock only if somebody sleeps or is about to. */
unsigned engine::wake(const std::uint32_t *address, unsigned count, std::uint32_t classes)
{
    call();
    turn();
    bucket &b = bucket_of(address);
    if (b.sleepers.empty() && b.coming == 0)
        return 0;
    enter_bucket(b, 0);
    unsigned woken = 0;
    for (std::size_t i = 0; i < b.sleepers.size() && woken < count;) {
        fiber &s = *b.sleepers[i];
        if (s.sleeps_at != address || (s.classes & classes) == 0) {
            i++;
            continue;
        }
        b.sleepers.erase(b.sleepers.begin() + static_cast<std::ptrdiff_t>(i));
        woken++;
        counted.wakes++;
        charge(m.futex_wake, doing::computes);
        place(s, current_->clock);
    }
    return woken;
}

} // namespace sim
