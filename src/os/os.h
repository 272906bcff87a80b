/* SPDX-License-Identifier: MIT */
/*
 * What the library asks of the system, and the only place from which it does. One file here per
 * system; the hook variant answers from the hooks instead (os/hook.c).
 */
#ifndef PAWL_OS_H
#define PAWL_OS_H

#include <pawl/thread.h>

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

/* Wakes at most `count` threads that sleep on the address; returns how many. The address may belong
 * to memory that is already freed. */
unsigned PAWL_SYMBOL_(pawl_os_wake)(const uint32_t *address, unsigned count);

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

#if PAWL_CHECKED
/* For the reports of the checking variant (os/posix.c). None of them allocates. */

/* Writes to standard error. */
void PAWL_SYMBOL_(pawl_os_complain)(const char *text, size_t length);

/* Writes into `text` where in the program the call before the return address `site` is: function,
 * file and line if that can be found out before `deadline` (ns of pawl_os_now), and in any case
 * something. */
void PAWL_SYMBOL_(pawl_os_name_site)(pawl_address_ site, char *text, size_t size,
                                     uint64_t deadline);
#endif

PAWL_C_END

#if PAWL_CHECKED
#define pawl_os_complain PAWL_SYMBOL_(pawl_os_complain)
#define pawl_os_name_site PAWL_SYMBOL_(pawl_os_name_site)
#endif
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

#endif
