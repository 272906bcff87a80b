/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-pairs: the cost of taking and dropping a lock for one undisturbed thread. It stands
 * between floors that need no lock: an empty loop, a plain increment, two atomic additions.
 *
 * JSON lines as pawl-bench-lru prints them; nanoseconds of a pair are seconds / ops.
 */
#include "adapters/all.hpp"
#include "adapters/modes.hpp"
#include "core/driver.hpp"
#include "core/machine.hpp"
#include "core/placed.hpp"
#include "core/second_thread.hpp"

namespace bench {
namespace {

/* Pairs between two looks at the clock: enough to make the cost of the clock negligible. */
constexpr unsigned batch = 4096;

/* Runs batches for about the given time; returns their number of pairs and the exact time. */
struct measure {
    double limit;
    std::uint64_t ops = 0;
    double seconds = 0;

    template <class Pair> void operator()(Pair pair)
    {
        const double start = seconds_of(CLOCK_MONOTONIC);
        do {
            for (unsigned i = 0; i < batch; i++) {
                pair();
                /* The compiler must not merge or drop operations that it could see through. */
                __asm__ __volatile__("" : : : "memory");
            }
            ops += batch;
            seconds = seconds_of(CLOCK_MONOTONIC) - start;
        } while (seconds < limit && !interrupted);
    }
};

void empty_loop(measure &m)
{
    m([] {});
}

void increment(measure &m)
{
    static placed<unsigned long> counter;
    m([] { counter.object++; });
}

inline void bare_add(std::uint32_t &word, std::uint32_t value)
{
#if defined(__x86_64__) || defined(__i386__)
    __asm__ __volatile__("lock xaddl %0, %1" : "+r"(value), "+m"(word) : : "memory", "cc");
#else
    __atomic_fetch_add(&word, value, __ATOMIC_ACQ_REL);
#endif
}

void two_additions(measure &m)
{
    static placed<std::uint32_t> word;
    m([] {
        bare_add(word.object, 4);
        bare_add(word.object, static_cast<std::uint32_t>(-4));
    });
}

template <class Lock, class Mode> void take_and_drop(measure &m)
{
    static placed<Lock> lock;
    m([] {
        Mode::take(lock.object);
        Mode::drop(lock.object);
    });
}

using pair_candidate = candidate<void (*)(measure &)>;
using pair_list = std::vector<pair_candidate>;

/* A row, or the package to install for it. */
template <template <class> class Mode, class Lock>
void add(pair_list &all, const char *operation, const char *lock)
{
    if constexpr (adapter::in_build<Lock>)
        all.push_back({operation, lock, "", take_and_drop<Lock, Mode<Lock>>});
    else
        all.push_back({operation, lock, adapter::why_not<Lock>()});
}

template <class Lock> void add_reader_writer(pair_list &all, const char *lock)
{
    add<adapter::read_mode, Lock>(all, "r", lock);
    add<adapter::write_mode, Lock>(all, "w", lock);
}

template <class Lock> void add_progressive(pair_list &all, const char *lock)
{
    add<adapter::read_mode, Lock>(all, "r", lock);
    add<adapter::seek_mode, Lock>(all, "s", lock);
    add<adapter::write_mode, Lock>(all, "w", lock);
    add<adapter::atomic_mode, Lock>(all, "a", lock);
}

void add_peers(pair_list &all)
{
    add_reader_writer<adapter::tbb_spin_rw_mutex>(all, "tbb_spin_rw_mutex");
    add_reader_writer<adapter::tbb_rw_mutex>(all, "tbb_rw_mutex");
    add_reader_writer<adapter::boost_upgrade_mutex>(all, "boost_upgrade_mutex");
    add<adapter::seek_mode, adapter::boost_upgrade_mutex>(all, "s", "boost_upgrade_mutex");
    add_reader_writer<adapter::absl_mutex>(all, "absl_mutex");
    add_reader_writer<adapter::nsync_mu>(all, "nsync_mu");
    add_reader_writer<adapter::ck_rwlock>(all, "ck_rwlock");
    add_progressive<adapter::plock32>(all, "plock32");
    add_progressive<adapter::plock64>(all, "plock64");
}

pair_list pair_candidates()
{
    pair_list all;
    all.push_back({"floor", "empty_loop", "", empty_loop});
    all.push_back({"floor", "increment", "", increment});
    all.push_back({"floor", "two_lock_xadd", "", two_additions});
    add_progressive<adapter::pawl_spin16>(all, "pawl_spin16");
    add_progressive<adapter::pawl_spin32>(all, "pawl_spin32");
    add_progressive<adapter::pawl_spin64>(all, "pawl_spin64");
    add_progressive<adapter::pawl_lock32>(all, "pawl_lock32");
    add_progressive<adapter::pawl_lock64>(all, "pawl_lock64");
    add_reader_writer<adapter::pthread_rwlock>(all, "pthread_rwlock");
    add<adapter::write_mode, adapter::pthread_mutex>(all, "w", "pthread_mutex");
    add<adapter::write_mode, adapter::pthread_spin>(all, "w", "pthread_spin");
    add_reader_writer<adapter::std_shared_mutex>(all, "std_shared_mutex");
    add_peers(all);
    for (pair_candidate &c : all)
        c.baseline = c.name == "floor/two_lock_xadd";
    return all;
}

/* Pins the main thread, which measures. The text is the reason why that failed; empty: it is
 * pinned. */
std::string pin_here(const std::string &where)
{
    int cpu = sched_getcpu();
    if (where == "auto" && cpu < 0)
        return "The system does not say which CPU this is; running unpinned.";
    if (where != "auto") {
        const auto numbers = whole_numbers(where, 6);
        if (!numbers || numbers->size() != 1)
            throw bad_input("--pin is '" + where +
                            "'; it must be one CPU number, or none, or "
                            "auto.");
        cpu = static_cast<int>(numbers->front());
    }
    const int error = put_on(pthread_self(), static_cast<std::size_t>(cpu));
    return error == 0 ? ""
                      : "Could not pin on CPU " + where + " (" + std::strerror(error) +
                            "); running unpinned. Choose a CPU this process may use with --pin, "
                            "or --pin none.";
}

class pairs_scene final : public scene<pair_candidate, nothing_made> {
  public:
    pairs_scene(const options &o) : o_(o), pin_error_(o.pin == "none" ? "" : pin_here(o.pin)) {}

    json start() const override { return {{"bench", "pairs"}, {"threads", 1}}; }
    placement where() const override
    {
        return {o_.pin, o_.pin != "none" && pin_error_.empty(), pin_error_};
    }
    nothing_made make(const pair_candidate &) override { return {}; }
    json sample(const pair_candidate &who, nothing_made &, long long) override
    {
        measure warm{o_.warmup}, m{o_.seconds};
        who.design(warm);
        who.design(m);
        return {{"threads", 1}, {"ops", m.ops}, {"seconds", m.seconds}};
    }

  private:
    const options &o_;
    const std::string pin_error_;
    const second_thread asleep_;
};

class pairs_driver {
  public:
    static constexpr const char *says =
        "Nanoseconds of taking and dropping each lock, undisturbed; JSON lines.";

    explicit pairs_driver(options &o) : o_(o)
    {
        o.take_rounds(20);
        o.take_seconds(0.02, 0.0001);
        o.take_warmup(0.002);
        o.take_pin("auto", "a CPU; none; auto: the one it starts on");
    }
    std::vector<pair_candidate> candidates() const { return pair_candidates(); }
    void check() const {}
    std::unique_ptr<pairs_scene> open(const std::vector<const pair_candidate *> &) const
    {
        return std::make_unique<pairs_scene>(o_);
    }

  private:
    const options &o_;
};

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    return bench::drive<bench::pairs_driver>(argc, argv);
}
