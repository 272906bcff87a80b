/* SPDX-License-Identifier: MIT */
/*
 * Stacks of calls. The compiler's unwinder finds them by the tables that debuggers and C++
 * exceptions use, so programs without frame pointers have them too. That takes some hundred
 * nanoseconds a call. So a line remembers the stacks that its thread met last, with the places of
 * the return addresses in memory. A stack is known again when the operation was called from the
 * same place, at the same depth, and each place still holds its return address. Only x86 keeps
 * return addresses where that can be read; other CPUs unwind each time.
 */
#include "check.h"

#if PAWL_CHECKED

#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#undef TEXT
#else
#include <unwind.h>
#endif

/* Calls of the library between the unwinder and the program. */
#define FRAMES_OF_OURS 12

static uint32_t stack_walks;      /* 1: the unwinder may be called */
static uint32_t stack_depth_read; /* 0: the environment has not been asked */

/* How many calls a stack keeps: PAWL_CHECK_STACK, or all. */
static unsigned stack_depth(void)
{
    uint32_t depth = pawl_load_relaxed32(&stack_depth_read);
    if (PAWL_UNLIKELY(pawl_load_relaxed32(&stack_walks) == 0))
        return 1;
    if (PAWL_UNLIKELY(depth == 0)) {
        const char *text = getenv("PAWL_CHECK_STACK");
        depth = PAWL_CHECK_FRAMES;
        if (text != NULL && text[0] >= '1' && text[0] < '0' + PAWL_CHECK_FRAMES && text[1] == 0)
            depth = (uint32_t)(text[0] - '0');
        pawl_store_relaxed32(&stack_depth_read, depth);
    }
    return depth;
}

struct walk {
    ipawl_address_ site;
    unsigned seen, used, most;
    bool found; /* the walk has reached the site */
    struct pawl_check_unwound *to;
};

/* False ends the walk. */
static bool stack_add(struct walk *w, uintptr_t ip, uintptr_t at)
{
    w->found = w->found || ip == w->site;
    if (!w->found)
        return ++w->seen < FRAMES_OF_OURS;
    if (ip == 0)
        return false;
    w->to->at[w->used] = at;
    w->to->stack.frames[w->used++] = ip;
    return w->used < w->most;
}

#ifdef _WIN32

static void stack_walk(struct walk *w)
{
    void *frames[FRAMES_OF_OURS + PAWL_CHECK_FRAMES];
    const unsigned count =
        CaptureStackBackTrace(0, FRAMES_OF_OURS + PAWL_CHECK_FRAMES, frames, NULL);
    for (unsigned i = 0; i < count && stack_add(w, (uintptr_t)frames[i], 0); i++)
        continue;
}

#else

static _Unwind_Reason_Code stack_step(struct _Unwind_Context *context, void *opaque)
{
    struct walk *w = (struct walk *)opaque;
    const uintptr_t ip = (uintptr_t)_Unwind_GetIP(context);
    const uintptr_t at = (uintptr_t)_Unwind_GetCFA(context) - sizeof(void *);
    return stack_add(w, ip, at) ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void stack_walk(struct walk *w)
{
    (void)_Unwind_Backtrace(stack_step, w);
}

#endif

#if (defined(__x86_64__) || defined(__i386__)) && !defined(_WIN32)

/* Other threads' tools may not see these reads: they are of the caller's frames. */
__attribute__((no_sanitize("address", "thread"))) static bool
stack_is(const struct pawl_check_unwound *known)
{
    for (unsigned i = 0; i < PAWL_CHECK_FRAMES && known->stack.frames[i] != 0; i++)
        if (known->at[i] == 0 || /* nothing was unwound */
            *(const volatile uintptr_t *)known->at[i] != known->stack.frames[i])
            return false;
    return true;
}

#else

static bool stack_is(const struct pawl_check_unwound *known)
{
    (void)known;
    return false;
}

#endif

static void stack_unwind(ipawl_address_ site, struct pawl_check_unwound *to)
{
    struct walk w = {site, 0, 0, stack_depth(), false, to};
    memset(to, 0, sizeof *to);
    if (w.most > 1)
        stack_walk(&w);
    if (w.used == 0)
        to->stack.frames[0] = site;
}

__attribute__((noinline)) void ipawl_stack_take_(ipawl_address_ site, struct pawl_check_line *line,
                                                 struct pawl_check_stack *stack)
{
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    const bool remembers = line != NULL && line->busy == 0 && stack_depth() > 1;
    struct pawl_check_unwound *const known =
        remembers ? &line->unwound[(frame >> 4 ^ (uintptr_t)site) % PAWL_CHECK_UNWOUND] : NULL;
    struct pawl_check_unwound now;

    if (known != NULL && known->frame == frame && known->stack.frames[0] == site &&
        stack_is(known)) {
        *stack = known->stack;
        return;
    }
    stack_unwind(site, &now);
    *stack = now.stack;
    now.frame = frame;
    if (known == NULL || !stack_is(&now))
        return;
    line->busy++; /* handlers stay out */
    *known = now;
    line->busy--;
}

void ipawl_stack_copy_(struct pawl_check_stack *to, const struct pawl_check_stack *from)
{
    for (unsigned i = 0; i < PAWL_CHECK_FRAMES; i++)
        PAWL_ADDRESS_(pawl_store_relaxed)(&to->frames[i],
                                          PAWL_ADDRESS_(pawl_load_relaxed)(&from->frames[i]));
}

/* The first walk may make tables, which a signal handler must not do. No earlier: a program without
 * shared libraries tells the unwinder of its tables in a constructor of its own. */
__attribute__((constructor)) static void stack_begin(void)
{
    struct pawl_check_unwound unused;
    struct walk w = {0, 0, 0, PAWL_CHECK_FRAMES, true, &unused};
    stack_walk(&w);
    pawl_store_relaxed32(&stack_walks, 1);
}

#endif
