/* SPDX-License-Identifier: MIT */
/*
 * A flood of callbacks, as fast as a thread can call: measures the memory that waits to be freed.
 * Where nothing bounds it, this driver stops calling, so that the machine survives.
 */
#include <malloc.h>
#include <sched.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>

#include "rcu/rcu.hpp"

namespace bench::rcu {
namespace {

/* About a millisecond: a slow reader. */
constexpr std::uint64_t long_section = 700000;

constexpr unsigned callers = 2;

/* Pages that this process has in memory, in bytes. */
inline std::int64_t resident()
{
    long long size = 0, pages = 0;
    if (std::FILE *file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%lld %lld", &size, &pages) != 2)
            pages = 0;
        std::fclose(file);
    }
    return pages * sysconf(_SC_PAGESIZE);
}

/* Each thread counts on a line of its own. A thread may read an old count of others. */
class flow {
  public:
    void in(unsigned caller) { add(in_[caller]); }
    void out() { add(mine()); }
    /* Never more than there are: an object is counted after it has gone in. */
    std::int64_t held() const
    {
        std::int64_t sum = 0;
        for (const auto &place : in_)
            sum += place.object.load(std::memory_order_relaxed);
        for (const auto &place : out_)
            sum -= place.object.load(std::memory_order_relaxed);
        return std::max<std::int64_t>(sum, 0);
    }
    std::int64_t gone_out() const
    {
        std::int64_t sum = 0;
        for (const auto &place : out_)
            sum += place.object.load(std::memory_order_relaxed);
        return sum;
    }

  private:
    using count = placed<std::atomic<std::int64_t>>;

    /* One writer at a time unless there are more threads than places, so it adds atomically. */
    static void add(count &place) { place.object.fetch_add(1, std::memory_order_relaxed); }
    count &mine()
    {
        static std::atomic<unsigned> next{0};
        static thread_local const unsigned place = next.fetch_add(1) % places;
        return out_[place];
    }

    static constexpr unsigned places = 16;
    count in_[callers], out_[places];
};

/* The held objects over time, in at most so many points: the greatest of each stretch. */
class curve {
  public:
    static constexpr std::size_t most = 200;

    void add(double seconds, std::int64_t bytes)
    {
        greatest_ = std::max(greatest_, bytes);
        peak_ = std::max(peak_, bytes);
        if (++waiting_ < stretch_)
            return;
        points_.push_back({seconds, greatest_});
        greatest_ = 0;
        waiting_ = 0;
        if (points_.size() == most)
            halve();
    }
    std::int64_t peak() const { return peak_; }
    json points() const
    {
        json result = json::array();
        for (const auto &[seconds, bytes] : points_)
            result.push_back({std::round(seconds * 1e6) / 1e6, bytes});
        return result;
    }

  private:
    void halve()
    {
        for (std::size_t i = 0; i < most / 2; i++)
            points_[i] = {points_[2 * i + 1].first,
                          std::max(points_[2 * i].second, points_[2 * i + 1].second)};
        points_.resize(most / 2);
        stretch_ *= 2;
    }

    std::vector<std::pair<double, std::int64_t>> points_;
    std::int64_t greatest_ = 0, peak_ = 0;
    unsigned waiting_ = 0, stretch_ = 1;
};

/* Looks every two milliseconds, on any free CPU. */
class watcher {
  public:
    explicit watcher(const flow &what, std::size_t bytes_each)
        : what_(what), bytes_each_(static_cast<std::int64_t>(bytes_each)), first_(resident()),
          thread_([this] { watch(); })
    {
    }
    ~watcher() { stop(); }
    watcher(const watcher &) = delete;
    watcher &operator=(const watcher &) = delete;

    void stop()
    {
        stop_ = true;
        if (thread_.joinable())
            thread_.join();
    }
    const curve &held() const { return held_; }
    std::int64_t grown() const { return most_resident_ - first_; }

  private:
    void watch()
    {
        cpu_set_t all;
        CPU_ZERO(&all);
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            CPU_SET(cpu, &all);
        sched_setaffinity(0, sizeof all, &all);
        const double start = seconds_of(CLOCK_MONOTONIC);
        const struct timespec pause = {0, 2000000};
        do {
            nanosleep(&pause, nullptr);
            held_.add(seconds_of(CLOCK_MONOTONIC) - start, what_.held() * bytes_each_);
            most_resident_ = std::max(most_resident_, resident());
        } while (!stop_);
    }

    const flow &what_;
    const std::int64_t bytes_each_, first_;
    std::int64_t most_resident_ = first_;
    curve held_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

/* The bound of the queue; nothing, where there is none. */
struct unbounded {
    static void apply() {}
    static std::int64_t most() { return INT64_MAX; }
    static json bytes() { return nullptr; }
};
template <pawl_rcu_policy policy> struct bounded {
    static void apply()
    {
        const int failure =
            pawl_rcu_domain_limit(adapter::pawl_rcu_own_domain::get(), PAWL_RCU_NO_LIMIT,
                                  static_cast<std::uint64_t>(chosen.bound), policy);
        expect(failure == 0, "pawl_rcu_domain_limit refused a limit.");
    }
    static std::int64_t most() { return chosen.bound; }
    static json bytes() { return chosen.bound; }
};

template <class Rcu, class Bound> struct poured : subject {
    struct object {
        typename Rcu::head head{};
        poured *whose = nullptr;
        unsigned char rest[24] = {};
    };
    static_assert(sizeof(object) <= 64, "an object is no larger for one than for the other");
    static constexpr std::size_t object_bytes = 64;

    poured() { start_worker<Rcu>(); }

    void run(measure &m, unsigned thread) override
    {
        if (thread == 0) {
            stopped = false;
            peak = 0;
            Bound::apply();
            malloc_trim(0);
            watching = std::make_unique<watcher>(objects, object_bytes);
        }
        m.whole([&] { return pour(thread); });
        if (thread == 0)
            watching->stop();
    }
    void beside(const std::atomic<bool> &stop) override { read_on<Rcu>(stop, long_section); }
    void verify(std::uint64_t total) override
    {
        expect(static_cast<std::uint64_t>(objects.gone_out()) == total,
               std::string(Rcu::name) + " lost a callback or called one twice.");
        expect(peak_bytes() <= Bound::most(),
               std::string(Rcu::name) + " had " + std::to_string(peak_bytes()) +
                   " bytes queued, more than the bound that it was given.");
    }
    json more() override
    {
        return {{"peak_bytes", peak_bytes()},
                {"bound_bytes", Bound::bytes()},
                {"rss_peak_bytes", watching->grown()},
                {"stopped", stopped.load()},
                {"held", watching->held().points()}};
    }

  private:
    std::int64_t peak_bytes() const { return std::max(peak.load(), watching->held().peak()); }

    std::uint64_t pour(unsigned thread)
    {
        typename Rcu::thread own;
        const auto wanted = static_cast<std::uint64_t>(chosen.flood);
        std::uint64_t calls = 0;
        for (; calls < wanted && !stopped.load(std::memory_order_relaxed); calls++) {
            if (calls % 64 == 0) {
                own.quiescent();
                look();
            }
            void *memory = std::malloc(object_bytes);
            if (!memory)
                break;
            auto *o = new (memory) object;
            o->whose = this;
            Rcu::template call<called>(&o->head, object_bytes);
            objects.in(thread);
        }
        own.rest();
        Rcu::barrier();
        own.resume();
        return calls;
    }

    void look()
    {
        const std::int64_t held = objects.held() * static_cast<std::int64_t>(object_bytes);
        std::int64_t known = peak.load(std::memory_order_relaxed);
        while (held > known && !peak.compare_exchange_weak(known, held, std::memory_order_relaxed))
            ;
        if (held > chosen.most || interrupted)
            stopped = true;
    }

    static void called(typename Rcu::head *head)
    {
        auto *o = reinterpret_cast<object *>(head);
        poured *whose = o->whose;
        std::free(o);
        whose->objects.out();
    }

    flow objects;
    std::atomic<std::int64_t> peak{0};
    std::atomic<bool> stopped{false};
    std::unique_ptr<watcher> watching;
};

using own_domain = adapter::pawl_rcu_of_domain;
using helping = poured<own_domain, bounded<PAWL_RCU_HELP>>;
using waiting = poured<own_domain, bounded<PAWL_RCU_WAIT>>;
template <class Rcu> using unbounded_flood = poured<Rcu, unbounded>;

} // namespace

void flood_rows(candidates &all)
{
    using counters::offer;
    for (const char *beside : {"", "readers"}) {
        offer<helping>(all, "flood", "pawl_rcu", 1, beside);
        offer<waiting>(all, "flood", "pawl_rcu_wait", 1, beside);
        offer_urcu<unbounded_flood>(all, "flood", 1, beside);
    }
    offer<helping>(all, "flood", "pawl_rcu", 2);
    offer_urcu<unbounded_flood>(all, "flood", 2);
}

} // namespace bench::rcu
