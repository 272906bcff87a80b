/* SPDX-License-Identifier: MIT */
/*
 * The steps under the locks that the program had, and under others. A lock is tried before it is
 * taken, as the recorder does: a try that succeeds is a lock that did not wait.
 */
#include <sys/prctl.h>

#include "adapters/pawl_brlock.hpp"
#include "adapters/pawl_lock.hpp"
#include "adapters/pawl_sift.hpp"
#include "adapters/pawl_spin.hpp"
#include "adapters/pthread.hpp"
#include "core/placed.hpp"
#include "replay/pauses.hpp"
#include "replay/replay.hpp"

namespace bench {

namespace {

/* As LONG_WAIT in tool/pawl/replay/steps.py. */
constexpr std::uint64_t long_wait_ns = 1000000;

constexpr unsigned pace_bits = 16;
constexpr std::uint64_t whole_pace = UINT64_C(1) << pace_bits;

/* ---- Locks with tries ------------------------------------------------------------------------ */

struct mutex : adapter::pthread_mutex {
    bool try_write() { return pthread_mutex_trylock(&lock) == 0; }
};

struct rwlock : adapter::pthread_rwlock {
    bool try_read() { return pthread_rwlock_tryrdlock(&lock) == 0; }
    bool try_write() { return pthread_rwlock_trywrlock(&lock) == 0; }
};

struct spin : adapter::pthread_spin {
    bool try_write() { return pthread_spin_trylock(&lock) == 0; }
};

#define PAWL_BENCH_TRIES(name)                                                                     \
    struct name : adapter::name {                                                                  \
        bool try_read() { return name##_try_read(&lock); }                                         \
        bool try_write() { return name##_try_write(&lock); }                                       \
        bool try_seek() { return name##_try_seek(&lock); }                                         \
        bool try_seek_to_write() { return name##_try_seek_to_write(&lock); }                       \
    }
PAWL_BENCH_TRIES(pawl_lock32);
PAWL_BENCH_TRIES(pawl_spin32);
PAWL_BENCH_TRIES(pawl_brlock);
#undef PAWL_BENCH_TRIES

struct pawl_sift : adapter::pawl_sift {
    bool try_read() { return pawl_sift_try_read(&lock, PAWL_SIFT_THREAD); }
    bool try_write() { return pawl_sift_try_write(&lock); }
};

/* Readers take it alone, too. */
template <class Lock> struct exclusive : Lock {
    bool try_read() { return Lock::try_write(); }
    void take_read() { Lock::take_write(); }
    void drop_read() { Lock::drop_write(); }
};

/* What the program had: one of them is used. */
struct original {
    mutex as_mutex;
    rwlock as_rwlock;
    spin as_spin;
};

struct nothing {};

template <class Lock> auto has_upgrade(int) -> decltype(&Lock::try_read_to_seek, std::true_type());
template <class Lock> std::false_type has_upgrade(...);

/* ---- One thread's way through its steps ------------------------------------------------------ */

template <class Lock> class replay_of final : public replay_design {
  public:
    replay_of(const step_file &file, const std::vector<std::vector<step>> &steps,
              const replay_gauge &gauge)
        : steps_(prepared(steps, file, gauge)), kinds_(file.kinds), short_(file.has_short_sections),
          originals_(file.kinds.size()), locks_(file.kinds.size()),
          slice_(std::max<std::uint64_t>(gauge.work.steps(1e6), 1)),
          late_ns_(static_cast<std::int64_t>(gauge.sleep_late_ns))
    {
        for (std::size_t i = 0; i < file.kinds.size(); i++)
            replaced_.push_back(file.replaced[i] && !std::is_same_v<Lock, nothing>);
    }

    void run(unsigned thread, const phase_flag &flag, replay_tally &tally) override
    {
        way here(steps_[thread], late_ns_);
        here.pace = pace();
        prctl(PR_SET_TIMERSLACK, 1UL);
        here.pauses.resume(clock_of(CLOCK_MONOTONIC), clock_of(CLOCK_THREAD_CPUTIME_ID));
        run_while(phase::warming, flag, here, tally);
        tally = replay_tally();
        const std::int64_t begun = clock_of(CLOCK_MONOTONIC), paused = here.pauses.paused();
        const usage_meter meter;
        run_while(phase::measuring, flag, here, tally);
        tally.used = meter.stop();
        const std::int64_t lost = clock_of(CLOCK_MONOTONIC) - begun -
                                  (here.pauses.paused() - paused) -
                                  static_cast<std::int64_t>(tally.waited_ns) -
                                  static_cast<std::int64_t>(tally.used.cpu_seconds * 1e9);
        tally.lost_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(lost, 0));
    }

    /* The gauge's: so many steps of the first thread. */
    void walk(std::size_t count)
    {
        const phase_flag flag;
        replay_tally tally;
        way here(steps_[0], late_ns_);
        while (count-- > 0)
            advance(flag, here, tally);
    }

  private:
    struct way {
        way(const std::vector<step> &own, std::int64_t late) : steps(own), pauses(late) {}
        const std::vector<step> &steps;
        std::size_t at = 0;
        unsigned held = 0;
        std::uint64_t pace = whole_pace;
        bench::pauses pauses;

        std::uint64_t rounds(const step &s) const { return s.ns * pace >> pace_bits; }
    };

    /* The gauge knows this machine at its fastest. Beside other work, of this system or of others
     * on the same hardware, a round takes longer: so much fewer are done. */
    std::uint64_t pace() const
    {
        constexpr std::uint64_t slices = 4;
        const std::int64_t begun = clock_of(CLOCK_THREAD_CPUTIME_ID);
        spin_work(slices * slice_, slices);
        const std::int64_t took = clock_of(CLOCK_THREAD_CPUTIME_ID) - begun;
        const double part = slices * 1e6 / static_cast<double>(std::max<std::int64_t>(took, 1));
        return static_cast<std::uint64_t>(std::min(std::max(part, 0.1), 1.5) *
                                          static_cast<double>(whole_pace));
    }

    static std::int64_t clock_of(clockid_t clock)
    {
        struct timespec t;
        clock_gettime(clock, &t);
        return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
    }

    /* It stops only where it holds nothing. */
    void run_while(phase p, const phase_flag &flag, way &here, replay_tally &tally)
    {
        while (here.held != 0 || flag.is(p))
            advance(flag, here, tally);
    }

    void advance(const phase_flag &flag, way &here, replay_tally &tally)
    {
        const step &s = here.steps[here.at];
        if (++here.at == here.steps.size())
            here.at = 0;
        if (s.what == op::work)
            return work(here.rounds(s), flag);
        if (s.what == op::sleep)
            return sleep(s, flag, here.pauses);
        if constexpr (!std::is_same_v<Lock, nothing>)
            if (replaced_[s.lock])
                return replacement(s, here, tally);
        switch (kinds_[s.lock]) {
        case lock_kind::mutex: return alone(originals_[s.lock].object.as_mutex, s, here, tally);
        case lock_kind::spin: return alone(originals_[s.lock].object.as_spin, s, here, tally);
        case lock_kind::rwlock: return shared(originals_[s.lock].object.as_rwlock, s, here, tally);
        }
    }

    /* ---- Steps ---- */

    template <class Try, class Take>
    void get(const step &s, way &here, replay_tally &tally, Try try_it, Take take_it)
    {
        tally.ops++;
        if (!try_it())
            wait(s, here, tally, take_it);
    }

    template <class Take> void wait(const step &s, way &here, replay_tally &tally, Take take_it)
    {
        const std::uint64_t begun = now_ns();
        take_it();
        const std::uint64_t took = now_ns() - begun;
        tally.waits++;
        tally.waited_ns += took;
        tally.long_wait_ns += took >= long_wait_ns && short_[s.lock] ? took : 0;
        tally.wait.add(took);
        here.pauses.waited(static_cast<std::int64_t>(took));
    }

    template <class One> void alone(One &l, const step &s, way &here, replay_tally &tally)
    {
        if (s.what == op::drop_write) {
            here.held--;
            return l.drop_write();
        }
        get(s, here, tally, [&] { return l.try_write(); }, [&] { l.take_write(); });
        here.held++;
    }

    template <class One> void shared(One &l, const step &s, way &here, replay_tally &tally)
    {
        if (s.what == op::take_read) {
            get(s, here, tally, [&] { return l.try_read(); }, [&] { l.take_read(); });
            here.held++;
        } else if (s.what == op::drop_read) {
            here.held--;
            l.drop_read();
        } else {
            alone(l, s, here, tally);
        }
    }

    void replacement(const step &s, way &here, replay_tally &tally)
    {
        auto &l = locks_[s.lock].object;
        if constexpr (decltype(has_upgrade<Lock>(0))::value) {
            if (s.what == op::take_seek) {
                get(s, here, tally, [&] { return l.try_seek(); }, [&] { l.take_seek(); });
                here.held++;
                return;
            }
            if (s.what == op::try_seek)
                return to_seek(l, s, here, tally);
            if (s.what == op::seek_to_write)
                return get(
                    s, here, tally, [&] { return l.try_seek_to_write(); },
                    [&] { l.seek_to_write(); });
        }
        shared(l, s, here, tally);
    }

    void to_seek(Lock &l, const step &s, way &here, replay_tally &tally)
    {
        if (l.try_read_to_seek())
            return;
        wait(s, here, tally, [&] {
            l.drop_read();
            l.take_seek();
        });
        spin_work(here.rounds(s), s.ns);
    }

    /* In slices, so that a sample ends soon. */
    void work(std::uint64_t rounds, const phase_flag &flag)
    {
        for (; rounds > slice_ && !flag.is(phase::over); rounds -= slice_)
            spin_work(slice_, rounds);
        if (rounds <= slice_)
            spin_work(rounds, rounds);
    }

    static void sleep(const step &s, const phase_flag &flag, bench::pauses &account)
    {
        constexpr std::int64_t longest = 10000000;
        const std::int64_t begun = clock_of(CLOCK_MONOTONIC);
        const std::int64_t asked =
            account.begin(static_cast<std::int64_t>(s.ns), s.lock == sleep_or_kept_off, begun,
                          clock_of(CLOCK_THREAD_CPUTIME_ID));
        std::int64_t now = begun;
        while (now < begun + asked && !flag.is(phase::over)) {
            sleep_until(static_cast<std::uint64_t>(std::min(begun + asked, now + longest)));
            now = clock_of(CLOCK_MONOTONIC);
        }
        account.slept(now - begun, asked, s.lock == sleep_alone);
        account.resume(now, clock_of(CLOCK_THREAD_CPUTIME_ID));
    }

    const std::vector<std::vector<step>> steps_;
    const std::vector<lock_kind> kinds_;
    const std::vector<bool> short_;
    std::vector<char> replaced_;
    std::vector<placed<original>> originals_;
    std::vector<placed<Lock>> locks_;
    const std::uint64_t slice_;
    const std::int64_t late_ns_;
};

/* ---- The gauge ------------------------------------------------------------------------------- */

double lateness_of_sleeps()
{
    constexpr unsigned tries = 21;
    std::vector<double> late;
    prctl(PR_SET_TIMERSLACK, 1UL);
    for (unsigned i = 0; i < tries; i++) {
        const std::uint64_t end = now_ns() + 100000;
        sleep_until(end);
        late.push_back(static_cast<double>(now_ns() - end));
    }
    std::nth_element(late.begin(), late.begin() + tries / 2, late.end());
    return late[tries / 2];
}

/* The shortest of several tries: a disturbance only makes one longer. */
double pair_of(lock_kind kind, const replay_gauge &gauge)
{
    constexpr std::size_t pairs = 10000;
    step_file file;
    file.kinds = {kind};
    file.replaced = file.has_short_sections = {false};
    file.original = {
        {{op::take_write, 0, 0}, {op::work, 0, 0}, {op::drop_write, 0, 0}, {op::work, 0, 0}}};
    replay_of<nothing> design(file, file.original, gauge);
    std::uint64_t best = UINT64_MAX;
    for (unsigned i = 0; i < 10; i++) {
        const std::uint64_t begun = now_ns();
        design.walk(4 * pairs);
        best = std::min(best, now_ns() - begun);
    }
    return static_cast<double>(best) / pairs;
}

/* ---- The rows -------------------------------------------------------------------------------- */

std::unique_ptr<replay_design> make_original(const step_file &file, const replay_gauge &gauge)
{
    return std::make_unique<replay_of<nothing>>(file, file.original, gauge);
}

template <class Lock>
std::unique_ptr<replay_design> make_plain(const step_file &file, const replay_gauge &gauge)
{
    return std::make_unique<replay_of<Lock>>(file, file.plain, gauge);
}

template <class Lock>
std::unique_ptr<replay_design> make_upgraded(const step_file &file, const replay_gauge &gauge)
{
    return std::make_unique<replay_of<Lock>>(file, file.upgraded, gauge);
}

} // namespace

std::vector<std::vector<step>> prepared(const std::vector<std::vector<step>> &steps,
                                        const step_file &file, const replay_gauge &gauge)
{
    std::vector<std::vector<step>> made = steps;
    for (std::vector<step> &thread : made)
        for (std::size_t i = 0; i < thread.size(); i++) {
            step &s = thread[i];
            double ns = static_cast<double>(s.ns);
            const step *next = i + 1 < thread.size() ? &thread[i + 1] : nullptr;
            const bool before =
                next != nullptr && (next->what == op::take_read || next->what == op::take_write ||
                                    next->what == op::take_seek || next->what == op::try_seek ||
                                    next->what == op::seek_to_write);
            if (s.what == op::work && before)
                ns -= gauge.pair_ns[static_cast<std::size_t>(file.kinds[next->lock])] / 2;
            if (s.what == op::work || s.what == op::try_seek)
                s.ns = gauge.work.steps(ns);
        }
    return made;
}

replay_gauge measure_gauge()
{
    replay_gauge gauge;
    gauge.sleep_late_ns = lateness_of_sleeps();
    for (const lock_kind kind : {lock_kind::mutex, lock_kind::rwlock, lock_kind::spin})
        gauge.pair_ns[static_cast<std::size_t>(kind)] = pair_of(kind, gauge);
    return gauge;
}

std::vector<replay_candidate> replay_candidates()
{
    std::vector<replay_candidate> all;
    all.push_back({"original", "pthread", "", make_original});
    all.back().baseline = true;
    all.push_back({"exclusive", "pthread_mutex", "", make_plain<exclusive<mutex>>});
    all.push_back({"exclusive", "pawl_spin32", "", make_plain<exclusive<pawl_spin32>>});
    all.push_back({"r+w", "pawl_lock32", "", make_plain<pawl_lock32>});
    all.push_back({"r+w", "pawl_spin32", "", make_plain<pawl_spin32>});
    all.push_back({"r+w", "pawl_brlock", "", make_plain<pawl_brlock>});
    all.push_back({"r+w", "pawl_sift", "", make_plain<pawl_sift>});
    all.push_back({"upgrade", "pawl_lock32", "", make_upgraded<pawl_lock32>});
    all.push_back({"upgrade", "pawl_spin32", "", make_upgraded<pawl_spin32>});
    return all;
}

} // namespace bench
