/* SPDX-License-Identifier: MIT */
/*
 * The ground of the recorder: what all of it shares, the short lock of the process's tables, and
 * whether it may still make system calls of its own (sandbox.c says why it might not).
 *
 * One word has a bit that says so, and counts the threads that are in a call. All changes of it are
 * in one order, as it is one word: who was counted before the bit came is waited for.
 *
 * The tables have one spinning lock. A caller waits for it some 20 ms at most, and sleeps, so that
 * a holder of lower priority runs. A handler that interrupts the holder does not come here.
 */
#include "state.h"

#include <sys/syscall.h>

#include <pawl/spin.h>

#define CLOSED UINT32_C(0x80000000)

enum { LONGEST_WAIT = 1 << 22 }; /* pauses; a handler may have interrupted a call of its thread */
enum { TRIES = 500, SHORT_TRIES = 100 };

_Thread_local struct trace_self trace_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
struct trace_control *trace_control;
uint64_t trace_window;
bool trace_tsc;

static uint32_t gate;
static pawl_spin32 tables;

bool trace_calls_are_over(void)
{
    return (pawl_load_relaxed32(&gate) & CLOSED) != 0;
}

bool trace_may_call(void)
{
    if (trace_calls_are_over())
        return false;
    if ((pawl_fetch_add_relaxed32(&gate, 1) & CLOSED) == 0)
        return true;
    trace_has_called();
    return false;
}

void trace_has_called(void)
{
    (void)pawl_fetch_sub_relaxed32(&gate, 1);
}

void trace_calls_end(void)
{
    uint32_t found = pawl_load_relaxed32(&gate), i;
    while (!pawl_cas_relaxed32(&gate, &found, found | CLOSED))
        continue;
    for (i = 0; i < LONGEST_WAIT && pawl_load_relaxed32(&gate) != CLOSED; i++)
        pawl_cpu_relax();
}

void trace_tables_in_child(void)
{
    gate &= CLOSED; /* threads that were in a call are not here */
    pawl_spin32_init(&tables);
}

bool trace_tables_try(void)
{
    static const struct timespec moment = {0, 50000};
    for (uint32_t i = 0; i < TRIES; i++) {
        if (pawl_spin32_try_write(&tables))
            return true;
        if (i < SHORT_TRIES || !trace_may_call()) {
            pawl_cpu_relax();
        } else { /* not by the C library's call, which could end the thread if it was cancelled */
            (void)next()->syscall(SYS_nanosleep, &moment, NULL);
            trace_has_called();
        }
    }
    (void)pawl_fetch_add_relaxed32(&trace_control->busy, 1);
    return false;
}

void trace_tables_done(void)
{
    pawl_spin32_drop_write(&tables);
}
