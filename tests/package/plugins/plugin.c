/* SPDX-License-Identifier: MIT */
/* A plug-in that carries the library: what its copy of it sees and does. */
#include <pawl/pawl.h>
#include <pawl/thread.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN const void *plugin_process(void);
SHOWN const void *plugin_thread_line(void);
SHOWN const void *plugin_reads(void);
SHOWN int plugin_calls_back(void);
SHOWN int plugin_synchronizes(void);
SHOWN int plugin_counts(void);
SHOWN void plugin_enter(void);
SHOWN void plugin_leave(void);
SHOWN unsigned long plugin_start_poll(void);
SHOWN int plugin_poll(unsigned long cookie);
SHOWN int plugin_is_light(void);
SHOWN int plugin_is_sequenced(void);
SHOWN int plugin_strong(void);
SHOWN void *plugin_counters(void);
SHOWN void plugin_add(void *counters);
SHOWN long long plugin_sum(void *counters, unsigned which);
SHOWN void plugin_read(void *lock);
SHOWN void plugin_leave_read(void *lock);
SHOWN int plugin_try_write(void *lock);

const void *plugin_process(void)
{
    return ipawl_process_();
}

const void *plugin_thread_line(void)
{
    return ipawl_thread_line_();
}

/* What this copy knows of the calling thread's RCU sections, one of which is entered and left. */
const void *plugin_reads(void)
{
    pawl_rcu_read_lock();
    pawl_rcu_read_unlock();
    return ipawl_rcu_mine_();
}

static int called_back;

static void call_back(pawl_rcu_head *head)
{
    (void)head;
    called_back++;
}

/* 1: a callback has run when the barrier has returned. */
int plugin_calls_back(void)
{
    static pawl_rcu_head head;
    called_back = 0;
    if (pawl_rcu_call(&head, call_back, sizeof head) != 0)
        return 0;
    pawl_rcu_barrier();
    return called_back;
}

/* 1: a grace period of each domain has ended, and a big reader has excluded a writer. */
int plugin_synchronizes(void)
{
    static pawl_brlock lock;
    if (pawl_brlock_init(&lock, PAWL_BRLOCK_LINES) != 0)
        return 0;
    pawl_rcu_synchronize();
    pawl_rcu_domain_synchronize_expedited(pawl_rcu_qs());
    pawl_brlock_take_read(&lock);
    int excluded = !pawl_brlock_try_write(&lock);
    pawl_brlock_drop_read(&lock);
    pawl_brlock_take_write(&lock);
    pawl_brlock_drop_write(&lock);
    pawl_brlock_destroy(&lock);
    return excluded;
}

static void release(pawl_bigref *reference, void *released)
{
    (void)reference;
    *(int *)released = 1;
}

/* 1: an exact counter had the right value, and a reference was released. */
int plugin_counts(void)
{
    static pawl_counter_exact counter = PAWL_COUNTER_EXACT_INIT;
    int released = 0;
    pawl_bigref reference = PAWL_BIGREF_INIT(release, &released);
    for (int i = 0; i < 1000; i++) {
        pawl_counter_exact_add(&counter, 1);
        pawl_bigref_get(&reference);
    }
    if (pawl_counter_exact_read(&counter) != 1000)
        return 0;
    pawl_counter_exact_add(&counter, -1000);
    if (!pawl_bigref_kill(&reference) || pawl_bigref_read(&reference) != 1001)
        return 0;
    for (int i = 0; i < 1001; i++)
        pawl_bigref_drop(&reference);
    return released;
}

/* A reader of one copy, and a grace period that another copy drives. */
void plugin_enter(void)
{
    pawl_rcu_read_lock();
}

void plugin_leave(void)
{
    pawl_rcu_read_unlock();
}

unsigned long plugin_start_poll(void)
{
    return (unsigned long)pawl_rcu_start_poll();
}

int plugin_poll(unsigned long cookie)
{
    return pawl_rcu_poll(cookie);
}

/* Readers of a sleeping lock: where they scale, one copy drops what another has put into an entry,
 * and the writers of each copy see it there. */
void plugin_read(void *lock)
{
    pawl_lock32_take_read((pawl_lock32 *)lock);
}

void plugin_leave_read(void *lock)
{
    pawl_lock32_drop_read((pawl_lock32 *)lock);
}

int plugin_try_write(void *lock)
{
    if (!pawl_lock32_try_write((pawl_lock32 *)lock))
        return 0;
    pawl_lock32_drop_write((pawl_lock32 *)lock);
    return 1;
}

int plugin_is_light(void)
{
    return ipawl_fence_light_free_ != 0;
}

/* Does this copy add by restartable sequences, once the thread has cells? */
int plugin_is_sequenced(void)
{
    static pawl_counter_exact any = PAWL_COUNTER_EXACT_INIT;
    pawl_counter_exact_add(&any, 1);
    return ipawl_counter_mine_()->rseq != NULL;
}

int plugin_strong(void)
{
    return pawl_fences_strong();
}

/* Counters that one copy adds to while another one reads. */
struct counters {
    pawl_counter_exact exact[4]; /* one of each mode */
    pawl_counter_limit limited;
    pawl_cpu_counter by_cpu;
};

void *plugin_counters(void)
{
    static struct counters all;
    static int are_made;
    if (!are_made) {
        for (int mode = 0; mode < 4; mode++)
            pawl_counter_exact_init(&all.exact[mode], (enum pawl_exact_mode)mode);
        pawl_counter_limit_init(&all.limited, 1 << 30);
        pawl_cpu_counter_init(&all.by_cpu);
        are_made = 1;
    }
    return &all;
}

void plugin_add(void *counters)
{
    struct counters *all = (struct counters *)counters;
    for (int mode = 0; mode < 4; mode++)
        pawl_counter_exact_add(&all->exact[mode], 1);
    while (!pawl_counter_limit_try_add(&all->limited, 1))
        continue;
    pawl_cpu_counter_inc(&all->by_cpu);
}

long long plugin_sum(void *counters, unsigned which)
{
    struct counters *all = (struct counters *)counters;
    if (which < 4)
        return pawl_counter_exact_read(&all->exact[which]);
    return which == 4 ? pawl_counter_limit_read(&all->limited)
                      : pawl_cpu_counter_read(&all->by_cpu);
}
