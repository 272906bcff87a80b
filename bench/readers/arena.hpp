/* SPDX-License-Identifier: MIT */
/*
 * Threads that mostly read, the same code under every lock. Four scenes:
 *
 *   mix     each thread takes one of the locks, mostly to read, computes under it, drops it
 *   write   one thread writes; the others have read once and sleep
 *   seek    one thread takes S; the others read without a pause
 *   flood   all read without a pause; one more thread writes now and then
 */
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "adapters/reader_number.hpp"
#include "core/crew.hpp"
#include "core/histogram.hpp"
#include "core/placed.hpp"
#include "core/random.hpp"
#include "core/work.hpp"

namespace bench {

constexpr unsigned most_locks = 16;

struct readers_task {
    std::uint64_t inside = 0;      /* steps of work under the lock */
    std::uint64_t write_limit = 0; /* a random 32-bit number below it: write */
    std::uint64_t period_ns = 0;   /* of the flood's writer */
    std::uint64_t seed = 0;
    unsigned locks = 1;
    unsigned batch = 1; /* passes between two looks at the phase */
};

/* The results of a thread while measuring; on lines of its own. */
struct alignas(128) readers_tally {
    std::uint64_t ops = 0, writes = 0, wrong = 0;
    std::uint64_t result = 0; /* of the work: the compiler must keep it */
    usage used;
    histogram waits; /* of writers: from asking for the lock to holding it */

    void add(const readers_tally &other)
    {
        ops += other.ops;
        writes += other.writes;
        wrong += other.wrong;
        used += other.used;
        waits.merge(other.waits);
    }
};

/* A lock under which readers go on beside a writer says so (`beside`): it protects nothing that is
 * changed in place. */
template <class Lock, class = void> constexpr bool reads_beside = false;
template <class Lock> constexpr bool reads_beside<Lock, std::enable_if_t<Lock::beside>> = true;

template <class Lock, class = void> constexpr bool has_seek = false;
template <class Lock>
constexpr bool has_seek<Lock, std::void_t<decltype(std::declval<Lock &>().take_seek())>> = true;

class readers_arena {
  public:
    virtual ~readers_arena() = default;
    virtual void mix(const readers_task &, unsigned thread, const phase_flag &,
                     readers_tally &) = 0;
    /* Of the scene `write`: thread 0 will write, the others read once. */
    virtual void enlist(unsigned thread) = 0;
    virtual void write(const readers_task &, unsigned thread, const phase_flag &,
                       readers_tally &) = 0;
    virtual void seek(const readers_task &, unsigned thread, const phase_flag &,
                      readers_tally &) = 0;
    virtual void flood(const readers_task &, unsigned thread, bool writer, const phase_flag &,
                       readers_tally &) = 0;
};

template <class Lock> class readers_arena_of final : public readers_arena {
  public:
    void mix(const readers_task &s, unsigned thread, const phase_flag &flag,
             readers_tally &t) override
    {
        adapter::reader_number = thread;
        if (s.locks == 1 && s.write_limit == 0 && s.inside == 0)
            loop(s, thread, flag, t, [this](passes &) { pair(slots_[0]); });
        else if (s.locks == 1 && s.write_limit == 0)
            loop(s, thread, flag, t, [&](passes &p) { read(slots_[0], s, p); });
        else if (s.locks == 1)
            loop(s, thread, flag, t,
                 [&](passes &p) { read_or_write(slots_[0], p.random.next(), s, p, t); });
        else
            loop(s, thread, flag, t, [&](passes &p) {
                const std::uint64_t random = p.random.next();
                read_or_write(slots_[random % s.locks], random, s, p, t);
            });
    }

    void enlist(unsigned thread) override
    {
        adapter::reader_number = thread;
        if (thread > 0) {
            slots_[0].lock.take_read();
            slots_[0].lock.drop_read();
        }
    }

    void write(const readers_task &s, unsigned thread, const phase_flag &flag,
               readers_tally &t) override
    {
        adapter::reader_number = thread;
        if (thread > 0)
            return;
        loop(s, thread, flag, t, [&](passes &p) {
            slots_[0].lock.take_write();
            p.work = spin_work(s.inside, p.work);
            slots_[0].lock.drop_write();
        });
    }

    void seek(const readers_task &s, unsigned thread, const phase_flag &flag,
              readers_tally &t) override
    {
        adapter::reader_number = thread;
        if constexpr (has_seek<Lock>) {
            if (thread == 0) {
                loop(s, thread, flag, t, [&](passes &p) {
                    slots_[0].lock.take_seek();
                    p.work = spin_work(s.inside, p.work);
                    slots_[0].lock.drop_seek();
                });
                return;
            }
        }
        loop(s, thread, flag, t, [this](passes &) { pair(slots_[0]); });
        t.ops = 0;
    }

    void flood(const readers_task &s, unsigned thread, bool writer, const phase_flag &flag,
               readers_tally &t) override
    {
        if (!writer) {
            mix(s, thread, flag, t);
            return;
        }
        std::uint64_t next = now_ns();
        loop(s, 0, flag, t, [&](passes &p) {
            next = std::max(next + s.period_ns, now_ns());
            sleep_until(next);
            if (!flag.is(phase::over))
                write_and_note(slots_[0], s, p, t, flag.is(phase::measuring));
        });
        t.ops = 0;
    }

  private:
    struct slot {
        placed<Lock> place{};
        Lock &lock = place.object;
        struct alignas(256) {
            /* Volatile: a thread must see another one's changes. */
            volatile std::uint64_t first = 0, second = 0;
        } data;
    };

    /* Of one thread. */
    struct passes {
        random_numbers random;
        std::uint64_t work;
        bool counts = false;
    };

    template <class Pass>
    static void loop(const readers_task &s, unsigned thread, const phase_flag &flag,
                     readers_tally &t, Pass pass)
    {
        passes p{random_numbers(s.seed + thread + 1), thread};
        usage_meter meter;
        std::uint64_t ops = 0;
        while (!flag.is(phase::over)) {
            if (!p.counts && flag.is(phase::measuring)) {
                p.counts = true;
                meter = usage_meter();
            }
            for (unsigned i = 0; i < s.batch; i++) {
                pass(p);
                /* The compiler must not merge or drop operations that it could see through. */
                __asm__ __volatile__("" : : : "memory");
            }
            ops += p.counts ? s.batch : 0;
        }
        if (p.counts)
            t.used = meter.stop();
        t.ops = ops;
        t.result = p.work;
    }

    static void pair(slot &where)
    {
        where.lock.take_read();
        where.lock.drop_read();
    }

    static void read(slot &where, const readers_task &s, passes &p)
    {
        where.lock.take_read();
        p.work = spin_work(s.inside, p.work);
        where.lock.drop_read();
    }

    /* Two numbers are equal whenever no thread writes. If they differ, the lock has let a thread in
     * that should have waited. */
    static void read_or_write(slot &where, std::uint64_t random, const readers_task &s, passes &p,
                              readers_tally &t)
    {
        if (random >> 32 < s.write_limit) {
            write_and_note(where, s, p, t, p.counts);
            return;
        }
        where.lock.take_read();
        const std::uint64_t before = where.data.first;
        p.work = spin_work(s.inside, p.work);
        if constexpr (!reads_beside<Lock>)
            t.wrong += where.data.first != before || where.data.second != before;
        else
            p.work += where.data.second - before;
        where.lock.drop_read();
    }

    static void write_and_note(slot &where, const readers_task &s, passes &p, readers_tally &t,
                               bool counts)
    {
        const std::uint64_t asked = now_ns();
        where.lock.take_write();
        if (counts) {
            t.waits.add(now_ns() - asked);
            t.writes++;
        }
        where.data.first++;
        p.work = spin_work(s.inside, p.work);
        where.data.second++;
        where.lock.drop_write();
    }

    slot slots_[most_locks];
};

} // namespace bench
