/* SPDX-License-Identifier: MIT */
/*
 * Reports of the checking variant: stacks of calls (check_stack.c), names of locks (check_name.c),
 * and the text (check_report.c). A report is written at once, one at a time, and ends with the
 * remedy and the page. Nothing here allocates.
 */
#ifndef PAWL_CHECK_REPORT_H
#define PAWL_CHECK_REPORT_H

#include "../base/base.h"

#if PAWL_CHECKED

#include <pawl/spin.h>

/* ---- Stacks (check_stack.c) ------------------------------------------------------------------ */

/* Calls that a stack keeps, innermost first; none of them is the library's own. */
#define PAWL_CHECK_FRAMES 8

struct pawl_check_stack {
    ipawl_address_ frames[PAWL_CHECK_FRAMES]; /* return addresses; 0 ends them */
};

/* Stacks that a thread's line remembers, with the places where the stack in memory has them. */
#define PAWL_CHECK_UNWOUND 8u

struct pawl_check_unwound {
    uintptr_t frame; /* of the call that took the stack; 0: none */
    struct pawl_check_stack stack;
    uintptr_t at[PAWL_CHECK_FRAMES];
};

#define ipawl_stack_take_ PAWL_SYMBOL_(pawl_stack_take)
#define ipawl_stack_copy_ PAWL_SYMBOL_(pawl_stack_copy)

/* The calls of the calling thread from the return address `site` outwards. `line`: the caller's,
 * which remembers stacks, or NULL. */
struct pawl_check_line;
void ipawl_stack_take_(ipawl_address_ site, struct pawl_check_line *line,
                       struct pawl_check_stack *stack);
/* For stacks that another thread may be reading or writing. */
void ipawl_stack_copy_(struct pawl_check_stack *to, const struct pawl_check_stack *from);

/* ---- Types ----------------------------------------------------------------------------------- */

/* Beside the width of the word: the type that the user knows. */
#define CHECK_SLEEPS 0x100u
#define CHECK_SEQ 0x200u
#define CHECK_SEQ_LATCH 0x300u
#define CHECK_TYPE 0xf00u

/* ---- Calls ----------------------------------------------------------------------------------- */

/* The kinds of transitions.def. */
enum pawl_check_kind { CHECK_take, CHECK_try, CHECK_claim, CHECK_drop, CHECK_move, CHECK_tells };

/* One operation on one lock. */
struct pawl_check_call {
    ipawl_address_ lock;
    ipawl_address_ site; /* return address of the operation; 0: there is none, nor may the lock be
                         * read */
    const char *name;    /* as the user writes it; NULL: the watch reports other threads */
    uint64_t word;       /* the lock word as the operation met it */
    uint32_t bits;       /* width of the word, and type */
    uint8_t kind;        /* enum pawl_check_kind */
    uint8_t from, to;    /* enum pawl_state */
};

/* ---- Names of locks (check_name.c) ----------------------------------------------------------- */

#define ipawl_name_of_ PAWL_SYMBOL_(pawl_name_of)
#define ipawl_name_forget_ PAWL_SYMBOL_(pawl_name_forget)
#define ipawl_name_after_fork_ PAWL_SYMBOL_(pawl_name_after_fork)

/* Writes the name that the program gave the object, or "". */
void ipawl_name_of_(ipawl_address_ object, char *text, size_t size);
/* The object at the address ends, or begins anew. */
void ipawl_name_forget_(ipawl_address_ object);
void ipawl_name_after_fork_(void);

/* Bytes of a name in a report. */
#define PAWL_REPORT_NAME 256

/* ---- The text (check_report.c) --------------------------------------------------------------- */

#define ipawl_report_open_ PAWL_SYMBOL_(pawl_report_open)
#define ipawl_report_begin_ PAWL_SYMBOL_(pawl_report_begin)
#define ipawl_report_say_ PAWL_SYMBOL_(pawl_report_say)
#define ipawl_report_stack_ PAWL_SYMBOL_(pawl_report_stack)
#define ipawl_report_object_ PAWL_SYMBOL_(pawl_report_object)
#define ipawl_report_lock_ PAWL_SYMBOL_(pawl_report_lock)
#define ipawl_report_holders_ PAWL_SYMBOL_(pawl_report_holders)
#define ipawl_report_end_ PAWL_SYMBOL_(pawl_report_end)
#define ipawl_report_warn_ PAWL_SYMBOL_(pawl_report_warn)
#define ipawl_report_name_ PAWL_SYMBOL_(pawl_report_name)
#define ipawl_report_misuse_ PAWL_SYMBOL_(pawl_report_misuse)

/* Begins a report with its first line. */
void ipawl_report_open_(const char *what, const char *type, ipawl_address_ object);
/* Begins a report with its first lines: the fault and the lock, and the call with its stack. */
void ipawl_report_begin_(const char *what, const struct pawl_check_call *call);
/* Adds text as printf does. */
void ipawl_report_say_(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Adds the innermost call, ends the line, and adds a line for each further call. */
void ipawl_report_stack_(const struct pawl_check_stack *stack);
/* The object that the user knows: the lock, or what it lies in. */
ipawl_address_ ipawl_report_object_(uint32_t bits, ipawl_address_ lock);
/* Adds type, address and name of a progressive lock. */
void ipawl_report_lock_(uint32_t bits, ipawl_address_ lock);

struct pawl_check_view;
/* Adds the threads that hold or want the lock, the caller first, and the fields of the word. */
void ipawl_report_holders_(const struct pawl_check_call *call, const struct pawl_check_view *view);

/* How a report ends. */
enum pawl_report_end {
    PAWL_REPORT_FAULT, /* aborts the program, unless PAWL_CHECK=report */
    PAWL_REPORT_NOTICE /* the program goes on */
};
/* Adds the remedy and the page, and prints the report. */
void ipawl_report_end_(enum pawl_report_end end);

/* "pawl: WHAT: TYPE at ADDRESS", with the thread, the call and its stack, the remedy and the
 * page. Then, as after every report of a fault, the program ends, unless PAWL_CHECK=report. */
void ipawl_report_misuse_(const char *what, const char *type, const void *object, const char *call,
                          const void *site);

/* Writes the place of the call before the return address. Outside reports. */
void ipawl_report_name_(ipawl_address_ site, char *text, size_t size);

/* One line, once in a process. */
enum pawl_warning { PAWL_WARN_NO_LINE, PAWL_WARN_HELD, PAWL_WARN_ORDERS };
void ipawl_report_warn_(enum pawl_warning warning);

/* "R" for PAWL_STATE_R, and so on. */
static inline char check_letter(unsigned state)
{
    return "URSWA?????"[state < 5 ? state : 5];
}

#endif
#endif
