/* SPDX-License-Identifier: MIT */
/*
 * What the library asks of the system, and the only place from which it does. One file here per
 * system; the hook variant answers from the hooks instead (os/hook.c).
 */
#ifndef PAWL_OS_H
#define PAWL_OS_H

#include <pawl/thread.h>

#if PAWL_WAITING == PAWL_WAITING_COND
#include <pthread.h>
#elif PAWL_WAITING == PAWL_WAITING_SEM
#include <semaphore.h>
#endif

PAWL_C_BEGIN

#define PAWL_NO_DEADLINE UINT64_MAX

/* Nanoseconds of CLOCK_MONOTONIC. Async-signal-safe. */
uint64_t PAWL_SYMBOL_(pawl_os_now)(void);

/* Offers the CPU to another thread that can run. */
void PAWL_SYMBOL_(pawl_os_yield)(void);

/* A number other than 0 that names the calling thread in the whole system while it lives. */
uint32_t PAWL_SYMBOL_(pawl_os_thread_id)(void);

/* True while a thread of this process with that number exists. */
bool PAWL_SYMBOL_(pawl_os_thread_lives)(uint32_t id);

/* Sleeps while *address == expected, until woken or past `deadline` (ns of pawl_os_now). May return
 * spuriously. False when the deadline has passed. */
bool PAWL_SYMBOL_(pawl_os_wait)(const uint32_t *address, uint32_t expected, uint64_t deadline);

/* Wakes at most `count` threads that sleep on the address; returns how many (0 where the system
 * does not say: FreeBSD, WaitOnAddress). The address may belong to memory that is already freed. */
unsigned PAWL_SYMBOL_(pawl_os_wake)(const uint32_t *address, unsigned count);

/* The same between processes, for an address in memory that they share, wherever each has it. The
 * sleeper is of some classes, a bit each; a wake wakes those who are of one of its own. An address
 * on which the system cannot wait offers the CPU instead and returns true. */
bool PAWL_SYMBOL_(pawl_os_wait_classes)(const uint32_t *address, uint32_t expected,
                                        uint32_t classes, uint64_t deadline);
unsigned PAWL_SYMBOL_(pawl_os_wake_classes)(const uint32_t *address, uint32_t classes,
                                            unsigned count);

/* Wakes `wake` sleepers of `from` and lets `move` more of them sleep at `to`. A system that cannot
 * move wakes those too. How many it woke or moved. */
unsigned PAWL_SYMBOL_(pawl_os_requeue)(const uint32_t *from, const uint32_t *to, unsigned wake,
                                       unsigned move);

/* ---- Parking: one thread sleeps until another one that knows its parker wakes it ----------------
 * A parker counts like a semaphore: each unpark lets one park through, whichever comes first, so
 * none is lost and none is spurious. It lives on the stack of the thread that parks, or is kept for
 * the thread by the system's file where it is dear to make. Chosen by PAWL_WAITING (config.h):
 * park_word.c over pawl_os_wait, park_cond.c, park_sem.c. */
#if PAWL_WAITING == PAWL_WAITING_COND
struct pawl_parker {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    uint32_t count;
    uint32_t kept; /* park_cond.c */
};
#elif PAWL_WAITING == PAWL_WAITING_SEM
struct pawl_parker {
    sem_t semaphore;
    uint32_t kept; /* park_sem.c */
};
#else
struct pawl_parker {
    uint32_t count; /* unparks not yet used; UINT32_MAX: asleep */
};
#endif

/* A parker of the calling thread that is in no other use, its count zero: `room` or a kept one.
 * Never allocates. */
struct pawl_parker *PAWL_SYMBOL_(pawl_os_parker)(struct pawl_parker *room);
/* The thread needs it no more, and every unpark of it has been used by a park. */
void PAWL_SYMBOL_(pawl_os_parker_done)(struct pawl_parker *parker);
/* Sleeps until unparked (true; everything before the unpark is seen) or past the deadline (false).
 * The caller's own parker only. */
bool PAWL_SYMBOL_(pawl_os_park)(struct pawl_parker *parker, uint64_t deadline);
/* Touches the parker no more once its thread can have returned from that park (but for a wake by
 * its address, which harms nobody). */
void PAWL_SYMBOL_(pawl_os_unpark)(struct pawl_parker *parker);

/* True when all threads of the process share one CPU: reading in a loop then tells nothing. */
bool PAWL_SYMBOL_(pawl_os_one_cpu)(void);

/* The child of a fork: kept parkers of other threads are free. */
void PAWL_SYMBOL_(pawl_os_parkers_after_fork)(void);

/* Zeroed memory, for ever; NULL when there is none. Not from malloc, whose locks may be ours. */
void *PAWL_SYMBOL_(pawl_os_pages)(size_t size);

/* The one process object, and the caller's slot for its thread line. */
struct pawl_process *PAWL_SYMBOL_(pawl_os_process)(void);
struct pawl_thread_line **PAWL_SYMBOL_(pawl_os_thread_slot)(void);

/* Makes a key whose `at_exit` runs at the end of each thread that armed it, and has `after_fork`
 * run in every child. May allocate: never on a lock path. False when the system has no key left. */
bool PAWL_SYMBOL_(pawl_os_watch_threads)(uint32_t *key, void (*at_exit)(void *),
                                         void (*after_fork)(void));

/* Arms the key for the calling thread. Never allocates: where the system would have to, it does
 * nothing, and the line is taken back when lines run short. */
void PAWL_SYMBOL_(pawl_os_watch_this_thread)(uint32_t key, void *value);

/* Starts thread->body(thread->argument) on a thread of its own, detached, with all signals blocked
 * but those that a thread brings upon itself. *thread stays until the body returns. False: the
 * system has none left. May allocate; not signal-safe (os/start.c). */
bool PAWL_SYMBOL_(pawl_os_start_thread)(struct pawl_own_thread *thread);

/* ---- Restartable sequences (src/os/asymmetric.c) --------------------------------------------- */

/* The calling thread's struct rseq if sequences can be used and shut out, else NULL. */
char *PAWL_SYMBOL_(pawl_os_rseq)(void);

/* A heavy fence that also sends every sequence under way in another thread of the process back to
 * its start. */
void PAWL_SYMBOL_(pawl_os_shut_out)(void);

/* A number that no CPU's number reaches. */
uint32_t PAWL_SYMBOL_(pawl_os_cpu_limit)(void);

/* Has the functions run around every fork: before it, and after it in the parent and the child. */
void PAWL_SYMBOL_(pawl_os_watch_forks)(void (*before)(void), void (*in_parent)(void),
                                       void (*in_child)(void));

/* ---- Reports (src/os/say.c); nothing here allocates ------------------------------------------ */

/* Writes to standard error. */
void PAWL_SYMBOL_(pawl_os_complain)(const char *text, size_t length);

/* The name of a thread of this process, "" where the system does not tell. */
void PAWL_SYMBOL_(pawl_os_thread_name)(uint32_t id, char *text, size_t size);

#if PAWL_CHECKED
/* For the reports of the checking variant (os/posix.c). */

/* Writes into `text` where in the program the call before the return address `site` is: function,
 * file and line if that can be found out before `deadline` (ns of pawl_os_now), and in any case
 * something. */
void PAWL_SYMBOL_(pawl_os_name_site)(pawl_address_ site, char *text, size_t size,
                                     uint64_t deadline);
#endif

PAWL_C_END

#define pawl_os_complain PAWL_SYMBOL_(pawl_os_complain)
#define pawl_os_thread_name PAWL_SYMBOL_(pawl_os_thread_name)
#if PAWL_CHECKED
#define pawl_os_name_site PAWL_SYMBOL_(pawl_os_name_site)
#endif
#define pawl_os_requeue PAWL_SYMBOL_(pawl_os_requeue)
#define pawl_os_parker PAWL_SYMBOL_(pawl_os_parker)
#define pawl_os_parker_done PAWL_SYMBOL_(pawl_os_parker_done)
#define pawl_os_park PAWL_SYMBOL_(pawl_os_park)
#define pawl_os_parkers_after_fork PAWL_SYMBOL_(pawl_os_parkers_after_fork)
#define pawl_os_unpark PAWL_SYMBOL_(pawl_os_unpark)
#define pawl_os_one_cpu PAWL_SYMBOL_(pawl_os_one_cpu)
#define pawl_os_pages PAWL_SYMBOL_(pawl_os_pages)
#define pawl_os_start_thread PAWL_SYMBOL_(pawl_os_start_thread)
#define pawl_os_rseq PAWL_SYMBOL_(pawl_os_rseq)
#define pawl_os_shut_out PAWL_SYMBOL_(pawl_os_shut_out)
#define pawl_os_cpu_limit PAWL_SYMBOL_(pawl_os_cpu_limit)
#define pawl_os_watch_forks PAWL_SYMBOL_(pawl_os_watch_forks)
#define pawl_os_process PAWL_SYMBOL_(pawl_os_process)
#define pawl_os_thread_slot PAWL_SYMBOL_(pawl_os_thread_slot)
#define pawl_os_watch_threads PAWL_SYMBOL_(pawl_os_watch_threads)
#define pawl_os_watch_this_thread PAWL_SYMBOL_(pawl_os_watch_this_thread)
#define pawl_os_now PAWL_SYMBOL_(pawl_os_now)
#define pawl_os_yield PAWL_SYMBOL_(pawl_os_yield)
#define pawl_os_thread_id PAWL_SYMBOL_(pawl_os_thread_id)
#define pawl_os_thread_lives PAWL_SYMBOL_(pawl_os_thread_lives)
#define pawl_os_wait PAWL_SYMBOL_(pawl_os_wait)
#define pawl_os_wake PAWL_SYMBOL_(pawl_os_wake)
#define pawl_os_wait_classes PAWL_SYMBOL_(pawl_os_wait_classes)
#define pawl_os_wake_classes PAWL_SYMBOL_(pawl_os_wake_classes)

#endif
