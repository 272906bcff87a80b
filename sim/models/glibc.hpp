/* SPDX-License-Identifier: MIT */
/* Models of locks of the GNU C library, written from the documented algorithms. */
#ifndef PAWL_SIM_MODELS_GLIBC_HPP
#define PAWL_SIM_MODELS_GLIBC_HPP

#include "models/words.hpp"

namespace sim {

/* pthread_spin_lock on x86-64: a locked decrement; a loser reads, with one relax hint a turn, until
 * the word is positive, and tries again. 1: free. */
struct model_spin {
    std::int32_t word = 1;
    void take_write()
    {
        while (add(&word, std::int32_t(-1)) != 1)
            (void)engine::running->poll(&word, 1, [](std::int32_t v) { return v > 0; });
    }
    void drop_write() { store(&word, std::int32_t(1)); }
};

/* The C library's internal mutex: 0 free, 1 held, 2 held and somebody may sleep. */
struct model_low_level_lock {
    std::uint32_t word = 0;
    void take()
    {
        if (cas(&word, 0U, 1U) == 0)
            return;
        if (load(&word) == 2)
            (void)pawl_hook_wait(&word, 2, UINT64_MAX);
        while (exchange(&word, 2U) != 0)
            (void)pawl_hook_wait(&word, 2, UINT64_MAX);
    }
    void drop()
    {
        if (add(&word, UINT32_MAX) != 1) {
            store(&word, 0U);
            (void)pawl_hook_wake(&word, 1);
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
        lock.take();
        while (writer != 0) {
            readers_queued++;
            const std::uint32_t turn = readers_wakeup;
            lock.drop();
            (void)pawl_hook_wait(&readers_wakeup, turn, UINT64_MAX);
            lock.take();
            readers_queued--;
        }
        readers++;
        lock.drop();
    }

    void take_write()
    {
        lock.take();
        while (writer != 0 || readers != 0) {
            writers_queued++;
            const std::uint32_t turn = writer_wakeup;
            lock.drop();
            (void)pawl_hook_wait(&writer_wakeup, turn, UINT64_MAX);
            lock.take();
            writers_queued--;
        }
        writer = 1;
        lock.drop();
    }

    void drop_read() { leave(); }
    void drop_write() { leave(); }

  private:
    void leave()
    {
        lock.take();
        if (writer != 0)
            writer = 0;
        else
            readers--;
        if (readers == 0 && writers_queued != 0) {
            writer_wakeup++;
            lock.drop();
            (void)pawl_hook_wake(&writer_wakeup, 1);
        } else if (readers == 0 && readers_queued != 0) {
            readers_wakeup++;
            lock.drop();
            (void)pawl_hook_wake(&readers_wakeup, UINT32_MAX >> 1);
        } else {
            lock.drop();
        }
    }
};

} // namespace sim

#endif
