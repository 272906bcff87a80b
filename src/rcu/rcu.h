/* SPDX-License-Identifier: MIT */
/* The parts of RCU share this: what stands below all others (rcu_state.c), readers (rcu.c,
 * rcu_extra.c), grace periods (rcu_grace.c), stalls (rcu_stall.c) and callbacks (rcu_call.c). The
 * index of a domain names it. */
#ifndef PAWL_RCU_INSIDE_H
#define PAWL_RCU_INSIDE_H

#ifndef PAWL_COMPILED_
#define PAWL_COMPILED_ /* as in src/pawl.c */
#endif

#include <pawl/rcu.h>

#include "../base/base.h"
#include "../check/check.h"

/* ---- What is one per process ----------------------------------------------------------------- */

struct pawl_rcu_stall;

/* The grace periods of one domain. The driver changes the fields without a remark. */
struct pawl_rcu_state {
    uint32_t taken;        /* the domain exists; by compare-exchange */
    ipawl_address_ driver; /* the driver of the grace period: its struct pawl_rcu_mine, or 0 */
    uint32_t turn;         /* grows when a reader that the driver sleeps for has left */
    uint32_t ended;        /* grows when a grace period has ended, or its driver has stopped */
    uint32_t sleepers;     /* threads that wait for `ended` to grow; by atomic additions */
    uint32_t noted;        /* 1: the readers of grace period `started` have been noted */
    uint32_t lines;        /* how many words were noted */
    /* Numbers of grace periods begun and ended: equal, or one is in progress. */
    uint64_t started __attribute__((aligned(8)));
    uint64_t completed __attribute__((aligned(8)));
    /* Threads without a line are counted on two sides in turn, by atomic additions. */
    uint32_t apart[2] __attribute__((aligned(PAWL_CACHE_LINE)));
    uint32_t side;         /* the side that counts readers that enter */
    uint32_t apart_old;    /* a bit for each side that had readers when they were noted */
    uint32_t apart_waited; /* the driver sleeps for one of them */
    /* Hints, by plain stores (rcu_looks.h): expedited calls that poll no longer than others. */
    uint32_t skip_polling; /* so many more of them */
    uint32_t skipped;      /* so many when long polling was last useless, halved by each success */
    uint32_t short_polls;  /* so many more polls look few times */
    const char *name;
    /* For the stall detector, rcu_stall.c. */
    uint64_t stall_ns __attribute__((aligned(8)));
    uint64_t stall_since __attribute__((aligned(8))); /* when the readers were noted */
    uint64_t stall_age __attribute__((aligned(8)));   /* the age at the last report */
    ipawl_address_ stall_look; /* void (*)(uint32_t index) of rcu_stall.c, once asked for */
    void (*stall_report)(const struct pawl_rcu_stall *stall, void *argument);
    void *stall_argument;
    /* The words of the readers that the driver still waits for, 0 for the others. */
    uint32_t old[PAWL_RCU_LINES] __attribute__((aligned(PAWL_CACHE_LINE)));
};

/* A line of a thread to which the registry has none to give (rcu_extra.c). */
struct pawl_rcu_extra {
    struct pawl_rcu_line line;
    uint32_t owner;                 /* thread id, 0: free */
    uint32_t old[PAWL_RCU_DOMAINS]; /* as pawl_rcu_state.old */
};

/* A block is 128 KiB of pages. All blocks together serve as many threads as Linux has at most. */
#define RCU_EXTRA_IN_BLOCK 1024u
#define RCU_EXTRA_BLOCKS 4096u

struct pawl_rcu {
    struct pawl_latch stalls; /* guards the domains' settings of stalls and of workers */
    struct pawl_rcu_line lines[PAWL_RCU_LINES];
    struct pawl_rcu_state states[PAWL_RCU_DOMAINS];
#if !PAWL_HOOKS
    ipawl_address_ extra[RCU_EXTRA_BLOCKS]; /* blocks of extra lines; 0: not mapped yet */
    uint32_t looked;                        /* extra lines that were looked at for a dead owner */
#else
    struct pawl_rcu_mine mine[2 * PAWL_RCU_LINES]; /* one per thread; half of them have no line */
#endif
};

PAWL_SHARED_DECLARE(struct pawl_rcu, rcu_object);

static inline struct pawl_rcu *rcu_here(void)
{
    return PAWL_SHARED(struct pawl_rcu, rcu_object);
}

static inline uint32_t rcu_nesting(uint32_t word)
{
    return word & PAWL_RCU_NESTING_;
}

static inline uint32_t rcu_load_word(const struct pawl_rcu_line *line, uint32_t index)
{
    return pawl_load_relaxed32(&line->read[index]);
}

static inline struct pawl_rcu_line *rcu_line_of(const struct pawl_thread_line *line)
{
    const size_t number = line == NULL ? PAWL_RCU_LINES : (size_t)(line - process_here()->lines);
    return number < PAWL_RCU_LINES ? &rcu_here()->lines[number] : NULL;
}

/* For what a thread notes of itself: the compiler keeps the order that the thread's handlers see.
 * No instruction. */
static inline void rcu_for_handlers(void)
{
    __asm__ __volatile__("" ::: "memory");
}

/* A checker of races is told this (rcu_told.h) where the library itself leaves a section for the
 * caller, and where it goes on after a grace period. */
#if PAWL_TOLD_ && !PAWL_HOOKS
#define RCU_TOLD_LEFT(index) ipawl_told_give_(ipawl_rcu_clock_(index))
#define RCU_TOLD_OVER(index) ipawl_told_get_(ipawl_rcu_clock_(index))
#else
#define RCU_TOLD_LEFT(index) ((void)(index))
#define RCU_TOLD_OVER(index) ((void)(index))
#endif

/* ---- Readers and grace periods (rcu_state.c) ------------------------------------------------- */

/* The caller's line, of the registry or an extra one; NULL if it has none. */
PAWL_INTERNAL struct pawl_rcu_line *rcu_line_of_caller(const struct pawl_rcu_mine *mine);
PAWL_INTERNAL void rcu_have_line(struct pawl_rcu_mine *mine, struct pawl_rcu_line *line);
PAWL_INTERNAL struct pawl_rcu_state *rcu_state(uint32_t index);
PAWL_INTERNAL const char *rcu_name(uint32_t index);
/* Leaves the sections in a line, for as many new ones: `nesting`, mostly 0. */
PAWL_INTERNAL void rcu_leave_line(struct pawl_rcu_line *line, uint32_t index, uint32_t nesting);
/* Leaves the sections in a line whose owner is dead; the caller owns it now. */
PAWL_INTERNAL void rcu_line_left_behind(struct pawl_rcu_line *line);
/* The child of a fork: no thread drives, except the caller (in a signal handler that forks). */
PAWL_INTERNAL void rcu_grace_after_fork(struct pawl_rcu_state *state,
                                        const struct pawl_rcu_mine *mine);
#if PAWL_CHECKED
/* Reports "WHAT: rcu domain NAME" for that call, made at that return address. */
PAWL_INTERNAL void rcu_misuse(const char *what, uint32_t index, const char *call, const void *site);
/* The calling thread ends in a section. */
PAWL_INTERNAL void rcu_left_open(uint32_t index);
#define RCU_LEFT_OPEN(index) rcu_left_open(index)
#else
#define RCU_LEFT_OPEN(index) ((void)(index))
#endif

/* ---- Extra lines (rcu_extra.c) --------------------------------------------------------------- */

#if PAWL_HOOKS /* the threads of a harness beyond its lines are counted */

static inline struct pawl_rcu_extra *rcu_extra(uint32_t number)
{
    (void)number;
    return NULL;
}

static inline uint32_t rcu_extra_lines(void)
{
    return 0;
}

static inline struct pawl_rcu_line *rcu_extra_claim(struct pawl_rcu_mine *mine)
{
    (void)mine;
    return NULL;
}

static inline void rcu_extra_give_back(struct pawl_rcu_mine *mine)
{
    (void)mine;
}

static inline void rcu_extra_settle(uint32_t id)
{
    (void)id;
}

static inline void rcu_extra_after_fork(const struct pawl_rcu_mine *mine)
{
    (void)mine;
}

#else

/* The extra line of that number, below rcu_extra_lines(). */
PAWL_INTERNAL struct pawl_rcu_extra *rcu_extra(uint32_t number);
PAWL_INTERNAL uint32_t rcu_extra_lines(void);
/* Gives the caller an extra line; NULL: there is no page for it. The caller has none yet. */
PAWL_INTERNAL struct pawl_rcu_line *rcu_extra_claim(struct pawl_rcu_mine *mine);
/* The caller has left all sections, and ends. */
PAWL_INTERNAL void rcu_extra_give_back(struct pawl_rcu_mine *mine);
/* Frees the extra lines that a dead thread of the caller's number, `id`, has left behind. */
PAWL_INTERNAL void rcu_extra_settle(uint32_t id);
/* The child of a fork: the caller's line has its new number, the others are free. */
PAWL_INTERNAL void rcu_extra_after_fork(const struct pawl_rcu_mine *mine);

#endif

/* The lines of readers have numbers: those of the registry, and behind them the extra lines.
 * `used`: the registry's lines that have been used. Returns how many numbers there are. */
static inline uint32_t rcu_lines(uint32_t used)
{
    const uint32_t extra = rcu_extra_lines();
    if (extra != 0)
        return PAWL_RCU_LINES + extra;
    return used < PAWL_RCU_LINES ? used : PAWL_RCU_LINES;
}

static inline struct pawl_rcu_line *rcu_line(uint32_t number)
{
    return number < PAWL_RCU_LINES ? &rcu_here()->lines[number]
                                   : &rcu_extra(number - PAWL_RCU_LINES)->line;
}

static inline const uint32_t *rcu_line_owner(uint32_t number)
{
    return number < PAWL_RCU_LINES ? &process_here()->lines[number].owner
                                   : &rcu_extra(number - PAWL_RCU_LINES)->owner;
}

/* Where the domain's driver has noted the word of that line. */
static inline uint32_t *rcu_line_old(struct pawl_rcu_state *state, uint32_t number)
{
    return number < PAWL_RCU_LINES
               ? &state->old[number]
               : &rcu_extra(number - PAWL_RCU_LINES)->old[state - rcu_here()->states];
}

/* ---- Grace periods (rcu_grace.c) ------------------------------------------------------------- */

/* The cookie of the grace period that must end before the caller frees what it removed; costs a
 * full fence and a load. The cookies of a domain only grow; cookie 0 is over. Signal-safe. */
PAWL_INTERNAL uint64_t rcu_start(uint32_t index);
/* Whether the grace period is over, by one acquire load; drives nothing. */
PAWL_INTERNAL bool rcu_over(uint32_t index, uint64_t cookie);
/* The same, but drives the grace period as far as possible without waiting. Signal-safe. */
PAWL_INTERNAL bool rcu_poll(uint32_t index, uint64_t cookie);
/* Returns when the grace period is over. Does not check whether the caller reads. `looks`: how
 * often the driver looks at the readers before it sleeps; RCU_LOOKS or more. */
PAWL_INTERNAL void rcu_wait(uint32_t index, uint64_t cookie, unsigned looks);
#if PAWL_HOOKS
#define RCU_LOOKS 0u /* a harness tests the sleep */
#else
#define RCU_LOOKS 10u
#endif

/* ---- Callbacks (rcu_call.c) ------------------------------------------------------------------ */

/* The part of callbacks in the above. A program without callbacks does not contain them. */
struct rcu_calls_face {
    struct pawl_subsystem subsystem; /* first member */

    /* Ends the domain's callbacks: returns when none is left and its worker does not run. */
    void (*end)(pawl_rcu_domain *d);

    /* The caller is about to wait for quiescent states, and has waited. In a callback this tells
     * the online threads that wait for callbacks of its domain: they would wait for themselves. */
    void (*rest_begin)(void);
    void (*rest_end)(void);
};

/* NULL: no copy of the library in the process has callbacks. */
static inline const struct rcu_calls_face *rcu_calls_here(void)
{
    return (const struct rcu_calls_face *)(const void *)ipawl_subsystem_(PAWL_FLOOR_CALLS);
}

/* ---- Readers (rcu.c) ------------------------------------------------------------------------- */

/* Whether the caller is in a section of the domain (for PAWL_RCU_QS_: online). In a section it
 * must not wait for a grace period of that domain. Signal-safe. */
PAWL_INTERNAL bool rcu_inside(uint32_t index);
/* Whether the caller is in a section of any domain except PAWL_RCU_QS_. */
PAWL_INTERNAL bool rcu_inside_any(void);
/* A caller that waits for a grace period of quiescent states holds no reference meanwhile. These
 * take the caller offline, whether it was online or not, and back to its former state. */
PAWL_INTERNAL uint32_t rcu_rest_begin(void);
PAWL_INTERNAL void rcu_rest_end(uint32_t was);
/* A quiescent state: the caller stays online throughout, also for its handlers. */
PAWL_INTERNAL void rcu_rest(void);

/* Enters a section, or leaves one; false if the caller is in none. */
PAWL_INTERNAL void rcu_enter(uint32_t index);
PAWL_INTERNAL bool rcu_leave(uint32_t index);
/* The number of nested sections that the caller is in. */
PAWL_INTERNAL uint32_t rcu_depth(uint32_t index);

/* ---- Stalls (rcu_stall.c) -------------------------------------------------------------------- */

/* The age at which the old readers are reported next; 0: the domain reports none. */
PAWL_INTERNAL uint64_t rcu_stall_next_age(struct pawl_rcu_state *state);

/* Ends the program: the caller asked for something that can never happen. */
PAWL_INTERNAL PAWL_NORETURN void rcu_never(const char *call, const char *why);

/* ---- The checking variant -------------------------------------------------------------------- */

#if PAWL_CHECKED
/* The caller is about to destroy the domain: reports a misuse if a thread still reads. */
PAWL_INTERNAL void rcu_nobody_reads(uint32_t index, const void *site);
#define RCU_NOBODY_READS(index, site) rcu_nobody_reads(index, site)
#else
#define RCU_NOBODY_READS(index, site) ((void)(index), (void)(site))
#endif

#endif
