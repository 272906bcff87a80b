/* SPDX-License-Identifier: MIT */
/* The cost of a line that another core had last. */
#include "costs/rows.hpp"

namespace bench::costs {
namespace {

/* The other core writes to all lines, then this core works on each. The place of the next line
 * depends on the content of the last one, so no two transfers overlap. */
struct field {
    cell<std::uint64_t> cells[scattered];
    shuffled order;

    void fill(std::uint64_t value)
    {
        for (cell<std::uint64_t> &c : cells)
            __atomic_store_n(&c.object, value, __ATOMIC_RELAXED);
    }

    template <class Op> double walk(Op op)
    {
        const auto zero = opaque<std::size_t>(0);
        std::size_t shift = 0;
        order.shuffle();
        const double start = now();
        for (std::size_t i = 0; i < scattered; i++)
            shift = static_cast<std::size_t>(op(&cells[order.at(i + shift)].object)) & zero;
        opaque(shift);
        return now() - start;
    }
};

constexpr std::uint64_t known = 1000;

template <class Op> void add_transfer(rows &all, const char *name, const world &about, Op op)
{
    const auto where = std::make_shared<field>();
    add(all, name, "cores", about.has_two() ? "" : needs_two_cpus, [=](world &w) {
        std::vector<double> times = alternate(
            w.threads, w.first, w.near, w.seconds, [&] { where->fill(known); },
            [&] { return where->walk(op); });
        return measured{static_cast<double>(scattered), median(times), json::object()};
    });
}

/* ---- The matrix ------------------------------------------------------------------------------ */

constexpr std::uint64_t trips = 128;

struct alignas(256) ball {
    std::atomic<std::uint64_t> word{0};
    void wait_for(std::uint64_t value) const
    {
        while (word.load(std::memory_order_acquire) != value)
            ;
    }
};

/* A word goes to and fro; each way is one transfer of a line that its reader waits for. */
measured to_and_fro(world &w, unsigned a, unsigned b)
{
    ball there, back;
    std::vector<double> times;
    constexpr std::uint64_t over = UINT64_MAX;
    w.threads.both(
        w.threads.on(a),
        [&] {
            const deadline end(w.seconds);
            std::uint64_t i = 0;
            do {
                const double start = now();
                for (const std::uint64_t stop = i + trips; i < stop;) {
                    there.word.store(++i, std::memory_order_release);
                    back.wait_for(i);
                }
                times.push_back(now() - start);
            } while (!end.over(times.size()));
            there.word.store(over, std::memory_order_release);
        },
        w.threads.on(b),
        [&] {
            std::uint64_t seen = 0;
            while (seen != over) {
                const std::uint64_t got = there.word.load(std::memory_order_acquire);
                if (got == seen)
                    continue;
                seen = got;
                back.word.store(seen, std::memory_order_release);
            }
        });
    return {2.0 * static_cast<double>(trips), median(times), json::object()};
}

} // namespace

void add_transfers(rows &all, const world &w)
{
    add_transfer(all, "atomic_increment_transfer", w,
                 [](std::uint64_t *word) { return __atomic_fetch_add(word, 1, __ATOMIC_RELAXED); });
    /* The builtin that returns the old value: a success that is only predicted would let the
     * next transfer begin. */
    add_transfer(all, "cmpxchg_blind", w, [](std::uint64_t *word) {
        return __sync_val_compare_and_swap(word, known, known + 1);
    });
    add_transfer(all, "cmpxchg_transfer_invalidate", w, [](std::uint64_t *word) {
        const std::uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
        /* The address seems to depend on the value read. Otherwise some processors ask for the
         * line once, for writing, because they see both instructions coming. */
        std::uint64_t *const again = word + (seen & opaque<std::uint64_t>(0));
        return __sync_val_compare_and_swap(again, seen, seen + 1);
    });
}

rows matrix_rows(const world &w)
{
    rows all;
    for (std::size_t i = 0; i < w.cpus.size(); i++) {
        for (std::size_t j = i + 1; j < w.cpus.size(); j++) {
            const unsigned a = w.cpus[i], b = w.cpus[j];
            add(all, std::to_string(a) + "-" + std::to_string(b), "matrix", "",
                [=](world &world) { return to_and_fro(world, a, b); });
        }
    }
    return all;
}

} // namespace bench::costs
