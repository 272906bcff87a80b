/* SPDX-License-Identifier: MIT */
/* What the checking variant says of sequence locks. */
#include "support/misuse.h"

#include <pawl/seq.h>

#ifdef __linux__
#include <dlfcn.h>
#include <sys/syscall.h>
#endif

struct pair {
    uint64_t a, b;
};

PAWL_SEQ_TYPE(pair_seq, struct pair);
PAWL_SEQ_LATCH_TYPE(pair_latch, struct pair);

static pair_seq lock;
static pair_latch latch;
static const struct pair value = {1, 2};

static void write_alone(void *unused)
{
    pair_seq_write_alone(&lock, &value);
}

static void latch_alone(void *unused)
{
    pair_latch_write_alone(&latch, &value);
}

static void begin_only(void *unused)
{
    pawl_seq_begin_write(&lock.seq);
}

REPORTED_CASE(write_beside_the_declared_writer_is_reported,
              "written by another thread than the declared writer: pawl_seq at",
              "by pawl_seq_begin_write in thread")
{
    pawl_seq_declare_writer(&lock.seq);
    pair_seq_write_alone(&lock, &value);
    in_another_thread(write_alone, NULL);
}

REPORTED_CASE(latch_beside_the_declared_writer_is_reported,
              "written by another thread than the declared writer: pawl_seq_latch at",
              "by pawl_seq_latch_store in thread")
{
    pawl_seq_latch_declare_writer(&latch.seq);
    pair_latch_write_alone(&latch, &value);
    in_another_thread(latch_alone, NULL);
}

REPORTED_CASE(two_writers_at_once_are_reported, "written by two threads at once: pawl_seq at")
{
    pawl_seq_begin_write(&lock.seq);
    in_another_thread(write_alone, NULL);
}

REPORTED_CASE(a_handler_that_writes_inside_its_threads_write_is_reported,
              "written inside the same thread's write")
{
    pawl_seq_begin_write(&lock.seq);
    write_alone(NULL);
}

REPORTED_CASE(the_end_of_no_write_is_reported, "end of a write that was not begun: pawl_seq at")
{
    pawl_seq_end_write(&lock.seq);
}

REPORTED_CASE(destroy_while_written_is_reported, "destroyed while it is written: pawl_seq at")
{
    pawl_seq_begin_write(&lock.seq);
    pair_seq_destroy(&lock);
}

REPORTED_CASE(destroy_while_locked_is_reported, "destroyed while in use: pawl_seq_latch at")
{
    struct pair now;
    pair_latch_take_write(&latch, &now);
    pair_latch_destroy(&latch);
}

REPORTED_CASE(a_read_in_memory_that_was_never_zeroed_is_reported_instead_of_waiting,
              "waits for a write that nobody makes: pawl_seq at", "by pawl_seq_begin in thread",
              "page: doc/seq.md")
{
    pair_seq never;
    struct pair now;
    memset(&never, 0xa5, sizeof never);
    pair_seq_read(&never, &now);
}

REPORTED_CASE(a_writer_in_memory_that_was_never_zeroed_is_reported_instead_of_waiting,
              "waits for a holder that does not exist: pawl_seq at",
              "by pawl_seq_take_write in thread")
{
    pair_seq never;
    struct pair now;
    memset(&never, 0xa5, sizeof never);
    pair_seq_take_write(&never, &now);
}

REPORTED_CASE(a_read_after_a_writer_ended_inside_its_write_is_reported,
              "waits for a write that nobody makes: pawl_seq at")
{
    struct pair now;
    in_another_thread(begin_only, unused);
    pair_seq_read(&lock, &now);
}

/* Writes keep coming until the reader asks for the lock that its own thread holds. */
REPORTED_CASE(a_handler_that_falls_back_to_its_threads_own_lock_is_reported,
              "taken again by its holder: pawl_seq at", "by pawl_seq_begin_or_lock",
              "page: doc/seq.md")
{
    pawl_seq_reader reader = PAWL_SEQ_READER(0);
    struct pair now;
    pair_seq_take_write(&lock, &now);
    do {
        pawl_seq_begin_or_lock(&lock.seq, &reader);
        pair_seq_write_alone(&lock, &value);
    } while (pawl_seq_retry_or_unlock(&lock.seq, &reader));
}

/* ---- What is right --------------------------------------------------------------------------- */

#ifdef __linux__

static unsigned looks_left; /* how many more looks find a thread that has ended */

/* The library asks the kernel through this whether a thread lives. AddressSanitizer reports that
 * calls with fewer arguments leave some unset. */
__attribute__((no_sanitize("address"))) long syscall(long number, ...)
{
    long (*real)(long, ...);
    long a[6];
    va_list more;
    *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    va_start(more, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(more, long);
    va_end(more);
    if (number == SYS_tgkill && a[2] == 0 && looks_left > 0) {
        looks_left--;
        return 0;
    }
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* T1 begins a write and ends; the main thread joins it, and writes. The kernel wakes the joiner
 * before it takes T1 off its list, so a look in between finds T1. The library took that for a
 * second writer. */
SILENT_CASE(a_joined_thread_that_the_kernel_still_knows_is_not_blamed)
{
    in_another_thread(begin_only, unused);
    looks_left = 20;
    write_alone(NULL);
    must(looks_left == 0);
    pair_seq_destroy(&lock);
}

#endif

SILENT_CASE(writers_that_take_turns_and_repairs_are_silent)
{
    struct pair now;
    write_alone(NULL);
    in_another_thread(write_alone, NULL); /* the caller excludes them: they take turns */
    latch_alone(NULL);
    in_another_thread(latch_alone, NULL);
    pair_seq_take_write(&lock, &now);
    pair_seq_drop_write(&lock, &now);
    pair_seq_read_or_lock(&lock, &now, 0);
    pair_latch_read(&latch, &now);
    in_another_thread(begin_only, NULL);
    write_alone(NULL); /* repairs what a thread left behind that is gone */
    pair_seq_destroy(&lock);
    pair_latch_destroy(&latch);
}

TEST_MAIN(misuse_without_lines())
