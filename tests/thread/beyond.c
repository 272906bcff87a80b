/* SPDX-License-Identifier: MIT */
/*
 * Every primitive that uses lines, in a thread of the last line, of the first line for which some
 * primitives have no memory, and of no line. It works as for any other thread; and no operation
 * searches for a line, which cost a system call for each line: an operation of 25 ns took 1.2 ms.
 * The system calls that ask whether a thread lives are counted.
 */
#include "test.h"

#include <pawl/bigref.h>
#include <pawl/brlock.h>
#include <pawl/counter.h>
#include <pawl/counter_exact.h>
#include <pawl/counter_limit.h>
#include <pawl/idtable.h>
#include <pawl/lock.h>
#include <pawl/rcu.h>
#include <pawl/rcu_call.h>
#include <pawl/robust.h>
#include <pawl/sift.h>

#include "support/lines.h"

#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#if defined(__x86_64__) && defined(__linux__) && !TEST_SANITIZED && !PAWL_TSAN_ &&                 \
    __has_include(<linux/seccomp.h>)
#include <linux/filter.h>
#include <linux/seccomp.h>
#define COUNTS_SYSTEM_CALLS 1
#else
#define COUNTS_SYSTEM_CALLS 0
#endif

enum { TIMES = 2000 };
#define NO_LINE PAWL_THREAD_LINES

/* ---- Primitives ------------------------------------------------------------------------------ */

static pawl_lock32 lock32;
static pawl_brlock brlock;
static pawl_robust_lock *robust;
static pawl_sift sift;
static bool sift_lends;
static pawl_counter counter;
static pawl_cpu_counter by_cpu;
static pawl_counter_exact exact[4];
static pawl_counter_limit limited = PAWL_COUNTER_LIMIT_INIT(1000000);
static pawl_bigref ref = PAWL_BIGREF_INIT(NULL, NULL);
static pawl_rcu_head heads[TIMES];
static uint32_t called;
static unsigned runs; /* how many threads have gone through all of these */

static void read_by_rcu(unsigned i)
{
    const uint64_t cookie = pawl_rcu_start_poll();
    pawl_rcu_read_lock();
    must(pawl_rcu_read_held());
    must(i % 100 != 0 || !pawl_rcu_poll(cookie));
    pawl_rcu_read_unlock();
    must(i % 100 != 0 || pawl_rcu_poll(cookie));
}

static void be_quiescent(unsigned i)
{
    const uint64_t cookie = pawl_rcu_domain_start_poll(pawl_rcu_qs());
    pawl_rcu_qs_online();
    must(i % 100 != 0 || !pawl_rcu_domain_poll(pawl_rcu_qs(), cookie));
    pawl_rcu_qs_quiescent();
    must(i % 100 != 0 || pawl_rcu_domain_poll(pawl_rcu_qs(), cookie));
    pawl_rcu_qs_offline();
}

static void count_call(pawl_rcu_head *head)
{
    (void)pawl_fetch_add_relaxed32(&called, 1);
}

static void call_by_rcu(unsigned i)
{
    must(pawl_rcu_call(&heads[i], count_call, 16) == 0);
}

static void lock_sleeping(unsigned i)
{
    pawl_lock32_take_write(&lock32);
    pawl_lock32_drop_write(&lock32);
}

static void lock_for_readers(unsigned i)
{
    pawl_brlock_take_read(&brlock);
    must(i % 100 != 0 || !pawl_brlock_try_write(&brlock));
    pawl_brlock_drop_read(&brlock);
    if (i % 100 == 0) {
        must(pawl_brlock_try_write(&brlock));
        pawl_brlock_drop_write(&brlock);
    }
}

static void lock_robustly(unsigned i)
{
    must(pawl_robust_lock_take_read(robust) == PAWL_ROBUST_OK);
    must(pawl_robust_lock_drop_read(robust) == PAWL_ROBUST_OK);
    must(pawl_robust_lock_take_write(robust) == PAWL_ROBUST_OK);
    must(pawl_robust_lock_drop_write(robust) == PAWL_ROBUST_OK);
}

static void lock_by_priority(unsigned i)
{
    if (!sift_lends)
        return;
    pawl_sift_take_write(&sift);
    pawl_sift_drop_write(&sift);
}

static void count(unsigned i)
{
    pawl_counter_add(&counter, 1);
    pawl_cpu_counter_add(&by_cpu, 1);
    for (unsigned mode = 0; mode < 4; mode++)
        pawl_counter_exact_add(&exact[mode], 1);
    must(pawl_counter_limit_try_add(&limited, 1));
}

static void refer(unsigned i)
{
    pawl_bigref_get(&ref);
    pawl_bigref_drop(&ref);
}

/* Its readers are RCU's. */
struct thing {
    pawl_idtable_entry entry;
    pawl_lock32 lock;
};

static pawl_idtable table;

PAWL_IDTABLE_TYPE(things, struct thing, entry, lock);

static void look_up(unsigned i)
{
    static struct thing kept[TIMES];
    struct thing *const thing = &kept[i];
    pawl_id id;
    memset(thing, 0, sizeof *thing);
    must(things_insert(&table, thing, &id) == 0);
    must(things_take_read(&table, id) == thing);
    things_drop_read(thing);
    must(things_take_write(&table, id) == thing);
    must(things_remove(&table, thing)); /* and drops it */
}

static void (*const uses[])(unsigned) = {
    read_by_rcu,   be_quiescent,     call_by_rcu, lock_sleeping, lock_for_readers,
    lock_robustly, lock_by_priority, count,       refer,         look_up,
};
enum { USES = sizeof uses / sizeof uses[0] };

/* ---- Counting -------------------------------------------------------------------------------- */

static volatile uint32_t asked; /* the calls that ask whether a thread lives */

#if COUNTS_SYSTEM_CALLS

static void answer_that_it_lives(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    asked = asked + 1;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = 0;
}

/* From here on, tgkill of the calling thread is counted. */
static void count_questions(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = answer_that_it_lives;
    action.sa_flags = SA_SIGINFO;
    must(sigaction(SIGSYS, &action, NULL) == 0);
    program.len = (unsigned short)(sizeof filter / sizeof filter[0]);
    program.filter = filter;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return; /* then none is counted */
}

#else

static void count_questions(void)
{
}

#endif

/* ---- Threads of each kind -------------------------------------------------------------------- */

static void *use_all(void *number)
{
    const uint32_t expected = *(const uint32_t *)number;
    count_questions();
    asked = 0;
    const struct pawl_thread_line *line = ipawl_thread_line_();
    must(expected == NO_LINE ? line == NULL : line == &process_here()->lines[expected]);
    must(asked <= 16); /* the first search */
    for (unsigned use = 0; use < USES; use++) {
        asked = 0;
        for (unsigned i = 0; i < TIMES; i++)
            uses[use](i);
        if (asked > TIMES / 10) {
            fprintf(stderr, "use %u: %u operations asked %u times whether a thread lives\n", use,
                    TIMES, asked);
            abort();
        }
    }
    must(pawl_rcu_barrier() == 0);
    return NULL;
}

static void run_in_line(uint32_t number)
{
    lines_park_all();
    if (number != NO_LINE)
        lines_free(number);
    test_elsewhere(use_all, &number);
    lines_free_all();
    runs++;
    assert_int_equal(pawl_load_relaxed32(&called), runs * TIMES);
    assert_int_equal(pawl_counter_read(&counter), runs * TIMES);
    assert_int_equal(pawl_cpu_counter_read(&by_cpu), runs * TIMES);
    for (unsigned mode = 0; mode < 4; mode++)
        assert_int_equal(pawl_counter_exact_read(&exact[mode]), runs * TIMES);
    assert_int_equal(pawl_counter_limit_read(&limited), runs * TIMES);
    assert_true(pawl_brlock_try_write(&brlock));
    pawl_brlock_drop_write(&brlock);
    pawl_rcu_synchronize();
    pawl_rcu_domain_synchronize(pawl_rcu_qs());
}

TEST_CASE(every_primitive_serves_the_thread_of_the_last_line)
{
    run_in_line(PAWL_THREAD_LINES - 1);
}

/* Some primitives have memory for 1,024 lines. */
TEST_CASE(every_primitive_serves_the_threads_of_line_1023_and_1024)
{
    run_in_line(1023);
    if (PAWL_THREAD_LINES > 1024)
        run_in_line(1024);
}

TEST_CASE(every_primitive_serves_a_thread_without_a_line)
{
    run_in_line(NO_LINE);
}

/* ---- Becoming free --------------------------------------------------------------------------- */

static void *get_one_later(void *unused)
{
    must(ipawl_thread_line_() == NULL);
    must(ipawl_thread_line_() == NULL);
    lines_free(700);
    must(ipawl_thread_line_() == &process_here()->lines[700]);
    return NULL;
}

TEST_CASE(a_thread_that_was_refused_gets_the_line_that_becomes_free)
{
    if (PAWL_CHECKED) /* there it has none for its life */
        skip();
    lines_park_all();
    test_elsewhere(get_one_later, NULL);
    lines_free_all();
}

/* As where a search and the end of a thread missed each other. */
static void *get_one_that_nobody_announced(void *unused)
{
    must(ipawl_thread_line_() == NULL);
    lines_free(5);
    pawl_store_relaxed32(&process_here()->full, 1);
    for (unsigned i = 0; ipawl_thread_line_() == NULL; i++)
        must(i < 4u * PAWL_THREAD_LINES / 16 * 1024);
    must(thread_registered() == &process_here()->lines[5]);
    return NULL;
}

TEST_CASE(a_line_that_became_free_unseen_is_found_in_the_end)
{
    if (PAWL_CHECKED)
        skip();
    lines_park_all();
    test_elsewhere(get_one_that_nobody_announced, NULL);
    lines_free_all();
}

/* ---- Lines of the dead, before new ones are used --------------------------------------------- */

static void *ask_for_a_line(void *unused)
{
    must(ipawl_thread_line_() != NULL);
    return unused;
}

enum { DEAD = PAWL_THREAD_LINES > 2048 ? 2048 : PAWL_THREAD_LINES };

TEST_CASE(lines_of_the_dead_are_used_before_new_ones)
{
    struct pawl_process *process = process_here();
    lines_park(0, DEAD);
    pawl_store_relaxed32(&process->lines_used, DEAD);
    for (uint32_t i = 0; i < DEAD; i++)
        if (lines_parked[i]) /* no thread has this number */
            pawl_store_relaxed32(&process->lines[i].owner, INT_MAX);
    must(pawl_load_relaxed32(&process->full) == 0);
    for (uint32_t i = 0; i < 20; i++) {
        test_elsewhere(ask_for_a_line, NULL);
    }
    assert_int_equal(pawl_load_relaxed32(&process->lines_used), DEAD);
    lines_free_all();
}

int main(int argc, char **argv)
{
    static pawl_robust_lock memory __attribute__((aligned(64)));
    pawl_sift_use use;
    must(ipawl_thread_line_() != NULL);
    robust = &memory;
    must(pawl_robust_lock_init(robust) == PAWL_ROBUST_OK);
    must(pawl_brlock_init(&brlock, PAWL_BRLOCK_MOST_LINES) == 0);
    must(pawl_idtable_init(&table, NULL) == 0);
    memset(&use, 0, sizeof use);
    use.readers = PAWL_SIFT_READS(PAWL_SIFT_REALTIME);
    sift_lends = pawl_sift_init(&sift, &use) == 0;
    for (unsigned mode = 0; mode < 4; mode++)
        pawl_counter_exact_init(&exact[mode], (enum pawl_exact_mode)mode);
    return test_main(argc, argv);
}
