/* SPDX-License-Identifier: MIT */
/* Callbacks: their number per second, and the wait of each. */
#include <sys/prctl.h>

#include <cmath>
#include <new>

#include "core/histogram.hpp"
#include "rcu/rcu.hpp"

namespace bench::rcu {
namespace {

/* Now and then a thread that calls in a loop holds no pointer. */
constexpr std::uint64_t between_pauses = 64;

/* ---- How many -------------------------------------------------------------------------------- */

/* 64 bytes for each callback of a thread's sample, the same for all rows. */
struct alignas(64) block {
    unsigned char bytes[64];
};

std::vector<block> &blocks_of(unsigned thread)
{
    static std::vector<block> all[2];
    return all[thread];
}

/* The threads hand a fixed number of objects over, and the sample ends when all callbacks have
 * run. So a late callback costs time as well. The objects exist before, so no allocator is
 * measured. */
template <class Rcu> struct throughput : subject {
    struct object {
        typename Rcu::head head{};
        std::uint64_t times = 0; /* how often its callback has run */
    };
    static_assert(sizeof(object) <= sizeof(block), "an object has room in its block");

    throughput() { start_worker<Rcu>(); }

    void run(measure &m, unsigned thread) override
    {
        std::vector<block> &blocks = blocks_of(thread);
        blocks.resize(static_cast<std::size_t>(chosen.callbacks));
        for (block &b : blocks)
            new (b.bytes) object;
        m.whole([&] { return call_all(blocks); });
        for (block &b : blocks)
            expect(object_in(b)->times == 1,
                   std::string(Rcu::name) + " lost a callback or called one twice.");
    }

    json more() override
    {
        const auto calls = static_cast<double>(chosen.callbacks);
        return {{"call_ns", std::round(call_seconds.load() / calls * 1e11) / 100}};
    }

  private:
    static object *object_in(block &b) { return reinterpret_cast<object *>(b.bytes); }

    std::uint64_t call_all(std::vector<block> &blocks)
    {
        typename Rcu::thread own;
        const double start = seconds_of(CLOCK_MONOTONIC);
        std::uint64_t n = 0;
        for (block &b : blocks) {
            Rcu::template call<called>(&object_in(b)->head, sizeof b);
            if (++n % between_pauses == 0)
                own.quiescent();
        }
        call_seconds = seconds_of(CLOCK_MONOTONIC) - start;
        own.rest();
        Rcu::barrier();
        own.resume();
        return n;
    }

    static void called(typename Rcu::head *head) { reinterpret_cast<object *>(head)->times++; }

    std::atomic<double> call_seconds{0}; /* of the thread that finished last */
};

/* ---- How soon -------------------------------------------------------------------------------- */

/* A call now and then, as from a program that does something else most of the time. */
template <class Rcu> struct delays : subject {
    struct object {
        typename Rcu::head head{};
        delays *whose = nullptr;
        std::uint64_t since = 0;
    };

    delays() { start_worker<Rcu>(); }

    void run(measure &m, unsigned) override
    {
        found = histogram();
        m.whole([&] {
            const int slack = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
            prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
            const std::uint64_t calls = call_now_and_then(m);
            prctl(PR_SET_TIMERSLACK, slack > 0 ? static_cast<unsigned long>(slack) : 0UL, 0UL, 0UL,
                  0UL);
            Rcu::barrier();
            return calls;
        });
    }
    void beside(const std::atomic<bool> &stop) override { read_on<Rcu>(stop, short_section); }
    void verify(std::uint64_t total) override
    {
        done += found.total();
        expect(done == total, std::string(Rcu::name) + " lost a callback or called one twice.");
    }
    json more() override
    {
        return {{"delay_ns", found.quantiles()}, {"delays_ns", found.buckets()}};
    }

  private:
    std::uint64_t call_now_and_then(const measure &m)
    {
        typename Rcu::thread own;
        const auto period = static_cast<std::uint64_t>(chosen.period_us) * 1000;
        const std::uint64_t start = now_ns();
        const std::uint64_t begin = start + static_cast<std::uint64_t>(m.warmup() * 1e9);
        const std::uint64_t end = begin + static_cast<std::uint64_t>(m.length() * 1e9);
        std::uint64_t calls = 0;
        for (std::uint64_t next = start; next < end && !interrupted; next += period) {
            own.rest();
            sleep_until(next);
            own.resume();
            auto *o = new object;
            o->whose = next >= begin ? this : nullptr;
            calls += next >= begin;
            o->since = now_ns();
            Rcu::template call<called>(&o->head, sizeof *o);
        }
        return calls;
    }

    static void called(typename Rcu::head *head)
    {
        const std::uint64_t now = now_ns();
        auto *o = reinterpret_cast<object *>(head);
        if (o->whose) {
            const std::lock_guard<std::mutex> hold(o->whose->mutex);
            o->whose->found.add(now - o->since);
        }
        delete o;
    }

    std::mutex mutex;
    histogram found;
    std::uint64_t done = 0;
};

} // namespace

void call_rows(candidates &all)
{
    for (const unsigned threads : {1U, 2U}) {
        offer_pawl<throughput>(all, "call", threads);
        counters::offer<throughput<adapter::pawl_hazard>>(all, "call", "pawl_hazard", threads);
        offer_urcu<throughput>(all, "call", threads);
    }
    for (const char *beside : {"", "readers"}) {
        offer_pawl<delays>(all, "delay", 1, beside);
        offer_urcu<delays>(all, "delay", 1, beside);
    }
}

} // namespace bench::rcu
