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
#include "ticket.h"

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
    for (uint32_t i = 0; i < LINES_LOOKED_AT && i < used; i++) {
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
    for (uint32_t i = 0; i < PAWL_THREAD_LINES; i++) {
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
    for (uint32_t i = 0; i < used; i++)
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
#if PAWL_HOOKS
static bool thread_change_slot(struct pawl_thread_line *from, struct pawl_thread_line *to)
{
    if (*pawl_os_thread_slot() != from)
        return false;
    *pawl_os_thread_slot() = to;
    return true;
}
#else
static bool thread_change_slot(struct pawl_thread_line *from, struct pawl_thread_line *to)
{
    ipawl_address_ found = (ipawl_address_)(uintptr_t)from;
    const bool changed = PAWL_ADDRESS_(pawl_cas_relaxed)(
        (ipawl_address_ *)(void *)pawl_os_thread_slot(), &found, (ipawl_address_)(uintptr_t)to);
    HANDLERS_SEE_THIS_ORDER();
    return changed;
}
#endif

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
        claimed =
            owner == self || ((owner == 0 || owner == id) && thread_claim_line(line, owner, self));
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
    if (line != NULL) {
        ipawl_thread_watch_(line);
        thread_give_ticket(line);
    }
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

struct pawl_thread_line *ipawl_thread_line_(void)
{
    struct pawl_thread_line *const line = *pawl_os_thread_slot();
    return PAWL_LIKELY(thread_is_line(line)) ? line : thread_new_line();
}

#if !PAWL_HOOKS /* a harness runs the set-up */
/* A subsystem with lines needs to know of the ends of threads and of forks. */
__attribute__((constructor)) static void thread_lines_set_up(void)
{
    ipawl_set_up_();
}
#endif
