/* SPDX-License-Identifier: MIT */
/* Models of locks of the GNU C library, written from the documented algorithms. */
#pragma once

#include "words.hpp" /* of simulated/ or native/ */

namespace sim {

/* pthread_spin_lock on x86-64: a locked decrement; a loser reads, with one relax hint a turn, until
 * the word is positive, and tries again. 1: free. */
struct model_spin {
    std::int32_t word = 1;
    void take_write()
    {
        while (add(&word, std::int32_t(-1)) != 1)
            (void)poll(&word, 1, [](std::int32_t v) { return v > 0; });
    }
    void drop_write() { store(&word, std::int32_t(1)); }
};

/* The C library's internal mutex: 0 free, 1 held, 2 held and somebody may sleep. */
struct model_low_level_lock {
    std::uint32_t word = 0;
    void take_write()
    {
        if (cas(&word, 0U, 1U) == 0)
            return;
        if (load(&word) == 2)
            sleep_while(&word, 2);
        while (exchange(&word, 2U) != 0)
            sleep_while(&word, 2);
    }
    void drop_write()
    {
        if (add(&word, UINT32_MAX) != 1) {
            store(&word, 0U);
            wake(&word, 1);
        }
    }
};

/* pthread_rwlock of glibc 2.24 and earlier (the published measurements are of 2017): counters
 * behind the internal mutex, which each operation takes; readers are preferred. */
struct model_rwlock_2017 {
    model_low_level_lock lock;
    std::uint32_t readers = 0, readers_wakeup = 0, writer_wakeup = 0;
    std::uint32_t readers_queued = 0, writers_queued = 0;
    std::uint32_t writer = 0;

    void take_read()
    {
        lock.take_write();
        while (writer != 0) {
            readers_queued++;
            const std::uint32_t turn = readers_wakeup;
            lock.drop_write();
            sleep_while(&readers_wakeup, turn);
            lock.take_write();
            readers_queued--;
        }
        readers++;
        lock.drop_write();
    }

    void take_write()
    {
        lock.take_write();
        while (writer != 0 || readers != 0) {
            writers_queued++;
            const std::uint32_t turn = writer_wakeup;
            lock.drop_write();
            sleep_while(&writer_wakeup, turn);
            lock.take_write();
            writers_queued--;
        }
        writer = 1;
        lock.drop_write();
    }

    void drop_read() { leave(); }
    void drop_write() { leave(); }

  private:
    void leave()
    {
        lock.take_write();
        if (writer != 0)
            writer = 0;
        else
            readers--;
        if (readers == 0 && writers_queued != 0) {
            writer_wakeup++;
            lock.drop_write();
            wake(&writer_wakeup, 1);
        } else if (readers == 0 && readers_queued != 0) {
            readers_wakeup++;
            lock.drop_write();
            wake(&readers_wakeup, UINT32_MAX >> 1);
        } else {
            lock.drop_write();
        }
    }
};

/* pthread_rwlock of glibc 2.25 and later, of the default kind (readers are preferred). `readers`
 * holds the number of readers, and in its low bits whether a write phase is on, whether a primary
 * writer is there, and whether a reader sleeps. Phases are handed over by `phase`; writers that are
 * not primary sleep on `writers`. */
struct model_rwlock {
    static constexpr std::uint32_t write_phase = 1, write_locked = 2, reader = 8;
    static constexpr std::uint32_t used = 2; /* of a futex word: somebody may sleep */
    std::uint32_t readers = 0, phase = 0, writers = 0;

    void take_read()
    {
        std::uint32_t r = add(&readers, reader) + reader;
        if ((r & write_phase) == 0)
            return;
        /* No primary writer: the reader begins a read phase itself. */
        while ((r & write_phase) != 0 && (r & write_locked) == 0) {
            const std::uint32_t seen = cas(&readers, r, r ^ write_phase);
            if (seen == r) {
                end_write_phase();
                return;
            }
            r = seen;
        }
        if ((r & write_phase) == 0)
            return;
        sleep_until(0, [&] { return (load(&readers) & write_phase) == 0; });
    }

    void drop_read()
    {
        std::uint32_t r = load(&readers), after;
        for (;;) {
            after = r - reader;
            if (after < reader && (after & write_locked) != 0)
                after |= write_phase;
            const std::uint32_t seen = cas(&readers, r, after);
            if (seen == r)
                break;
            r = seen;
        }
        if ((after & write_phase) != 0 && (exchange(&phase, 1U) & used) != 0)
            wake(&phase, UINT32_MAX >> 1);
    }

    void take_write()
    {
        std::uint32_t r = set_bits(&readers, write_locked);
        std::uint32_t shares = 0;
        bool primary = (r & write_locked) == 0;
        while (!primary) {
            if ((r & write_locked) == 0) {
                const std::uint32_t seen = cas(&readers, r, r | write_locked);
                primary = seen == r;
                r = seen;
                continue;
            }
            const std::uint32_t w = load(&writers);
            if (w == (1 | used) || (w == 1 && cas(&writers, w, 1 | used) == w)) {
                shares = used;
                sleep_while(&writers, 1 | used);
            }
            r = load(&readers);
        }
        r |= write_locked;
        store(&writers, 1 | shares);
        while ((r & write_phase) == 0 && r < reader) {
            const std::uint32_t seen = cas(&readers, r, r | write_phase);
            if (seen == r) {
                store(&phase, 1U);
                return;
            }
            r = seen;
        }
        if ((r & write_phase) != 0)
            return;
        sleep_until(1, [&] { return (load(&readers) & write_phase) != 0; });
    }

    void drop_write()
    {
        const bool sleepers = (exchange(&writers, 0U) & used) != 0;
        std::uint32_t r = load(&readers);
        for (;;) {
            const std::uint32_t after = (r ^ write_locked) ^ (r < reader ? 0 : write_phase);
            const std::uint32_t seen = cas(&readers, r, after);
            if (seen == r)
                break;
            r = seen;
        }
        if (r >= reader)
            end_write_phase();
        if (sleepers)
            wake(&writers, 1);
    }

  private:
    void end_write_phase()
    {
        if ((exchange(&phase, 0U) & used) != 0)
            wake(&phase, UINT32_MAX >> 1);
    }

    /* Sleeps until the phase's word is `wanted`, or begun() says that it will be at once. */
    template <class Begun> void sleep_until(std::uint32_t wanted, Begun begun)
    {
        const std::uint32_t other = 1 - wanted;
        for (bool ready = false;;) {
            for (;;) {
                const std::uint32_t p = load(&phase);
                if ((p & ~used) != other)
                    break;
                if ((p & used) == 0 && cas(&phase, p, p | used) != p)
                    continue;
                sleep_while(&phase, other | used);
            }
            if (ready)
                return;
            ready = begun();
        }
    }
};

} // namespace sim
