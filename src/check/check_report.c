/* SPDX-License-Identifier: MIT */
/* The reports of the checking variant: composed whole, written at once, one at a time. */
#include "check.h"

#if PAWL_CHECKED

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/base.h"

/* Finding lines may take this long in one report. After that, the report gives offsets. */
#define NS_FOR_LINES UINT64_C(5000000000)

/* The current report, guarded by the report lock. */
static struct {
    size_t length;
    uint64_t deadline;
    int saved_errno;
    struct pawl_check_line *line;
    char text[16384];
} check_said;

void pawl_report_say_(const char *format, ...)
{
    const size_t room = sizeof check_said.text - check_said.length;
    va_list arguments;
    int length;
    va_start(arguments, format);
    length = vsnprintf(check_said.text + check_said.length, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        check_said.length += (size_t)length < room ? (size_t)length : room - 1;
}

void pawl_report_at_(pawl_address_ site)
{
    static char name[2048];
    pawl_os_name_site(site, name, sizeof name, check_said.deadline);
    pawl_report_say_("%s\n", name);
}

void pawl_report_begin_(const char *what, const struct pawl_check_call *call)
{
    const int saved = errno;
    struct pawl_check_line *line = check_line();

    check_enter(line, &check_here()->report_lock);
    check_said.length = 0;
    check_said.deadline = pawl_os_now() + NS_FOR_LINES;
    check_said.saved_errno = saved;
    check_said.line = line;
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

static void report_say_holder(const struct pawl_held *held, uint32_t thread, bool self)
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
static uint32_t report_say_holds_of(const struct pawl_check_line *line, pawl_address_ lock,
                                    bool self,
                                    uint32_t room)
{
    const uint32_t owner = check_owner(line);
    const uint32_t used = owner == 0 ? 0 : check_used_of(line);
    uint32_t found = 0;
    uint32_t i;
    for (i = 0; i < used; i++)
        if (check_lock_of(&line->held[i]) == lock && found++ < room)
            report_say_holder(&line->held[i], owner, self);
    return found;
}

#define MOST_HOLDERS 8u

void pawl_report_holders_(const struct pawl_check_call *call)
{
    const uint32_t lines = check_lines_used();
    const uint32_t half = check_width(call->bits) / 2;
    const uint64_t w = call->word;
    uint32_t found;
    uint32_t i;

    if (check_said.line == NULL)
        pawl_report_say_("    this thread has no line: what it holds is not known\n");
    else if (report_say_holds_of(check_said.line, call->lock, true, MOST_HOLDERS) == 0)
        pawl_report_say_("    this thread holds nothing of it\n");
    for (i = 0, found = 0; i < lines; i++)
        if (&check_here()->lines[i] != check_said.line)
            found += report_say_holds_of(&check_here()->lines[i], call->lock, false,
                                         MOST_HOLDERS -
                                             (found < MOST_HOLDERS ? found : MOST_HOLDERS));
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
    const int saved = check_said.saved_errno;

    pawl_os_complain(check_said.text, check_said.length);
    check_leave(check_said.line, &check_here()->report_lock);
    if (!goes_on)
        abort();
    errno = saved;
}

void pawl_report_misuse_(const char *what, const char *type, const void *object, const char *call,
                         const void *site)
{
    static char text[4096]; /* guarded by the report lock, which the name of the site needs */
    const char *mode = getenv("PAWL_CHECK");
    const int saved = errno;
    struct pawl_check_line *line = check_line();
    size_t length;

    check_enter(line, &check_here()->report_lock);
    (void)snprintf(text, sizeof text, "pawl: %s: %s at %#lx\n  by %s in thread %u at ", what, type,
                   (unsigned long)(uintptr_t)object, call, pawl_os_thread_id());
    length = strlen(text);
    pawl_os_name_site((pawl_address_)(uintptr_t)site, text + length, sizeof text - length - 1,
                      pawl_os_now() + UINT64_C(5000000000));
    length = strlen(text);
    text[length++] = '\n';
    pawl_os_complain(text, length);
    check_leave(line, &check_here()->report_lock);
    if (mode == NULL || strcmp(mode, "report") != 0)
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
    const uint32_t bit = UINT32_C(1) << warning;
    const int saved = errno;
    if ((pawl_load_relaxed32(&check_here()->warned) & bit) == 0 &&
        (pawl_fetch_or_relaxed32(&check_here()->warned, bit) & bit) == 0)
        pawl_os_complain(texts[warning], strlen(texts[warning]));
    errno = saved;
}

#endif
