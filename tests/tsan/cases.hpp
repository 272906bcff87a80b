// SPDX-License-Identifier: MIT
// Shared by the programs for ThreadSanitizer: threads that go in step by relaxed atomics, which
// order nothing in the sanitizer's eyes, and programs that run one wrong case by its name. Include
// it in one file of a program.
#ifndef PAWL_TESTS_TSAN_CASES_HPP
#define PAWL_TESTS_TSAN_CASES_HPP

#include <sched.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

long shared_data = 0;      // what is guarded
std::atomic<long> sink{0}; // where reads go; not local to this file, or they would be optimised out

inline void check(bool good, const char *what)
{
    if (!good) {
        std::fprintf(stderr, "failed: %s\n", what);
        std::abort();
    }
}

inline std::atomic<int> step{0};

inline void reach(int number)
{
    step.store(number, std::memory_order_relaxed);
}

inline void await(int number)
{
    while (step.load(std::memory_order_relaxed) < number)
        sched_yield();
}

inline void write_data()
{
    shared_data = shared_data + 1;
}

inline void read_data()
{
    sink.store(shared_data, std::memory_order_relaxed);
}

// The body with the thread's number and the round's.
template <int Threads, int Rounds, class Body> void together(Body body)
{
    std::vector<std::thread> crew;
    for (int i = 0; i < Threads; i++)
        crew.emplace_back([=] {
            for (int round = 0; round < Rounds; round++)
                body(i, round);
        });
    for (std::thread &one : crew)
        one.join();
}

struct wrong_case {
    const char *name;
    void (*run)();
};

// `PROGRAM right` runs what is right, `PROGRAM CASE` one wrong program; `PROGRAM` lists these.
template <class Cases> int run_cases(int argc, char **argv, void (*right)(), const Cases &cases)
{
    if (argc > 1 && std::strcmp(argv[1], "right") == 0) {
        right();
        return 0;
    }
    for (const wrong_case &c : cases) {
        if (argc < 2)
            std::puts(c.name);
        else if (std::strcmp(argv[1], c.name) == 0) {
            c.run();
            return 0;
        }
    }
    return argc < 2 ? 0 : 2;
}

#endif
