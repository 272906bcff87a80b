// SPDX-License-Identifier: MIT
// Wrong programs that ThreadSanitizer must report. `planted CASE` runs one; `planted` lists them.
//
// The threads go in step by relaxed atomics, which order nothing in the sanitizer's eyes: so the
// order of events is the same in each run, and yet only the lock could make them ordered.
#include <pawl/pawl.h>

#include "cases.hpp"

namespace {

template <class First, class Second> void two_threads(First first, Second second)
{
    std::thread one(first);
    std::thread two(second);
    one.join();
    two.join();
}

// Both hold R at the same time, and both store.
template <class Lock> void write_under_read_together()
{
    static Lock lock;
    two_threads(
        [] {
            pawl_take_read(&lock);
            reach(1);
            await(2);
            write_data();
            pawl_drop_read(&lock);
        },
        [] {
            await(1);
            pawl_take_read(&lock);
            write_data();
            reach(2);
            pawl_drop_read(&lock);
        });
}

// One after the other: the lock word's own atomics would order them.
template <class Lock> void write_under_read_in_turn()
{
    static Lock lock;
    two_threads(
        [] {
            pawl_take_read(&lock);
            write_data();
            pawl_drop_read(&lock);
            reach(1);
        },
        [] {
            await(1);
            pawl_take_read(&lock);
            write_data();
            pawl_drop_read(&lock);
        });
}

// The seeker stores plainly while a reader is in.
template <class Lock> void write_under_seek_beside_a_reader()
{
    static Lock lock;
    two_threads(
        [] {
            pawl_take_seek(&lock);
            reach(1);
            await(2);
            write_data();
            pawl_drop_seek(&lock);
        },
        [] {
            await(1);
            pawl_take_read(&lock);
            read_data();
            reach(2);
            pawl_drop_read(&lock);
        });
}

// The seeker has left before the reader enters; the next time it may be otherwise.
template <class Lock> void write_under_seek_before_a_reader()
{
    static Lock lock;
    two_threads(
        [] {
            pawl_take_seek(&lock);
            write_data();
            pawl_drop_seek(&lock);
            reach(1);
        },
        [] {
            await(1);
            pawl_take_read(&lock);
            read_data();
            pawl_drop_read(&lock);
        });
}

// W was given back too early: the store comes after the move to S.
template <class Lock> void write_after_write_to_seek()
{
    static Lock lock;
    two_threads(
        [] {
            pawl_take_write(&lock);
            pawl_write_to_seek(&lock);
            write_data();
            pawl_drop_seek(&lock);
            reach(1);
        },
        [] {
            await(1);
            pawl_take_read(&lock);
            read_data();
            pawl_drop_read(&lock);
        });
}

// A lets others beside it: a plain store is wrong there.
template <class Lock> void plain_write_under_atomic_together()
{
    static Lock lock;
    two_threads(
        [] {
            pawl_take_atomic(&lock);
            reach(1);
            await(2);
            write_data();
            pawl_drop_atomic(&lock);
        },
        [] {
            await(1);
            pawl_take_atomic(&lock);
            write_data();
            reach(2);
            pawl_drop_atomic(&lock);
        });
}

// One after the other. Two bytes have no room for the clock that tells (tsan.h).
template <class Lock> void plain_write_under_atomic_in_turn()
{
    static Lock lock;
    two_threads(
        [] {
            pawl_take_atomic(&lock);
            write_data();
            pawl_drop_atomic(&lock);
            reach(1);
        },
        [] {
            await(1);
            pawl_take_atomic(&lock);
            write_data();
            pawl_drop_atomic(&lock);
        });
}

// The same through the compiled waiting half: a reader makes both of them wait.
template <class Lock> void plain_write_under_atomic_after_waiting()
{
    static Lock lock;
    static std::atomic<int> asking{0};
    pawl_take_read(&lock);
    std::thread reader([] {
        while (asking.load(std::memory_order_relaxed) < 2)
            sched_yield();
        for (int i = 0; i < 100; i++) // so that they come to wait; reported either way
            sched_yield();
        pawl_drop_read(&lock); // any thread may drop for the holder
    });
    two_threads(
        [] {
            asking.fetch_add(1, std::memory_order_relaxed);
            pawl_take_atomic(&lock);
            write_data();
            pawl_drop_atomic(&lock);
            reach(1);
        },
        [] {
            asking.fetch_add(1, std::memory_order_relaxed);
            pawl_take_atomic(&lock);
            await(1);
            write_data();
            pawl_drop_atomic(&lock);
        });
    reader.join();
}

// A try that failed gives no right.
template <class Lock> void write_after_a_failed_try()
{
    static Lock lock;
    two_threads(
        [] {
            pawl_take_read(&lock);
            read_data();
            reach(1);
            await(2);
            pawl_drop_read(&lock);
        },
        [] {
            await(1);
            if (!pawl_try_write(&lock))
                write_data();
            reach(2);
        });
}

// The lock is not taken at all on one side.
template <class Lock> void write_without_the_lock()
{
    static Lock lock;
    two_threads(
        [] {
            pawl_take_write(&lock);
            write_data();
            pawl_drop_write(&lock);
            reach(1);
        },
        [] {
            await(1);
            write_data();
        });
}

struct planted_case {
    const char *name;
    void (*run16)();
    void (*run32)();
    void (*run64)();
};

#define CASE(name) {#name, name<pawl_spin16>, name<pawl_spin32>, name<pawl_spin64>}
const planted_case cases[] = {
    CASE(write_under_read_together),
    CASE(write_under_read_in_turn),
    CASE(write_under_seek_beside_a_reader),
    CASE(write_under_seek_before_a_reader),
    CASE(write_after_write_to_seek),
    CASE(plain_write_under_atomic_together),
    CASE(plain_write_under_atomic_in_turn),       // not in 16 bits
    CASE(plain_write_under_atomic_after_waiting), // not in 16 bits
    CASE(write_after_a_failed_try),
    CASE(write_without_the_lock),
};

} // namespace

int main(int argc, char **argv)
{
    for (const planted_case &c : cases) {
        if (argc < 3) {
            std::puts(c.name);
            continue;
        }
        if (std::strcmp(argv[1], c.name) != 0)
            continue;
        const bool wide = std::strcmp(argv[2], "64") == 0;
        (wide ? c.run64 : std::strcmp(argv[2], "16") == 0 ? c.run16 : c.run32)();
        return 0;
    }
    return argc < 3 ? 0 : 2;
}
