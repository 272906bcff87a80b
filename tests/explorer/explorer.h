/* SPDX-License-Identifier: MIT */
/*
 * The explorer of schedules: real code of the library, in the hook variant, by a few simulated
 * threads. Every atomic access, sleep and wake of the library is a point at which another thread
 * may go on. Accesses are sequentially consistent here; orders are for the model checker.
 *
 *   sched_all(threads, bodies, argument, preemptions, begins, ends, &count)
 *                    every schedule that takes the processor away from a thread that could go on at
 *                    most so often
 *   explore(begins, bodies, threads, ends, preemptions)
 *                    the same for a scene without argument that must never get stuck, nor wait with
 *                    a deadline
 *   sched_random(threads, bodies, argument, seed)
 *                    one schedule, made up from the seed
 *   sim_...          one schedule that the test writes down, access by access (steps.h)
 *
 * A scene is its threads' bodies, begins(), which sets it anew for each schedule, and ends(), which
 * checks it. The threads are fibers of one real thread there, so a schedule is determined by its
 * choices, and a few microseconds long. sched_all and sched_random return false when the threads
 * got stuck: nobody can go on, or only polls what nobody will change; explore() then ends the
 * program. A sleeper that has a deadline may be timed out at any point; the clock then jumps there.
 * Waking follows the kernel: by address, expected value and classes, oldest first.
 *
 * A schedule that gets stuck, or in which a check ends the program, is printed: who ran how many
 * steps, and PAWL_SCHEDULE=scene:choices. With that in the environment the program runs nothing of
 * that scene but this schedule, and prints each access.
 */
#ifndef PAWL_TESTS_EXPLORER_H
#define PAWL_TESTS_EXPLORER_H

#include "test.h"

#include <pawl/detail/hook.h>
#include <pawl/thread.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SCHED_THREADS = 4 };

typedef uint64_t sched_make_function(const struct pawl_operation *operation);

/* What a test may look at, or set. */
extern struct sched {
    unsigned count, current; /* threads of the scene; whose turn it is */
    bool running;            /* false: the test itself calls, and goes through at once */
    bool ends;               /* the scene is being checked */
    uint64_t clock;
    unsigned woken, slept, timed_out;
    unsigned system_wakes;   /* calls that ask the system to wake somebody, if there is anybody */
    unsigned touched_late;   /* accesses after a drop had given the lock up (sched_drop_begins) */
    /* Makes each access by calling make(operation), or something else: a planted mistake, or a
     * watch. NULL: none. */
    uint64_t (*fault)(const struct pawl_operation *operation, sched_make_function *make);
    bool deaf; /* planted: no wake reaches anybody */
    bool deadlines_forbidden; /* a wait that has one is a mistake: nobody asked for it */
    bool loose; /* what explore() does: a deadline passes when the schedule says so, which counts
                 * as a preemption, and leaves the clock as it is; who polls may go on before
                 * anything has been written */
    /* A number below the bound for a choice of sched_random; a fuzzer has its own. NULL: the next
     * one of the seed. */
    unsigned (*below)(uint64_t *seed, unsigned bound);
} sched;

bool sched_all(unsigned threads, void (*const bodies[])(void *), void *argument,
               unsigned preemptions, void (*begins)(void *), void (*ends)(void *),
               unsigned *count);
bool sched_random(unsigned threads, void (*const bodies[])(void *), void *argument, uint64_t seed);

unsigned explore(void (*begins)(void), void (*const bodies[])(void *), unsigned threads,
                 void (*ends)(void), unsigned preemptions);
unsigned explore_with_deadlines(void (*begins)(void), void (*const bodies[])(void *),
                                unsigned threads, void (*ends)(void), unsigned preemptions);

/* For bodies and watches: one more choice of the schedule, of so many; a point at which another
 * thread may go on; and sched.below. */
unsigned sched_choose(unsigned count);
void sched_pass(void);
unsigned sched_below(uint64_t *seed, unsigned bound);

/* For begins(): all threads as they are before they first come here; and all that is
 * process-wide. */
void sched_new_threads(void);
void sched_new_process(void);
struct pawl_thread_line **sched_slot_of(unsigned thread);

/* Around a drop: what it touches after it has given the lock up is counted. */
void sched_drop_begins(const void *word);
void sched_drop_ends(void);

#ifdef __cplusplus
}
#endif
#endif
