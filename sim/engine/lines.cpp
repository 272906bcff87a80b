/* SPDX-License-Identifier: MIT */
/* Lines: who has them, what a move costs, who is next; store buffers and fences. */
#include "engine/apply.hpp"
#include "engine/engine.hpp"

#include <algorithm>

namespace sim {

namespace {

bool shares(const line &l, unsigned core)
{
    return (l.sharers[core / 64] >> (core % 64) & 1) != 0;
}

void set_sharer(line &l, unsigned core)
{
    l.sharers[core / 64] |= UINT64_C(1) << (core % 64);
}

void own_alone(line &l, unsigned core)
{
    for (auto &word : l.sharers)
        word = 0;
    l.owner = static_cast<std::int16_t>(core + 1);
}

bool foretold(const pawl_operation &op, std::uint64_t found)
{
    return op.kind != PAWL_HOOK_COMPARE_EXCHANGE || found == op.expected;
}

} // namespace

bool engine::hits(const line &l, unsigned core, bool writes) const
{
    return l.owner == static_cast<int>(core) + 1 || (!writes && shares(l, core));
}

level engine::farthest(const line &l, unsigned core, unsigned &others) const
{
    level far = same_core;
    others = 0;
    for (unsigned c = 0; c < m.all_cores(); c++)
        if (c != core && shares(l, c)) {
            others++;
            far = std::max(far, static_cast<level>(levels_[core][c]));
        }
    return far;
}

level engine::nearest(const line &l, unsigned core) const
{
    level near = levels;
    for (unsigned c = 0; c < m.all_cores(); c++)
        if (shares(l, c))
            near = std::min(near, static_cast<level>(levels_[core][c]));
    return near;
}

/* Gives the line to the core. Returns what that costs the request, and in `occupied` for how long
 * the line serves nobody else. */
ps engine::move(line &l, unsigned core, bool writes, ps &occupied)
{
    ps cost;
    if (hits(l, core, writes)) {
        cost = occupied = 0;
    } else if (l.owner != 0) {
        const unsigned from = static_cast<unsigned>(l.owner - 1);
        cost = occupied = m.transfer[levels_[from][core]];
        counted.transfers++;
        if (!writes) {
            l.owner = 0;
            set_sharer(l, from);
            set_sharer(l, core);
        }
    } else if (nearest(l, core) == levels) {
        cost = occupied = m.memory;
        own_alone(l, core);
    } else if (writes) {
        unsigned others;
        const level far = farthest(l, core, others);
        cost = occupied = others == 0
                              ? m.rmw
                              : m.invalidate[far] + m.invalidate_each * static_cast<ps>(others - 1);
        counted.transfers++;
    } else {
        cost = m.copy[nearest(l, core)];
        occupied = m.copy_gap;
        set_sharer(l, core);
        counted.copies++;
    }
    if (writes)
        own_alone(l, core);
    return cost;
}

void engine::share(const void *address, std::size_t size, unsigned cores)
{
    const auto first = reinterpret_cast<std::uintptr_t>(address);
    for (std::uintptr_t at = first; at < first + size; at = (at | 63) + 1)
        for (unsigned core = 0; core < cores; core++)
            set_sharer(line_at(line_of(reinterpret_cast<const void *>(at))), core); // NOLINT
}

double engine::chance()
{
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return static_cast<double>(random_ >> 11) * 0x1p-53;
}

/* From none to twice that, with a spread of 1. */
ps engine::about(ps duration)
{
    const double times = 1 + m.spread * (2 * chance() - 1);
    return static_cast<ps>(times * static_cast<double>(duration));
}

/* The line is in use until `busy`, and stays for a moment. */
void engine::hold(line &l, ps busy)
{
    l.busy = busy;
    l.kept = busy + about(m.keep);
}

/* The processor foretells that a compare-exchange succeeds. When it fails, the thread goes on late,
 * and the line may have left the core before it tries again. */
ps engine::after(const pawl_operation *op, std::uint64_t found) const
{
    return op == nullptr || foretold(*op, found) ? 0 : m.failed;
}

/* The access that ends now began `since`. Work that follows goes on beside it, if foretold. */
void engine::begin_work(ps since, bool is_foretold)
{
    current_->begun = is_foretold ? std::min(m.window, current_->clock - since) : 0;
}

/* The access of a fiber, or of its store buffer (agent), takes place at `at`. */
void engine::grant(fiber &f, bool agent, std::size_t number, ps at, ps waited)
{
    line &l = line_at(number);
    const pawl_operation *const op = agent ? &f.stores.front().op : f.wants.op;
    const bool writes = agent || f.wants.writes;
    ps occupied;
    ps cost = move(l, f.core, writes, occupied);
    const ps way = std::min(waited, static_cast<ps>(m.request * static_cast<double>(cost)) +
                                        (waited > 0 ? l.kept - l.busy : 0));
    cost = std::max<ps>(0, cost - way);
    occupied = std::max<ps>(0, occupied - way);
    if (is_stack(number) && l.waiting == 0 && cost == m.memory)
        cost = occupied = 0;
    const ps own = agent ? m.store : op == nullptr ? m.plain : writes ? m.rmw : m.load;
    if (writes) {
        occupied += own;
        wake_pollers(number, at);
    }
    cost += own;
    hold(l, std::max(l.busy, at + occupied));
    if (agent) {
        if (!f.stores.front().plain)
            (void)apply(*op);
        push(at + cost, kind::agent, f.number);
        return;
    }
    if (op != nullptr)
        f.result = apply(*op);
    f.changes_read = l.changes;
    f.clock = std::max(f.clock, at + cost + after(op, f.result));
}

/* Grants now, or queues; a fiber that was queued goes on when it has the line. */
void engine::ask(fiber &f, bool agent, std::size_t number, bool writes, ps at)
{
    line &l = line_at(number);
    if (!agent)
        f.wants.writes = writes;
    if (!m.queue || is_free(l, at)) {
        grant(f, agent, number, at);
        return;
    }
    counted.waits++;
    queues_[number].push_back({f.number, agent, at});
    l.waiting++;
    if (!l.listed) {
        l.listed = 1;
        push(std::max(l.kept, at), kind::line, 0, number);
    }
    if (!agent)
        leave(standing::queued);
}

void engine::serve(std::size_t number, ps at)
{
    line &l = line_at(number);
    auto &queue = queues_[number];
    if (l.busy <= at && l.kept <= at) {
        std::size_t pick = 0;
        if (l.owner != 0 && m.near_first > 0 && chance() < m.near_first) {
            const unsigned from = static_cast<unsigned>(l.owner - 1);
            for (std::size_t i = 1; i < queue.size(); i++)
                if (levels_[from][fibers_[queue[i].fiber]->core] <
                    levels_[from][fibers_[queue[pick].fiber]->core])
                    pick = i;
        }
        const waiter next = queue[pick];
        queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(pick));
        l.waiting--;
        counted.queued += at - next.since;
        fiber &f = *fibers_[next.fiber];
        grant(f, next.agent, number, at, at - next.since);
        if (!next.agent)
            make_ready(f, f.clock);
    }
    if (l.waiting == 0)
        l.listed = 0;
    else
        push(std::max(l.kept, at), kind::line, 0, number);
}

/* ---- The seam's accesses --------------------------------------------------------------------- */

std::uint64_t engine::access(const pawl_operation &op)
{
    fiber &f = *current_;
    counted.accesses++;
    if (op.kind == PAWL_HOOK_FENCE) {
        fence(op);
        return 0;
    }
    if (op.kind == PAWL_HOOK_STORE) {
        store(op);
        return 0;
    }
    const bool writes = op.kind != PAWL_HOOK_LOAD;
    const std::size_t number = line_of(op.address);
    if (writes)
        drain();
    turn();
    f.wants = {&op, number, writes};
    f.touched = op.address;
    std::uint64_t value;
    if (number == no_line || (!writes && forwarded(op, value))) {
        charge(writes ? m.rmw : m.load, doing::walks);
        return number == no_line ? apply(op) : value;
    }
    if (await_arrival(number))
        turn();
    line &l = line_at(number);
    if (hits(l, f.core, writes) && (!writes || has_its_turn(l, f.clock))) {
        value = apply(op);
        f.changes_read = l.changes;
        const ps began = f.clock;
        charge((writes ? m.rmw : m.load) + after(&op, value), doing::walks);
        if (writes) {
            begin_work(began, foretold(op, value));
            l.busy = std::max(l.busy, began + m.rmw);
            l.kept = std::max(l.kept, l.busy);
            wake_pollers(number, began);
        }
        return value;
    }
    const ps since = f.clock;
    ask(f, false, number, writes, since);
    begin_work(since, foretold(op, f.result));
    return f.result;
}

/* Memory that is not atomic. A hit needs no turn: no other thread writes it meanwhile, or the
 * program has a data race. */
void engine::plain(const void *address, std::size_t size, bool writes)
{
    fiber &f = *current_;
    const auto first = reinterpret_cast<std::uintptr_t>(address);
    for (std::uintptr_t at = first; at < first + size; at = (at | 63) + 1) {
        const std::size_t number = line_of(reinterpret_cast<const void *>(at)); // NOLINT
        if (number == no_line)
            return;
        counted.accesses++;
        (void)await_arrival(number);
        if (hits(line_at(number), f.core, writes)) {
            charge(m.plain, doing::walks);
            continue;
        }
        turn();
        pawl_operation op = {};
        op.address = const_cast<void *>(address);
        f.touched = address;
        if (writes) {
            push_store(op, number, true);
        } else {
            f.wants = {nullptr, number, false};
            const ps since = f.clock;
            ask(f, false, number, false, since);
            begin_work(since, true);
        }
    }
}

/* ---- Lines that are asked for ahead ---------------------------------------------------------- */

/* The line comes while the thread goes on. A line that others wait for is left to them, and so is
 * one for which the core has no room: the thread then waits for it as usual. */
void engine::ahead(const void *address)
{
    fiber &f = *current_;
    const std::size_t number = line_of(address);
    charge(m.load, doing::walks);
    turn();
    const auto is_there = [&f](const arrival &a) { return a.time <= f.clock; };
    f.arrivals.erase(std::remove_if(f.arrivals.begin(), f.arrivals.end(), is_there),
                     f.arrivals.end());
    if (number == no_line || f.arrivals.size() >= m.fetches)
        return;
    line &l = line_at(number);
    if (hits(l, f.core, false) || !is_free(l, f.clock))
        return;
    ps occupied;
    const ps cost = move(l, f.core, false, occupied);
    hold(l, f.clock + occupied);
    f.arrivals.push_back({number, f.clock + cost});
}

/* True if the thread has waited for a line that was under way. */
bool engine::await_arrival(std::size_t number)
{
    fiber &f = *current_;
    for (std::size_t i = 0; i < f.arrivals.size(); i++) {
        if (f.arrivals[i].line != number)
            continue;
        const ps time = f.arrivals[i].time;
        f.arrivals.erase(f.arrivals.begin() + static_cast<std::ptrdiff_t>(i));
        if (time <= f.clock)
            return false;
        f.clock = time;
        return true;
    }
    return false;
}

/* ---- Store buffers --------------------------------------------------------------------------- */

void engine::store(const pawl_operation &op)
{
    fiber &f = *current_;
    const std::size_t number = line_of(op.address);
    turn();
    if (number == no_line) {
        (void)apply(op);
        charge(m.store, doing::walks);
        return;
    }
    line &l = line_at(number);
    if (f.stores.empty() && hits(l, f.core, true) && l.busy <= f.clock) {
        (void)apply(op);
        wake_pollers(number, f.clock);
        charge(m.store, doing::walks);
        return;
    }
    push_store(op, number, false);
}

void engine::push_store(const pawl_operation &op, std::size_t number, bool plain)
{
    fiber &f = *current_;
    if (f.stores.size() >= m.store_buffer)
        leave(standing::buffering);
    f.stores.push_back({op, number, plain});
    f.stored++;
    if (!f.storing) {
        f.storing = true;
        ask(f, true, number, true, f.clock);
    }
    charge(m.store, doing::walks);
}

/* The first store has entered its line. */
void engine::agent_step(fiber &f, ps at)
{
    f.stores.pop_front();
    f.drained++;
    if (f.state == standing::buffering)
        make_ready(f, at);
    if (f.stores.empty()) {
        f.storing = false;
        if (f.state == standing::draining)
            make_ready(f, at);
        return;
    }
    ask(f, true, f.stores.front().line, true, at);
}

void engine::drain()
{
    while (!current_->stores.empty())
        leave(standing::draining);
}

/* A load reads the thread's own stores before they are in memory. */
bool engine::forwarded(const pawl_operation &op, std::uint64_t &value) const
{
    const auto &stores = current_->stores;
    for (auto s = stores.rbegin(); s != stores.rend(); ++s)
        if (!s->plain && s->op.address == op.address && s->op.width == op.width) {
            value = s->op.operand;
            return true;
        }
    return false;
}

/* A full fence drains the caller's stores; a heavy one those of all running threads, each of which
 * loses the time of an interrupt; where no other runs, as a woken one does not yet, it is a system
 * call alone. Of the other fences x86 needs none. */
void engine::fence(const pawl_operation &op)
{
    if (op.operand == PAWL_HOOK_FENCE_LIGHT || op.order != PAWL_ORDER_SEQ_CST)
        return;
    drain();
    if (op.operand != PAWL_HOOK_FENCE_HEAVY) {
        charge(m.fence, doing::waits);
        turn();
        return;
    }
    turn();
    counted.barriers++;
    std::vector<std::uint64_t> due;
    for (const auto &f : fibers_)
        due.push_back(f->stored);
    ps cost = m.syscall;
    for (auto &h : hardware_)
        if (h.runs != nullptr && h.runs != current_ && h.awake <= current_->clock) {
            h.debt += m.interrupt;
            cost = m.syscall + m.membarrier;
        }
    charge(cost, doing::computes);
    turn();
    for (std::size_t i = 0; i < due.size(); i++)
        while (fibers_[i]->drained < due[i]) {
            charge(m.transfer[same_cluster], doing::waits);
            turn();
        }
    turn();
}

/* ---- Polling --------------------------------------------------------------------------------- */

/* The fiber has read a value that it does not want. If it would find the same again, it stands
 * still until the line changes. A sibling on its core may have changed it since the read: the core
 * has the line all the same. */
void engine::poll_pause(const void *address, ps period)
{
    fiber &f = *current_;
    const std::size_t number = line_of(address);
    charge(period - m.load, doing::waits);
    if (number == no_line || !hits(line_at(number), f.core, false) ||
        (f.slice_end != never && !hardware_[f.hw].queue.empty()))
        return;
    turn();
    if (!hits(line_at(number), f.core, false) || line_at(number).changes != f.changes_read)
        return;
    f.poll_since = f.clock;
    f.poll_period = period;
    pollers_[number].push_back(&f);
    line_at(number).polled = 1;
    leave(standing::polling);
}

/* Each poller reads again at the time at which the loop would have. */
void engine::wake_pollers(std::size_t number, ps at)
{
    line &l = line_at(number);
    l.changes++;
    if (!l.polled)
        return;
    l.polled = 0;
    std::vector<fiber *> all;
    all.swap(pollers_[number]);
    for (fiber *f : all) {
        const ps late = at > f->poll_since ? at - f->poll_since : 0;
        make_ready(*f,
                   f->poll_since + (late + f->poll_period - 1) / f->poll_period * f->poll_period);
    }
}

} // namespace sim
