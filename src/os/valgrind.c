/* SPDX-License-Identifier: MIT */
/*
 * Tells Valgrind's checkers of data races, Helgrind and DRD, what orders threads
 * (include/pawl/detail/told.h). Only the valgrind variant tells it. A request is a few
 * instructions that do nothing, unless Valgrind runs the program.
 *
 * Inside an operation no clock is given or got: the atomic operations there would order the
 * callers. The accesses inside stay unseen as follows:
 *
 *   DRD       is asked not to record the thread's accesses.
 *   Helgrind  3.19 can ignore places, not threads. Atomic operations look like loads to it, since
 *             each store is an exchange (atomic_native.h). So it ignores the places that the
 *             library reads and writes plainly: the objects of the process (shared.h), the pages
 *             that it maps, fields of locks, and what waiters have on their stacks. When the
 *             operation ends, the stack below it becomes new, because Helgrind does not see each
 *             new frame take the place of an old one.
 */
#include "os.h"

#if PAWL_VALGRIND

#if defined(__has_include)
#if !__has_include(<valgrind/helgrind.h>) || !__has_include(<valgrind/drd.h>)
#error "This variant needs the headers of Valgrind. Install the package valgrind."
#endif
#endif
#include <valgrind/helgrind.h>
/* Both tools' macros have the same names; here stand the requests that they are made of. */
#include <valgrind/drd.h>

/* Operations inside operations: only the outermost tells. */
static PAWL_THREAD_VARIABLE_ uint32_t told_depth;

/* The part of the stack that an operation leaves behind. Threads have a guard page of this size
 * below their stacks, so no memory of another thread is in it. */
#define TOLD_STACK 4096u

void pawl_os_told_own(void *memory, size_t size)
{
    VALGRIND_DO_CLIENT_REQUEST_STMT(_VG_USERREQ__HG_ARANGE_MAKE_UNTRACKED, memory, size, 0, 0, 0);
    VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__DRD_START_SUPPRESSION, memory, size, 0, 0, 0);
}

void PAWL_SYMBOL_(pawl_told_plain)(void *memory, size_t size)
{
    VALGRIND_HG_DISABLE_CHECKING(memory, size);
}

static inline void told_drd_records(bool on)
{
    VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__DRD_RECORD_LOADS, on, 0, 0, 0, 0);
    VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__DRD_RECORD_STORES, on, 0, 0, 0, 0);
}

void PAWL_SYMBOL_(pawl_told_hide)(void)
{
    if (told_depth++ != 0)
        return;
    told_drd_records(false);
}

void PAWL_SYMBOL_(pawl_told_show)(void)
{
    if (--told_depth != 0)
        return;
    told_drd_records(true);
    VALGRIND_HG_ENABLE_CHECKING((char *)__builtin_frame_address(0) - TOLD_STACK, TOLD_STACK);
}

/* The two tools number these two requests alike. */
void PAWL_SYMBOL_(pawl_told_give)(const void *clock)
{
    if (told_depth == 0)
        VALGRIND_DO_CLIENT_REQUEST_STMT(_VG_USERREQ__HG_USERSO_SEND_PRE, clock, 0, 0, 0, 0);
}

void PAWL_SYMBOL_(pawl_told_get)(const void *clock)
{
    if (told_depth == 0)
        VALGRIND_DO_CLIENT_REQUEST_STMT(_VG_USERREQ__HG_USERSO_RECV_POST, clock, 0, 0, 0, 0);
}

#endif
