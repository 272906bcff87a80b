/* SPDX-License-Identifier: MIT */
/* Of the checking variant: a lock's holders at one instant, waits that cannot end, and waits that
 * take long. Include check.h. */
#ifndef PAWL_CHECK_VIEW_H
#define PAWL_CHECK_VIEW_H

#include "check.h"

#if PAWL_CHECKED

/* ---- check_view.c ---------------------------------------------------------------------------- */

#define ipawl_check_view_ PAWL_SYMBOL_(pawl_check_view)
#define ipawl_check_glance_ PAWL_SYMBOL_(pawl_check_glance)
#define ipawl_units_of_ PAWL_SYMBOL_(pawl_units_of)
#define ipawl_units_most_ PAWL_SYMBOL_(pawl_units_most)

/* A thread that holds or wants the lock. */
struct pawl_check_holder {
    uint32_t thread, what;
    bool self, gone; /* the caller; a thread that does not exist any more */
    struct pawl_check_stack stack;
};

#define PAWL_VIEW_HOLDERS 8u

struct pawl_check_view {
    uint64_t word;  /* 0 where it was not asked for */
    bool sound;     /* word and holders are of one instant */
    bool own;       /* the caller is among the holders */
    uint32_t count; /* of all holders, of which holders[] has the first */
    uint32_t gone;  /* of them without a thread */
    uint64_t sw, r; /* the most that the others can have in the word */
    struct pawl_check_holder holders[PAWL_VIEW_HOLDERS]; /* the caller's first */
};

/* `reads`: the lock's memory may be read. */
void ipawl_check_view_(const struct pawl_check_call *call, bool reads,
                       struct pawl_check_view *view);

/* At one look, which need not be of one instant, beside the word that the call met. */
void ipawl_check_glance_(const struct pawl_check_call *call, struct pawl_check_view *view);

struct pawl_check_units {
    uint64_t sw; /* of the field made of S and W, in units of S */
    uint64_t r;
};

/* The most that an entry can have in the word. `atomics`: there are atomic users, so a waiting
 * reader or seeker may escalate, and then it claims a writer's units. */
struct pawl_check_units ipawl_units_of_(uint32_t what, bool atomics);
/* The same at any instant, whatever the others do. */
struct pawl_check_units ipawl_units_most_(uint32_t what);

/* ---- check_awaits.c -------------------------------------------------------------------------- */

#define ipawl_check_awaits_ PAWL_SYMBOL_(pawl_check_awaits)
#define ipawl_check_lose_ PAWL_SYMBOL_(pawl_check_lose)
#define ipawl_check_forget_lost_ PAWL_SYMBOL_(pawl_check_forget_lost)

/* The call waits if the word stays as it met it: reports a word whose holders do not exist. */
void ipawl_check_awaits_(const struct pawl_check_call *call);

/* The entry's thread has ended, or belongs to the parent of a fork. */
void ipawl_check_lose_(const struct pawl_held *held);
void ipawl_check_forget_lost_(ipawl_address_ lock);

/* ---- check_watch.c --------------------------------------------------------------------------- */

#define ipawl_check_watch_ PAWL_SYMBOL_(pawl_check_watch)
#define ipawl_wait_begins_ PAWL_SYMBOL_(pawl_wait_begins)
#define ipawl_wait_ends_ PAWL_SYMBOL_(pawl_wait_ends)
#define ipawl_check_watch_after_fork_ PAWL_SYMBOL_(pawl_check_watch_after_fork)

/* The calling thread is about to wait: starts the watch if PAWL_CHECK_WAIT asks for one. */
void ipawl_check_watch_(void);
void ipawl_check_watch_after_fork_(void);

/* Around a wait for an object that has no entries; `holder`: the thread that has it, 0 if that is
 * not known. */
void ipawl_wait_begins_(const char *type, const void *object, const char *call, uint32_t holder,
                        const void *site);
void ipawl_wait_ends_(void);

#endif
#endif
