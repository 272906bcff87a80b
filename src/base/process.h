/* SPDX-License-Identifier: MIT */
/*
 * The internals of the registry of threads (thread.c): the process object, and the subsystems.
 * These take part in the set-up, in the end of a thread and in fork.
 *
 * The registry knows no subsystem by name. Each one that is linked registers its functions in the
 * slot of its floor, before main or when its object is loaded. The first copy of the library in the
 * process that has a subsystem registers it, and that copy stays loaded.
 */
#ifndef PAWL_PROCESS_H
#define PAWL_PROCESS_H

#include <pawl/thread.h>

#include "../os/os.h"

PAWL_C_BEGIN

/* ---- The process object ---------------------------------------------------------------------- */

/* The order of the calls: from the lowest floor up. */
enum pawl_floor {
    PAWL_FLOOR_DRAIN,
    PAWL_FLOOR_CHECK,
    PAWL_FLOOR_LOCK,
    PAWL_FLOOR_ENTRIES,
    PAWL_FLOOR_COUNT,
    PAWL_FLOOR_RCU,
    PAWL_FLOOR_CALLS, /* of RCU */
    PAWL_FLOORS
};

struct pawl_thread_line {
    uint32_t owner; /* thread id, 0: free. Claimed and freed by compare-exchange. */
};

struct pawl_process {
    uint32_t setup;      /* 0 not begun, 1 one thread runs it, 2 done */
    uint32_t exit_key;   /* the system's key for thread exit, valid when setup is 2 */
    uint32_t lines_used; /* lines[lines_used...] have never been claimed */
    uint32_t forks;      /* grows in the child of each fork */
    uint32_t full;       /* 1: a search found no free line, and none has become free since */
    uint32_t refused;    /* how often a thread was refused a line without a search; about */
    uint32_t looked;     /* lines that were looked at for a dead owner */
    uint32_t forking;    /* threads that are in a fork */
    uint32_t id;         /* of the process, when a thread forks */
#if !PAWL_HOOKS
    ipawl_address_ subsystems[PAWL_FLOORS]; /* of their struct pawl_subsystem; 0: none is linked */
#endif
    struct pawl_thread_line lines[PAWL_THREAD_LINES];
};

/* Values in the slot of a thread that has no line there: NULL, or one of these. BETWEEN: the
 * thread claims its line or gives it back; its handlers have none. NONE: all lines were taken. */
#define THREAD_BETWEEN ((struct pawl_thread_line *)(uintptr_t)1)
#define THREAD_NONE ((struct pawl_thread_line *)(uintptr_t)2)

PAWL_SHARED_DECLARE(struct pawl_process, process_object);

static inline struct pawl_process *process_here(void)
{
    return PAWL_SHARED(struct pawl_process, process_object);
}

/* In the child of a fork the program's own handlers of pthread_atfork may run before the library's,
 * and use what it has. So each function that may wait for another thread, or work on what one has
 * left, calls this first. */
#define ipawl_meet_fork_ PAWL_SYMBOL_(pawl_meet_fork)
void ipawl_meet_fork_(void);
static inline void process_sees_forks(void)
{
    if (!PAWL_HOOKS && PAWL_UNLIKELY(pawl_load_relaxed32(&process_here()->forking) != 0))
        ipawl_meet_fork_();
}

/* ---- Subsystems ------------------------------------------------------------------------------ */

/* The functions of a subsystem; NULL: none. */
struct pawl_subsystem {
    /* The caller has claimed a line, and no other thread knows of it yet. `left_behind`: its last
     * owner had the same number, or ended without giving it back. */
    void (*line_claimed)(uint32_t number, bool left_behind);

    /* The end of the calling thread; `own` is its line or NULL. In this order:
     *   thread_stays    another key's destructor may yet put something right: once more, later
     *   thread_leaves   for every thread; what it returns goes to thread_left
     *   line_leaves     the line is still the thread's; only where it has one. Handlers have none.
     *   thread_left     the line is free, and may be another thread's by now */
    bool (*thread_stays)(struct pawl_thread_line *own);
    void *(*thread_leaves)(void);
    void (*line_leaves)(uint32_t number);
    void (*thread_left)(void *left);

    /* The child has one thread, under a new number; the other lines are free. The parent's
     * other threads are cut off between any two of their stores. Nothing is held before a fork:
     * handlers of pthread_atfork that run later may wait for any lock, and for any thread. */
    void (*after_fork_in_child)(void);
};

/* Does nothing if another copy of the library has done it. */
#define ipawl_subsystem_register_ PAWL_SYMBOL_(pawl_subsystem_register)
void ipawl_subsystem_register_(enum pawl_floor floor, const struct pawl_subsystem *subsystem);

/* The registered functions of a floor, or NULL. */
#define ipawl_subsystem_ PAWL_SYMBOL_(pawl_subsystem)
const struct pawl_subsystem *ipawl_subsystem_(unsigned floor);

/* Runs the statement for each subsystem that is linked and has the function; `s` is the
 * subsystem. */
#define EACH_SUBSYSTEM(function, statement)                                                        \
    do {                                                                                           \
        unsigned floor_;                                                                           \
        for (floor_ = 0; floor_ < PAWL_FLOORS; floor_++) {                                         \
            const struct pawl_subsystem *const s = ipawl_subsystem_(floor_);                       \
            if (s != NULL && s->function != NULL)                                                  \
                statement;                                                                         \
        }                                                                                          \
    } while (0)

/* Sets the registry up, once per process: the ends of threads and forks are watched from now on.
 * May allocate. */
#define ipawl_set_up_ PAWL_SYMBOL_(pawl_set_up)
void ipawl_set_up_(void);

/* Whether that is done. */
#define ipawl_is_set_up_ PAWL_SYMBOL_(pawl_is_set_up)
bool ipawl_is_set_up_(void);

/* The same as ipawl_subsystem_register_; a program that calls it sets the registry up before main
 * (early.c). */
#define ipawl_subsystem_register_early_ PAWL_SYMBOL_(pawl_subsystem_register_early)
void ipawl_subsystem_register_early_(enum pawl_floor floor, const struct pawl_subsystem *subsystem);

/* Registers before main and before the constructors of the program. */
#define PAWL_SUBSYSTEM(floor, subsystem)                                                           \
    PAWL_OS_EARLY static void PAWL_CAT_(register_, subsystem)(void)                                \
    {                                                                                              \
        ipawl_subsystem_register_early_(floor, &(subsystem));                                      \
    }                                                                                              \
    struct pawl_subsystem /* the user's semicolon ends it */

/* ---- The calling thread ---------------------------------------------------------------------- */

static inline bool thread_is_line(const struct pawl_thread_line *value)
{
    return (uintptr_t)value > (uintptr_t)THREAD_NONE;
}

/* Between two accesses of a thread to its own memory: its handlers see them in this order. */
#define HANDLERS_SEE_THIS_ORDER() __asm__ __volatile__("" ::: "memory")

/* Its line if it has one; registers no thread. */
static inline struct pawl_thread_line *thread_registered(void)
{
    struct pawl_thread_line *line = *pawl_os_thread_slot();
    return thread_is_line(line) ? line : NULL;
}

static inline uint32_t thread_number(const struct pawl_thread_line *line)
{
    return (uint32_t)(line - process_here()->lines);
}

/* Arms the exit key for the calling thread, if the set-up is done. `value` is not NULL. */
#define ipawl_thread_watch_ PAWL_SYMBOL_(pawl_thread_watch)
void ipawl_thread_watch_(void *value);

PAWL_C_END

#endif
