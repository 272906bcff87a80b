/* SPDX-License-Identifier: MIT */
/*
 * The registry of threads: one line for each thread that needs one, in one array, so that others
 * can go through all of them. The data of a subsystem for each thread lie in arrays of its own,
 * by the index of the line. Internal to the library; programs need nothing of it, and the release
 * variant's spinlocks do not use it. The part that inline functions read stands in that
 * subsystem's own header in pawl/detail; the rest is in src/.
 *
 * A thread's first use registers it and its end gives the line back. Registration never allocates:
 * the lines are reserved (PAWL_THREAD_LINES; untouched pages cost no memory). A thread beyond them
 * has no line and learns that at once; each primitive says how it serves such a thread. A primitive
 * may reserve memory for fewer lines, and serves the threads of further lines in the same way.
 *
 * Each subsystem has one object for the process, however many plug-ins carry a copy of the library
 * (on Linux and FreeBSD; elsewhere one for each copy).
 */
#ifndef PAWL_THREAD_H
#define PAWL_THREAD_H

#include <pawl/detail/own.h>

/* Reserved lines. More threads than this at once leave the rest without one. */
#if UINTPTR_MAX > UINT32_MAX && !PAWL_HOOKS
#define PAWL_THREAD_LINES 32768
#else
#define PAWL_THREAD_LINES 1024
#endif

/* 1 where a thread can have a ticket: on systems on which light fences may be free. */
#if PAWL_HOOKS || defined(__linux__)
#define PAWL_THREAD_TICKETS_ 1
#else
#define PAWL_THREAD_TICKETS_ 0
#endif

struct pawl_process;

PAWL_C_BEGIN

/* The caller's line, registered now if need be; NULL when all lines are taken. Never allocates.
 * Async-signal-safe. */
PAWL_API struct pawl_thread_line *PAWL_SYMBOL_(pawl_thread_line)(void);

/* Gives the caller's line back; the end of a thread does it by itself. */
PAWL_API void PAWL_SYMBOL_(pawl_thread_exit)(void);

/* PAWL_THREAD_TICKET_: 0, or the number of the caller's line + 1. For inline functions: a thread
 * with a ticket has that line until it ends, and its light fences cost nothing. Without a ticket
 * they call a compiled function. A ticket is the thread's own word and goes before its line does;
 * the thread's handlers may use it. */
#if PAWL_HOOKS
PAWL_API uint32_t PAWL_SYMBOL_(pawl_thread_ticket)(void);
#define ipawl_thread_ticket_ PAWL_SYMBOL_(pawl_thread_ticket)
#define PAWL_THREAD_TICKET_ ipawl_thread_ticket_()
#else
#define PAWL_THREAD_TICKET_ PAWL_OWN_.ticket
#endif

/* The registry's own object, the same for every copy of the library in the process. */
PAWL_API struct pawl_process *PAWL_SYMBOL_(pawl_process)(void);

#if PAWL_HOOKS
/* Each copy of the library does this before main, or when it is loaded. */
PAWL_API void PAWL_SYMBOL_(pawl_set_up)(void);
#define ipawl_set_up_ PAWL_SYMBOL_(pawl_set_up)

/* Zeroes all that is process-wide: a new execution begins. */
PAWL_API void PAWL_SYMBOL_(pawl_forget)(void);
#define ipawl_forget_ PAWL_SYMBOL_(pawl_forget)
#endif

PAWL_C_END

#define ipawl_thread_line_ PAWL_SYMBOL_(pawl_thread_line)
#define ipawl_thread_exit_ PAWL_SYMBOL_(pawl_thread_exit)
#define ipawl_process_ PAWL_SYMBOL_(pawl_process)

#endif
