/* SPDX-License-Identifier: MIT */
/* The reports of the checking variant: composed whole, written at once, one at a time. */
#include "check.h"

#if PAWL_CHECKED

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pawl/seq.h>

#include "../base/base.h"

/* Finding lines may take this long in one report. After that, the report gives offsets. */
#define NS_FOR_LINES UINT64_C(5000000000)

/* The current report, guarded by the report lock. */
static struct {
    size_t length;
    uint64_t deadline;
    int saved_errno;
    struct pawl_check_line *line;
    unsigned calls; /* of the current stack */
    char type[64];  /* of the lock in question */
    const char *mend;
    char text[65536];
} check_said;

void ipawl_report_say_(const char *format, ...)
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

/* ---- Stacks ---------------------------------------------------------------------------------- */

static void report_say_call(const char *text)
{
    ipawl_report_say_("%s%s\n", check_said.calls++ == 0 ? "" : "        called from ", text);
}

void ipawl_report_stack_(const struct pawl_check_stack *stack)
{
    check_said.calls = 0;
    pawl_os_name_calls(stack->frames, PAWL_CHECK_FRAMES, report_say_call, check_said.deadline);
    if (check_said.calls == 0)
        report_say_call("the library itself");
}

/* ---- Locks ----------------------------------------------------------------------------------- */

/* The user's type: a sequence lock's own spinlock lies inside it. */
static ipawl_address_ report_type(uint32_t bits, ipawl_address_ lock, char *text, size_t size)
{
    switch (bits & CHECK_TYPE) {
    case CHECK_SEQ: (void)snprintf(text, size, "pawl_seq"); return lock - offsetof(pawl_seq, lock);
    case CHECK_SEQ_LATCH:
        (void)snprintf(text, size, "pawl_seq_latch");
        return lock - offsetof(pawl_seq_latch, lock);
    case CHECK_SLEEPS: (void)snprintf(text, size, "pawl_lock%u", check_width(bits)); return lock;
    default: (void)snprintf(text, size, "pawl_spin%u", check_width(bits)); return lock;
    }
}

ipawl_address_ ipawl_report_object_(uint32_t bits, ipawl_address_ lock)
{
    char type[sizeof check_said.type];
    return report_type(bits, lock, type, sizeof type);
}

static void report_object(const char *type, ipawl_address_ object)
{
    char name[PAWL_REPORT_NAME];
    char variable[PAWL_REPORT_NAME];
    ipawl_name_of_(object, name, sizeof name);
    pawl_os_name_data(object, variable, sizeof variable);
    ipawl_report_say_("%s at %#lx", type, (unsigned long)object);
    if (name[0] != 0)
        ipawl_report_say_(" \"%s\"", name);
    if (variable[0] != 0)
        ipawl_report_say_(" (%s)", variable);
}

void ipawl_report_lock_(uint32_t bits, ipawl_address_ lock)
{
    char type[sizeof check_said.type];
    const ipawl_address_ object = report_type(bits, lock, type, sizeof type);
    report_object(type, object);
}

/* ---- The mend and the page ------------------------------------------------------------------- */

enum { ANY = -1, R = PAWL_STATE_R, S = PAWL_STATE_S };

static bool report_begins(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static const char *report_mend(const char *what, const char *type, int held)
{
#define PAWL_MEND(headline, of_type, in_state, mend)                                               \
    if (report_begins(what, headline) && report_begins(type, of_type) &&                           \
        ((in_state) == ANY || (in_state) == held))                                                 \
        return mend;
#include "mends.def"
    return "";
}

static const char *report_page(const char *type)
{
#define PAWL_PAGE(of_type, page)                                                                   \
    if (report_begins(type, of_type))                                                              \
        return page;
#include "mends.def"
    return "";
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

static void report_enter(void)
{
    const int saved = errno;
    struct pawl_check_line *line = check_line();
    check_enter(line, &check_here()->report_lock);
    check_said.length = 0;
    check_said.deadline = pawl_os_now() + NS_FOR_LINES;
    check_said.saved_errno = saved;
    check_said.line = line;
}

/* "  by CALL in thread N at PLACE", and where that was called from. */
static void report_say_caller(const char *call, ipawl_address_ site)
{
    struct pawl_check_stack stack;
    ipawl_report_say_("  by %s in thread %u", call, pawl_os_thread_id());
    if (site == 0) {
        ipawl_report_say_("\n");
        return;
    }
    ipawl_report_say_(" at ");
    ipawl_stack_take_(site, NULL, &stack);
    ipawl_report_stack_(&stack);
}

/* The state in which the calling thread has the lock. */
static int report_own_state(ipawl_address_ lock)
{
    const struct pawl_check_line *line = check_said.line;
    const uint32_t used = line == NULL ? 0 : check_used_of(line);
    for (uint32_t i = 0; i < used; i++)
        if (check_lock_of(&line->held[i]) == lock &&
            check_state(check_what_of(&line->held[i])) != PAWL_STATE_U)
            return (int)check_state(check_what_of(&line->held[i]));
    return PAWL_STATE_U;
}

void ipawl_report_open_(const char *what, const char *type, ipawl_address_ object)
{
    report_enter();
    (void)snprintf(check_said.type, sizeof check_said.type, "%.*s", (int)sizeof check_said.type - 1,
                   type);
    check_said.mend = report_mend(what, type, ANY);
    ipawl_report_say_("pawl: %s: ", what);
    report_object(type, object);
    ipawl_report_say_("\n");
}

void ipawl_report_begin_(const char *what, const struct pawl_check_call *call)
{
    char type[sizeof check_said.type];
    const ipawl_address_ object = report_type(call->bits, call->lock, type, sizeof type);
    ipawl_report_open_(what, type, object);
    check_said.mend = report_mend(what, type, report_own_state(call->lock));
    if (call->name != NULL)
        report_say_caller(call->name, call->site);
}

void ipawl_report_end_(enum pawl_report_end end)
{
    const char *mode = getenv("PAWL_CHECK");
    const bool goes_on = end == PAWL_REPORT_NOTICE || (mode != NULL && strcmp(mode, "report") == 0);
    const int saved = check_said.saved_errno;

    ipawl_report_say_("  mend: %s\n  page: %s\n", check_said.mend, report_page(check_said.type));
    pawl_os_complain(check_said.text, check_said.length);
    check_leave(check_said.line, &check_here()->report_lock);
    if (!goes_on)
        abort();
    errno = saved;
}

void ipawl_report_misuse_(const char *what, const char *type, const void *object, const char *call,
                          const void *site)
{
    ipawl_report_open_(what, type, (ipawl_address_)(uintptr_t)object);
    report_say_caller(call, (ipawl_address_)(uintptr_t)site);
    ipawl_report_end_(PAWL_REPORT_FAULT);
}

void ipawl_report_name_(ipawl_address_ site, char *text, size_t size)
{
    const struct pawl_check_stack stack = {{site}};
    report_enter();
    ipawl_report_stack_(&stack);
    check_said.text[strcspn(check_said.text, "\n")] = 0;
    (void)snprintf(text, size, "%s", check_said.text);
    check_leave(check_said.line, &check_here()->report_lock);
    errno = check_said.saved_errno;
}

/* ---- Holders --------------------------------------------------------------------------------- */

static void report_say_holder(const struct pawl_check_holder *holder)
{
    const uint32_t what = holder->what;
    if (holder->self)
        ipawl_report_say_("    this thread ");
    else
        ipawl_report_say_("    thread %u%s ", holder->thread,
                          holder->gone ? ", which is gone," : "");
    if ((what & CHECK_LEAVING) != 0)
        ipawl_report_say_("is leaving %c", check_letter(check_state(what)));
    else if (check_wants(what) == PAWL_STATE_U)
        ipawl_report_say_("holds %c", check_letter(check_state(what)));
    else if (check_state(what) == PAWL_STATE_U)
        ipawl_report_say_("asks for %c", check_letter(check_wants(what)));
    else
        ipawl_report_say_("goes from %c to %c", check_letter(check_state(what)),
                          check_letter(check_wants(what)));
    ipawl_report_say_(", %s at ", check_state(what) == PAWL_STATE_U ? "asked" : "taken");
    ipawl_report_stack_(&holder->stack);
}

static void report_say_word(uint32_t bits, uint64_t w)
{
    const unsigned half = check_width(bits) / 2;
    ipawl_report_say_("    the word was 0x%llx: W %llu, S %llu, R %llu, application %llu\n",
                      (unsigned long long)w, (unsigned long long)(w >> (half + 2)),
                      (unsigned long long)(w >> half & 3),
                      (unsigned long long)(w >> 2 & ((UINT64_C(1) << (half - 2)) - 1)),
                      (unsigned long long)(w & PAWL_SPIN_APPLICATION_BITS));
}

void ipawl_report_holders_(const struct pawl_check_call *call, const struct pawl_check_view *view)
{
    if (check_said.line == NULL)
        ipawl_report_say_("    this thread has no line: what it holds is not known\n");
    else if (!view->own && call->name != NULL)
        ipawl_report_say_("    this thread holds nothing of it\n");
    for (uint32_t i = 0; i < view->count && i < PAWL_VIEW_HOLDERS; i++)
        report_say_holder(&view->holders[i]);
    if (view->count > PAWL_VIEW_HOLDERS)
        ipawl_report_say_("    and %u more\n", view->count - PAWL_VIEW_HOLDERS);
    if (call->site == 0)
        return;
    report_say_word(call->bits, view->word);
    if (!view->sound)
        ipawl_report_say_(
            "    (threads were taking and dropping it: the word is of another instant "
            "than the holders)\n");
}

void ipawl_report_warn_(enum pawl_warning warning)
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
