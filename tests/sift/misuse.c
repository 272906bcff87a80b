/* SPDX-License-Identifier: MIT */
/* What the checking variant says of priority-sifting locks. */
#include "support/misuse.h"

#include <pawl/sift.h>

static pawl_sift lock;

static void make(uint32_t readers, uint32_t writers)
{
    pawl_sift_use use;
    memset(&use, 0, sizeof use);
    use.readers = readers;
    use.writers = writers;
    if (readers & PAWL_SIFT_READS(PAWL_SIFT_DEFERRED))
        use.deferred = PAWL_SIFT_SIGNAL(SIGUSR1);
    if (readers & PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT))
        use.interrupt = PAWL_SIFT_SIGNAL(SIGUSR2);
    must(pawl_sift_init(&lock, &use) == 0);
}

static void make_with_handlers(void)
{
    make(PAWL_SIFT_READS(PAWL_SIFT_THREAD) | PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT),
         PAWL_SIFT_THREAD);
}

/* ---- Contexts -------------------------------------------------------------------------------- */

static void read_undeclared(void *context)
{
    make_with_handlers();
    pawl_sift_take_read(&lock, *(enum pawl_sift_context *)context);
}

static void try_undeclared(void *context)
{
    make_with_handlers();
    (void)!pawl_sift_try_read(&lock, *(enum pawl_sift_context *)context);
}

TEST_CASE(reading_in_an_undeclared_context_is_reported)
{
    static enum pawl_sift_context wrong[] = {PAWL_SIFT_REALTIME, PAWL_SIFT_DEFERRED};
    for (unsigned i = 0; i < 2; i++) {
        assert_reports(read_undeclared, &wrong[i], "read in an undeclared context: pawl_sift at",
                       "by pawl_sift_take_read", NULL);
        assert_reports(try_undeclared, &wrong[i], "read in an undeclared context: pawl_sift at",
                       "by pawl_sift_try_read", NULL);
    }
}

/* A thread that has not blocked the signals is not where it says. */
static void read_below(void *unused)
{
    make_with_handlers();
    pawl_sift_take_read(&lock, PAWL_SIFT_INTERRUPT);
}

static void on_signal(int number)
{
    pawl_sift_take_read(&lock, PAWL_SIFT_INTERRUPT);
    pawl_sift_drop_read(&lock, PAWL_SIFT_INTERRUPT);
}

#if !PAWL_TSAN_ /* which calls handlers with all signals blocked */
/* A deferred handler could interrupt this one, and wait for a writer that waits for it. */
static void hold_back_too_little(void *unused)
{
    make(PAWL_SIFT_READS(PAWL_SIFT_THREAD) | PAWL_SIFT_READS(PAWL_SIFT_DEFERRED) |
             PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT),
         PAWL_SIFT_THREAD);
    must(signal(SIGUSR2, on_signal) != SIG_ERR);
    must(raise(SIGUSR2) == 0);
}
#endif

TEST_CASE(reading_below_the_context_is_reported)
{
#if !PAWL_TSAN_
    assert_reports(hold_back_too_little, NULL,
                   "read below the context, whose signals are not all blocked", NULL);
#endif
    assert_reports(read_below, NULL, "read below the context, whose signals are not all blocked",
                   "by pawl_sift_take_read", NULL);
}

static void write_below(void *writers)
{
    make(PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT), *(uint32_t *)writers);
    pawl_sift_take_write(&lock);
}

TEST_CASE(writing_below_the_declared_context_is_reported)
{
    static uint32_t wrong[] = {PAWL_SIFT_REALTIME, PAWL_SIFT_INTERRUPT};
    for (unsigned i = 0; i < 2; i++)
        assert_reports(write_below, &wrong[i], "written below the declared context: pawl_sift at",
                       "by pawl_sift_take_write", NULL);
}

/* ---- Nesting --------------------------------------------------------------------------------- */

static void write_twice(void *tries)
{
    make(0, PAWL_SIFT_THREAD);
    pawl_sift_take_write(&lock);
    if (*(bool *)tries)
        (void)!pawl_sift_try_write(&lock);
    else
        pawl_sift_take_write(&lock);
}

TEST_CASE(a_nested_write_is_reported)
{
    bool tries = false;
    assert_reports(write_twice, &tries, "taken again by its holder: pawl_sift at",
                   "by pawl_sift_take_write", NULL);
    tries = true;
    assert_reports(write_twice, &tries, "taken again by its holder: pawl_sift at",
                   "by pawl_sift_try_write", NULL);
}

REPORTED_CASE(read_while_writing_is_reported, "read by the thread that writes: pawl_sift at")
{
    make(0, PAWL_SIFT_THREAD);
    pawl_sift_take_write(&lock);
    pawl_sift_take_read(&lock, PAWL_SIFT_THREAD);
}

/* Its signal is none that the lock was told of, so the write did not hold it back. */
static void on_other_signal(int number)
{
    pawl_sift_take_read(&lock, PAWL_SIFT_INTERRUPT);
}

REPORTED_CASE(handler_reads_while_writing_is_reported,
              "read by the thread that writes: pawl_sift at")
{
    make_with_handlers();
    must(signal(SIGALRM, on_other_signal) != SIG_ERR);
    pawl_sift_take_write(&lock);
    must(raise(SIGALRM) == 0);
}

/* ---- Dropping -------------------------------------------------------------------------------- */

static void drop_write(void *unused)
{
    pawl_sift_drop_write(&lock);
}

REPORTED_CASE(drop_write_elsewhere_is_reported, "W is not held by this thread: pawl_sift at",
              "by pawl_sift_drop_write")
{
    make_with_handlers();
    pawl_sift_take_write(&lock);
    in_another_thread(drop_write, NULL);
}

REPORTED_CASE(drop_what_nobody_has_is_reported, "W is not held by this thread")
{
    make_with_handlers();
    pawl_sift_drop_write(&lock);
}

REPORTED_CASE(dropping_r_of_another_context_is_reported,
              "R is not held in this context: pawl_sift at")
{
    make_with_handlers();
    pawl_sift_take_read(&lock, PAWL_SIFT_THREAD);
    pawl_sift_drop_read(&lock, PAWL_SIFT_INTERRUPT);
}

static void destroy_in_use(void *writes)
{
    make(0, PAWL_SIFT_THREAD);
    if (*(bool *)writes)
        pawl_sift_take_write(&lock);
    else
        pawl_sift_take_read(&lock, PAWL_SIFT_THREAD);
    pawl_sift_destroy(&lock);
}

TEST_CASE(destroying_what_is_in_use_is_reported)
{
    bool writes = false;
    assert_reports(destroy_in_use, &writes, "destroyed while in use: pawl_sift at",
                   "by pawl_sift_destroy", NULL);
    writes = true;
    assert_reports(destroy_in_use, &writes, "destroyed while in use: pawl_sift at", NULL);
}

/* ---- Right use ------------------------------------------------------------------------------- */

static void read_elsewhere(void *unused)
{
    pawl_sift_take_read(&lock, PAWL_SIFT_THREAD);
    pawl_sift_drop_read(&lock, PAWL_SIFT_THREAD);
}

SILENT_CASE(right_use_is_silent)
{
    make_with_handlers();
    must(signal(SIGUSR2, on_signal) != SIG_ERR);
    pawl_sift_take_read(&lock, PAWL_SIFT_THREAD);
    must(pawl_sift_try_read(&lock, PAWL_SIFT_THREAD));
    must(raise(SIGUSR2) == 0);
    must(!pawl_sift_try_write(&lock));
    in_another_thread(read_elsewhere, NULL);
    pawl_sift_drop_read(&lock, PAWL_SIFT_THREAD);
    pawl_sift_drop_read(&lock, PAWL_SIFT_THREAD);
    pawl_sift_take_write(&lock);
    must(raise(SIGUSR2) == 0);
    pawl_sift_drop_write(&lock);
    must(pawl_sift_try_write(&lock));
    pawl_sift_drop_write(&lock);
    must(pawl_sift_take_write_until(&lock, 0));
    pawl_sift_drop_write(&lock);
    pawl_sift_destroy(&lock);
    pawl_sift_destroy(NULL);
}

static void use_garbage(void *writes)
{
    memset(&lock, 0xa5, sizeof lock);
    if (*(const bool *)writes)
        pawl_sift_take_write(&lock);
    else
        pawl_sift_take_read(&lock, PAWL_SIFT_THREAD);
}

TEST_CASE(memory_that_was_never_zeroed_is_reported_instead_of_waiting)
{
    bool writes = false;
    assert_reports(use_garbage, &writes, "never initialised: pawl_sift at", "pawl_sift_take_read",
                   "page: doc/sift.md", NULL);
    writes = true;
    assert_reports(use_garbage, &writes, "never initialised: pawl_sift at", "pawl_sift_take_write",
                   NULL);
}

TEST_MAIN(misuse_without_lines())
