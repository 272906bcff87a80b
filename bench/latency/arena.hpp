/* SPDX-License-Identifier: MIT */
/*
 * The work of each role, the same code under every lock. A lock here has
 *
 *     explicit Lock(const setting &);
 *     take_read<context>() try_read<context>() drop_read<context>()
 *     take_write() try_write() drop_write()
 *     protects    false: it is none, and nothing may be shared under it
 *     nests       a thread that reads may read again, even while others wait
 */
#pragma once

#include "core/placed.hpp"
#include "latency/latency.hpp"

namespace bench::latency {

inline void pause_for(std::uint64_t ns)
{
    const struct timespec t = timespec_of(ns);
    nanosleep(&t, nullptr); /* a handler may end it early */
}

template <class Lock> class arena_of final : public arena {
  public:
    explicit arena_of(const setting &how) : placed_{Lock(how)}, realtime_(how.realtime) {}

    void work(role as, const timing &s, tally &t) override
    {
        switch (as) {
        case role::writer: write(s, t); break;
        case role::try_writer: try_to_write(s, t); break;
        case role::reader: read(s, t); break;
        case role::realtime_reader:
            if (realtime_)
                read_in_bursts<context::realtime>(s, t);
            else
                read_in_bursts<context::thread>(s, t);
            break;
        case role::try_reader: try_to_read(s, t); break;
        case role::host: be_interrupted(s); break;
        case role::hog: compute(s, t); break;
        }
    }

    void interrupt(context where, const timing &s, tally &t) override
    {
        if (where == context::deferred)
            pass<context::deferred>(s, t, cycles(), s.read_steps);
        else
            pass<context::interrupt>(s, t, cycles(), s.read_steps);
    }

    bool nests() const override { return Lock::nests; }

  private:
    static bool goes_on(const timing &s, std::uint64_t now) { return now < s.end && !interrupted; }

    /* Two numbers are equal whenever no thread writes. If they differ, the lock has let a thread
     * in that should have waited. */
    template <bool Write> void section(std::uint64_t steps, tally &t)
    {
        if (!Lock::protects) {
            t.result = spin_work(steps, t.result);
            return;
        }
        if (Write)
            data_.first++;
        const std::uint64_t before = data_.first;
        t.result = spin_work(steps, t.result);
        if (Write)
            data_.second++;
        t.wrong += data_.first != before || data_.second != before;
    }

    void finish_write(const timing &s, tally &t, std::uint64_t asked, std::uint64_t held)
    {
        section<true>(s.write_steps, t);
        const std::uint64_t done = cycles();
        lock_.drop_write();
        t.note(s, asked, held, done, cycles());
    }

    void write(const timing &s, tally &t)
    {
        for (std::uint64_t now; goes_on(s, now = cycles());) {
            lock_.take_write();
            finish_write(s, t, now, cycles());
            if (s.writer_pause_ns > 0)
                pause_for(s.writer_pause_ns);
        }
    }

    void try_to_write(const timing &s, tally &t)
    {
        while (goes_on(s, cycles())) {
            for (unsigned i = 0; i < s.tries; i++) {
                const std::uint64_t asked = cycles();
                if (lock_.try_write()) {
                    finish_write(s, t, asked, cycles());
                    break;
                }
                t.failed += asked >= s.begin && asked < s.end;
            }
            pause_for(s.try_pause_ns);
        }
    }

    template <context Where>
    void finish_read(const timing &s, tally &t, std::uint64_t asked, std::uint64_t steps)
    {
        const std::uint64_t held = cycles();
        section<false>(steps, t);
        const std::uint64_t done = cycles();
        lock_.template drop_read<Where>();
        t.note(s, asked, held, done, cycles());
    }
    template <context Where>
    void pass(const timing &s, tally &t, std::uint64_t asked, std::uint64_t steps)
    {
        lock_.template take_read<Where>();
        finish_read<Where>(s, t, asked, steps);
    }

    /* Reads without a pause; one section every now and then is slow. */
    void read(const timing &s, tally &t)
    {
        std::uint64_t next = s.begin + s.slow_gap / 2 * (t.number % 2);
        for (std::uint64_t now; goes_on(s, now = cycles());) {
            if (s.slow_gap == 0 || now < next) {
                pass<context::thread>(s, t, now, s.read_steps);
                continue;
            }
            pass<context::thread>(s, t, now, s.slow_steps);
            t.slow++;
            next = cycles() + s.slow_gap;
        }
    }

    /* Reads without a pause too, except for the time that the rest of the machine needs: the
     * system throttles real-time threads that never sleep. */
    template <context Where> void read_in_bursts(const timing &s, tally &t)
    {
        for (std::uint64_t now; goes_on(s, now = cycles());) {
            for (const std::uint64_t until = now + s.busy; now < until && goes_on(s, now);
                 now = cycles())
                pass<Where>(s, t, now, s.read_steps);
            pause_for(s.idle_ns);
        }
    }

    void try_to_read(const timing &s, tally &t)
    {
        for (std::uint64_t now; goes_on(s, now = cycles());) {
            if (lock_.template try_read<context::thread>())
                finish_read<context::thread>(s, t, now, s.read_steps);
            else
                t.failed += now >= s.begin;
        }
    }

    static void be_interrupted(const timing &s)
    {
        for (std::uint64_t now; goes_on(s, now = cycles());)
            pause_for(
                static_cast<std::uint64_t>(static_cast<double>(s.end - now) / s.gauge->per_ns()) +
                1);
    }

    static void compute(const timing &s, tally &t)
    {
        while (goes_on(s, cycles()))
            t.result = spin_work(1000, t.result);
    }

    placed<Lock> placed_;
    struct alignas(256) {
        /* Volatile: a thread must see another one's changes, and TSan-clean locks order them. */
        volatile std::uint64_t first = 0, second = 0;
    } data_;
    Lock &lock_ = placed_.object;
    bool realtime_;
};

} // namespace bench::latency
