/* SPDX-License-Identifier: MIT */
/*
 * A seeker is killed while it enters: its record as the lock's seeker stands, that of its member
 * does not yet (or, while it leaves, no longer). A reader comes upon no record and is told nothing;
 * the next writer gets the mutex of seek from the dead and is told of a death, of one who had not
 * yet held the lock or had already let it go. Whoever comes first must be told what the second is.
 *
 * Here a traced child makes single steps through an operation and dies after each change of a
 * record in turn; a reader and then a writer take the lock.
 */
#include "test.h"

#include <pawl/robust.h>

#include <sys/mman.h>
#include <sys/ptrace.h>

static pawl_robust_lock *shared;

static void take_and_drop_seek(void)
{
    must(pawl_robust_held(pawl_robust_lock_take_seek(shared)));
    must(pawl_robust_lock_drop_seek(shared) == PAWL_ROBUST_OK);
}

static void seek_and_move_down(void)
{
    must(pawl_robust_held(pawl_robust_lock_take_seek(shared)));
    must(pawl_robust_lock_seek_to_read(shared) == PAWL_ROBUST_OK);
    must(pawl_robust_lock_drop_read(shared) == PAWL_ROBUST_OK);
}

static void read_and_move_up(void)
{
    must(pawl_robust_held(pawl_robust_lock_take_read(shared)));
    must(pawl_robust_held(pawl_robust_lock_try_read_to_seek(shared)));
    must(pawl_robust_lock_drop_seek(shared) == PAWL_ROBUST_OK);
}

static void take_and_drop_write(void)
{
    must(pawl_robust_held(pawl_robust_lock_take_write(shared)));
    must(pawl_robust_lock_drop_write(shared) == PAWL_ROBUST_OK);
}

/* What tells who holds what, mixed into one number. */
static uint64_t records(void)
{
    uint64_t all = pawl_load_relaxed32(&shared->seeker);
    all = all * 31 + pawl_load_relaxed32(&shared->writer);
    all = all * 31 + pawl_load_relaxed32(&shared->draining);
    for (unsigned i = 0; i < PAWL_ROBUST_MEMBERS; i++)
        all = all * 31 + pawl_load_relaxed32(&shared->members[i].holder);
    return all;
}

static pid_t start(void (*operation)(void))
{
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(77);
        raise(SIGSTOP);
        operation();
        _exit(0);
    }
    return child;
}

/* Kills a child at its `changes`-th change of a record. False if it came to its end before. */
static bool killed_after(void (*operation)(void), unsigned changes)
{
    const pid_t child = start(operation);
    uint64_t before = records();
    int status;
    must(waitpid(child, &status, 0) == child);
    if (!WIFSTOPPED(status)) {
        print_message("this system does not let us trace: not run\n");
        skip();
    }
    while (changes > 0) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0) {
            (void)kill(child, SIGKILL);
            (void)waitpid(child, &status, 0);
            print_message("this machine does not single-step: not run\n");
            skip();
        }
        must(waitpid(child, &status, 0) == child);
        if (WIFEXITED(status)) {
            assert_int_equal(WEXITSTATUS(status), 0);
            return false;
        }
        changes -= records() != before;
        before = records();
    }
    must(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
    return true;
}

static void whoever_comes_first_is_told(void (*operation)(void))
{
    unsigned changes;
    if (PAWL_TSAN_) {
        print_message("ThreadSanitizer makes hundreds of steps of each: not run\n");
        skip();
    }
    for (changes = 1;; changes++) {
        assert_int_equal(pawl_robust_lock_init(shared), PAWL_ROBUST_OK);
        bool killed = killed_after(operation, changes);
        bool told = pawl_robust_lock_take_read(shared) == PAWL_ROBUST_OWNER_DIED;
        assert_int_equal(pawl_robust_lock_drop_read(shared), PAWL_ROBUST_OK);
        assert_int_equal(pawl_robust_lock_take_write(shared),
                         told ? PAWL_ROBUST_OWNER_DIED : PAWL_ROBUST_OK);
        if (told)
            assert_int_equal(pawl_robust_lock_consistent(shared), PAWL_ROBUST_OK);
        assert_int_equal(pawl_robust_lock_drop_write(shared), PAWL_ROBUST_OK);
        if (!killed)
            break;
    }
    assert_true(changes > 2);
}

static int set_up(void **state)
{
    shared = (pawl_robust_lock *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED;
}

TEST_CASE_WITH(of_a_seeker_entering_and_leaving_the_first_to_come_is_told, set_up, NULL)
{
    whoever_comes_first_is_told(take_and_drop_seek);
}

TEST_CASE_WITH(of_a_seeker_moving_down_the_first_to_come_is_told, set_up, NULL)
{
    whoever_comes_first_is_told(seek_and_move_down);
}

TEST_CASE_WITH(of_a_reader_moving_up_the_first_to_come_is_told, set_up, NULL)
{
    whoever_comes_first_is_told(read_and_move_up);
}

TEST_CASE_WITH(of_a_writer_entering_and_leaving_the_first_to_come_is_told, set_up, NULL)
{
    whoever_comes_first_is_told(take_and_drop_write);
}

TEST_MAIN(alarm(TEST_HANGS))
