/* SPDX-License-Identifier: MIT */
/*
 * What a scaling reader's full fence costs, by the instruction that passes it. Each candidate in
 * turn fills an entry, looks at the lock's word and frees the entry, over and over. Printed are
 * medians of the rounds, and quartiles. doc/design/028-scaling-readers.md has the figures.
 */
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int rounds = 101;
constexpr long pairs = 100000;
constexpr std::uint64_t identity = 64, unheld = 2, reader = 4;

struct alignas(64) line {
    std::atomic<std::uint64_t> word{0};
};
line entry, lock_word;

void look()
{
    if (lock_word.word.load(std::memory_order_acquire) != unheld)
        std::abort();
}

template <class Fill> void in_an_entry(Fill fill)
{
    for (long i = 0; i < pairs; i++) {
        if (entry.word.load(std::memory_order_relaxed) != 0)
            std::abort();
        fill();
        look();
        entry.word.store(0, std::memory_order_release);
    }
}

void by_compare_exchange()
{
    in_an_entry([] {
        std::uint64_t found = 0;
        if (!entry.word.compare_exchange_strong(found, identity))
            std::abort();
    });
}

void by_exchange()
{
    in_an_entry([] {
        if (entry.word.exchange(identity) != 0)
            std::abort();
    });
}

void by_fence()
{
    in_an_entry([] {
        entry.word.store(identity, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    });
}

#if defined(__x86_64__) || defined(__i386__)
void by_mfence()
{
    in_an_entry([] {
        entry.word.store(identity, std::memory_order_relaxed);
        __asm__ __volatile__("mfence" ::: "memory");
    });
}
#endif

void without_fence()
{
    in_an_entry([] {
        entry.word.store(identity, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    });
}

void in_the_word()
{
    for (long i = 0; i < pairs; i++) {
        if (lock_word.word.fetch_add(reader, std::memory_order_acquire) != unheld)
            std::abort();
        lock_word.word.fetch_sub(reader, std::memory_order_release);
    }
}

struct candidate {
    const char *name;
    void (*run)();
    std::vector<double> times = {};
};

double time_of(void (*run)())
{
    using clock = std::chrono::steady_clock;
    const auto start = clock::now();
    run();
    return std::chrono::duration<double, std::nano>(clock::now() - start).count() / pairs;
}

} // namespace

int main()
{
    std::vector<candidate> all = {
        {"compare-exchange into the entry", by_compare_exchange},
        {"exchange into the entry", by_exchange},
        {"store, and the compiler's full fence", by_fence},
#if defined(__x86_64__) || defined(__i386__)
        {"store, and mfence", by_mfence},
#endif
        {"store, and no fence", without_fence},
        {"two additions to the word", in_the_word},
        {"compare-exchange again", by_compare_exchange},
    };
    lock_word.word = unheld;
    for (int round = 0; round < rounds; round++) {
        for (auto &one : all)
            one.times.push_back(time_of(one.run));
        std::reverse(all.begin(), all.end());
    }
    if (rounds % 2 != 0)
        std::reverse(all.begin(), all.end());
    for (auto &one : all) {
        std::sort(one.times.begin(), one.times.end());
        std::printf("%-38s %6.2f ns (%.2f to %.2f)\n", one.name, one.times[rounds / 2],
                    one.times[rounds / 4], one.times[rounds * 3 / 4]);
    }
    return 0;
}
