/* SPDX-License-Identifier: MIT */
/* Fibers, their clocks, and the order of events. */
#include "engine/engine.hpp"

#include <boost/context/preallocated.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <pawl/counter.h>
#include <pawl/rcu.h>
#include <pawl/lock.h>
#include <pawl/thread.h>

namespace sim {

engine *engine::running;

namespace {

/* The stack is a part of the arena, so nothing is allocated or freed. */
struct stack_of_arena {
    boost::context::stack_context context;
    boost::context::stack_context allocate() { return context; }
    void deallocate(boost::context::stack_context &) {}
};

/* All that the library has for a thread; tests/sim compares it with the library's symbols. */
void exchange(thread_variables &own)
{
    constexpr std::size_t size = sizeof ipawl_thread_own_;
    static_assert(size <= sizeof own.bytes, "room for all of it");
    unsigned char before[size]; /* blocks: byte by byte this was most of a switch */
    std::memcpy(before, &ipawl_thread_own_, size);
    std::memcpy(&ipawl_thread_own_, own.bytes, size);
    std::memcpy(own.bytes, before, size);
}

std::uint64_t mixed(std::uint64_t x)
{
    x = (x + UINT64_C(0x9E3779B97F4A7C15)) * UINT64_C(0xBF58476D1CE4E5B9);
    return (x ^ (x >> 31)) | 1;
}

} // namespace

engine::engine(const machine &machine_, std::uint64_t seed) : m(machine_), random_(mixed(seed))
{
    check(m);
    hardware_.resize(std::size_t(m.all_cores()) * m.smt);
    buckets_.resize(m.futex_buckets);
    for (unsigned a = 0; a < m.all_cores(); a++)
        for (unsigned b = 0; b < m.all_cores(); b++)
            levels_[a][b] = m.between(a, b);
    arena_begin();
}

/* A fiber that has not ended keeps its stack: to unwind it would run the program further. */
engine::~engine()
{
    for (auto &f : fibers_)
        if (f->state != standing::ended)
            (void)f.release();
    if (scheduler_)
        (void)new boost::context::fiber(std::move(scheduler_));
}

void engine::push(ps time, kind what, std::uint32_t of, std::uint64_t detail)
{
    events_.push({time, order_++, what, of, detail});
}

unsigned engine::add(unsigned hw, std::function<void()> body, ps start)
{
    if (hw >= hardware_.size())
        throw bad_input("The machine has " + std::to_string(hardware_.size()) +
                        " hardware threads; thread " + std::to_string(hw) + " is none of them.");
    if (fibers_.size() >= most_threads)
        throw bad_input("The simulator runs at most " + std::to_string(most_threads) + " threads.");
    auto f = std::make_unique<fiber>();
    f->number = static_cast<unsigned>(fibers_.size());
    f->hw = hw;
    f->core = hw % m.all_cores();
    f->clock = start;
    f->body = std::move(body);
    stack_of_arena stack;
    stack.context.size = 0;
    char *const low = static_cast<char *>(arena_stack(f->number, stack.context.size));
    stack.context.sp = low + stack.context.size;
    boost::context::preallocated room(stack.context.sp, stack.context.size, stack.context);
    fiber *const raw = f.get();
    f->context = boost::context::fiber(std::allocator_arg, room, stack,
                                       [this, raw](boost::context::fiber &&from) {
                                           scheduler_ = std::move(from);
                                           try {
                                               raw->body();
                                               drain();
                                           } catch (const std::exception &) {
                                               failure_ = std::current_exception();
                                               stopped_ = true;
                                           }
                                           end_of(*raw);
                                           return std::move(scheduler_);
                                       });
    fibers_.push_back(std::move(f));
    alive_++;
    hardware &h = hardware_[hw];
    if (h.runs == nullptr) {
        h.runs = raw;
        raw->slice_end = start + m.slice;
        push(start, kind::fiber, raw->number);
    } else {
        raw->state = standing::runnable;
        h.queue.push_back(raw);
    }
    return raw->number;
}

void engine::resume(fiber &f)
{
    current_ = &f;
    running = this;
    exchange(f.variables);
    f.context = std::move(f.context).resume();
    exchange(f.variables);
    running = nullptr;
    current_ = nullptr;
}

void engine::leave(standing why)
{
    fiber &f = *current_;
    f.state = why;
    if (why == standing::queued || why == standing::draining || why == standing::buffering ||
        why == standing::polling)
        set_mode(f, doing::waits);
    counted.switches++;
    scheduler_ = std::move(scheduler_).resume();
}

void engine::make_ready(fiber &f, ps time)
{
    f.clock = time > f.clock ? time : f.clock;
    f.state = standing::ready;
    push(f.clock, kind::fiber, f.number);
}

void engine::run()
{
    while (alive_ > 0 && !stopped_) {
        if (events_.empty())
            stuck("No thread can go on.");
        const event e = events_.top();
        events_.pop();
        if (e.time - last_progress_ > patience)
            stuck("No thread has finished an operation for " +
                  std::to_string(patience / 1000000000) + " simulated ms.");
        handle(e);
    }
    if (failure_)
        std::rethrow_exception(failure_);
}

void engine::handle(const event &e)
{
    fiber *const f = e.what == kind::line ? nullptr : fibers_[e.fiber].get();
    switch (e.what) {
    case kind::fiber: resume(*f); break;
    case kind::agent: agent_step(*f, e.time); break;
    case kind::line: serve(e.detail, e.time); break;
    case kind::timer:
        if (f->state == standing::sleeping && f->sleep == e.detail) {
            auto &sleepers = bucket_of(f->sleeps_at).sleepers;
            for (std::size_t i = 0; i < sleepers.size(); i++)
                if (sleepers[i] == f)
                    sleepers.erase(sleepers.begin() + static_cast<std::ptrdiff_t>(i));
            f->timed_out = true;
            place(*f, e.time);
        }
        break;
    }
}

/* The order of all shared accesses: whoever has the smallest clock. */
void engine::turn()
{
    fiber &f = *current_;
    for (;;) {
        if (f.clock > f.slice_end)
            preempt();
        if (f.clock - last_progress_ > patience)
            stuck("No thread has finished an operation for " +
                  std::to_string(patience / 1000000000) + " simulated ms.");
        if (events_.empty() || events_.top().time >= f.clock)
            return;
        push(f.clock, kind::fiber, f.number);
        leave(standing::ready);
    }
}

double engine::slowed(const fiber &f, doing what) const
{
    if (m.smt == 1 || what == doing::waits)
        return 1;
    double factor = 1;
    for (unsigned hw = f.core; hw < hardware_.size(); hw += m.all_cores()) {
        if (hw == f.hw || hardware_[hw].mode == doing::nothing)
            continue;
        const double one = hardware_[hw].mode == doing::waits ? m.smt_beside_waiter
                           : what == doing::computes          ? m.smt_compute
                                                              : m.smt_walk;
        factor = one > factor ? one : factor;
    }
    return factor;
}

void engine::charge(ps duration, doing what)
{
    fiber &f = *current_;
    hardware &h = hardware_[f.hw];
    h.mode = what;
    if (m.smt > 1)
        duration = static_cast<ps>(static_cast<double>(duration) * slowed(f, what));
    f.clock += duration + h.debt;
    h.debt = 0;
}

/* The processor has begun the work before the access ahead of it was over. */
void engine::work(ps duration)
{
    const ps begun = std::min(duration, std::exchange(current_->begun, 0));
    charge(duration - begun, doing::computes);
}

void engine::relax()
{
    charge(m.relax, doing::waits);
}

ps engine::look_at_clock()
{
    charge(m.clock, doing::computes);
    return current_->clock / ns;
}

void engine::end_of(fiber &f)
{
    f.state = standing::ended;
    alive_--;
    next_on(f.hw, f.clock);
}

/* ---- Reports --------------------------------------------------------------------------------- */

void engine::name(const void *object, std::size_t size, const std::string &text)
{
    names_[object] = {size, text};
}

std::string engine::name_of(const void *address) const
{
    auto after = names_.upper_bound(address);
    if (after != names_.begin()) {
        const auto &[object, what] = *--after;
        const auto offset = static_cast<std::size_t>(static_cast<const char *>(address) -
                                                     static_cast<const char *>(object));
        if (offset < what.first)
            return what.second + (offset ? "+" + std::to_string(offset) : "");
    }
    const std::size_t number = line_of(address);
    return number != no_line && is_stack(number) ? "a thread's stack" : "an unnamed word";
}

std::string engine::story(const fiber &f) const
{
    const std::string who = "thread " + std::to_string(f.number) + " ";
    const void *const at = f.touched;
    switch (f.state) {
    case standing::ready: return who + "runs (last access: " + name_of(at) + ")";
    case standing::queued: return who + "waits for the line of " + name_of(at);
    case standing::draining:
    case standing::buffering: return who + "waits for its store buffer";
    case standing::polling: return who + "reads " + name_of(at) + " until it changes";
    case standing::sleeping: return who + "sleeps on " + name_of(f.sleeps_at);
    case standing::runnable: return who + "has no hardware thread";
    case standing::ended: return who + "has ended";
    }
    return who;
}

void engine::stuck(const std::string &why)
{
    std::string text = why;
    unsigned told = 0;
    for (const auto &f : fibers_) {
        if (f->state == standing::ended)
            continue;
        if (++told > 16) {
            text += "\n  and more";
            break;
        }
        text += "\n  " + story(*f);
    }
    throw program_failed(text);
}

} // namespace sim
