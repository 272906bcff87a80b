/* SPDX-License-Identifier: MIT */
/*
 * The registry of threads. A thread claims the lowest free line, so that a search through all lines
 * stops early (lines_used). An owner may end without giving its line back: its key could not be
 * armed, or it ended by a bare system call. The registry takes such a line back when the thread
 * number comes up again, or when no line is free.
 *
 * Set-up, the end of a thread and fork call the linked subsystems (process.h).
 */
#include "base.h"

/* Without the variant in its name: two variants in one program define it twice, and the linker
 * reports that. Hidden, because two shared objects of one process may differ. */
extern const char pawl_one_variant_per_program_[] PAWL_HIDDEN_;
const char pawl_one_variant_per_program_[] = "Pawl, one variant per program";

enum { SETUP_NOT_BEGUN, SETUP_RUNS, SETUP_DONE };

PAWL_SHARED_DEFINE(struct pawl_process, process_object);

struct pawl_process *pawl_process_(void)
{
    return process_here();
}

/* ---- Subsystems ------------------------------------------------------------------------------ */

#if PAWL_HOOKS

/* Registered once, before any execution, and never undone by one: no access of a model. */
static const struct pawl_subsystem *subsystems[PAWL_FLOORS];

void pawl_subsystem_register_(enum pawl_floor floor, const struct pawl_subsystem *subsystem)
{
    subsystems[floor] = subsystem;
}

static const struct pawl_subsystem *thread_subsystem(unsigned floor)
{
    return subsystems[floor];
}

#else

struct pawl_subsystems {
    pawl_address_ on[PAWL_FLOORS]; /* addresses of struct pawl_subsystem; 0: none is linked */
};

PAWL_SHARED_DECLARE(struct pawl_subsystems, subsystems_object);
PAWL_SHARED_DEFINE(struct pawl_subsystems, subsystems_object);

void pawl_subsystem_register_(enum pawl_floor floor, const struct pawl_subsystem *subsystem)
{
    pawl_address_ *slot = &PAWL_SHARED(struct pawl_subsystems, subsystems_object)->on[floor];
    pawl_address_ found = 0;
    if (PAWL_ADDRESS_(pawl_load_relaxed)(slot) != 0)
        return;
    (void)pawl_os_pin();
    /* [THREAD_SETUP] release: the functions are there before a thread calls them. */
    (void)PAWL_ADDRESS_(pawl_cas_release)(slot, &found, (pawl_address_)(uintptr_t)subsystem,
                                          PAWL_THREAD_SETUP);
}

static const struct pawl_subsystem *thread_subsystem(unsigned floor)
{
    const pawl_address_ *slot = &PAWL_SHARED(struct pawl_subsystems, subsystems_object)->on[floor];
    /* [THREAD_ARM] acquire: the functions of each subsystem that the thread sees are there. */
    const pawl_address_ found = PAWL_ADDRESS_(pawl_load_acquire)(slot, PAWL_THREAD_ARM);
    return (const struct pawl_subsystem *)(uintptr_t)found;
}

#endif

/* Runs the statement for each subsystem that is linked and has the function; `s` is the
 * subsystem. */
#define EACH_SUBSYSTEM(function, statement)                                                        \
    do {                                                                                           \
        unsigned floor_;                                                                           \
        for (floor_ = 0; floor_ < PAWL_FLOORS; floor_++) {                                         \
            const struct pawl_subsystem *const s = thread_subsystem(floor_);                       \
            if (s != NULL && s->function != NULL)                                                  \
                statement;                                                                         \
        }                                                                                          \
    } while (0)

/* ---- The end of a thread --------------------------------------------------------------------- */

static void thread_free_line(struct pawl_thread_line *line)
{
    /* [THREAD_FREE] release: the owner has finished with the line before it is free. */
    pawl_store_release32(&line->owner, 0, PAWL_THREAD_FREE);
}

static void thread_leaves(void *left[PAWL_FLOORS])
{
    unsigned floor;
    for (floor = 0; floor < PAWL_FLOORS; floor++) {
        const struct pawl_subsystem *const s = thread_subsystem(floor);
        left[floor] = s != NULL && s->thread_leaves != NULL ? s->thread_leaves() : NULL;
    }
}

static void thread_has_left(void *const left[PAWL_FLOORS])
{
    EACH_SUBSYSTEM(thread_left, s->thread_left(left[floor_]));
}

/* `line` may be NULL. */
static void thread_exit(struct pawl_thread_line *line)
{
    void *left[PAWL_FLOORS];
    thread_leaves(left);
    if (line != NULL && line == thread_registered()) {
        EACH_SUBSYSTEM(line_leaves, s->line_leaves());
        *pawl_os_thread_slot() = NULL;
        thread_free_line(line);
    }
    thread_has_left(left);
}

void pawl_thread_exit_(void)
{
    struct pawl_thread_line *line = *pawl_os_thread_slot();
    if (line != NULL)
        thread_exit(line);
}

/* Where the slot reads as new by now, the line is still this thread's unless it gave the line
 * back. */
static void thread_restore_slot(void *value)
{
    struct pawl_process *process = process_here();
    struct pawl_thread_line *line = (struct pawl_thread_line *)value;
    const uintptr_t offset = (uintptr_t)value - (uintptr_t)process->lines;
    if (offset < sizeof process->lines && pawl_load_relaxed32(&line->owner) == pawl_os_thread_id())
        *pawl_os_thread_slot() = line;
}

/* Whether a subsystem wants the other destructors to run first. */
static bool thread_stays(struct pawl_thread_line *own)
{
    EACH_SUBSYSTEM(thread_stays, {
        if (s->thread_stays(own))
            return true;
    });
    return false;
}

static void thread_at_exit(void *value)
{
    struct pawl_thread_line *own;
    if (PAWL_OS_SLOT_ENDS_EARLY)
        thread_restore_slot(value);
    own = *pawl_os_thread_slot();
    if (thread_stays(thread_registered())) {
        pawl_os_watch_this_thread(process_here()->exit_key, own != NULL ? (void *)own : value);
        return;
    }
    if (own == NULL)
        thread_exit(NULL); /* it may have sections without a line */
    pawl_thread_exit_();
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static void thread_before_fork(void)
{
    unsigned floor;
    for (floor = PAWL_FLOORS; floor-- > 0;) {
        const struct pawl_subsystem *const s = thread_subsystem(floor);
        if (s != NULL && s->before_fork != NULL)
            s->before_fork();
    }
}

static void thread_after_fork_in_parent(void)
{
    EACH_SUBSYSTEM(after_fork_in_parent, s->after_fork_in_parent());
}

/* The child has one thread, under a new number; no other thread owns a line. */
static void thread_after_fork_in_child(void)
{
    struct pawl_process *process = process_here();
    struct pawl_thread_line *own = thread_registered();
    const uint32_t used = pawl_load_relaxed32(&process->lines_used);
    uint32_t i;
    for (i = 0; i < used; i++)
        if (&process->lines[i] != own)
            thread_free_line(&process->lines[i]);
    drains_forget_sleepers();
    EACH_SUBSYSTEM(after_fork_in_child, s->after_fork_in_child());
    if (own != NULL)
        pawl_store_relaxed32(&own->owner, pawl_os_thread_id());
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

void pawl_thread_watch_(void *value)
{
    struct pawl_process *process = process_here();
    /* [THREAD_ARM] acquire: the key that was made before set-up was declared done. */
    if (pawl_load_acquire32(&process->setup, PAWL_THREAD_ARM) == SETUP_DONE)
        pawl_os_watch_this_thread(process->exit_key, value);
}

static void thread_set_up(void)
{
    struct pawl_process *process = process_here();
    uint32_t begun = SETUP_NOT_BEGUN;
    bool threads, forks;
    if (!pawl_cas_relaxed32(&process->setup, &begun, SETUP_RUNS))
        return; /* another copy of the library has done so */
    (void)pawl_os_pin();
    threads = pawl_os_watch_threads(&process->exit_key, thread_at_exit);
    forks = pawl_os_watch_forks(thread_before_fork, thread_after_fork_in_parent,
                                thread_after_fork_in_child);
    if (threads && forks)
        /* [THREAD_SETUP] release: the key is there before a thread arms it. */
        pawl_store_release32(&process->setup, SETUP_DONE, PAWL_THREAD_SETUP);
    if (pawl_load_relaxed32(&process->setup) == SETUP_DONE && thread_registered() != NULL)
        /* A constructor of the program has already registered it. */
        pawl_os_watch_this_thread(process->exit_key, *pawl_os_thread_slot());
}

#if PAWL_HOOKS
void pawl_set_up_(void)
{
    thread_set_up();
}
#else
/* Before main, or when the object is loaded: the only place where the registry may allocate. */
__attribute__((constructor)) static void thread_set_up_early(void)
{
    thread_set_up();
}
#endif

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Claims the line for the caller if it is free, or was left behind under the caller's number. */
static bool thread_claim_line(struct pawl_thread_line *line, uint32_t previous, uint32_t id)
{
    uint32_t owner = previous;
    if (pawl_load_relaxed32(&line->owner) != previous)
        return false;
    /* [THREAD_CLAIM] acquire: the last owner has finished with the line. */
    if (!pawl_cas_acquire32(&line->owner, &owner, id, PAWL_THREAD_CLAIM))
        return false;
    EACH_SUBSYSTEM(line_claimed, s->line_claimed(thread_number(line), previous != 0));
    return true;
}

static void thread_note_used(struct pawl_process *process, uint32_t used)
{
    uint32_t seen = pawl_load_relaxed32(&process->lines_used);
    while (seen < used && !pawl_cas_relaxed32(&process->lines_used, &seen, used))
        continue;
}

static struct pawl_thread_line *thread_find_line(struct pawl_process *process, uint32_t id)
{
    const uint32_t used = pawl_load_relaxed32(&process->lines_used);
    uint32_t i;
    uint32_t owner;

    for (i = 0; i < used; i++)
        if (thread_claim_line(&process->lines[i], id, id))
            return &process->lines[i];
    for (i = 0; i < PAWL_THREAD_LINES; i++)
        if (thread_claim_line(&process->lines[i], 0, id)) {
            thread_note_used(process, i + 1);
            return &process->lines[i];
        }
    for (i = 0; i < PAWL_THREAD_LINES; i++) {
        owner = pawl_load_relaxed32(&process->lines[i].owner);
        if (!pawl_os_thread_lives(owner) && thread_claim_line(&process->lines[i], owner, id))
            return &process->lines[i];
    }
    return NULL;
}

struct pawl_thread_line *pawl_thread_line_(void)
{
    struct pawl_thread_line **slot = pawl_os_thread_slot();
    struct pawl_process *process = process_here();

#if PAWL_CHECKED
    /* A line that a thread gets in mid-life would not show the locks that it already holds. */
    if (PAWL_UNLIKELY(*slot == &process->no_line))
        return NULL;
#endif
    if (PAWL_LIKELY(*slot != NULL))
        return *slot;
    *slot = thread_find_line(process, pawl_os_thread_id());
    if (*slot != NULL)
        pawl_thread_watch_(*slot);
#if PAWL_CHECKED
    if (*slot == NULL) {
        *slot = &process->no_line;
        return NULL;
    }
#endif
    return *slot;
}
