/* SPDX-License-Identifier: MIT */
/*
 * What a thread did with its processor: how long it ran, how often it left it of its own accord,
 * and how long it was ready to run and had none. And what it is called.
 *
 * The last is the second number of /proc/thread-self/schedstat. No descriptor stays open, so a look
 * opens the file: two microseconds, a dozen times a window at most. A program that has sandboxed
 * itself could be killed for each of these calls; so there is no look any more (sandbox.c). The
 * calls are the kernel's, as those of the C library could end a thread that was cancelled.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

struct usage {
    uint64_t cpu, left; /* ns; voluntary switches */
};

static bool look(struct usage *u)
{
    struct timespec cpu;
    struct rusage used;
    bool done;
    if (!trace_may_call())
        return false;
    done =
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) == 0 && getrusage(RUSAGE_THREAD, &used) == 0;
    trace_has_called();
    if (!done)
        return false; /* never, where the C library is 2.30 */
    u->cpu = (uint64_t)cpu.tv_sec * UINT64_C(1000000000) + (uint64_t)cpu.tv_nsec;
    u->left = (uint64_t)used.ru_nvcsw;
    trace_self.lane->cpu_seen = u->cpu;
    return true;
}

/* The program may have named the thread since the last look. */
static bool look_with_name(struct usage *u)
{
    if (trace_may_call()) {
        (void)next()->syscall(SYS_prctl, PR_GET_NAME, trace_self.lane->name, 0, 0, 0);
        trace_has_called();
    }
    return look(u);
}

void trace_note_processor(void)
{
    struct usage u;
    (void)look_with_name(&u);
}

/* Both are within 2^63. */
static uint64_t ns_of(uint64_t ticks)
{
    return (uint64_t)((double)ticks * 1e6 / (double)trace_window);
}

/* ---- Time for which a thread was kept off its processor -------------------------------------- */

static uint64_t number_at(const char **at)
{
    uint64_t n = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        n = n * 10 + (uint64_t)(**at - '0');
    if (**at == ' ')
        (*at)++;
    return n;
}

/* Three numbers: ns ran, ns kept off, how often it began to run. Where the kernel does not count,
 * all are 0. */
static uint64_t kept_off(void)
{
    const int saved = errno;
    char text[96];
    const char *at = text;
    long file;
    if (!trace_may_call())
        return TRACE_NOT_KNOWN;
    file =
        next()->syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    long length = file < 0 ? -1 : next()->syscall(SYS_read, file, text, sizeof text - 1);
    if (file >= 0)
        (void)next()->syscall(SYS_close, file);
    trace_has_called();
    errno = saved;
    text[length > 0 ? length : 0] = 0;
    (void)number_at(&at);
    uint64_t kept = number_at(&at);
    uint64_t times = number_at(&at);
    return times == 0 ? TRACE_NOT_KNOWN : kept;
}

/* ---- Priority -------------------------------------------------------------------------------- */

/* A program may change it at any time, so each wait looks again. */
void trace_look_at_priority(void)
{
    const int saved = errno;
    if (!trace_may_call())
        return;
    int policy = sched_getscheduler(0);
    trace_has_called();
    errno = saved;
    trace_self.realtime = policy == SCHED_FIFO || policy == SCHED_RR ? TRACE_REALTIME : 0;
}

/* ---- Windows --------------------------------------------------------------------------------- */

/* A thread that has run since the first look was not kept off: that saves the file. */
void trace_window_looks_at_clock(struct trace_window *w, uint64_t now)
{
    struct usage u;
    if (!look_with_name(&u)) {
        if (w->count == 1) { /* what an earlier window left there says nothing of this one */
            w->cpu_last = w->cpu_first;
            w->at_last = w->at_first;
            w->left_last = w->left_first;
            w->kept_first = w->kept_last = TRACE_NOT_KNOWN;
        }
        return;
    }
    if (w->count == 1) {
        w->cpu_first = u.cpu;
        w->at_first = now;
        w->left_first = u.left;
        w->kept_first = w->kept_last = kept_off();
    } else if (w->kept_first != TRACE_NOT_KNOWN &&
               ns_of(now - w->at_first) > u.cpu - w->cpu_first + TRACE_SOME_NS) {
        w->kept_last = kept_off();
    }
    w->left_last = u.left;
    w->cpu_last = u.cpu;
    w->at_last = now;
}

/* ---- Long holds ------------------------------------------------------------------------------ */

void trace_look_at_processor(struct trace_hold *h)
{
    struct usage u;
    if (trace_self.lane->depth != 1)
        return;
    bool done = look(&u);
    trace_self.seen_at = trace_ticks();
    trace_self.seen_cpu = done ? u.cpu : 0;
    trace_self.seen_left = done ? u.left : UINT64_MAX;
    h->since = trace_self.seen_at;
}

/* The look may be from some time before: that is counted as if the thread had been off then. */
bool trace_was_only_kept_off(uint64_t since, uint64_t now)
{
    const uint64_t passed = ns_of(now - trace_self.seen_at),
                   before = ns_of(since - trace_self.seen_at);
    struct usage u;
    if (trace_self.seen_at == 0 || trace_self.seen_at > since || !look(&u) ||
        u.left != trace_self.seen_left)
        return false;
    return passed > before + (u.cpu - trace_self.seen_cpu) + (passed - before) / 2;
}
