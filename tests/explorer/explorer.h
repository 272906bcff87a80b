/* SPDX-License-Identifier: MIT */
/*
 * The explorer of schedules: a few simulated threads run real code of the library, in the hook
 * variant. Every atomic access, sleep and wake of the library is a point at which another thread
 * may go on. Accesses are sequentially consistent here; the model checker covers orders.
 *
 *   sched_all(threads, bodies, argument, preemptions, begins, ends, &count)
 *                    every schedule with at most so many preemptions; a preemption takes the
 *                    processor away from a thread that can go on
 *   explore(begins, bodies, threads, ends, preemptions)
 *                    the same for a scene without argument that must never get stuck, nor wait with
 *                    a deadline
 *   sched_walk(threads, bodies, argument, memory, begins, ends, &states)
 *                    every state that the threads can reach, without a bound on preemptions: a
 *                    schedule ends at a state that was seen before. From each state all threads
 *                    must be able to end
 *   sched_random(threads, bodies, argument, seed)
 *                    one schedule, made from the seed
 *   sim_...          one schedule that the test writes down, access by access (steps.h)
 *
 * A scene consists of its threads' bodies, begins(), which sets it up for each schedule, and
 * ends(), which checks it. The threads are fibers of one real thread. So its choices determine a
 * schedule, which takes a few microseconds. sched_all and sched_random return false when the
 * threads got stuck: no thread can go on, or each only polls a value that no thread will change.
 * explore() then ends the program. A sleeper with a deadline may time out at any point; the clock
 * then jumps to the deadline. Waking follows the kernel: by address, expected value and classes,
 * oldest first.
 *
 * The explorer prints a schedule that gets stuck, or in which a check ends the program. It prints
 * each thread's number of steps, and PAWL_SCHEDULE=scene:choices. With that in the environment the
 * program runs only this schedule of that scene, and prints each access.
 */
#pragma once

#include "test.h"

#include <pawl/detail/hook.h>
#include <pawl/thread.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SCHED_THREADS = 4 };

typedef uint64_t sched_make_function(const struct pawl_operation *operation);
typedef uint64_t sched_fault(const struct pawl_operation *operation, sched_make_function *make);

/* A test may read and set these. */
extern struct sched {
    unsigned count, current; /* threads of the scene; the current one */
    bool running;            /* false: the test itself calls, and its calls go through at once */
    bool ends;               /* ends() is checking the scene */
    uint64_t clock;
    unsigned woken, slept, timed_out;
    unsigned system_wakes; /* calls that ask the system for a wake, with a sleeper or without */
    unsigned touched_late; /* accesses and wakes after a drop had released the lock
                              * (sched_drop_begins) */
    /* Makes each access, by calling make(operation) or otherwise: for a planted mistake, or a
     * watch. NULL: none. */
    sched_fault *fault;
    bool deaf;                /* planted: no wake reaches a sleeper */
    bool deadlines_forbidden; /* a wait with a deadline is a mistake: the scene asks for none */
    bool loose; /* for explore(): a deadline passes when the schedule says so; that counts as a
                 * preemption and leaves the clock unchanged. A poller may go on before any
                 * write. */
    /* Returns a number below the bound, for a choice of sched_random; a fuzzer has its own
     * function. NULL: the next number of the seed. */
    unsigned (*below)(uint64_t *seed, unsigned bound);
} sched;

bool sched_all(unsigned threads, void (*const bodies[])(void *), void *argument,
               unsigned preemptions, void (*begins)(void *), void (*ends)(void *), unsigned *count);
bool sched_random(unsigned threads, void (*const bodies[])(void *), void *argument, uint64_t seed);

/* All memory that the threads change, beside their stacks. The last one has no bytes. What only
 * counts, such as how often something happened, must not be in it. */
struct sched_memory {
    const void *from;
    size_t bytes;
};
bool sched_walk(unsigned threads, void (*const bodies[])(void *), void *argument,
                const struct sched_memory *memory, void (*begins)(void *), void (*ends)(void *),
                unsigned *states);

unsigned explore(void (*begins)(void), void (*const bodies[])(void *), unsigned threads,
                 void (*ends)(void), unsigned preemptions);
unsigned explore_with_deadlines(void (*begins)(void), void (*const bodies[])(void *),
                                unsigned threads, void (*ends)(void), unsigned preemptions);

/* For bodies and watches: sched_choose adds a choice among `count` to the schedule. The others
 * are a point at which another thread may go on, and sched.below. */
unsigned sched_choose(unsigned count);
void sched_pass(void);
unsigned sched_below(uint64_t *seed, unsigned bound);

/* For begins(): resets all threads to their state before their first call here, and all
 * process-wide state. */
void sched_new_threads(void);
void sched_new_process(void);
struct pawl_thread_line **sched_slot_of(unsigned thread);

/* These surround a drop, and count its accesses and wakes after it has released the lock. */
void sched_drop_begins(const void *word);
void sched_drop_ends(void);

#ifdef __cplusplus
}
#endif
