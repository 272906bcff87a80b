/* SPDX-License-Identifier: MIT */
/*
 * A deadline in the past never waits, and makes no system call either. One once did:
 *
 *   1. A reader is in an entry.
 *   2. A writer claims with a deadline that has passed, looks at the lines, and finds the entry.
 *   3. It makes all threads of the process pass a fence (a membarrier), so that the reader would
 *      see it wait.
 *   4. It sleeps by a futex call, which ends at once. Each thread's CPU was interrupted for that.
 *
 * Other primitives asked the kernel to sleep, which is how they learnt that the time was over. Here
 * each operation with a deadline meets a holder in another thread, and any system call kills the
 * process.
 */
#include "test.h"

#include <pawl/bitlock.h>
#include <pawl/brlock.h>
#include <pawl/cond.h>
#include <pawl/lock.h>
#include <pawl/pshared.h>
#include <pawl/robust.h>
#include <pawl/sift.h>

#include "lock/entries.h"

#if defined(__linux__) && PAWL_SCALES_

#include <sys/mman.h>

#include "support/sandbox.h"

static pawl_lock32 read32, written32;
static pawl_lock64 read64, written64;
static pawl_pshared_lock32 shared_read32, shared_written32;
static pawl_pshared_lock64 shared_read64, shared_written64;
static pawl_brlock brread, brwritten;
static pawl_sift siftread, siftwritten;
static pawl_robust_lock robustread, robustwritten;
static uint32_t bit = 1;
static const uint32_t value32 = 5;
static const uint64_t value64 = 5;
static pthread_barrier_t held;
static const char **step; /* shared with the parent, which says it */

/* ---- The holder ------------------------------------------------------------------------------ */

static void *holds_all(void *in_entries)
{
    if (in_entries != NULL) {
        read32.word = PAWL_LOCK_BIASED;
        read64.word = PAWL_LOCK_BIASED;
    }
    pawl_take_read(&read32);
    pawl_take_read(&read64);
    must(in_entries == NULL ||
         (read32.word == PAWL_LOCK_BIASED && read64.word == PAWL_LOCK_BIASED));
    pawl_take_write(&written32);
    pawl_take_write(&written64);
    pawl_take_read(&shared_read32);
    pawl_take_read(&shared_read64);
    pawl_take_write(&shared_written32);
    pawl_take_write(&shared_written64);
    pawl_brlock_take_read(&brread);
    pawl_brlock_take_write(&brwritten);
    pawl_sift_take_read(&siftread, PAWL_SIFT_THREAD);
    pawl_sift_take_write(&siftwritten);
    must(pawl_robust_lock_take_read(&robustread) == PAWL_ROBUST_OK);
    must(pawl_robust_lock_take_write(&robustwritten) == PAWL_ROBUST_OK);
    pthread_barrier_wait(&held);
    for (;;)
        pause();
    return NULL;
}

static void begin(void *in_entries)
{
    must(pthread_barrier_init(&held, NULL, 2) == 0);
    must(pawl_brlock_init(&brread, PAWL_BRLOCK_LINES) == 0);
    must(pawl_brlock_init(&brwritten, PAWL_BRLOCK_LINES) == 0);
    must(pawl_robust_lock_init(&robustread) == PAWL_ROBUST_OK);
    must(pawl_robust_lock_init(&robustwritten) == PAWL_ROBUST_OK);
    (void)test_start(holds_all, in_entries);
    pthread_barrier_wait(&held);
}

/* ---- What a thread asks once in its life, before a call is forbidden ------------------------- */

static void warm_up(void)
{
    must(!pawl_take_write_until(&written64, pawl_now() + 1000)); /* the number of CPUs, the table */
    must(!pawl_take_write_until(&read64, pawl_now() + 1000));
    must(pawl_brlock_try_read(&brread)); /* its line */
    pawl_brlock_drop_read(&brread);
    must(pawl_robust_lock_try_read(&robustread) == PAWL_ROBUST_OK); /* its number */
    must(pawl_robust_lock_drop_read(&robustread) == PAWL_ROBUST_OK);
    if (!sandbox_kills_all())
        _exit(77);
}

/* ---- Everything that can have a deadline ----------------------------------------------------- */

static uint64_t past(int which)
{
    return which == 2 ? pawl_now() : (uint64_t)which;
}

#define NEVER(call)                                                                                \
    do {                                                                                           \
        int which;                                                                                 \
        *step = #call;                                                                             \
        for (which = 0; which < 3; which++) {                                                      \
            const uint64_t deadline = past(which);                                                 \
            must(!(call));                                                                         \
        }                                                                                          \
    } while (0)

#define BESIDE_A_READER(l)                                                                         \
    do {                                                                                           \
        NEVER(pawl_take_write_until(l, deadline));                                                 \
        NEVER(pawl_take_atomic_until(l, deadline));                                                \
        NEVER(pawl_claim_write_until(l, deadline));                                                \
        NEVER(pawl_claim_atomic_until(l, deadline));                                               \
        pawl_take_seek(l);                                                                         \
        NEVER(pawl_seek_to_write_until(l, deadline));                                              \
        pawl_drop_seek(l);                                                                         \
        pawl_take_read(l);                                                                         \
        NEVER(pawl_read_claim_write_until(l, deadline));                                           \
        NEVER(pawl_read_claim_atomic_until(l, deadline));                                          \
        pawl_drop_read(l);                                                                         \
    } while (0)

#define BESIDE_A_WRITER(l)                                                                         \
    do {                                                                                           \
        NEVER(pawl_take_read_until(l, deadline));                                                  \
        NEVER(pawl_take_seek_until(l, deadline));                                                  \
        NEVER(pawl_take_write_until(l, deadline));                                                 \
        NEVER(pawl_take_atomic_until(l, deadline));                                                \
        NEVER(pawl_claim_atomic_until(l, deadline));                                               \
    } while (0)

static void locks(void)
{
    BESIDE_A_READER(&read32);
    BESIDE_A_READER(&read64);
    BESIDE_A_READER(&shared_read32);
    BESIDE_A_READER(&shared_read64);
    BESIDE_A_WRITER(&written32);
    BESIDE_A_WRITER(&written64);
    BESIDE_A_WRITER(&shared_written32);
    BESIDE_A_WRITER(&shared_written64);
    NEVER(pawl_take_read_counted_until(&written32, deadline));
    NEVER(pawl_take_read_counted_until(&written64, deadline));
    NEVER(PAWL_SYMBOL_(pawl_lock64_take_write_ranked)(&read64, deadline, 9));
    NEVER(PAWL_SYMBOL_(pawl_lock64_take_read_counted_ranked)(&written64, deadline, 9));
}

static void big_reader_and_sifting_locks(void)
{
    NEVER(pawl_brlock_take_write_until(&brread, deadline));
    pawl_brlock_take_seek(&brread);
    NEVER(pawl_brlock_seek_to_write_until(&brread, deadline));
    pawl_brlock_drop_seek(&brread);
    NEVER(pawl_brlock_take_read_until(&brwritten, deadline));
    NEVER(pawl_brlock_take_seek_until(&brwritten, deadline));
    NEVER(pawl_brlock_take_write_until(&brwritten, deadline));
    NEVER(pawl_sift_take_write_until(&siftread, deadline));
    NEVER(pawl_sift_take_write_until(&siftwritten, deadline));
    NEVER(pawl_sift_take_read_until(&siftwritten, PAWL_SIFT_THREAD, deadline));
}

#define LATE(call) NEVER((call) != PAWL_ROBUST_TIMED_OUT)

static void robust_locks(void)
{
    LATE(pawl_robust_lock_take_write_until(&robustread, deadline));
    must(pawl_robust_lock_take_seek(&robustread) == PAWL_ROBUST_OK);
    LATE(pawl_robust_lock_seek_to_write_until(&robustread, deadline));
    must(pawl_robust_lock_drop_seek(&robustread) == PAWL_ROBUST_OK);
    LATE(pawl_robust_lock_take_read_until(&robustwritten, deadline));
    LATE(pawl_robust_lock_take_seek_until(&robustwritten, deadline));
    LATE(pawl_robust_lock_take_write_until(&robustwritten, deadline));
    LATE(pawl_robust_lock_take_atomic_until(&robustwritten, deadline));
}

#define EXPIRES(call) NEVER((call) != PAWL_WAIT_EXPIRED)

static void waits(void)
{
    static pawl_cond condition;
    static pawl_eventcount event;
    static pawl_lock32 own;
    struct pawl_watch both[2];
    uint32_t which_one;
    memset(both, 0, sizeof both);
    both[0].address = &value32;
    both[0].bits = 32;
    both[0].mask = UINT32_MAX;
    both[0].value = value32;
    both[1] = both[0];
    NEVER(pawl_bitlock32_take_until(&bit, 0, deadline));
    EXPIRES(pawl_wait32_until(&value32, value32, deadline));
    EXPIRES(pawl_wait64_until(&value64, value64, deadline));
    EXPIRES(pawl_wait32_shared_until(&value32, value32, deadline));
    EXPIRES(pawl_wait_any_until(both, 2, &which_one, deadline));
    pawl_take_read(&own);
    NEVER(pawl_cond_wait_read_until(&condition, &own, deadline));
    pawl_drop_read(&own);
    pawl_take_write(&own);
    NEVER(pawl_cond_wait_write_until(&condition, &own, deadline));
    pawl_drop_write(&own);
    NEVER(pawl_eventcount_commit_until(&event, pawl_eventcount_prepare(&event), deadline));
}

static void goes_through_all(void *in_entries)
{
    begin(in_entries);
    warm_up();
    locks();
    big_reader_and_sifting_locks();
    robust_locks();
    waits();
}

/* ---- The tests ------------------------------------------------------------------------------- */

static void no_call_beside_holders(enum entries_mode mode)
{
    char said[4096];
    ipawl_entries_mode_(mode);
    *step = "warm-up";
    int status =
        test_in_child(goes_through_all, mode != ENTRIES_OFF ? &held : NULL, said, sizeof said);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("skipped: seccomp is not available here\n");
        skip();
    }
    if (status != 0)
        fail_msg("%s: status %#x; wrote:\n%s", *step, (unsigned)status, said);
}

TEST_CASE(a_past_deadline_beside_readers_that_always_scale_makes_no_system_call)
{
    no_call_beside_holders(ENTRIES_ON);
}

TEST_CASE(a_past_deadline_beside_readers_that_scale_by_evidence_makes_no_system_call)
{
    no_call_beside_holders(ENTRIES_EVIDENCE);
}

TEST_CASE(a_past_deadline_beside_readers_in_the_word_makes_no_system_call)
{
    no_call_beside_holders(ENTRIES_OFF);
}

static void calls_something(void *unused)
{
    if (!sandbox_kills_all())
        _exit(77);
    syscall(SYS_getpid);
}

TEST_CASE(a_system_call_would_have_ended_the_child)
{
    char said[256];
    const int status = test_in_child(calls_something, NULL, said, sizeof said);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

int main(int argc, char **argv)
{
    if (TEST_SANITIZED)
        return test_skipped("a sanitizer makes system calls of its own");
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(page != MAP_FAILED);
    step = (const char **)page;
    return test_main(argc, argv);
}

#else

TEST_SKIPPED("no filter of system calls here")

#endif
