/* SPDX-License-Identifier: MIT */
/*
 * The cost of taking and dropping each lock: where it was last held on this core, and where another
 * core held it last. It also measures what that leaves of critical sections of several lengths.
 */
#include "adapters/all.hpp"
#include "adapters/modes.hpp"
#include "adapters/pawl_brlock.hpp"
#include "costs/rows.hpp"

namespace bench::costs {
namespace {

constexpr unsigned lengths[] = {16, 64, 256, 1024, 4096};

/* Seconds for all locks: each taken and dropped in turn, and all taken before all are dropped. */
struct batch_times {
    double pairs = 0, takes = 0, drops = 0;
};

/* A byte of the lock: the place of the next one depends on it, so that no two overlap. Its value
 * does not matter. */
template <class Lock> std::size_t peek(const Lock &lock)
{
    return *static_cast<const volatile unsigned char *>(static_cast<const volatile void *>(&lock));
}

template <class Lock, class Mode> class bench_of {
  public:
    double pairs()
    {
        return walk([](Lock &lock) { Mode::take(lock); }, [](Lock &lock) { Mode::drop(lock); });
    }
    double takes()
    {
        return walk([](Lock &lock) { Mode::take(lock); }, [](Lock &) {});
    }
    double drops()
    {
        return walk([](Lock &) {}, [](Lock &lock) { Mode::drop(lock); });
    }

    double sections(unsigned length, unsigned count)
    {
        cell<Lock> &one = all_[0];
        const auto addend = opaque<std::uintptr_t>(1);
        const double start = now();
        for (unsigned i = 0; i < count; i++) {
            Mode::take(one.object);
            /* A section that reads what the lock protects, works on it and writes it back. */
            one.data = chain(opaque(one.data), addend, length);
            __asm__ __volatile__("" : : : "memory");
            Mode::drop(one.object);
        }
        return now() - start;
    }

  private:
    template <class Take, class Drop> double walk(Take take, Drop drop)
    {
        const auto zero = opaque<std::size_t>(0);
        std::size_t shift = 0;
        order_.shuffle();
        const double start = now();
        for (std::size_t i = 0; i < scattered; i++) {
            Lock &lock = all_[order_.at(i + shift)].object;
            take(lock);
            drop(lock);
            shift = peek(lock) & zero;
        }
        opaque(shift);
        return now() - start;
    }

    cell<Lock> all_[scattered];
    shuffled order_;
};

/* The cost of reading the clock in a walk, which is no part of the lock. */
double clock_cost()
{
    std::vector<double> times;
    for (int i = 0; i < 101; i++) {
        const double start = now();
        times.push_back(now() - start);
    }
    return median(times);
}

/* Odd and even batches measure different things, so there must be at least two. A lock that was
 * moved away comes back with its take. */
template <class Bench> batch_times one_batch(Bench &bench, std::size_t number)
{
    batch_times times;
    if (number % 2 == 0) {
        times.pairs = bench.pairs();
    } else {
        times.takes = bench.takes();
        times.drops = bench.drops();
    }
    return times;
}

measured summary(const std::vector<batch_times> &batches, double clock)
{
    std::vector<double> pairs, takes, drops;
    for (std::size_t i = 0; i < batches.size(); i++) {
        if (i % 2 == 0) {
            pairs.push_back(std::max(1e-12, batches[i].pairs - clock));
        } else {
            takes.push_back(std::max(0.0, batches[i].takes - clock));
            drops.push_back(std::max(0.0, batches[i].drops - clock));
        }
    }
    measured m{static_cast<double>(scattered), median(pairs), json::object()};
    m.extra["take_seconds"] = median(takes);
    m.extra["drop_seconds"] = median(drops);
    return m;
}

template <class Bench> measured run_local(world &w, Bench &bench)
{
    measured m;
    w.threads.alone(w.first, [&] {
        const double clock = clock_cost();
        std::vector<batch_times> batches;
        bench.pairs();
        const double end = now() + w.seconds;
        do
            batches.push_back(one_batch(bench, batches.size()));
        while (batches.size() < 2 || (now() < end && !interrupted));
        m = summary(batches, clock);
    });
    return m;
}

/* The other core takes and drops every lock before each batch. */
template <class Bench> measured run_moved(world &w, Bench &bench)
{
    std::vector<batch_times> batches;
    alternate(
        w.threads, w.first, w.near, w.seconds, [&] { bench.pairs(); },
        [&] {
            batches.push_back(one_batch(bench, batches.size()));
            return 0.0;
        });
    double clock = 0;
    w.threads.alone(w.first, [&] { clock = clock_cost(); });
    return summary(batches, clock);
}

template <class Bench> measured run_sections(world &w, Bench &bench, unsigned length)
{
    measured m;
    w.threads.alone(w.first, [&] {
        const unsigned count = std::max(8192U / length, 8U);
        m = repeat(w.seconds, count, [&] { return bench.sections(length, count); });
    });
    return m;
}

template <class Lock, class Mode> void add_sections(rows &all, const std::string &name)
{
    const auto bench = std::make_shared<bench_of<Lock, Mode>>();
    for (const unsigned length : lengths)
        add(all, "section/" + name + "/" + std::to_string(length), "locks", "",
            [=](world &w) { return run_sections(w, *bench, length); });
}

/* Both kinds and all sections; or one row that says what to install. */
template <class Lock, template <class> class Mode>
void add_lock(rows &all, const world &w, const std::string &mode, const std::string &lock)
{
    const std::string name = mode + "/" + lock;
    if constexpr (adapter::in_build<Lock>) {
        using bench = bench_of<Lock, Mode<Lock>>;
        const auto here = std::make_shared<bench>();
        add(all, "local/" + name, "locks", "",
            [=](world &world) { return run_local(world, *here); });
        add(all, "moved/" + name, "locks", w.has_two() ? "" : needs_two_cpus,
            [=](world &world) { return run_moved(world, *here); });
        add_sections<Lock, Mode<Lock>>(all, name);
    } else {
        (void)w;
        add(all, "local/" + name, "locks", adapter::why_not<Lock>(), nullptr);
    }
}

template <class Lock> void add_exclusive(rows &all, const world &w, const char *lock)
{
    add_lock<Lock, adapter::write_mode>(all, w, "w", lock);
}

template <class Lock> void add_reader_writer(rows &all, const world &w, const char *lock)
{
    add_lock<Lock, adapter::read_mode>(all, w, "r", lock);
    add_exclusive<Lock>(all, w, lock);
}

template <class Lock> void add_progressive(rows &all, const world &w, const char *lock)
{
    add_reader_writer<Lock>(all, w, lock);
    add_lock<Lock, adapter::seek_mode>(all, w, "s", lock);
    add_lock<Lock, adapter::atomic_mode>(all, w, "a", lock);
}

} // namespace

rows lock_rows(const world &w)
{
#if PAWL_BENCH_ABSL
    /* Some builds of it record the order of all takes. This row, in which no thread waits, does
     * without the record. */
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
#endif
    rows all;
    add_sections<adapter::none, adapter::write_mode<adapter::none>>(all, "w/none");
    add_progressive<adapter::pawl_spin16>(all, w, "pawl_spin16");
    add_progressive<adapter::pawl_spin32>(all, w, "pawl_spin32");
    add_progressive<adapter::pawl_spin64>(all, w, "pawl_spin64");
    add_progressive<adapter::pawl_lock32>(all, w, "pawl_lock32");
    add_progressive<adapter::pawl_lock64>(all, w, "pawl_lock64");
    add_reader_writer<adapter::pawl_brlock>(all, w, "pawl_brlock");
    add_lock<adapter::pawl_brlock, adapter::seek_mode>(all, w, "s", "pawl_brlock");
    add_lock<adapter::pawl_brlock_fenced, adapter::read_mode>(all, w, "r", "pawl_brlock_fenced");
    add_reader_writer<adapter::pthread_rwlock>(all, w, "pthread_rwlock");
    add_exclusive<adapter::pthread_mutex>(all, w, "pthread_mutex");
    add_exclusive<adapter::pthread_spin>(all, w, "pthread_spin");
    add_reader_writer<adapter::std_shared_mutex>(all, w, "std_shared_mutex");
    add_reader_writer<adapter::tbb_spin_rw_mutex>(all, w, "tbb_spin_rw_mutex");
    add_reader_writer<adapter::tbb_rw_mutex>(all, w, "tbb_rw_mutex");
    add_reader_writer<adapter::boost_upgrade_mutex>(all, w, "boost_upgrade_mutex");
    add_reader_writer<adapter::absl_mutex>(all, w, "absl_mutex");
    add_reader_writer<adapter::nsync_mu>(all, w, "nsync_mu");
    add_reader_writer<adapter::ck_rwlock>(all, w, "ck_rwlock");
    return all;
}

} // namespace bench::costs
