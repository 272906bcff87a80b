/* SPDX-License-Identifier: MIT */
/*
 * The registry of threads. A thread claims the lowest free line, so that a search through all lines
 * stops early (lines_used). An owner may end without giving its line back: its key could not be
 * armed, or it ended by a bare system call. The registry takes such a line back when the thread
 * number comes up again. Before it uses a line for the first time, or where none is free, it looks
 * at some lines for dead owners.
 *
 * A thread for which no line is free is refused by a load, until a line becomes free. A line may
 * become free unseen, because its owner is dead, or because a search missed it. So one refusal in
 * many leads to a search.
 *
 * A signal handler may run between any two instructions, register its thread, and fork. It finds
 * one of these in the thread's slot:
 *
 *   no line    the handler registers the thread. The interrupted thread takes this line: it sets
 *              THREAD_BETWEEN by compare-exchange, which fails after such a handler.
 *   BETWEEN    the thread claims a line or gives it back. The handler goes without a line.
 *   a line     it is the thread's, and complete: no other thread can claim it.
 *
 * In the child of a fork by such a handler the line has been freed, or has the parent's number. The
 * child sees `forks` grow, and claims the line again.
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

static void thread_give_line_back(struct pawl_thread_line *line)
{
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

void pawl_thread_exit_(void)
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
    pawl_store_relaxed32(&process->forks, pawl_load_relaxed32(&process->forks) + 1);
    for (i = 0; i < used; i++)
        if (&process->lines[i] != own)
            thread_free_line(&process->lines[i]);
    pawl_drains_after_fork();
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

/* So many lines are used before the registry looks for dead owners. */
#define LINES_AT_WILL 1024u

/* Lines that one search looks at for dead owners: a system call each. */
#define LINES_LOOKED_AT 16u

/* A refusal of so many, by all threads together, leads to a search. */
#define REFUSALS_BEFORE_A_SEARCH 1024u

/* Continues where the last search ended. */
static struct pawl_thread_line *thread_claim_of_the_dead(struct pawl_process *process, uint32_t id)
{
    const uint32_t used = pawl_load_relaxed32(&process->lines_used);
    const uint32_t first = pawl_fetch_add_relaxed32(&process->looked, LINES_LOOKED_AT);
    uint32_t i;
    for (i = 0; i < LINES_LOOKED_AT && i < used; i++) {
        struct pawl_thread_line *const line = &process->lines[(first + i) % used];
        const uint32_t owner = pawl_load_relaxed32(&line->owner);
        if ((owner == 0 || !pawl_os_thread_lives(owner)) && thread_claim_line(line, owner, id))
            return line;
    }
    return NULL;
}

static struct pawl_thread_line *thread_claim_free(struct pawl_process *process, uint32_t id)
{
    const uint32_t used = pawl_load_relaxed32(&process->lines_used);
    uint32_t i;
    for (i = 0; i < PAWL_THREAD_LINES; i++) {
        if (PAWL_UNLIKELY(i == used && used >= LINES_AT_WILL)) {
            struct pawl_thread_line *const left = thread_claim_of_the_dead(process, id);
            if (left != NULL)
                return left;
        }
        if (thread_claim_line(&process->lines[i], 0, id)) {
            thread_note_used(process, i + 1);
            return &process->lines[i];
        }
    }
    pawl_store_relaxed32(&process->full, 1);
    return NULL;
}

static struct pawl_thread_line *thread_find_line(struct pawl_process *process, uint32_t id)
{
    const uint32_t used = pawl_load_relaxed32(&process->lines_used);
    struct pawl_thread_line *line;
    uint32_t i;
    for (i = 0; i < used; i++)
        if (thread_claim_line(&process->lines[i], id, id))
            return &process->lines[i];
    if (pawl_load_relaxed32(&process->full) != 0)
        return thread_claim_of_the_dead(process, id);
    line = thread_claim_free(process, id);
    return line != NULL ? line : thread_claim_of_the_dead(process, id);
}

/* Whether a thread that has asked before need not search for a line. */
static bool thread_is_refused(struct pawl_process *process)
{
    uint32_t refused;
    if (pawl_load_relaxed32(&process->full) == 0)
        return false;
    refused = pawl_load_relaxed32(&process->refused) + 1;
    pawl_store_relaxed32(&process->refused, refused);
    return refused % REFUSALS_BEFORE_A_SEARCH != 0;
}

/* Atomic for handlers only. A model has none, and its slots are no objects of it. */
static bool thread_change_slot(struct pawl_thread_line *from, struct pawl_thread_line *to)
{
#if PAWL_HOOKS
    if (*pawl_os_thread_slot() != from)
        return false;
    *pawl_os_thread_slot() = to;
    return true;
#else
    pawl_address_ found = (pawl_address_)(uintptr_t)from;
    const bool changed = PAWL_ADDRESS_(pawl_cas_relaxed)(
        (pawl_address_ *)(void *)pawl_os_thread_slot(), &found, (pawl_address_)(uintptr_t)to);
    HANDLERS_SEE_THIS_ORDER();
    return changed;
#endif
}

/* Claims the line once more in the child of a fork, where it was freed or has the number of the
 * parent's thread, `id`. False: another thread of the child has it. */
static bool thread_claim_in_child(struct pawl_process *process, struct pawl_thread_line *line,
                                  uint32_t id)
{
    uint32_t forks, self;
    bool claimed;
    do {
        uint32_t owner;
        forks = pawl_load_relaxed32(&process->forks);
        self = pawl_os_thread_id();
        owner = pawl_load_relaxed32(&line->owner);
        claimed = owner == self || ((owner == 0 || owner == id) &&
                                    thread_claim_line(line, owner, self));
        id = self;
    } while (pawl_load_relaxed32(&process->forks) != forks);
    return claimed;
}

/* The slot has THREAD_BETWEEN. False: a handler forked, and the caller must try again. */
static bool thread_register(struct pawl_process *process)
{
    const uint32_t forks = pawl_load_relaxed32(&process->forks);
    const uint32_t id = pawl_os_thread_id();
    struct pawl_thread_line *const line = thread_find_line(process, id);
    struct pawl_thread_line *const now = line == NULL ? THREAD_NONE : line;
    HANDLERS_SEE_THIS_ORDER();
    *pawl_os_thread_slot() = now;
    HANDLERS_SEE_THIS_ORDER();
    if (PAWL_UNLIKELY(pawl_load_relaxed32(&process->forks) != forks) &&
        (line == NULL || !thread_claim_in_child(process, line, id))) {
        (void)thread_change_slot(now, NULL);
        return false;
    }
    if (line != NULL)
        pawl_thread_watch_(line);
    return true;
}

static PAWL_COLD struct pawl_thread_line *thread_new_line(void)
{
    for (;;) {
        struct pawl_thread_line *const found = *pawl_os_thread_slot();
        if (thread_is_line(found))
            return found;
        /* The checker: a line that a thread gets in mid-life would not show the locks that it
         * already holds. */
        if (found == THREAD_BETWEEN ||
            (found == THREAD_NONE && (PAWL_CHECKED || thread_is_refused(process_here()))))
            return NULL;
        if (thread_change_slot(found, THREAD_BETWEEN) && thread_register(process_here()))
            return thread_registered();
    }
}

struct pawl_thread_line *pawl_thread_line_(void)
{
    struct pawl_thread_line *const line = *pawl_os_thread_slot();
    return PAWL_LIKELY(thread_is_line(line)) ? line : thread_new_line();
}
