/* SPDX-License-Identifier: MIT */
/* The process object: the set-up, the end of a thread, and fork. They call the linked subsystems
 * (process.h). thread.c has the lines of threads. */
#include "base.h"
#include "ticket.h"

enum { SETUP_NOT_BEGUN, SETUP_RUNS, SETUP_DONE };

PAWL_SHARED_DEFINE(struct pawl_process, process_object);

struct pawl_process *ipawl_process_(void)
{
    return process_here();
}

#if PAWL_HOOKS
uint32_t ipawl_thread_ticket_(void)
{
    const struct pawl_thread_line *line = thread_registered();
    return line == NULL ? 0 : thread_number(line) + 1;
}
#endif

/* ---- Subsystems ------------------------------------------------------------------------------ */

#if PAWL_HOOKS

/* Registered once, before any execution, and never undone by one: no access of a model. */
static const struct pawl_subsystem *subsystems[PAWL_FLOORS];

void ipawl_subsystem_register_(enum pawl_floor floor, const struct pawl_subsystem *subsystem)
{
    subsystems[floor] = subsystem;
}

const struct pawl_subsystem *ipawl_subsystem_(unsigned floor)
{
    return subsystems[floor];
}

#else

void ipawl_subsystem_register_(enum pawl_floor floor, const struct pawl_subsystem *subsystem)
{
    ipawl_address_ *slot = &process_here()->subsystems[floor];
    ipawl_address_ found = 0;
    if (PAWL_ADDRESS_(pawl_load_relaxed)(slot) != 0)
        return;
    (void)pawl_os_pin();
    /* [THREAD_SETUP] release: the functions are there before a thread calls them. */
    (void)PAWL_ADDRESS_(pawl_cas_release)(slot, &found, (ipawl_address_)(uintptr_t)subsystem,
                                          PAWL_THREAD_SETUP);
}

const struct pawl_subsystem *ipawl_subsystem_(unsigned floor)
{
    const ipawl_address_ *slot = &process_here()->subsystems[floor];
    /* [THREAD_ARM] acquire: the functions of each subsystem that the thread sees are there. */
    const ipawl_address_ found = PAWL_ADDRESS_(pawl_load_acquire)(slot, PAWL_THREAD_ARM);
    return (const struct pawl_subsystem *)(uintptr_t)found;
}

#endif

/* ---- The end of a thread --------------------------------------------------------------------- */

/* By compare-exchange: in the child of a fork by a handler the line may be free, or another's. */
static void thread_free_line(struct pawl_thread_line *line)
{
    uint32_t owner = pawl_load_relaxed32(&line->owner);
    if (owner != 0)
        /* [THREAD_FREE] release: the owner has finished with the line before it is free. */
        (void)pawl_cas_release32(&line->owner, &owner, 0, PAWL_THREAD_FREE);
    if (PAWL_UNLIKELY(pawl_load_relaxed32(&process_here()->full) != 0))
        pawl_store_relaxed32(&process_here()->full, 0);
}

static void thread_leaves(void *left[PAWL_FLOORS])
{
    for (unsigned floor = 0; floor < PAWL_FLOORS; floor++) {
        const struct pawl_subsystem *const s = ipawl_subsystem_(floor);
        left[floor] = s != NULL && s->thread_leaves != NULL ? s->thread_leaves() : NULL;
    }
}

static void thread_has_left(void *const left[PAWL_FLOORS])
{
    EACH_SUBSYSTEM(thread_left, s->thread_left(left[floor_]));
}

static void thread_give_line_back(struct pawl_thread_line *line)
{
    thread_take_ticket_back();
    *pawl_os_thread_slot() = THREAD_BETWEEN;
    HANDLERS_SEE_THIS_ORDER();
    EACH_SUBSYSTEM(line_leaves, s->line_leaves(thread_number(line)));
    thread_free_line(line);
    HANDLERS_SEE_THIS_ORDER();
    *pawl_os_thread_slot() = NULL;
}

static void thread_exit(void)
{
    void *left[PAWL_FLOORS];
    struct pawl_thread_line *line;
    thread_leaves(left);
    line = thread_registered(); /* a handler may have registered the thread meanwhile */
    if (line != NULL)
        thread_give_line_back(line);
    thread_has_left(left);
}

void ipawl_thread_exit_(void)
{
    if (thread_registered() != NULL)
        thread_exit();
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
    own = thread_registered();
    if (thread_stays(own)) {
        pawl_os_watch_this_thread(process_here()->exit_key, own != NULL ? (void *)own : value);
        return;
    }
    thread_exit(); /* a thread without a line may have sections, too */
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static void thread_before_fork(void)
{
    pawl_store_relaxed32(&process_here()->id, pawl_os_process_id());
    (void)pawl_fetch_add_relaxed32(&process_here()->forking, 1);
}

static void thread_after_fork_in_parent(void)
{
    (void)pawl_fetch_sub_relaxed32(&process_here()->forking, 1);
}

/* The child has one thread, under a new number; no other thread owns a line. */
static void thread_after_fork_in_child(void)
{
    struct pawl_process *process = process_here();
    struct pawl_thread_line *own = thread_registered();
    const uint32_t used = pawl_load_relaxed32(&process->lines_used);
    const uint32_t id = pawl_os_process_id();
    if (!PAWL_HOOKS && pawl_load_relaxed32(&process->id) == id)
        return; /* ipawl_meet_fork_ was first */
    pawl_os_own_after_fork();
    pawl_store_relaxed32(&process->id, id);
    pawl_store_relaxed32(&process->forking, 0);
    pawl_store_relaxed32(&process->forks, pawl_load_relaxed32(&process->forks) + 1);
    for (uint32_t i = 0; i < used; i++)
        if (&process->lines[i] != own)
            thread_free_line(&process->lines[i]);
    EACH_SUBSYSTEM(after_fork_in_child, s->after_fork_in_child());
    if (own != NULL)
        pawl_store_relaxed32(&own->owner, pawl_os_thread_id());
}

PAWL_COLD void ipawl_meet_fork_(void)
{
    if (pawl_load_relaxed32(&process_here()->id) != pawl_os_process_id())
        thread_after_fork_in_child();
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

bool ipawl_is_set_up_(void)
{
    /* [THREAD_ARM] acquire: the key that was made before set-up was declared done. */
    return pawl_load_acquire32(&process_here()->setup, PAWL_THREAD_ARM) == SETUP_DONE;
}

void ipawl_thread_watch_(void *value)
{
    if (ipawl_is_set_up_())
        pawl_os_watch_this_thread(process_here()->exit_key, value);
}

void ipawl_set_up_(void)
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
