/* SPDX-License-Identifier: MIT */
/*
 * The work of a crowd's threads, the same code under every lock: compute outside, take the lock to
 * read or to write, compute inside, drop. With a deadline a thread that does not get the lock in
 * time goes round again. In the flood the others never pause, and one writer comes about every
 * millisecond.
 */
#pragma once

#include <sys/prctl.h>

#include <functional>
#include <memory>
#include <type_traits>

#include "adapters/none.hpp"
#include "core/candidate.hpp"
#include "core/crew.hpp"
#include "core/histogram.hpp"
#include "core/placed.hpp"
#include "core/work.hpp"

namespace bench {

constexpr std::uint64_t window_ns = 10000000; /* the shortest time for a measure of fairness */

/* Steps of work, and the other settings of a sample's threads. */
struct crowd_task {
    std::uint64_t inside = 0, outside = 0; /* steps */
    std::uint64_t usual_ns = 0;            /* an undisturbed pass of a bare thread */
    std::uint64_t write_limit = 0;         /* a random 32-bit number below it: write */
    std::uint64_t period_ns = 0;           /* of the flood's writer */
    std::uint64_t deadline_ns = 0;         /* of each wait; 0: none */
    std::uint64_t seed = 0;
    std::uint64_t begin = 0, end = 0; /* the time that counts, ns of CLOCK_MONOTONIC */
};

/* The results of a thread while measuring. Threads write only their own, so each has its own
 * lines. */
struct alignas(128) tally {
    std::uint64_t ops = 0, writes = 0, expired = 0, wrong = 0;
    std::uint64_t result = 0; /* of the work: the compiler must keep it */
    usage used;
    histogram waits;    /* from asking for the lock to holding it */
    histogram late;     /* the flood's writer: from its alarm to running */
    histogram overruns; /* from a deadline to the return of the wait that missed it */
    std::vector<std::uint32_t> windows; /* passes in each window since measuring began */

    void add(const tally &other)
    {
        ops += other.ops;
        writes += other.writes;
        expired += other.expired;
        wrong += other.wrong;
        used += other.used;
        waits.merge(other.waits);
        overruns.merge(other.overruns);
    }
};

inline std::uint64_t mix_bits(std::uint64_t x)
{
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    return x;
}

/* Readers too take locks without a shared mode to write. */
template <class Lock> struct exclusive {
    Lock lock;
    void take_read() { lock.take_write(); }
    void drop_read() { lock.drop_write(); }
    void take_write() { lock.take_write(); }
    void drop_write() { lock.drop_write(); }
};
template <class Lock> struct exclusive_until : exclusive<Lock> {
    bool take_read_until(std::uint64_t ns) { return this->lock.take_write_until(ns); }
    bool take_write_until(std::uint64_t ns) { return this->lock.take_write_until(ns); }
};

template <class Lock, class = void> constexpr bool has_deadlines = false;
template <class Lock>
constexpr bool has_deadlines<
    Lock, std::void_t<decltype(std::declval<Lock &>().take_read_until(std::uint64_t()))>> = true;

class arena {
  public:
    virtual ~arena() = default;
    virtual void crowd(const crowd_task &s, unsigned thread, tally &t) = 0;
    virtual void flood(const crowd_task &s, bool writer, tally &t) = 0;
};

/* What a module exports: makes an arena of its own copy of the library's lock. */
using arena_maker = arena *();

template <class Lock> class arena_of final : public arena {
    /* Without a lock nothing may be shared, and the scheduler alone adds waits. */
    static constexpr bool bare = std::is_same<Lock, adapter::none>::value;
    static constexpr std::uint64_t expired = 0;

  public:
    template <class... How> explicit arena_of(How... how) : placed_{Lock{how...}} {}

    void crowd(const crowd_task &s, unsigned thread, tally &t) override
    {
        std::uint64_t random = mix_bits(s.seed + thread + 1), work = thread;
        watch seen(s, t);
        std::uint64_t last = now_ns();
        /* A thread that starts late has not run until now: a pause without a pass before it. */
        if (bare && last > s.begin)
            t.waits.add(last - s.begin);
        while (seen.goes_on(last)) {
            random = mix_bits(random);
            const bool write = (random * UINT64_C(0x2545F4914F6CDD1D) >> 32) < s.write_limit;
            work = spin_work(s.outside, work);
            const std::uint64_t asked = now_ns();
            const std::uint64_t held =
                write ? pass<true>(s, asked, work, t) : pass<false>(s, asked, work, t);
            if (held == expired) {
                last = now_ns();
                seen.give_up(asked, last, s.deadline_ns);
                continue;
            }
            if (bare)
                seen.note(last, held, beyond(held, last, s.usual_ns), write);
            else
                seen.note(asked, held, held - asked, write);
            last = held;
        }
        seen.stop();
        t.result += work;
    }

    void flood(const crowd_task &s, bool writer, tally &t) override
    {
        if (writer)
            write_now_and_then(s, t);
        else
            crowd(s, 0, t);
    }

  private:
    /* Counts the passes between begin and end. A wait that only reaches into that time counts
     * too: a starved thread has no other. */
    class watch {
      public:
        watch(const crowd_task &s, tally &t) : s_(s), t_(t), end_of_window_(s.begin + window_ns) {}

        bool goes_on(std::uint64_t now)
        {
            if (!counting_ && now >= s_.begin) {
                counting_ = true;
                meter_ = usage_meter();
            }
            return now < s_.end && !interrupted;
        }
        void note(std::uint64_t asked, std::uint64_t held, std::uint64_t wait, bool write)
        {
            if (held < s_.begin || asked >= s_.end)
                return;
            t_.waits.add(wait);
            if (held >= s_.end)
                return;
            t_.ops++;
            t_.writes += write;
            while (held >= end_of_window_) {
                window_++;
                end_of_window_ += window_ns;
            }
            if (window_ < t_.windows.size())
                t_.windows[window_]++;
        }
        void give_up(std::uint64_t asked, std::uint64_t now, std::uint64_t deadline)
        {
            if (now < s_.begin || asked >= s_.end)
                return;
            t_.expired++;
            t_.overruns.add(beyond(now, asked, deadline));
        }
        void stop()
        {
            if (counting_)
                t_.used = meter_.stop();
        }

      private:
        const crowd_task &s_;
        tally &t_;
        usage_meter meter_;
        std::uint64_t end_of_window_;
        std::size_t window_ = 0;
        bool counting_ = false;
    };

    static std::uint64_t beyond(std::uint64_t now, std::uint64_t last, std::uint64_t usual)
    {
        return now - last > usual ? now - last - usual : 0;
    }

    template <bool Write> bool take(const crowd_task &s, std::uint64_t asked)
    {
        if constexpr (has_deadlines<Lock>)
            if (s.deadline_ns) {
                const std::uint64_t until = asked + s.deadline_ns;
                return Write ? lock_.take_write_until(until) : lock_.take_read_until(until);
            }
        (void)s, (void)asked;
        if (Write)
            lock_.take_write();
        else
            lock_.take_read();
        return true;
    }

    /* One critical section; returns the time of its entry, or that it has `expired`. Two numbers
     * are equal whenever no thread writes. If they differ, the lock has let a thread in that should
     * have waited. */
    template <bool Write>
    std::uint64_t pass(const crowd_task &s, std::uint64_t asked, std::uint64_t &work, tally &t)
    {
        if (!take<Write>(s, asked))
            return expired;
        const std::uint64_t held = now_ns();
        if (!bare && Write)
            data_.first++;
        const std::uint64_t before = bare ? 0 : data_.first;
        work = spin_work(s.inside, work);
        if (!bare && Write)
            data_.second++;
        if (!bare)
            t.wrong += data_.first != before || data_.second != before;
        if (Write)
            lock_.drop_write();
        else
            lock_.drop_read();
        return held;
    }

    void write_now_and_then(const crowd_task &s, tally &t)
    {
        /* The alarm must be exact: the slack is a setting of the thread, not of the machine. */
        const int slack = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
        prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
        std::uint64_t work = 1, next = now_ns();
        watch seen(s, t);
        while (seen.goes_on(next)) {
            next = std::max(next + s.period_ns, now_ns());
            sleep_until(next);
            const std::uint64_t asked = now_ns();
            const std::uint64_t held = pass<true>(s, asked, work, t);
            if (held == expired) {
                seen.give_up(asked, now_ns(), s.deadline_ns);
                continue;
            }
            if (next >= s.begin && next < s.end)
                t.late.add(asked - next);
            if (bare)
                seen.note(next, held, asked - next, true);
            else
                seen.note(asked, held, held - asked, true);
        }
        seen.stop();
        t.result += work;
        prctl(PR_SET_TIMERSLACK, slack > 0 ? static_cast<unsigned long>(slack) : 0UL, 0UL, 0UL,
              0UL);
    }

    placed<Lock> placed_;
    struct alignas(256) {
        /* Volatile: a thread must see another one's changes, and TSan-clean locks order them. */
        volatile std::uint64_t first = 0, second = 0;
    } data_;
    Lock &lock_ = placed_.object;
};

using crowd_candidate = candidate<std::function<std::unique_ptr<arena>()>>;

/* `libraries` are rows more, each NAME=PATH. Where waits have deadlines, locks without them cannot
 * be measured. */
std::vector<crowd_candidate> crowd_candidates(const std::vector<std::string> &libraries,
                                              bool deadlines);

} // namespace bench
