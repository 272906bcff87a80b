/* SPDX-License-Identifier: MIT */
/*
 * The registry of threads. Lines are claimed from the lowest free one up, so that those who go
 * through all lines stop early (lines_used). A line whose owner ended without telling us (its key
 * could not be armed, or it left by a bare system call) is taken back when its thread number comes
 * up again, or when no line is free.
 */
#include <pawl/thread.h>

#include <string.h>

#include "../count/cells.h"
#include "../os/os.h"
#include "../rcu/rcu.h"
#include "../rcu/rcu_call.h"
#include "../lock/table.h"
#if PAWL_CHECKED
#include "../check/check.h"
#endif

/* Without the variant in its name: two variants in one program define it twice, and the linker
 * says so. Hidden, because two shared objects of one process may well differ. */
extern const char pawl_one_variant_per_program_[] PAWL_HIDDEN_;
const char pawl_one_variant_per_program_[] = "Pawl, one variant per program";

enum { SETUP_NOT_BEGUN, SETUP_RUNS, SETUP_DONE };

struct pawl_process *pawl_process_(void)
{
    return pawl_os_process();
}

static void free_line(struct pawl_thread_line *line)
{
    /* [THREAD_FREE] release: we have finished with the line before it is free. */
    pawl_store_release32(&line->owner, 0, PAWL_THREAD_FREE);
}

void pawl_thread_exit_(void)
{
    struct pawl_thread_line **slot = pawl_os_thread_slot();
    struct pawl_thread_line *line = *slot;
    struct pawl_rcu_mine *reader;
    if (line == NULL)
        return;
    reader = rcu_depart();
#if PAWL_CHECKED
    if (line == &pawl_os_process()->no_line) {
        rcu_departed(reader);
        return;
    }
#endif
    cells_leave();
    *slot = NULL;
    free_line(line);
    rcu_departed(reader);
}

static void at_thread_exit(void *value)
{
    struct pawl_thread_line *own = *pawl_os_thread_slot();
#if PAWL_CHECKED
    /* Another key's destructor may drop what is still held: we let them go first. */
    if (own != NULL && pawl_check_thread_end_(own)) {
        pawl_os_watch_this_thread(pawl_os_process()->exit_key, own);
        return;
    }
#endif
    if (rcu_stays()) {
        pawl_os_watch_this_thread(pawl_os_process()->exit_key, value);
        return;
    }
    if (own == NULL)
        rcu_departed(rcu_depart()); /* it has sections without a line */
    pawl_thread_exit_();
}

/* The child has one thread, under a new number; nobody else owns a line. */
static void after_fork_in_child(void)
{
    struct pawl_process *process = pawl_os_process();
    struct pawl_thread_line *own = *pawl_os_thread_slot();
    const uint32_t used = pawl_load_relaxed32(&process->lines_used);
    uint32_t i;
    for (i = 0; i < used; i++)
        if (&process->lines[i] != own)
            free_line(&process->lines[i]);
    table_after_fork();
    rcu_after_fork_in_child();
#if PAWL_CHECKED
    pawl_check_after_fork_();
    if (own == &process->no_line)
        return;
#endif
    if (own != NULL)
        pawl_store_relaxed32(&own->owner, pawl_os_thread_id());
}

static void set_up_process(void)
{
    struct pawl_process *process = pawl_os_process();
    uint32_t begun = SETUP_NOT_BEGUN;
    if (!pawl_cas_relaxed32(&process->setup, &begun, SETUP_RUNS))
        return; /* another copy of the library has done it */
    if (pawl_os_watch_threads(&process->exit_key, at_thread_exit, after_fork_in_child))
        /* [THREAD_SETUP] release: the key is there before anybody arms it. */
        pawl_store_release32(&process->setup, SETUP_DONE, PAWL_THREAD_SETUP);
    if (pawl_load_relaxed32(&process->setup) == SETUP_DONE && rcu_registered() != NULL)
        /* Registered already, by a constructor of the program's. */
        pawl_os_watch_this_thread(process->exit_key, *pawl_os_thread_slot());
    cells_set_up();
    rcu_calls_set_up();
}

#if PAWL_HOOKS
void pawl_set_up_(void)
{
    set_up_process();
}
#else
/* Before main, or when the object is loaded: the only place where the registry may allocate. */
__attribute__((constructor)) static void set_up(void)
{
    set_up_process();
}
#endif

/* Makes the line ours if it is free, or was left behind under our own number. */
static bool claim_line(struct pawl_thread_line *line, uint32_t previous, uint32_t id)
{
    uint32_t owner = previous;
    if (pawl_load_relaxed32(&line->owner) != previous)
        return false;
    /* [THREAD_CLAIM] acquire: the last owner has finished with the line. */
    if (!pawl_cas_acquire32(&line->owner, &owner, id, PAWL_THREAD_CLAIM))
        return false;
#if PAWL_CHECKED
    pawl_check_clear_line_(line); /* others may be reading it */
#else
    memset((char *)line + sizeof line->owner, 0, sizeof *line - sizeof line->owner);
#endif
    if (previous != 0)
        rcu_claimed((uint32_t)(line - pawl_os_process()->lines));
    return true;
}

static void note_used(struct pawl_process *process, uint32_t used)
{
    uint32_t seen = pawl_load_relaxed32(&process->lines_used);
    while (seen < used && !pawl_cas_relaxed32(&process->lines_used, &seen, used))
        continue;
}

static struct pawl_thread_line *find_line(struct pawl_process *process, uint32_t id)
{
    const uint32_t used = pawl_load_relaxed32(&process->lines_used);
    uint32_t i;
    uint32_t owner;

    for (i = 0; i < used; i++)
        if (claim_line(&process->lines[i], id, id))
            return &process->lines[i];
    for (i = 0; i < PAWL_THREAD_LINES; i++)
        if (claim_line(&process->lines[i], 0, id)) {
            note_used(process, i + 1);
            return &process->lines[i];
        }
    for (i = 0; i < PAWL_THREAD_LINES; i++) {
        owner = pawl_load_relaxed32(&process->lines[i].owner);
        if (!pawl_os_thread_lives(owner) && claim_line(&process->lines[i], owner, id))
            return &process->lines[i];
    }
    return NULL;
}

struct pawl_thread_line *pawl_thread_line_(void)
{
    struct pawl_thread_line **slot = pawl_os_thread_slot();
    struct pawl_process *process = pawl_os_process();

#if PAWL_CHECKED
    /* A line in the middle of its life would know nothing of what the thread already holds. */
    if (PAWL_UNLIKELY(*slot == &process->no_line))
        return NULL;
#endif
    if (PAWL_LIKELY(*slot != NULL))
        return *slot;
    *slot = find_line(process, pawl_os_thread_id());
    /* [THREAD_ARM] acquire: the key that was made before set-up was declared done. */
    if (*slot != NULL && pawl_load_acquire32(&process->setup, PAWL_THREAD_ARM) == SETUP_DONE)
        pawl_os_watch_this_thread(process->exit_key, *slot);
#if PAWL_CHECKED
    if (*slot == NULL) {
        *slot = &process->no_line;
        return NULL;
    }
#endif
    return *slot;
}
