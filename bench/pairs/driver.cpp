/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-pairs: what taking and dropping a lock costs one thread that nobody disturbs, between
 * floors that need no lock: an empty loop, a plain increment, two atomic additions.
 *
 * JSON lines as pawl-bench-lru prints them; nanoseconds of a pair are seconds / ops.
 */
#include <pthread.h>
#include <sched.h>

#include <cstring>
#include <mutex>
#include <thread>

#include "adapters/all.hpp"
#include "core/common.hpp"

namespace bench {
namespace {

/* Pairs between two looks at the clock: enough for the clock not to count. */
constexpr unsigned batch = 4096;

/* Runs batches for about so long; returns their number of pairs and the exact time. */
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
                /* The compiler may not merge or drop what it sees through. */
                __asm__ __volatile__("" : : : "memory");
            }
            ops += batch;
            seconds = seconds_of(CLOCK_MONOTONIC) - start;
        } while (seconds < limit && !interrupted);
    }
};

/* Every candidate has its object at the same place of a line of its own. */
template <class T> struct alignas(256) placed {
    T object{};
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

template <class Lock> void read_pair(measure &m)
{
    static placed<Lock> lock;
    m([] {
        lock.object.take_read();
        lock.object.drop_read();
    });
}

template <class Lock> void seek_pair(measure &m)
{
    static placed<Lock> lock;
    m([] {
        lock.object.take_seek();
        lock.object.drop_seek();
    });
}

template <class Lock> void write_pair(measure &m)
{
    static placed<Lock> lock;
    m([] {
        lock.object.take_write();
        lock.object.drop_write();
    });
}

template <class Lock> void atomic_pair(measure &m)
{
    static placed<Lock> lock;
    m([] {
        lock.object.take_atomic();
        lock.object.drop_atomic();
    });
}

struct candidate {
    std::string operation, lock;
    std::string why;
    void (*run)(measure &) = nullptr;
    bool baseline = false;
    bool by_default = true;
    std::string name = operation + "/" + lock;
};

template <class Lock> void add_reader_writer(std::vector<candidate> &all, const char *lock)
{
    all.push_back({"r", lock, "", read_pair<Lock>});
    all.push_back({"w", lock, "", write_pair<Lock>});
}

template <class Lock> void add_progressive(std::vector<candidate> &all, const char *lock)
{
    all.push_back({"r", lock, "", read_pair<Lock>});
    all.push_back({"s", lock, "", seek_pair<Lock>});
    all.push_back({"w", lock, "", write_pair<Lock>});
    all.push_back({"a", lock, "", atomic_pair<Lock>});
}

[[maybe_unused]] void add_missing(std::vector<candidate> &all, const std::string &operations,
                                  const char *lock, const char *package)
{
    for (const char operation : operations)
        all.push_back({std::string(1, operation), lock,
                       std::string("install ") + package + " and build again"});
}

void add_peers(std::vector<candidate> &all)
{
#if PAWL_BENCH_TBB
    add_reader_writer<adapter::tbb_spin_rw_mutex>(all, "tbb_spin_rw_mutex");
    add_reader_writer<adapter::tbb_rw_mutex>(all, "tbb_rw_mutex");
#else
    add_missing(all, "rw", "tbb_spin_rw_mutex", "libtbb-dev");
    add_missing(all, "rw", "tbb_rw_mutex", "libtbb-dev");
#endif
#if PAWL_BENCH_BOOST
    add_reader_writer<adapter::boost_upgrade_mutex>(all, "boost_upgrade_mutex");
    all.push_back({"s", "boost_upgrade_mutex", "", seek_pair<adapter::boost_upgrade_mutex>});
#else
    add_missing(all, "rws", "boost_upgrade_mutex", "libboost-thread-dev");
#endif
#if PAWL_BENCH_ABSL
    add_reader_writer<adapter::absl_mutex>(all, "absl_mutex");
#else
    add_missing(all, "rw", "absl_mutex", "libabsl-dev");
#endif
#if PAWL_BENCH_NSYNC
    add_reader_writer<adapter::nsync_mu>(all, "nsync_mu");
#else
    add_missing(all, "rw", "nsync_mu", "libnsync-dev");
#endif
#if PAWL_BENCH_CK
    add_reader_writer<adapter::ck_rwlock>(all, "ck_rwlock");
#else
    add_missing(all, "rw", "ck_rwlock", "libck-dev");
#endif
}

std::vector<candidate> pair_candidates()
{
    std::vector<candidate> all;
    all.push_back({"floor", "empty_loop", "", empty_loop});
    all.push_back({"floor", "increment", "", increment});
    all.push_back({"floor", "two_lock_xadd", "", two_additions});
    add_progressive<adapter::pawl_spin16>(all, "pawl_spin16");
    add_progressive<adapter::pawl_spin32>(all, "pawl_spin32");
    add_progressive<adapter::pawl_spin64>(all, "pawl_spin64");
    add_progressive<adapter::pawl_lock32>(all, "pawl_lock32");
    add_progressive<adapter::pawl_lock64>(all, "pawl_lock64");
    add_reader_writer<adapter::pthread_rwlock>(all, "pthread_rwlock");
    all.push_back({"w", "pthread_mutex", "", write_pair<adapter::pthread_mutex>});
    all.push_back({"w", "pthread_spin", "", write_pair<adapter::pthread_spin>});
    add_reader_writer<adapter::std_shared_mutex>(all, "std_shared_mutex");
    add_peers(all);
    for (candidate &c : all)
        c.baseline = c.name == "floor/two_lock_xadd";
    return all;
}

struct options {
    long long rounds = 20;
    double seconds = 0.02, warmup = 0.002;
    std::string pin = "auto";
    std::vector<std::string> candidates;
    bool list = false;
};

/* The main thread measures. The text is why it could not be pinned, empty when it was. */
std::string pin_here(const std::string &where)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (where == "auto") {
        const int cpu = sched_getcpu();
        if (cpu < 0)
            return "The system does not say which CPU this is; running unpinned.";
        CPU_SET(static_cast<unsigned>(cpu), &set);
    } else {
        if (where.empty() || where.size() > 6 ||
            where.find_first_not_of("0123456789") != std::string::npos)
            throw bad_input("--pin is '" + where + "'; it must be one CPU number, or none, or "
                            "auto.");
        const unsigned long cpu = std::stoul(where);
        if (cpu < CPU_SETSIZE)
            CPU_SET(cpu, &set);
    }
    const int error = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    return error == 0 ? ""
                      : "Could not pin on CPU " + where + " (" + std::strerror(error) +
                            "); running unpinned. Choose a CPU this process may use with --pin, "
                            "or --pin none.";
}

int print_list(const std::vector<candidate> &all)
{
    json list = json::array();
    for (const candidate &c : all)
        list.push_back({{"name", c.name},
                        {"strategy", c.operation},
                        {"lock", c.lock},
                        {"available", c.why.empty()},
                        {"why", c.why},
                        {"baseline", c.baseline}});
    emit(list);
    return exit_done;
}

void emit_start(const options &o, const std::vector<const candidate *> &chosen,
                const std::string &pin_error)
{
    json names = json::array();
    for (const candidate *c : chosen)
        names.push_back(c->name);
    emit({{"type", "start"},
          {"bench", "pairs"},
          {"threads", 1},
          {"rounds", o.rounds},
          {"seconds", o.seconds},
          {"warmup", o.warmup},
          {"pin", o.pin},
          {"candidates", names},
          {"compiler", compiler()},
          {"flags", compiler_flags()},
          {"pinned", o.pin != "none" && pin_error.empty()},
          {"pin_error", pin_error}});
}

/* The C library leaves the atomic instructions of its mutex out while a process has one thread.
 * Locks are for processes that have more, so there is a second one, asleep. */
class second_thread {
  public:
    second_thread() : thread_([this] { std::lock_guard<std::mutex> wait(until_); }) {}
    ~second_thread()
    {
        hold_.unlock();
        thread_.join();
    }

  private:
    std::mutex until_;
    std::unique_lock<std::mutex> hold_{until_};
    std::thread thread_;
};

int run(const options &o)
{
    const std::vector<candidate> all = pair_candidates();
    if (o.list)
        return print_list(all);
    require("--rounds", o.rounds, 1LL, 100000LL);
    require("--seconds", o.seconds, 0.0001, 3600.0);
    require("--warmup", o.warmup, 0.0, 60.0);
    const std::vector<const candidate *> chosen = choose(all, o.candidates);
    const std::string pin_error = o.pin == "none" ? "" : pin_here(o.pin);
    const second_thread asleep;
    watch_for_interrupts();
    emit_start(o, chosen, pin_error);
    for (long long round = 0; round < o.rounds; round++) {
        for (const std::size_t i : order_of_round(chosen.size(), static_cast<unsigned>(round))) {
            measure warm{o.warmup}, m{o.seconds};
            chosen[i]->run(warm);
            chosen[i]->run(m);
            if (interrupted)
                return finish();
            emit({{"type", "sample"},
                  {"candidate", chosen[i]->name},
                  {"round", round},
                  {"threads", 1},
                  {"ops", m.ops},
                  {"seconds", m.seconds}});
        }
    }
    return finish();
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    bench::options o;
    CLI::App app("Nanoseconds of taking and dropping each lock, undisturbed; JSON lines.");
    app.add_flag("--list", o.list, "print the candidates as a JSON array and end");
    app.add_option("--rounds", o.rounds, "samples of each candidate (default 20)");
    app.add_option("--seconds", o.seconds, "length of a sample (default 0.02)");
    app.add_option("--warmup", o.warmup, "seconds before each sample (default 0.002)");
    app.add_option("--pin", o.pin, "a CPU; none; auto (default): the one it starts on");
    app.add_option("--candidates", o.candidates, "names, as --list gives them")->delimiter(',');
    return bench::guarded(app, argc, argv, [&] { return bench::run(o); });
}
