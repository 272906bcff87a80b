/* SPDX-License-Identifier: MIT */
/* The scenarios, their threads, and the timers whose signals interrupt some of them. */
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "core/signals.hpp"
#include "latency/cast.hpp"
#include "latency/realtime.hpp"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace bench::latency {
namespace {

constexpr const char *role_name(role as)
{
    switch (as) {
    case role::writer: return "writer";
    case role::try_writer: return "trylock_writer";
    case role::reader: return "reader";
    case role::realtime_reader: return "realtime_reader";
    case role::try_reader: return "trylock_reader";
    case role::host: return "host";
    case role::hog: return "hog";
    }
    return "";
}

/* ---- Handlers -------------------------------------------------------------------------------- */

/* The lock that a handler reads, and the place of its notes. Trivial: a handler may be the first
 * to use it. */
struct visit {
    arena *place;
    const timing *in;
    tally *deferred, *interrupt;
};
thread_local visit visited;

void handle(int number)
{
    const int saved = errno;
    if (visited.place != nullptr && number == deferred_signal())
        visited.place->interrupt(context::deferred, *visited.in, *visited.deferred);
    else if (visited.place != nullptr)
        visited.place->interrupt(context::interrupt, *visited.in, *visited.interrupt);
    errno = saved;
}

/* The lower class never interrupts the higher one. The higher class interrupts the lower one,
 * except where it would then read what the thread reads already. There it would wait for a
 * writer that waits for the thread. */
void install_handlers(bool nest)
{
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (!nest)
        sigaddset(&action.sa_mask, interrupt_signal());
    sigaction(deferred_signal(), &action, nullptr);
    sigaddset(&action.sa_mask, deferred_signal());
    sigaction(interrupt_signal(), &action, nullptr);
}

/* Sends a signal to one thread, again and again. */
class ticker {
  public:
    ticker(pid_t thread, int number, std::uint64_t first_ns, std::uint64_t period_ns)
    {
        struct sigevent event = {};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = number;
        event.sigev_notify_thread_id = thread;
        struct itimerspec when = {};
        when.it_value = timespec_of(first_ns);
        when.it_interval = timespec_of(period_ns);
        if (timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0)
            throw bad_input(std::string("Could not make a timer (") + std::strerror(errno) +
                            "): allow more pending signals (ulimit -i).");
        timer_settime(timer_, TIMER_ABSTIME, &when, nullptr);
    }
    ~ticker() { timer_delete(timer_); }
    ticker(const ticker &) = delete;
    ticker &operator=(const ticker &) = delete;

  private:
    timer_t timer_;
};

/* ---- Threads --------------------------------------------------------------------------------- */

struct player {
    role as;
    int cpu;                     /* -1: any */
    tally *own;                  /* null: it keeps no tally */
    tally *deferred, *interrupt; /* null: no handler interrupts it */
    pid_t id;
    int error; /* of pinning or of scheduling */
};

/* Threads wait here until all have come, so that none begins early, or until they must leave
 * again. */
class gate {
  public:
    bool pass()
    {
        std::unique_lock<std::mutex> hold(mutex_);
        arrived_++;
        change_.notify_all();
        change_.wait(hold, [this] { return state_ != shut; });
        return state_ == open;
    }
    void await(std::size_t threads)
    {
        std::unique_lock<std::mutex> hold(mutex_);
        change_.wait(hold, [&] { return arrived_ == threads; });
    }
    void end(bool with_play)
    {
        const std::lock_guard<std::mutex> hold(mutex_);
        state_ = with_play ? open : cancelled;
        change_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable change_;
    std::size_t arrived_ = 0;
    enum { shut, open, cancelled } state_ = shut;
};

bool is_realtime(role as)
{
    return as == role::realtime_reader || as == role::host;
}

void allow_handlers(bool yes)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, deferred_signal());
    sigaddset(&set, interrupt_signal());
    pthread_sigmask(yes ? SIG_UNBLOCK : SIG_BLOCK, &set, nullptr);
}

/* The thread starts with all signals blocked. */
void act(player &p, gate &start, const stage &on, arena &place, const timing &s)
{
    if (p.cpu >= 0)
        p.error = put_on(pthread_self(), static_cast<std::size_t>(p.cpu));
    if (on.realtime && is_realtime(p.as) && p.error == 0)
        p.error = become_realtime(pthread_self(),
                                  p.as == role::host ? handler_priority : reader_priority);
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* for exact pauses */
    p.id = static_cast<pid_t>(syscall(SYS_gettid));
    if (!start.pass())
        return;
    tally unwanted;
    tally &own = p.own != nullptr ? *p.own : unwanted;
    visited = {&place, &s, p.deferred, p.interrupt};
    allow_handlers(true); /* in all threads, so that all have something to block */
    watch_this_thread(&own.seen, s.gauge, s.begin);
    place.work(p.as, s, own);
    watch_this_thread(nullptr, nullptr, 0);
    allow_handlers(false);
}

/* ---- The cast -------------------------------------------------------------------------------- */

class company {
  public:
    company(const stage &on, arena &place) : on_(on), place_(place)
    {
        for (const part &p : on.what->parts)
            for (unsigned i = 0; i < p.count; i++)
                enlist(p, i);
        if (on.what->hosts)
            enlist_hosts();
    }

    std::vector<std::unique_ptr<tally>> play(timing s)
    {
        timing_ = s;
        gate start;
        std::vector<std::thread> threads;
        const auto leave = [&](bool with_play) {
            start.end(with_play);
            for (std::thread &t : threads)
                t.join();
        };
        try {
            begin(threads, start);
            start.await(threads.size());
            complain();
            set_time();
            start_tickers();
            if (on_.realtime)
                on_.guard->mind(realtime_threads());
        } catch (...) {
            leave(false);
            throw;
        }
        leave(true);
        tickers_.clear();
        return std::move(tallies_);
    }

  private:
    tally *new_tally(const std::string &who, context where, unsigned number)
    {
        tallies_.push_back(std::make_unique<tally>());
        tallies_.back()->who = who;
        tallies_.back()->where = where;
        tallies_.back()->number = number;
        return tallies_.back().get();
    }

    int cpu_of(side where) const
    {
        if (where == side::anywhere || on_.cpus.empty())
            return -1;
        return static_cast<int>(where == side::writers ? on_.cpus.front() : on_.cpus.back());
    }

    void enlist(const part &p, unsigned number)
    {
        player one = {p.as, cpu_of(p.where), nullptr, nullptr, nullptr, 0, 0};
        const std::string who = std::string(role_name(p.as)) + "/" + std::to_string(number);
        if (p.as != role::hog)
            one.own = new_tally(
                who, p.as == role::realtime_reader ? context::realtime : context::thread, number);
        if (p.as == role::writer && on_.what->targets)
            be_target(one, "writer" + std::to_string(number));
        players_.push_back(one);
    }

    void be_target(player &one, const std::string &where)
    {
        const unsigned number = targets_++;
        one.deferred = new_tally("deferred/" + where, context::deferred, number);
        one.interrupt = new_tally("interrupt/" + where, context::interrupt, number);
    }

    /* On a placed stage only the writer uses the writer's CPU. */
    void enlist_hosts()
    {
        for (std::size_t i = on_.what->placed() ? 1 : 0; i < on_.cpus.size(); i++) {
            if (on_.what->placed() && i + 1 < on_.cpus.size())
                continue;
            player one = {role::host, static_cast<int>(on_.cpus[i]), nullptr, nullptr, nullptr, 0,
                          0};
            be_target(one, "cpu" + std::to_string(on_.cpus[i]));
            players_.push_back(one);
        }
    }

    void begin(std::vector<std::thread> &threads, gate &start)
    {
        try {
            const blocked_signals theirs;
            for (player &p : players_)
                threads.emplace_back([&] { act(p, start, on_, place_, timing_); });
        } catch (const std::system_error &e) {
            throw bad_input("Could start only " + std::to_string(threads.size()) + " of " +
                            std::to_string(players_.size()) + " threads (" + e.what() + ").");
        }
    }

    void complain() const
    {
        for (const player &p : players_)
            if (p.error != 0)
                throw bad_input(std::string("Could not place a ") + role_name(p.as) + " (" +
                                std::strerror(p.error) +
                                "): name CPUs this process may use with --pin, or say "
                                "--realtime no.");
    }

    std::vector<pid_t> realtime_threads() const
    {
        std::vector<pid_t> found;
        for (const player &p : players_)
            if (is_realtime(p.as))
                found.push_back(p.id);
        return found;
    }

    void set_time()
    {
        constexpr double soon = 0.005; /* time for all threads to pass the gate */
        start_ns_ = now_ns() + static_cast<std::uint64_t>((soon + on_.warmup) * 1e9);
        timing_.begin = cycles() + timing_.gauge->of_ns((soon + on_.warmup) * 1e9);
        timing_.end = timing_.begin + timing_.gauge->of_ns(on_.seconds * 1e9);
    }

    /* The tickers do not all start at the same moment. */
    void start_tickers()
    {
        const std::uint64_t share = on_.handler_period_ns / (2 * targets_ + 1);
        std::uint64_t first = start_ns_ + share;
        for (const player &p : players_)
            if (p.interrupt != nullptr)
                for (const int number : {deferred_signal(), interrupt_signal()}) {
                    tickers_.push_back(
                        std::make_unique<ticker>(p.id, number, first, on_.handler_period_ns));
                    first += share;
                }
    }

    const stage &on_;
    arena &place_;
    timing timing_;
    std::vector<player> players_;
    std::vector<std::unique_ptr<tally>> tallies_;
    std::vector<std::unique_ptr<ticker>> tickers_;
    unsigned targets_ = 0;
    std::uint64_t start_ns_ = 0;
};

} // namespace

bool scenario::placed() const
{
    return std::any_of(parts.begin(), parts.end(),
                       [](const part &p) { return p.where != side::anywhere; });
}

unsigned scenario::threads(std::size_t cpus) const
{
    unsigned sum = 0;
    for (const part &p : parts)
        sum += p.count;
    return sum + (hosts ? placed() ? 1 : static_cast<unsigned>(cpus) : 0);
}

const std::vector<scenario> &scenarios()
{
    constexpr side free = side::anywhere, left = side::writers, right = side::readers;
    // clang-format off
    static const std::vector<scenario> all = {
        {"writer", "one writer", {{role::writer, 1, free}}, false, false, -1, -1, -1},
        {"trylock_writer", "one writer that only tries", {{role::try_writer, 1, free}}, false,
         false, -1, -1, -1},
        {"reader", "one reader", {{role::reader, 1, free}}, false, false, -1, -1, -1},
        {"realtime_reader", "one real-time reader", {{role::realtime_reader, 1, free}}, false,
         false, -1, -1, -1},
        {"readers", "two readers and two real-time readers",
         {{role::reader, 2, free}, {role::realtime_reader, 2, free}}, false, false, -1, -1, -1},
        {"contention", "high contention: all at once, more threads than CPUs",
         {{role::writer, 2, free}, {role::try_writer, 1, free}, {role::reader, 2, free},
          {role::realtime_reader, 2, free}, {role::try_reader, 1, free}},
         true, true, -1, -1, -1},
        {"placed", "high contention, the writer on one CPU, all readers on another",
         {{role::writer, 1, left}, {role::reader, 2, right}, {role::realtime_reader, 2, right},
          {role::try_reader, 1, right}},
         true, true, -1, -1, -1},
        {"handlers", "handlers that read beside busy writers, whose CPU another thread wants",
         {{role::writer, 2, left}, {role::hog, 1, left}, {role::reader, 2, right}}, true, false,
         20, 20, 1},
    };
    // clang-format on
    return all;
}

std::vector<std::unique_ptr<tally>> perform(const stage &on, arena &place, timing s)
{
    install_handlers(place.nests());
    return company(on, place).play(s);
}

} // namespace bench::latency
