/* SPDX-License-Identifier: MIT */
/*
 * Readers that scale where the system gives no more memory: the address space is limited, a filter
 * refuses mmap, or all memory is to be locked. By evidence and with PAWL_BIAS=on.
 *
 * The interleaving that ended programs:
 *   1  A program has used its locks, and forbids itself more memory.
 *   2  Its readers meet often enough, days later: the lock is to get BIASED.
 *   3  The read asks for the memory of the entries. It is refused, and the library aborts.
 * Reads ask for all that they need at the first read of each thread. Where it is refused then, the
 * thread counts in the word, and so does everybody where the process has no entries.
 *
 * Also, in the same place, that later reads make no system call: it would end the process.
 */
#include "test.h"

#include <pawl/lock.h>

#include "lock/entries.h"

#if PAWL_SCALES_ && defined(__linux__) && !TEST_SANITIZED && !defined(__SANITIZE_THREAD__)

#include "support/in_entries.h"
#include "support/lines.h"
#include "support/sandbox.h"

#include <sys/mman.h>
#include <sys/resource.h>

#define BIASED PAWL_LOCK_BIASED

static pawl_lock32 lock;
static pawl_lock32 first; /* that the threads read before the limit */

/* ---- Limits: 77 where this system has none --------------------------------------------------- */

static void limit(int which, rlim_t bytes)
{
    struct rlimit all;
    must(getrlimit(which, &all) == 0);
    all.rlim_cur = bytes < all.rlim_max ? bytes : all.rlim_max;
    must(setrlimit(which, &all) == 0);
}

/* No page more than the process has. */
static void limits_its_address_space(void)
{
    limit(RLIMIT_AS, 4096);
}

static void refuses_mmap(void)
{
    if (!sandbox_refuses(TEST_SYS_MMAP))
        _exit(77);
}

/* As a real-time program does. Of a process that may lock as much as it likes, the user changes. */
static void locks_all_memory(void)
{
    limit(RLIMIT_MEMLOCK, 4096);
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        _exit(77);
    if (mlockall(MCL_FUTURE) != 0)
        _exit(77);
}

static void (*const limits[])(void) = {limits_its_address_space, refuses_mmap, locks_all_memory};
enum { LIMITS = sizeof limits / sizeof limits[0] };

static void must_be_refused(void)
{
    must(mmap(NULL, 1 << 14, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
}

/* ---- What threads do ------------------------------------------------------------------------- */

static void reads_once(pawl_lock32 *l)
{
    pawl_lock32_take_read(l);
    pawl_lock32_drop_read(l);
}

/* As often as gives evidence. A reader whom another has disturbed comes to the waiting half. */
static void meets_others(pawl_lock32 *l)
{
    for (unsigned i = 0; i < 2 * ENTRIES_ENOUGH * ENTRIES_NOTED; i++) {
        must(PAWL_SYMBOL_(pawl_lock32_take_read_slow)(l, PAWL_NO_DEADLINE));
        pawl_lock32_drop_read(l);
    }
}

static void uses(pawl_lock32 *l, uint32_t biased)
{
    meets_others(l);
    must(l->word == biased);
    pawl_lock32_take_read(l);
    must(in_entries(l) == (biased != 0));
    must(!pawl_lock32_try_write(l));
    pawl_lock32_drop_read(l);
    pawl_lock32_take_write(l);
    pawl_lock32_drop_write(l);
    must(l->word == biased && pawl_lock32_is_free(l));
}

/* ---- The limit comes before the first read --------------------------------------------------- */

static enum entries_mode mode;

static void begins_without_memory(void *which)
{
    ipawl_entries_mode_(mode);
    (*(void (*const *)(void))which)();
    must_be_refused();
    reads_once(&lock);
    uses(&lock, 0);
    must(!entries_exist());
}

/* It is not asked for again, so no later read makes a system call. */
static void has_memory_later(void *nothing)
{
    begins_without_memory((void *)(uintptr_t)&limits[0]);
    limit(RLIMIT_AS, RLIM_INFINITY);
    uses(&lock, 0);
    must(!entries_exist());
}

/* ---- The limit comes between two uses -------------------------------------------------------- */

static uint32_t started, limited;

static void wait_for(const uint32_t *word, uint32_t value)
{
    while (pawl_load_acquire32(word, PAWL_SPIN_R_TAKE) != value)
        usleep(100);
}

static void *reads_before_and_after(void *nothing)
{
    reads_once(&first);
    (void)pawl_fetch_add_release32(&started, 1, PAWL_SPIN_R_DROP);
    wait_for(&limited, 1);
    uses(&lock, BIASED);
    return nothing;
}

static void goes_on_without_memory(void *which)
{
    ipawl_entries_mode_(mode);
    const pthread_t other = test_start(reads_before_and_after, NULL);
    reads_once(&first);
    wait_for(&started, 1);
    (*(void (*const *)(void))which)();
    must_be_refused();
    uses(&lock, BIASED);
    pawl_store_release32(&limited, 1, PAWL_SPIN_R_DROP);
    test_join(other);
}

/* ---- A thread's block of lines is refused ---------------------------------------------------- */

static void *counts_in_the_word(void *which)
{
    wait_for(&limited, 1);
    (*(void (*const *)(void))which)(); /* a filter is of the thread */
    must_be_refused();
    reads_once(&first);
    pawl_lock32_take_read(&lock);
    must(thread_registered() != NULL);
    must(thread_number(thread_registered()) >= ENTRIES_IN_BLOCK);
    must(lock.word == BIASED + PAWL_SPIN32_R && in_entries(&lock) == 0);
    must(!pawl_lock32_try_write(&lock));
    pawl_lock32_drop_read(&lock);
    meets_others(&lock);
    return NULL;
}

static void gets_no_block(void *which)
{
    ipawl_entries_mode_(mode);
    const pthread_t other = test_start(counts_in_the_word, which);
    reads_once(&first);
    uses(&lock, BIASED);
    lines_park(0, ENTRIES_IN_BLOCK);
    pawl_store_release32(&limited, 1, PAWL_SPIN_R_DROP);
    test_join(other);
    uses(&lock, BIASED);
}

static void *reads_from_a_later_block(void *nothing)
{
    reads_once(&first);
    uses(&lock, BIASED);
    must(thread_number(thread_registered()) == ENTRIES_IN_BLOCK);
    pawl_lock32_take_read(&lock);
    must(in_entries(&lock) == 1);
    return nothing;
}

/* With memory: a writer finds the entry, and the end of the thread moves the read to the word. */
static void gets_a_block(void *nothing)
{
    ipawl_entries_mode_(mode);
    reads_once(&first);
    lines_park(0, ENTRIES_IN_BLOCK);
    test_elsewhere(reads_from_a_later_block, NULL);
    must(lock.word == BIASED + PAWL_SPIN32_R);
    pawl_lock32_drop_read(&lock);
    uses(&lock, BIASED);
}

/* ---- No system call -------------------------------------------------------------------------- */

static uint32_t reading, ended;

/* Not the strict mode, which forbids the clock's instruction, too. Some machines have no clock but
 * by a call. */
static void may_only_end(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    if (!sandbox_filters(filter, sizeof filter / sizeof filter[0]))
        _exit(77);
}

/* Two readers at a time, between which the lock gets BIASED. */
static void *reads_without_a_system_call(void *nothing)
{
    reads_once(&first);
    may_only_end();
    (void)pawl_fetch_add_relaxed32(&reading, 1);
    while (pawl_load_relaxed32(&reading) < 2)
        continue;
    meets_others(&lock);
    for (unsigned i = 0; i < 1000; i++)
        reads_once(&lock);
    if (ipawl_entries_are_(PAWL_OWN_ENTRIES_))
        (void)pawl_fetch_add_relaxed32(&ended, 1);
    syscall(SYS_exit, 0);
    return nothing;
}

static void reads_in_two_threads(void *nothing)
{
    pthread_t readers[2];
    ipawl_entries_mode_(mode);
    test_start_all(readers, 2, reads_without_a_system_call);
    test_join_all(readers, 2);
    must(pawl_load_relaxed32(&ended) == 2 && lock.word == BIASED);
}

/* ---- The tests: each in a child, as the first read of a process is part of it ---------------- */

static void in_child(void (*body)(void *), void *argument)
{
    char said[4096];
    const int status = test_in_child(body, argument, said, sizeof said);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        print_message("left out: this system does not have the limit\n");
    else if (status != 0)
        print_message("%s", said);
    assert_true(status == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 77));
}

static void under_each_limit(void (*body)(void *))
{
    for (unsigned i = 0; i < LIMITS; i++)
        for (mode = ENTRIES_ON; mode <= ENTRIES_EVIDENCE; mode++)
            in_child(body, (void *)(uintptr_t)&limits[i]);
}

static void by_each_mode(void (*body)(void *))
{
    for (mode = ENTRIES_ON; mode <= ENTRIES_EVIDENCE; mode++)
        in_child(body, NULL);
}

TEST_CASE(a_program_that_never_has_memory_reads_by_the_word)
{
    under_each_limit(begins_without_memory);
}

TEST_CASE(memory_that_was_refused_is_not_asked_for_again)
{
    by_each_mode(has_memory_later);
}

TEST_CASE(a_limit_that_comes_later_ends_no_program)
{
    under_each_limit(goes_on_without_memory);
}

TEST_CASE(a_thread_without_a_block_counts_in_the_word)
{
    under_each_limit(gets_no_block);
}

TEST_CASE(a_thread_of_a_later_block_has_entries)
{
    by_each_mode(gets_a_block);
}

TEST_CASE(readers_make_no_system_call_after_their_first_read)
{
    by_each_mode(reads_in_two_threads);
}

TEST_MAIN()

#else

TEST_SKIPPED("needs scaling readers, Linux, and no sanitizer")

#endif
