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
        h.awake = f.clock;
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

/* ---- Futexes ---------------------------------------------------------------------------------
 * As in Linux: the words of a bucket are a line that moves as any other. Its lock gives tickets, as
 * until 4.1. */

engine::bucket &engine::bucket_of(const std::uint32_t *address)
{
    const auto a = reinterpret_cast<std::uintptr_t>(address) / 4;
    bucket &b = buckets_[(a * UINT64_C(0x9E3779B97F4A7C15) >> 32) % buckets_.size()];
    if (b.words == nullptr)
        b.words = static_cast<bucket::line *>(arena_take(sizeof *b.words));
    return b;
}

/* The kernel's own access. Returns the value before. */
std::uint32_t engine::kernel(const std::uint32_t *word, pawl_kind what, std::uint32_t operand)
{
    pawl_operation op = {};
    op.address = const_cast<std::uint32_t *>(word);
    op.width = 4;
    op.kind = what;
    op.operand = operand;
    return static_cast<std::uint32_t>(access(op));
}

/* A thread that has a bucket's lock or waits for it keeps its processor. */
void engine::lock(bucket &b)
{
    current_->slice_end = never;
    const std::uint32_t mine = kernel(&b.words->next, PAWL_HOOK_ADD, 1);
    (void)poll(&b.words->served, 1, [mine](std::uint32_t v) { return v == mine; });
    charge(m.futex_hold, doing::computes);
    turn();
}

void engine::unlock(bucket &b, ps slice_end)
{
    (void)kernel(&b.words->served, PAWL_HOOK_STORE, b.words->served + 1);
    current_->slice_end = slice_end;
}

/* No two calls last equally long, or two threads could meet in the kernel at each turn. */
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
    (void)kernel(&b.words->coming, PAWL_HOOK_ADD, 1);
    const ps slice_end = f.slice_end;
    lock(b);
    const bool changed = kernel(address, PAWL_HOOK_LOAD, 0) != expected;
    if (changed || deadline <= f.clock) {
        unlock(b, slice_end);
        (void)kernel(&b.words->coming, PAWL_HOOK_SUB, 1);
        return changed;
    }
    f.sleeps_at = address;
    f.classes = classes;
    f.deadline = deadline;
    f.timed_out = false;
    f.sleep++;
    b.sleepers.push_back(&f);
    counted.sleeps++;
    unlock(b, slice_end);
    charge(m.futex_wait, doing::computes);
    if (deadline != never)
        push(std::max(deadline, f.clock), kind::timer, f.number, f.sleep);
    next_on(f.hw, f.clock);
    leave(standing::sleeping);
    charge(m.wake_work, doing::computes);
    if (f.timed_out)
        (void)kernel(&b.words->coming, PAWL_HOOK_SUB, 1);
    return !f.timed_out;
}

void engine::wake_up(fiber &sleeper)
{
    counted.wakes++;
    charge(m.futex_wake, doing::computes);
    turn();
    place(sleeper, current_->clock);
}

/* The kernel takes the bucket's lock only if somebody sleeps or is about to. */
unsigned engine::wake(const std::uint32_t *address, unsigned count, std::uint32_t classes)
{
    call();
    bucket &b = bucket_of(address);
    if (kernel(&b.words->coming, PAWL_HOOK_LOAD, 0) == 0)
        return 0;
    const ps slice_end = current_->slice_end;
    lock(b);
    std::vector<fiber *> later;
    unsigned woken = 0;
    for (std::size_t i = 0; i < b.sleepers.size() && woken < count;) {
        fiber &s = *b.sleepers[i];
        if (s.sleeps_at != address || (s.classes & classes) == 0) {
            i++;
            continue;
        }
        b.sleepers.erase(b.sleepers.begin() + static_cast<std::ptrdiff_t>(i));
        woken++;
        (void)kernel(&b.words->coming, PAWL_HOOK_SUB, 1);
        if (m.wakes_locked)
            wake_up(s);
        else
            later.push_back(&s);
    }
    unlock(b, slice_end);
    for (fiber *s : later)
        wake_up(*s);
    return woken;
}

} // namespace sim
