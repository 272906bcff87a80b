/* SPDX-License-Identifier: MIT */
/* The reports of the checking variant: composed whole, written at once, one at a time. */
#include "check.h"

#if PAWL_CHECKED

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../os/os.h"

/* Finding lines may take this long in one report; after that, offsets must do. */
#define NS_FOR_LINES UINT64_C(5000000000)

/* The report at work, guarded by report_lock of the process. */
static struct {
    size_t length;
    uint64_t deadline;
    int saved_errno;
    struct pawl_thread_line *line;
    char text[16384];
} report;

void pawl_report_say_(const char *format, ...)
{
    const size_t room = sizeof report.text - report.length;
    va_list arguments;
    int length;
    va_start(arguments, format);
    length = vsnprintf(report.text + report.length, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        report.length += (size_t)length < room ? (size_t)length : room - 1;
}

void pawl_report_at_(pawl_address_ site)
{
    static char name[2048];
    pawl_os_name_site(site, name, sizeof name, report.deadline);
    pawl_report_say_("%s\n", name);
}

void pawl_report_begin_(const char *what, const struct pawl_check_call *call)
{
    const int saved = errno;
    struct pawl_thread_line *line = pawl_thread_line_();

    check_enter(line, &pawl_os_process()->report_lock);
    report.length = 0;
    report.deadline = pawl_os_now() + NS_FOR_LINES;
    report.saved_errno = saved;
    report.line = line;
    pawl_report_say_("pawl: %s: pawl_%s%u at %#lx\n", what, check_type(call->bits),
                     check_width(call->bits),
                     (unsigned long)call->lock);
    pawl_report_say_("  by %s in thread %u", call->name, pawl_os_thread_id());
    if (call->site == 0) {
        pawl_report_say_("\n");
        return;
    }
    pawl_report_say_(" at ");
    pawl_report_at_(call->site);
}

static void say_holder(const struct pawl_held *held, uint32_t thread, bool self)
{
    const uint32_t what = check_what_of(held);
    if (self)
        pawl_report_say_("    this thread ");
    else
        pawl_report_say_("    thread %u ", thread);
    if ((what & CHECK_LEAVING) != 0)
        pawl_report_say_("is leaving %c", check_letter(check_state(what)));
    else if (check_wants(what) == PAWL_STATE_U)
        pawl_report_say_("holds %c", check_letter(check_state(what)));
    else if (check_state(what) == PAWL_STATE_U)
        pawl_report_say_("asks for %c", check_letter(check_wants(what)));
    else
        pawl_report_say_("goes from %c to %c", check_letter(check_state(what)),
                         check_letter(check_wants(what)));
    pawl_report_say_(", %s at ", check_state(what) == PAWL_STATE_U ? "asked" : "taken");
    pawl_report_at_(check_site_of(held));
}

/* Says all entries of one line for the lock, as far as `room` goes; returns how many there are. */
static uint32_t say_holds_of(const struct pawl_thread_line *line, pawl_address_ lock, bool self,
                             uint32_t room)
{
    const uint32_t owner = pawl_load_relaxed32(&line->owner);
    const uint32_t used = owner == 0 ? 0 : check_used_of(line);
    uint32_t found = 0;
    uint32_t i;
    for (i = 0; i < used; i++)
        if (check_lock_of(&line->held[i]) == lock && found++ < room)
            say_holder(&line->held[i], owner, self);
    return found;
}

#define MOST_HOLDERS 8u

void pawl_report_holders_(const struct pawl_check_call *call)
{
    struct pawl_process *process = pawl_os_process();
    const uint32_t lines = pawl_load_relaxed32(&process->lines_used);
    const uint32_t half = check_width(call->bits) / 2;
    const uint64_t w = call->word;
    uint32_t found;
    uint32_t i;

    if (report.line == NULL)
        pawl_report_say_("    this thread has no line: what it holds is not known\n");
    else if (say_holds_of(report.line, call->lock, true, MOST_HOLDERS) == 0)
        pawl_report_say_("    this thread holds nothing of it\n");
    for (i = 0, found = 0; i < lines; i++)
        if (&process->lines[i] != report.line)
            found += say_holds_of(&process->lines[i], call->lock, false,
                                  MOST_HOLDERS - (found < MOST_HOLDERS ? found : MOST_HOLDERS));
    if (found > MOST_HOLDERS)
        pawl_report_say_("    and %u more\n", found - MOST_HOLDERS);
    if (call->site != 0)
        pawl_report_say_("    the word was 0x%llx: W %llu, S %llu, R %llu, application %llu\n",
                         (unsigned long long)w, (unsigned long long)(w >> (half + 2)),
                         (unsigned long long)(w >> half & 3),
                         (unsigned long long)(w >> 2 & ((UINT64_C(1) << (half - 2)) - 1)),
                         (unsigned long long)(w & PAWL_SPIN_APPLICATION_BITS));
}

void pawl_report_end_(void)
{
    const char *mode = getenv("PAWL_CHECK");
    const bool goes_on = mode != NULL && strcmp(mode, "report") == 0;
    const int saved = report.saved_errno;

    pawl_os_complain(report.text, report.length);
    check_leave(report.line, &pawl_os_process()->report_lock);
    if (!goes_on)
        abort();
    errno = saved;
}

void pawl_report_warn_(enum pawl_warning warning)
{
    static const char *const texts[] = {
        "pawl: warning: more threads than the checking variant has lines for; some go unchecked\n",
        "pawl: warning: a thread holds more locks than the checking variant can note\n",
        "pawl: warning: the table of lock orders is full; further orders go unchecked\n",
    };
    struct pawl_process *process = pawl_os_process();
    const uint32_t bit = UINT32_C(1) << warning;
    const int saved = errno;
    if ((pawl_load_relaxed32(&process->warned) & bit) == 0 &&
        (pawl_fetch_or_relaxed32(&process->warned, bit) & bit) == 0)
        pawl_os_complain(texts[warning], strlen(texts[warning]));
    errno = saved;
}

#endif
