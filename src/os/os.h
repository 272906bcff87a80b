/* SPDX-License-Identifier: MIT */
/*
 * The library's requests to the system; no other code calls the system. One file here per system.
 * In the hook variant the hooks answer instead (os/hook.c).
 */
#ifndef PAWL_OS_H
#define PAWL_OS_H

#include <pawl/thread.h>

#include "point.h"
#include "shared.h"

/* For names that several sources of the library share: static where src/pawl.c compiles them as
 * one. Sources compiled alone share hidden symbols, whose names carry version and variant
 * (names.h). */
#ifdef PAWL_ONE_FILE_
#define PAWL_INTERNAL static __attribute__((unused))
#define PAWL_INTERNAL_FAST static inline __attribute__((unused)) /* part of a fast path */
#else
#include "../names.h"
#define PAWL_INTERNAL PAWL_HIDDEN_
#define PAWL_INTERNAL_FAST PAWL_HIDDEN_
#endif
#define PAWL_NORETURN __attribute__((noreturn))
/* A function of a header that not every includer uses. */
#define PAWL_STATIC static __attribute__((unused))

/* Each object asks for the mark of its variant (variant.c), in a section that no program keeps. */
#define pawl_variant_mark PAWL_SYMBOL_(pawl_variant_mark)
extern PAWL_HIDDEN_ const char pawl_variant_mark[1];
#if defined(__ELF__)
#define PAWL_OS_TEXT_(name) #name
#define PAWL_OS_TEXT(name) PAWL_OS_TEXT_(name)
__asm__(".pushsection .pawl.variant,\"e\"\n\t"
        ".long " PAWL_OS_TEXT(pawl_variant_mark) "\n\t"
                                                 ".popsection");
#undef PAWL_OS_TEXT_
#undef PAWL_OS_TEXT
#endif

PAWL_C_BEGIN

#define PAWL_NO_DEADLINE UINT64_MAX

/* Nanoseconds of CLOCK_MONOTONIC. Async-signal-safe. */
uint64_t PAWL_SYMBOL_(pawl_os_now)(void);

/* Yields the CPU to another thread that can run. */
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

/* The same between processes, for shared memory at any address in each process. The sleeper belongs
 * to some classes, a bit each. A wake wakes the sleepers that belong to one of its own classes.
 * Where the system cannot wait on the address, the call yields and returns true. */
bool PAWL_SYMBOL_(pawl_os_wait_classes)(const uint32_t *address, uint32_t expected,
                                        uint32_t classes, uint64_t deadline);
unsigned PAWL_SYMBOL_(pawl_os_wake_classes)(const uint32_t *address, uint32_t classes,
                                            unsigned count);

/* Wakes `wake` sleepers of `from` and lets `move` more of them sleep at `to`. A system that cannot
 * move sleepers wakes these too. Returns how many it woke or moved. */
unsigned PAWL_SYMBOL_(pawl_os_requeue)(const uint32_t *from, const uint32_t *to, unsigned wake,
                                       unsigned move);

/* True when all threads of the process share one CPU: reading in a loop then tells nothing. */
bool PAWL_SYMBOL_(pawl_os_one_cpu)(void);
/* Linux: the CPU time of the process over the CPUs that it may use, in ns; 0: not known. */
uint64_t PAWL_SYMBOL_(pawl_os_used)(void);

/* Zeroed memory, for ever; NULL when there is none. Not from malloc, which may use locks of this
 * library. */
void *PAWL_SYMBOL_(pawl_os_pages)(size_t size);

/* Gives the memory of pages back to the system; they stay, and read zero. False when nothing was
 * done: the size is no whole number of pages, or the system cannot. */
bool PAWL_SYMBOL_(pawl_os_return_pages)(void *pages, size_t size);

/* Unmaps pages that no thread has touched. */
void PAWL_SYMBOL_(pawl_os_give_up_pages)(void *pages, size_t size);

/* The caller's block, the same for all copies of the library; made at the first call. Signal-safe.
 * Ends the program where the system has no memory and OWN_AT_HAND threads have a block without. */
#if PAWL_OWN_IS_POINTER_
PAWL_SHARED_FROM_(thread_own);
struct pawl_own *PAWL_SYMBOL_(pawl_os_own_make)(void) __attribute__((returns_nonnull));
#define pawl_os_own_make PAWL_SYMBOL_(pawl_os_own_make)
static inline struct pawl_own *pawl_os_own(void)
{
    struct pawl_own *const own = *PAWL_SHARED_PLACE(struct pawl_own *, thread_own);
    return PAWL_LIKELY(own->owner != 0) ? own : pawl_os_own_make();
}

/* In the child of a fork, where the caller has another number. */
void PAWL_SYMBOL_(pawl_os_own_after_fork)(void);
#define pawl_os_own_after_fork PAWL_SYMBOL_(pawl_os_own_after_fork)
#else
#if !PAWL_HOOKS
static inline struct pawl_own *pawl_os_own(void)
{
    return &ipawl_thread_own_;
}
#endif
#define pawl_os_own_after_fork() ((void)0)
#endif

/* The caller's slot for its thread line, the same for all copies of the library. Where
 * PAWL_OS_SLOT_ENDS_EARLY is 1, the slot may read as new when the destructor of the thread's key
 * runs. */
struct pawl_thread_line **PAWL_SYMBOL_(pawl_os_thread_slot)(void);
#if defined(__APPLE__) && !PAWL_HOOKS
#define PAWL_OS_SLOT_ENDS_EARLY 1
#else
#define PAWL_OS_SLOT_ENDS_EARLY 0
#endif

/* A constructor that runs before those of the program. */
#ifdef __APPLE__ /* which has no constructor priorities */
#define PAWL_OS_EARLY __attribute__((constructor))
#else
#define PAWL_OS_EARLY __attribute__((constructor(101)))
#endif

/* Keeps this copy of the library loaded from now on, because the whole process is about to know its
 * functions. False: the system refuses. */
bool PAWL_SYMBOL_(pawl_os_pin)(void);

/* Makes a key whose `at_exit` runs at the end of each thread that armed it. May allocate: never on
 * a lock path. False when the system has no key left. */
bool PAWL_SYMBOL_(pawl_os_watch_threads)(uint32_t *key, void (*at_exit)(void *));

/* Arms the key for the calling thread. Never allocates: where the system would have to, it does
 * nothing. The registry then takes the line back when lines run short. */
void PAWL_SYMBOL_(pawl_os_watch_this_thread)(uint32_t key, void *value);

/* Starts thread->body(thread->argument) on a detached thread of its own. All signals are blocked
 * there except those that a thread raises itself. Scheduling and CPUs are the process's and not the
 * caller's. *thread stays until the body returns. False: the system has no thread left. May
 * allocate; not signal-safe (os/start.c). */
struct pawl_own_thread {
    void (*body)(void *argument);
    void *argument;
    const char *name; /* for the system's tools; at most 15 characters */
};
bool PAWL_SYMBOL_(pawl_os_start_thread)(struct pawl_own_thread *thread);

/* ---- Restartable sequences (src/os/asymmetric.c) --------------------------------------------- */

/* The calling thread's struct rseq if it can use sequences and others can shut them out, else
 * NULL. */
char *PAWL_SYMBOL_(pawl_os_rseq)(void);

/* A heavy fence that also sends every unfinished sequence of the process's other threads back to
 * its start. */
void PAWL_SYMBOL_(pawl_os_shut_out)(void);

/* From now on light fences are full ones and no sequence begins, in every copy of the library. No
 * thread has a line, and none passes a light fence meanwhile. */
void PAWL_SYMBOL_(pawl_os_fences_strong)(void);

/* Whether it is so already. */
bool PAWL_SYMBOL_(pawl_os_fences_are_strong)(void);

/* A number greater than every CPU's number. */
uint32_t PAWL_SYMBOL_(pawl_os_cpu_limit)(void);

/* Has the functions run around every fork: before it, and after it in the parent and the child.
 * False when there is no memory for that. */
bool PAWL_SYMBOL_(pawl_os_watch_forks)(void (*before)(void), void (*in_parent)(void),
                                       void (*in_child)(void));
uint32_t PAWL_SYMBOL_(pawl_os_process_id)(void);

/* ---- Reports (src/os/say.c); nothing here allocates ------------------------------------------ */

/* Writes to standard error. Writes nothing where descriptor 2 is no longer the file that it was
 * when this was loaded (not in the checking variant). */
void PAWL_SYMBOL_(pawl_os_complain)(const char *text, size_t length);
/* From now on it is the file that it is now: for tests, which redirect it. */
void PAWL_SYMBOL_(pawl_os_remember_errors)(void);

/* Whether the library may write to the descriptor: 0, or an errno (os/tell.c). */
int PAWL_SYMBOL_(pawl_os_may_tell)(int descriptor);
/* Makes the descriptor readable, by a write that does not wait. Signal-safe. */
void PAWL_SYMBOL_(pawl_os_tell)(int descriptor);

/* The name of a thread of this process, "" where the system does not tell. */
void PAWL_SYMBOL_(pawl_os_thread_name)(uint32_t id, char *text, size_t size);

#if PAWL_CHECKED
/* For the reports of the checking variant (os/posix.c). */

/* Says the calls before the return addresses, innermost first, one text each: function, file and
 * line if they can be found before `deadline` (ns of pawl_os_now). An address may be several calls,
 * of inlined functions. The library's own functions are passed over, and what called the program's
 * first function. Says something of the first address if the system knows nothing. */
void PAWL_SYMBOL_(pawl_os_name_calls)(const ipawl_address_ *sites, unsigned count,
                                      void (*say)(const char *text), uint64_t deadline);

/* Writes the name of the global variable, or of the function, at the address (os/symbol.c), with
 * the offset in it; "" where there is none. */
void PAWL_SYMBOL_(pawl_os_name_data)(ipawl_address_ address, char *text, size_t size);
void PAWL_SYMBOL_(pawl_os_name_function)(ipawl_address_ address, char *text, size_t size);
#endif

PAWL_C_END

#define pawl_os_complain PAWL_SYMBOL_(pawl_os_complain)
#define pawl_os_remember_errors PAWL_SYMBOL_(pawl_os_remember_errors)
#define pawl_os_thread_name PAWL_SYMBOL_(pawl_os_thread_name)
#if PAWL_CHECKED
#define pawl_os_name_calls PAWL_SYMBOL_(pawl_os_name_calls)
#define pawl_os_name_data PAWL_SYMBOL_(pawl_os_name_data)
#define pawl_os_name_function PAWL_SYMBOL_(pawl_os_name_function)
#endif
#define pawl_os_may_tell PAWL_SYMBOL_(pawl_os_may_tell)
#define pawl_os_tell PAWL_SYMBOL_(pawl_os_tell)
#define pawl_os_requeue PAWL_SYMBOL_(pawl_os_requeue)
#define pawl_os_one_cpu PAWL_SYMBOL_(pawl_os_one_cpu)
#define pawl_os_used PAWL_SYMBOL_(pawl_os_used)
#define pawl_os_pin PAWL_SYMBOL_(pawl_os_pin)
#define pawl_os_pages PAWL_SYMBOL_(pawl_os_pages)
#define pawl_os_give_up_pages PAWL_SYMBOL_(pawl_os_give_up_pages)
#define pawl_os_return_pages PAWL_SYMBOL_(pawl_os_return_pages)
#define pawl_os_start_thread PAWL_SYMBOL_(pawl_os_start_thread)
#define pawl_os_rseq PAWL_SYMBOL_(pawl_os_rseq)
#define pawl_os_shut_out PAWL_SYMBOL_(pawl_os_shut_out)
#define pawl_os_fences_strong PAWL_SYMBOL_(pawl_os_fences_strong)
#define pawl_os_fences_are_strong PAWL_SYMBOL_(pawl_os_fences_are_strong)
#define pawl_os_cpu_limit PAWL_SYMBOL_(pawl_os_cpu_limit)
#define pawl_os_process_id PAWL_SYMBOL_(pawl_os_process_id)
#define pawl_os_watch_forks PAWL_SYMBOL_(pawl_os_watch_forks)
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

#include "priority.h"
#include "robust.h"

#endif
