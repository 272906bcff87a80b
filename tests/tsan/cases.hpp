// SPDX-License-Identifier: MIT
// Shared by the programs for checkers of data races (ThreadSanitizer, Helgrind, DRD): threads that
// go in step by relaxed atomics, which order nothing in a checker's eyes, and programs that run one
// wrong case by its name. Include it in one file of a program, after Pawl.
#pragma once

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#if PAWL_VALGRIND
#include <valgrind/helgrind.h>

#include <valgrind/drd.h>
#endif

// Valgrind sees no atomics of the language: it is told not to look at these places, and of each
// publication.
inline void unseen(void *place, std::size_t size)
{
#if PAWL_VALGRIND
    VALGRIND_HG_DISABLE_CHECKING(place, size);
    VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__DRD_START_SUPPRESSION, place, size, 0, 0, 0);
#else
    (void)place, (void)size;
#endif
}

inline void before_publication(const void *place)
{
#if PAWL_VALGRIND
    ANNOTATE_HAPPENS_BEFORE(place);
#else
#endif
}

inline void after_observation(const void *place)
{
#if PAWL_VALGRIND
    ANNOTATE_HAPPENS_AFTER(place);
#else
#endif
}

// An atomic number. Only publish and observe order anything.
template <class Number> class loose {
  public:
    loose() { unseen(&number_, sizeof number_); }
    Number load() const { return number_.load(std::memory_order_relaxed); }
    void store(Number value) { number_.store(value, std::memory_order_relaxed); }
    void add(Number more) { number_.fetch_add(more, std::memory_order_relaxed); }
    void publish(Number value)
    {
        before_publication(this);
        number_.store(value, std::memory_order_release);
    }
    Number observe() const
    {
        const Number value = number_.load(std::memory_order_acquire);
        after_observation(this);
        return value;
    }

  private:
    std::atomic<Number> number_{0};
};

long shared_data = 0; // what is guarded
loose<long> sink;     // where reads go; not local to this file, or they would be optimised out

inline void check(bool good, const char *what)
{
    if (!good) {
        std::fprintf(stderr, "failed: %s\n", what);
        std::abort();
    }
}

inline loose<int> step;

inline void reach(int number)
{
    step.store(number);
}

inline void await(int number)
{
    while (step.load() < number)
        sched_yield();
}

inline void write_data()
{
    shared_data = shared_data + 1;
}

inline void read_data()
{
    sink.store(shared_data);
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

// Runs one wrong program in a process of its own, and says its name and number.
inline void run_apart(const char *name, const char *kind, void (*run)())
{
    std::fflush(nullptr);
    const pid_t child = fork();
    check(child >= 0, "a process");
    if (child == 0) {
        std::printf("case %s%s%s %ld\n", name, *kind ? " " : "", kind, (long)getpid());
        std::fflush(nullptr);
        run();
        std::_Exit(0);
    }
    int status;
    check(waitpid(child, &status, 0) == child && status == 0, name);
}

// `PROGRAM right` runs what is right, `PROGRAM CASE` one wrong program, `PROGRAM each` all of
// these, each in a process of its own; `PROGRAM` lists them.
template <class Cases> int run_cases(int argc, char **argv, void (*right)(), const Cases &cases)
{
    if (argc > 1 && std::strcmp(argv[1], "right") == 0) {
        right();
        return 0;
    }
    for (const wrong_case &c : cases) {
        if (argc < 2)
            std::puts(c.name);
        else if (std::strcmp(argv[1], "each") == 0)
            run_apart(c.name, "", c.run);
        else if (std::strcmp(argv[1], c.name) == 0) {
            c.run();
            return 0;
        }
    }
    return argc < 2 || std::strcmp(argv[1], "each") == 0 ? 0 : 2;
}
