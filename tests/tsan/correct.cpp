// SPDX-License-Identifier: MIT
// Right programs, on which checkers of data races must stay silent: plain data guarded by every
// state, every move, every width of the locks that spin, sleep or serve several processes, with
// more threads than cores, so that the waiting halves run as well.
#include <pawl/pawl.hpp>
#include <pawl/pshared.h>

#include <mutex>
#include <shared_mutex>
#include <type_traits>
#include <utility>

#include "cases.hpp"

namespace {

constexpr int threads = 6;
constexpr int rounds = PAWL_VALGRIND ? 40 : 400;

template <class Word> struct guarded {
    Word lock = {};
    long pair[2] = {0, 0}; // plain: written under W, read under R, S, W
    long seekers = 0;      // plain: only who holds S or W touches it
    loose<long> many;      // updated under A, read plainly relaxed elsewhere
    long published = 0;    // plain: written under W, and by nobody under A

    void change()
    {
        pair[0]++;
        pair[1]--;
        published = many.load();
    }
    void look() const
    {
        check(pair[0] + pair[1] == 0, "a reader saw half a change");
        check(published <= many.load(), "an atomic update was lost");
    }
    void add() { many.add(1); }
};

template <class Word> void each_state()
{
    static guarded<Word> g;
    together<threads, rounds>([](int, int round) {
        switch (round % 8) {
        case 0:
            pawl_take_write(&g.lock);
            g.change();
            g.seekers++;
            pawl_drop_write(&g.lock);
            break;
        case 1:
            pawl_take_seek(&g.lock);
            g.look();
            g.seekers++;
            pawl_drop_seek(&g.lock);
            break;
        case 2:
            pawl_take_atomic(&g.lock);
            g.add();
            pawl_drop_atomic(&g.lock);
            break;
        default:
            pawl_take_read(&g.lock);
            g.look();
            pawl_drop_read(&g.lock);
        }
    });
}

template <class Word> void downward_and_upward_moves()
{
    static guarded<Word> g;
    together<threads, rounds>([](int, int round) {
        switch (round % 5) {
        case 0:
            pawl_take_seek(&g.lock);
            g.look();
            pawl_seek_to_write(&g.lock);
            g.change();
            pawl_write_to_seek(&g.lock);
            g.look();
            g.seekers++;
            pawl_seek_to_read(&g.lock);
            g.look();
            pawl_drop_read(&g.lock);
            break;
        case 1:
            pawl_take_write(&g.lock);
            g.change();
            pawl_write_to_read(&g.lock);
            g.look();
            pawl_drop_read(&g.lock);
            break;
        case 2:
            pawl_take_atomic(&g.lock);
            g.add();
            (void)pawl_atomic_to_read(&g.lock);
            g.look();
            pawl_drop_read(&g.lock);
            break;
        case 3:
            pawl_take_seek(&g.lock);
            if (pawl_try_seek_to_write(&g.lock)) {
                g.change();
                pawl_drop_write(&g.lock);
            } else {
                g.look();
                pawl_drop_seek(&g.lock);
            }
            break;
        default:
            pawl_take_read(&g.lock);
            g.look();
            pawl_drop_read(&g.lock);
        }
    });
}

template <class Word> void tries_from_a_reader()
{
    static guarded<Word> g;
    together<threads, rounds>([](int thread, int round) {
        pawl_take_read(&g.lock);
        g.look();
        switch ((thread + round) % 5) {
        case 0:
            if (pawl_try_read_to_seek(&g.lock)) {
                g.seekers++;
                pawl_drop_seek(&g.lock);
                return;
            }
            break;
        case 1:
            if (pawl_try_read_to_write(&g.lock)) {
                g.change();
                pawl_drop_write(&g.lock);
                return;
            }
            break;
        case 2:
            if (pawl_read_claim_write(&g.lock)) {
                g.change();
                pawl_drop_write(&g.lock);
                return;
            }
            break;
        case 3:
            if (pawl_try_read_to_atomic(&g.lock)) {
                g.add();
                pawl_drop_atomic(&g.lock);
                return;
            }
            break;
        default:
            if (pawl_read_claim_atomic(&g.lock)) {
                g.add();
                pawl_drop_atomic(&g.lock);
                return;
            }
        }
        g.look(); // the try failed: R is still held
        pawl_drop_read(&g.lock);
    });
}

template <class Word> void tries_from_nothing()
{
    static guarded<Word> g;
    together<threads, rounds>([](int thread, int round) {
        switch ((thread + round) % 6) {
        case 0:
            if (pawl_try_write(&g.lock)) {
                g.change();
                pawl_drop_write(&g.lock);
            }
            break;
        case 1:
            if (pawl_claim_write(&g.lock)) {
                g.change();
                pawl_drop_write(&g.lock);
            }
            break;
        case 2:
            if (pawl_try_seek(&g.lock)) {
                g.seekers++;
                g.look();
                pawl_drop_seek(&g.lock);
            }
            break;
        case 3:
            if (pawl_try_atomic(&g.lock)) {
                g.add();
                pawl_drop_atomic(&g.lock);
            }
            break;
        case 4:
            if (pawl_claim_atomic(&g.lock)) {
                g.add();
                pawl_drop_atomic(&g.lock);
            }
            break;
        default:
            if (pawl_try_read(&g.lock)) {
                g.look();
                pawl_drop_read(&g.lock);
            }
        }
    });
}

// One careful writer under S stores with release while readers, who never wait, load with acquire.
template <class Word> void careful_writer_under_seek()
{
    static Word lock = {};
    static long slots[threads * rounds];
    static loose<long> used;
    together<threads, rounds>([](int thread, int round) {
        if (thread == 0) {
            pawl_take_seek(&lock);
            const long n = used.load();
            slots[n] = round + 1;
            used.publish(n + 1);
            pawl_drop_seek(&lock);
        } else {
            pawl_take_read(&lock);
            const long n = used.observe();
            check(n == 0 || slots[n - 1] != 0, "a slot was announced before it was filled");
            pawl_drop_read(&lock);
        }
    });
}

// The thread that drops is not the one that took: allowed, so no report.
template <class Word> void another_thread_drops()
{
    static guarded<Word> g;
    for (int round = 0; round < rounds / 4; round++) {
        pawl_take_write(&g.lock);
        g.change();
        std::thread([] {
            g.change();
            pawl_drop_write(&g.lock);
        }).join();
        pawl_take_seek(&g.lock);
        g.seekers++;
        std::thread([] {
            g.seekers++;
            pawl_drop_seek(&g.lock);
        }).join();
    }
}

// S -> W of the outer lock while the inner one is held: the lock-order detector sees no fault,
// because there is none.
template <class Word> void moves_inside_another_lock()
{
    static guarded<Word> both[2];
    static guarded<Word> &outer = both[0], &inner = both[1];
    together<threads, rounds>([](int, int round) {
        if (round % 2) {
            pawl_take_seek(&outer.lock);
            pawl_take_write(&inner.lock);
            inner.change();
            pawl_seek_to_write(&outer.lock);
            outer.change();
            pawl_drop_write(&outer.lock);
            pawl_drop_write(&inner.lock);
        } else {
            pawl_take_two_write(&inner.lock, &outer.lock);
            inner.change();
            outer.change();
            pawl_drop_two_write(&outer.lock, &inner.lock);
        }
    });
}

// More locks at once than the sanitizer's table of a thread's mutexes has places.
template <class Word> void many_locks_at_once()
{
    static Word locks[300];
    for (Word &lock : locks)
        pawl_take_write(&lock);
    for (Word &lock : locks)
        pawl_drop_write(&lock);
}

// What is stored before an application bit changes is seen by who finds it changed.
template <class Word> void application_bits_publish()
{
    static Word lock = {};
    static long message = 0;
    std::thread sender([] {
        message = 42;
        pawl_set_bits(&lock, 1);
    });
    while (pawl_bits(&lock) == 0)
        sched_yield();
    check(message == 42, "the bit came before the message");
    sender.join();
}

void guards_and_standard_names()
{
    static pawl::spin_lock lock;
    static long value = 0;
    together<threads, rounds>([](int, int round) {
        if (round % 4 == 0) {
            pawl::seek_guard seek(lock);
            const long seen = value;
            pawl::write_guard write = std::move(seek).to_write();
            value = seen + 1;
        } else if (round % 4 == 1) {
            std::lock_guard<pawl::spin_lock> write(lock);
            value++;
        } else {
            std::shared_lock<pawl::spin_lock> read(lock);
            check(value >= 0, "the value");
        }
    });
    check(value == threads * rounds / 2, "no addition is lost");
}

// With a deadline that never passes, or has passed already.
template <class Word> void deadlines()
{
    static guarded<Word> g;
    together<threads, rounds>([](int thread, int round) {
        const std::uint64_t until = (thread + round) % 3 == 0 ? 1 : PAWL_WAIT_FOREVER;
        switch (round % 5) {
        case 0:
            if (pawl_take_write_until(&g.lock, until)) {
                g.change();
                pawl_drop_write(&g.lock);
            }
            break;
        case 1:
            if (pawl_take_seek_until(&g.lock, until)) {
                g.seekers++;
                if (pawl_seek_to_write_until(&g.lock, until)) {
                    g.change();
                    pawl_drop_write(&g.lock);
                } else {
                    g.look();
                    pawl_drop_seek(&g.lock);
                }
            }
            break;
        case 2:
            if (pawl_take_atomic_until(&g.lock, until)) {
                g.add();
                /* Once its time is over the thread holds nothing: to drop A then damaged the word,
                 * and now and then all threads slept for ever. */
                if (pawl_atomic_to_read_until(&g.lock, until) != PAWL_REGAIN_TIMED_OUT) {
                    g.look();
                    pawl_drop_read(&g.lock);
                }
            }
            break;
        default:
            if (pawl_take_read_until(&g.lock, until)) {
                g.look();
                pawl_drop_read(&g.lock);
            }
        }
    });
}

template <class Word, class... Kinds>
constexpr bool is_one_of = (std::is_same_v<Word, Kinds> || ...);

template <class Word> void all()
{
    constexpr bool spins = is_one_of<Word, pawl_spin16, pawl_spin32, pawl_spin64>;
    constexpr bool shared = is_one_of<Word, pawl_pshared_lock32, pawl_pshared_lock64>;

    each_state<Word>();
    downward_and_upward_moves<Word>();
    tries_from_a_reader<Word>();
    tries_from_nothing<Word>();
    careful_writer_under_seek<Word>();
    another_thread_drops<Word>();
    many_locks_at_once<Word>();
    if constexpr (!shared)
        moves_inside_another_lock<Word>();
    if constexpr (spins)
        application_bits_publish<Word>();
    else
        deadlines<Word>();
}

} // namespace

int main()
{
    all<pawl_spin16>();
    all<pawl_spin32>();
    all<pawl_spin64>();
    all<pawl_lock32>();
    all<pawl_lock64>();
    all<pawl_pshared_lock32>();
    all<pawl_pshared_lock64>();
    guards_and_standard_names();
    std::puts("all correct programs ran");
    return 0;
}
