// SPDX-License-Identifier: MIT
// Wrong programs that checkers of data races must report. `planted CASE KIND` runs one, `planted
// each` all, each in a process of its own; `planted` lists them.
//
// The threads go in step by relaxed atomics, which order nothing in a checker's eyes: so the
// order of events is the same in each run, and yet only the lock could make them ordered.
#include <pawl/pawl.h>
#include <pawl/pshared.h>

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
    static loose<int> asking;
    pawl_take_read(&lock);
    std::thread reader([] {
        while (asking.load() < 2)
            sched_yield();
        for (int i = 0; i < 100; i++) // so that they come to wait; reported either way
            sched_yield();
        pawl_drop_read(&lock); // any thread may drop for the holder
    });
    two_threads(
        [] {
            asking.add(1);
            pawl_take_atomic(&lock);
            write_data();
            pawl_drop_atomic(&lock);
            reach(1);
        },
        [] {
            asking.add(1);
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

struct kind_of_lock {
    const char *name;
    void (*run)();
};

struct planted_case {
    const char *name;
    bool in_16_bits; // whether 16 bits have room for the clock that tells
    kind_of_lock kinds[7];
};

#define KINDS(name)                                                                                \
    {                                                                                              \
        {"16", name<pawl_spin16>}, {"32", name<pawl_spin32>}, {"64", name<pawl_spin64>},           \
            {"lock32", name<pawl_lock32>}, {"lock64", name<pawl_lock64>},                          \
            {"shared32", name<pawl_pshared_lock32>},                                               \
        {                                                                                          \
            "shared64", name<pawl_pshared_lock64>                                                  \
        }                                                                                          \
    }
#define CASE(name) {#name, true, KINDS(name)}
#define WIDE(name) {#name, false, KINDS(name)}
const planted_case cases[] = {
    CASE(write_under_read_together),        CASE(write_under_read_in_turn),
    CASE(write_under_seek_beside_a_reader), CASE(write_under_seek_before_a_reader),
    CASE(write_after_write_to_seek),        CASE(plain_write_under_atomic_together),
    WIDE(plain_write_under_atomic_in_turn), WIDE(plain_write_under_atomic_after_waiting),
    CASE(write_after_a_failed_try),         CASE(write_without_the_lock),
};

} // namespace

int main(int argc, char **argv)
{
    const bool each = argc == 2 && std::strcmp(argv[1], "each") == 0;
    for (const planted_case &c : cases)
        for (const kind_of_lock &kind : c.kinds) {
            if (!c.in_16_bits && std::strcmp(kind.name, "16") == 0)
                continue;
            if (each)
                run_apart(c.name, kind.name, kind.run);
            else if (argc < 3)
                std::printf("%s %s\n", c.name, kind.name);
            else if (std::strcmp(argv[1], c.name) == 0 && std::strcmp(argv[2], kind.name) == 0) {
                kind.run();
                return 0;
            }
        }
    return argc < 3 ? 0 : 2;
}
