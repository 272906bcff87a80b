/* SPDX-License-Identifier: MIT */
/* The costs of one CPU alone: instructions, its clocks, its caches, atomic operations. */
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmath>

#include <pawl/spin.h>

#include "core/placed.hpp"
#include "costs/rows.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

namespace bench::costs {
namespace {

/* ---- Instructions and clocks ----------------------------------------------------------------- */

constexpr unsigned steps = 8000;

/* Independent additions, as many at once as there are registers for them. */
double independent_additions()
{
    const auto one = opaque<std::uintptr_t>(1);
    std::uintptr_t a = 1, b = 2, c = 3, d = 4;
#define PAWL_FOUR(a, b, c, d)                                                                      \
    a += one;                                                                                      \
    b += one;                                                                                      \
    c += one;                                                                                      \
    d += one;                                                                                      \
    __asm__ __volatile__("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d))
#if UINTPTR_MAX > UINT32_MAX
    std::uintptr_t e = 5, f = 6, g = 7, h = 8;
#define PAWL_EIGHT                                                                                 \
    PAWL_FOUR(a, b, c, d);                                                                         \
    PAWL_FOUR(e, f, g, h)
#else
#define PAWL_EIGHT                                                                                 \
    PAWL_FOUR(a, b, c, d);                                                                         \
    PAWL_FOUR(a, b, c, d)
#endif
    const double start = now();
    for (unsigned i = 0; i < steps; i += 16) {
        PAWL_EIGHT;
        PAWL_EIGHT;
    }
#undef PAWL_EIGHT
#undef PAWL_FOUR
    return now() - start;
}

measured instruction(world &w)
{
    measured m;
    w.threads.alone(w.first, [&] { m = repeat(w.seconds, steps, independent_additions); });
    return m;
}

measured cycle(world &w)
{
    measured m;
    w.threads.alone(w.first, [&] {
        m = repeat(w.seconds, steps, [] {
            const auto one = opaque<std::uintptr_t>(1);
            const double start = now();
            opaque(chain(one, one, steps));
            return now() - start;
        });
    });
    return m;
}

#if defined(__x86_64__) || defined(__i386__)
constexpr bool has_ticks = true;
std::uint64_t ticks()
{
    return __rdtsc();
}
#elif defined(__aarch64__)
constexpr bool has_ticks = true;
std::uint64_t ticks()
{
    std::uint64_t value;
    __asm__ __volatile__("isb; mrs %0, cntvct_el0" : "=r"(value));
    return value;
}
#else
constexpr bool has_ticks = false;
std::uint64_t ticks()
{
    return 0;
}
#endif

/* One batch: a reading at each end of the same stretch of time, by both clocks. */
measured tick(world &w)
{
    measured m;
    w.threads.alone(w.first, [&] {
        std::vector<double> lengths;
        const double end = now() + 4 * w.seconds;
        do {
            const double start = now();
            const std::uint64_t first = ticks();
            double stop;
            do
                stop = now();
            while (stop < start + w.seconds);
            lengths.push_back((stop - start) / static_cast<double>(ticks() - first));
        } while (now() < end && !interrupted);
        m = {1e6, median(lengths) * 1e6, json::object()};
    });
    return m;
}

/* ---- The hardware's own counter of cycles ---------------------------------------------------- */

int open_cycle_counter()
{
    struct perf_event_attr attributes = {};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = PERF_COUNT_HW_CPU_CYCLES;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return static_cast<int>(
        syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

/* The cycles that the thread spends on `work`; 0 when the counter counted nothing. */
template <class Work> std::uint64_t count_cycles(Work work)
{
    const int file = open_cycle_counter();
    if (file < 0)
        return 0;
    std::uint64_t before = 0, after = 0;
    const bool started = read(file, &before, sizeof before) == sizeof before;
    work();
    const bool ended = read(file, &after, sizeof after) == sizeof after;
    close(file);
    return started && ended ? after - before : 0;
}

std::string why_no_counter()
{
    const int file = open_cycle_counter();
    if (file < 0)
        return std::string("the system offers no counter of cycles (perf_event_open: ") +
               std::strerror(errno) + ")";
    close(file);
    const auto one = opaque<std::uintptr_t>(1);
    if (count_cycles([&] { opaque(chain(one, one, steps)); }) == 0)
        return "the system's counter of cycles stands still";
    return "";
}

measured counted_cycle(world &w)
{
    measured m;
    w.threads.alone(w.first, [&] {
        const auto one = opaque<std::uintptr_t>(1);
        double seconds = 0;
        const std::uint64_t cycles = count_cycles([&] {
            const double start = now();
            do
                opaque(chain(one, one, steps));
            while ((seconds = now() - start) < w.seconds);
        });
        if (cycles == 0)
            throw std::runtime_error("The counter of cycles has stopped.");
        m = {static_cast<double>(cycles), seconds, json::object()};
    });
    return m;
}

/* ---- Caches and memory ----------------------------------------------------------------------- */

constexpr std::size_t line = 64, huge = std::size_t{2} << 20;

/* Lines in one random circle: each holds the address of the next, so the processor cannot guess
 * it. */
class circle {
  public:
    explicit circle(std::size_t bytes) : lines_(bytes / line)
    {
        const std::size_t whole = (bytes + huge - 1) / huge * huge;
        mapped_ = whole + huge;
        map_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map_ == MAP_FAILED)
            throw bad_input("Could not get " + std::to_string(mapped_ >> 20) +
                            " MiB for the rows of memory: leave them out with --candidates.");
        const auto address = reinterpret_cast<std::uintptr_t>(map_);
        base_ = static_cast<unsigned char *>(map_) + (huge - address % huge) % huge;
        /* Pages of 4 KiB would add the cost of address translation. */
        madvise(base_, whole, MADV_HUGEPAGE);
        /* Sattolo's shuffle makes one circle of all. */
        std::uint64_t state = 88172645463325252u;
        for (std::size_t i = 0; i < lines_; i++)
            next(i) = at(i);
        for (std::size_t i = lines_ - 1; i > 0; i--) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            std::swap(next(i), next(static_cast<std::size_t>(state % i)));
        }
        here_ = at(0);
    }
    ~circle() { munmap(map_, mapped_); }
    circle(const circle &) = delete;
    circle &operator=(const circle &) = delete;

    std::size_t bytes() const { return lines_ * line; }
    std::size_t lines() const { return lines_; }

    void walk(std::size_t count)
    {
        void *p = here_;
        for (std::size_t i = 0; i < count; i += 4) {
            p = *static_cast<void **>(p);
            p = *static_cast<void **>(p);
            p = *static_cast<void **>(p);
            p = *static_cast<void **>(p);
        }
        here_ = opaque(p);
    }

  private:
    void *at(std::size_t i) const { return base_ + i * line; }
    void *&next(std::size_t i) const { return *static_cast<void **>(at(i)); }

    std::size_t lines_, mapped_;
    void *map_;
    unsigned char *base_;
    void *here_;
};

constexpr std::size_t reads = 4096;

/* The first sample makes the circle: the row may not be asked for, and the memory must be near
 * the CPU that measures. */
std::function<measured(world &)> chase_of(std::size_t bytes, bool warm)
{
    const auto ring = std::make_shared<std::unique_ptr<circle>>();
    return [=](world &w) {
        measured m;
        w.threads.alone(w.first, [&] {
            if (!*ring)
                *ring = std::make_unique<circle>(bytes);
            if (warm)
                (*ring)->walk(2 * (*ring)->lines());
            m = repeat(w.seconds, static_cast<double>(reads), [&] {
                const double start = now();
                (*ring)->walk(reads);
                return now() - start;
            });
        });
        m.extra["bytes"] = (*ring)->bytes();
        return m;
    };
}

std::size_t free_memory()
{
    return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) *
           static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/* A size that finds almost nothing in the smaller cache, and lies wholly in the larger: half way
 * between them by factors. Others use a part of a shared cache, on a virtual machine the greater
 * part. For a shared cache the size is therefore at most twice the smaller cache. */
std::size_t between(std::size_t smaller, std::size_t larger, bool shared)
{
    const double product = static_cast<double>(smaller) * static_cast<double>(larger);
    const auto middle = static_cast<std::size_t>(std::sqrt(product));
    return shared ? std::min(middle, 2 * smaller) : middle;
}

void add_cache(rows &all, const world &w, std::size_t level)
{
    const std::string name = "l" + std::to_string(level + 1);
    const std::size_t bytes = level < w.caches.size() ? w.caches[level] : 0;
    if (bytes < 4096) {
        add(all, name, "memory",
            "the system names no level " + std::to_string(level + 1) + " cache", {});
        return;
    }
    const std::size_t set =
        level == 0 ? bytes / 2 : between(w.caches[level - 1], bytes, level == 2);
    add(all, name, "memory", "", chase_of(set, true));
}

void add_main_memory(rows &all, const world &w)
{
    std::size_t last = 1 << 20;
    for (const std::size_t bytes : w.caches)
        last = std::max(last, bytes);
    const std::size_t wanted = std::max<std::size_t>(4 * last, std::size_t{64} << 20);
    const std::size_t set = std::min({wanted, std::size_t{1} << 30, free_memory() / 4});
    if (set < 2 * last)
        add(all, "memory", "memory",
            "the last cache holds " + std::to_string(last >> 20) +
                " MiB and too little memory is free to exceed it",
            {});
    else
        add(all, "memory", "memory", "", chase_of(set, false));
}

/* ---- Operations on a line of one's own ------------------------------------------------------- */

constexpr unsigned unroll = 4096;

template <int> std::atomic<std::uint64_t> &word()
{
    static placed<std::atomic<std::uint64_t>> own;
    return own.object;
}

} // namespace

void add_processor(rows &all, const world &)
{
    add(all, "instruction", "processor", "", instruction);
    add(all, "cycle", "processor", "", cycle);
    add(all, "cycle_counter", "processor", why_no_counter(), counted_cycle);
    add(all, "tsc_tick", "processor",
        has_ticks ? "" : "we know no time stamp counter of this processor", tick);
}

void add_memory(rows &all, const world &w)
{
    for (std::size_t level = 0; level < 3; level++)
        add_cache(all, w, level);
    add_main_memory(all, w);
}

void add_atomics(rows &all)
{
    static placed<std::uint64_t> plain;
    static placed<pawl_spin32> lock;
    add(all, "increment", "atomics", "", on_first(unroll, [] { plain.object++; }));
    add(all, "atomic_increment", "atomics", "",
        on_first(unroll, [] { word<1>().fetch_add(1, std::memory_order_relaxed); }));
    add(all, "cmpxchg_increment", "atomics", "", on_first(unroll, [] {
            std::uint64_t seen = word<2>().load(std::memory_order_relaxed);
            while (!word<2>().compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed))
                ;
        }));
    add(all, "fence", "atomics", "", on_first(unroll, [] {
            word<3>().store(1, std::memory_order_relaxed);
            std::atomic_thread_fence(std::memory_order_seq_cst);
        }));
    add(all, "local_lock", "atomics", "", on_first(unroll, [] {
            pawl_spin32_take_write(&lock.object);
            pawl_spin32_drop_write(&lock.object);
        }));
    add_rseq(all);
}

} // namespace bench::costs
