/* SPDX-License-Identifier: MIT */
/* Adding to a counter, and reading it, beside the usual alternatives. */
#include <sys/prctl.h>

#include "counters/add.hpp"

namespace bench::counters {
namespace {

/* ---- Floors and the alternatives to counters ------------------------------------------------- */

struct thread_local_word : subject {
    static inline thread_local std::uint64_t word = 0;
    void run(measure &m, unsigned) override
    {
        m([] { word++; });
    }
};

/* The added cost of indexing a line by the thread's number: each operation looks the number up. */
struct registered_line : subject {
    static inline thread_local unsigned number = 0;
    placed<std::uint64_t> lines[8];
    void run(measure &m, unsigned thread) override
    {
        number = thread;
        m([&] { lines[number].object++; });
    }
};

inline void locked_add(std::uint64_t &word)
{
#if defined(__x86_64__)
    std::uint64_t one = 1;
    __asm__ __volatile__("lock xaddq %0, %1" : "+r"(one), "+m"(word) : : "memory", "cc");
#else
    __atomic_fetch_add(&word, 1, __ATOMIC_RELAXED);
#endif
}

struct atomic_shared : subject {
    placed<std::uint64_t> word;
    void run(measure &m, unsigned) override
    {
        m([&] { locked_add(word.object); });
    }
    void verify(std::uint64_t total) override
    {
        expect_count("the atomic word", static_cast<std::int64_t>(word.object), total);
    }
};

struct atomic_own : subject {
    placed<std::uint64_t> words[8];
    void run(measure &m, unsigned thread) override
    {
        std::uint64_t &mine = words[thread].object;
        m([&] { locked_add(mine); });
    }
};

struct std_atomic : subject {
    placed<std::atomic<std::uint64_t>> word;
    void run(measure &m, unsigned) override
    {
        m([&] { word.object.fetch_add(1); });
    }
    void verify(std::uint64_t total) override
    {
        expect_count("std::atomic", static_cast<std::int64_t>(word.object.load()), total);
    }
};

#if PAWL_BENCH_CK
struct ck_faa : subject {
    placed<std::uint64_t> word;
    void run(measure &m, unsigned) override
    {
        m.batches(measure::many, [&](unsigned n) { pawl_bench_ck_add(&word.object, n); });
    }
    void verify(std::uint64_t total) override
    {
        expect_count("ck_pr_faa", static_cast<std::int64_t>(word.object), total);
    }
};
#endif

/* ---- Counters -------------------------------------------------------------------------------- */

template <class Counter> struct adds : subject {
    Counter counter;
    void run(measure &m, unsigned) override
    {
        m([&] { counter.add(); });
    }
    void verify(std::uint64_t total) override
    {
        expect_count(Counter::name, counter.read(), total);
    }
};

/* The number of reads a second. The reader sleeps until the next is due, and makes up for late
 * ones. */
constexpr double reads_a_second = 10000;

template <class Counter> struct adds_beside_reads : adds<Counter> {
    std::atomic<std::uint64_t> reads{0};
    double seconds = 0;
    void beside(const std::atomic<bool> &stop) override
    {
        const auto period = static_cast<std::uint64_t>(1e9 / reads_a_second);
        prctl(PR_SET_TIMERSLACK, 1UL);
        const std::uint64_t start = now_ns();
        std::uint64_t done = 0;
        while (!stop.load(std::memory_order_relaxed)) {
            this->counter.read();
            done++;
            sleep_until(start + done * period);
        }
        seconds = 1e-9 * static_cast<double>(now_ns() - start);
        reads = done;
    }
    json more() override
    {
        const auto done = static_cast<double>(reads.load());
        return {{"reads_per_second", seconds > 0 ? done / seconds : 0}};
    }
};

/* Reading, while no thread counts or beside one thread that does. */
template <class Counter, unsigned batch> struct reads : subject {
    Counter counter;
    std::uint64_t added = 0;
    reads()
    {
        counter.add();
        added = 1;
    }
    void run(measure &m, unsigned) override
    {
        const auto loop = [&](unsigned n) {
            for (unsigned i = 0; i < n; i++) {
                const std::int64_t value = counter.read();
                __asm__ __volatile__("" : : "r"(value) : "memory");
            }
        };
        m.batches(batch, loop);
    }
    void beside(const std::atomic<bool> &stop) override
    {
        while (!stop.load(std::memory_order_relaxed)) {
            for (int i = 0; i < 256; i++)
                counter.add();
            added += 256;
        }
    }
    void verify(std::uint64_t) override { expect_count(Counter::name, counter.read(), added); }
};

/* The floor of an exact read: one membarrier while the other thread counts. The second kind also
 * restarts the restartable sequences that it meets; exact reads need that kind. */
template <int command> struct membarrier_reads : subject {
    void run(measure &m, unsigned) override { m.slow(send_membarrier<command>); }
    void beside(const std::atomic<bool> &stop) override
    {
        while (!stop.load(std::memory_order_relaxed))
            for (int i = 0; i < 256; i++) {
                thread_local_word::word++;
                __asm__ __volatile__("" : : : "memory");
            }
    }
};

void offer_exact(candidates &all)
{
    offer_both<adds<exact_counter<PAWL_EXACT_FOLD>>>(all, "add", "pawl_exact_fold");
    offer_both<adds<exact_counter<PAWL_EXACT_STALL>>>(all, "add", "pawl_exact_stall");
    offer_both<adds<exact_counter<PAWL_EXACT_BRLOCK>>>(all, "add", "pawl_exact_brlock");
    offer_both<adds<exact_counter<PAWL_EXACT_LOCKS>>>(all, "add", "pawl_exact_locks");
    offer<adds_beside_reads<exact_counter<PAWL_EXACT_FOLD>>>(all, "add", "pawl_exact_fold", 1,
                                                             "reads");
    offer<adds_beside_reads<exact_counter<PAWL_EXACT_STALL>>>(all, "add", "pawl_exact_stall", 1,
                                                              "reads");
    offer<adds_beside_reads<exact_counter<PAWL_EXACT_BRLOCK>>>(all, "add", "pawl_exact_brlock", 1,
                                                               "reads");
    offer<adds_beside_reads<exact_counter<PAWL_EXACT_LOCKS>>>(all, "add", "pawl_exact_locks", 1,
                                                              "reads");
}

template <int command> void offer_membarrier(candidates &all, const char *what, int registration)
{
    const std::string why = why_no_membarrier(registration);
    if (!why.empty()) {
        offer_none(all, "read", what, why);
        return;
    }
    offer<membarrier_reads<command>>(all, "read", what, 1);
    offer<membarrier_reads<command>>(all, "read", what, 1, "adds");
}

template <class Counter, unsigned batch> void offer_reads(candidates &all, const char *what)
{
    offer<reads<Counter, batch>>(all, "read", what, 1);
    offer<reads<Counter, batch>>(all, "read", what, 1, "adds");
}

} // namespace

void add_candidates(candidates &all)
{
    offer_both<thread_local_word>(all, "add", "thread_local");
    offer<thread_local_word>(all, "add", "thread_local_again", 1);
    offer_both<registered_line>(all, "add", "registered_line");
    offer_both<atomic_own>(all, "add", "atomic_own_line");
    offer_both<atomic_shared>(all, "add", "atomic_shared");
    offer_both<std_atomic>(all, "add", "std_atomic");
    offer_both<adds<thread_counter>>(all, "add", "pawl_counter");
    offer_both<adds<handler_counter>>(all, "add", "pawl_counter_in_handler");
    offer_both<adds<cpu_counter>>(all, "add", "pawl_cpu_counter");
    offer_both<adds<limit_counter>>(all, "add", "pawl_counter_limit");
    offer_exact(all);
#if PAWL_BENCH_CK
    offer_both<ck_faa>(all, "add", "ck_pr_faa");
#else
    offer_none(all, "add", "ck_pr_faa", adapter::to_install("libck-dev"));
#endif
#if PAWL_BENCH_TBB
    offer_both<adds<tbb_specific>>(all, "add", "tbb_enumerable_thread_specific");
    offer_both<adds<tbb_combinable>>(all, "add", "tbb_combinable");
#else
    offer_none(all, "add", "tbb_enumerable_thread_specific", adapter::to_install("libtbb-dev"));
    offer_none(all, "add", "tbb_combinable", adapter::to_install("libtbb-dev"));
#endif
    offer_none(all, "add", "absl", "Abseil has no counter that is summed over threads");
}

void read_candidates(candidates &all)
{
    offer_membarrier<MEMBARRIER_CMD_PRIVATE_EXPEDITED>(all, "membarrier",
                                                       MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    offer_membarrier<MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ>(
        all, "membarrier_rseq", MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ);
    offer_reads<atomic_word, measure::many>(all, "std_atomic");
    offer_reads<thread_counter, measure::many>(all, "pawl_counter");
    offer_reads<cpu_counter, measure::many>(all, "pawl_cpu_counter");
    offer_reads<limit_counter, measure::few>(all, "pawl_counter_limit");
    offer_reads<exact_counter<PAWL_EXACT_FOLD>, measure::few>(all, "pawl_exact_fold");
    offer_reads<exact_counter<PAWL_EXACT_STALL>, measure::few>(all, "pawl_exact_stall");
    offer_reads<exact_counter<PAWL_EXACT_BRLOCK>, measure::few>(all, "pawl_exact_brlock");
    offer_reads<exact_counter<PAWL_EXACT_LOCKS>, measure::few>(all, "pawl_exact_locks");
#if PAWL_BENCH_TBB
    offer_reads<tbb_specific, measure::few>(all, "tbb_enumerable_thread_specific");
    offer_reads<tbb_combinable, measure::few>(all, "tbb_combinable");
#else
    offer_none(all, "read", "tbb_enumerable_thread_specific", adapter::to_install("libtbb-dev"));
    offer_none(all, "read", "tbb_combinable", adapter::to_install("libtbb-dev"));
#endif
}

} // namespace bench::counters
