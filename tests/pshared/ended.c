/* SPDX-License-Identifier: MIT */
/*
 * A process drops the lock and ends, or another of its threads unmaps the lock, at any point after
 * the access that gives the lock up. The sleepers of other processes must be woken all the same:
 *
 *   dropper: gives the lock up      dropper's process: ends, or unmaps the lock
 *   (a wake that comes now reaches nobody, and a sleeper sleeps for ever)
 *
 * The dropper is traced and makes single steps. When its units have left the word, it goes on past
 * a number of steps that another process can notice; that number grows by one in each round, until
 * the drop has returned. Such a step calls the system or changes the page of the lock. Between two
 * of them each point is as good as the next one: a drop that still looks at the page has died of
 * that in the first round.
 */
#include "pshared/widths.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>

enum { SLEEPERS = 2 };
enum end { DIES, IS_UNMAPPED };

static struct board {
    uint32_t unmap, unmapped; /* from the parent to the second thread, and back */
} *board;
static void *page; /* the lock */

static uint64_t units_in_word(const struct width *x)
{
    const uint64_t word = x->size == sizeof(pawl_pshared_lock32)
                              ? pawl_load_relaxed32(&((pawl_pshared_lock32 *)page)->word)
                              : pawl_load_relaxed64(&((pawl_pshared_lock64 *)page)->word);
    return word & ~(uint64_t)(PAWL_PSHARED_PARKED | PAWL_PSHARED_LEAVING);
}

/* ---- The processes --------------------------------------------------------------------------- */

static pid_t child_of_this_test(void)
{
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0)
        must(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
    return child;
}

static void *unmap_when_told(void *unused)
{
    struct board *const here = board;
    must(here != NULL);
    while (pawl_load_relaxed32(&here->unmap) == 0)
        sched_yield();
    must(munmap(page, 4096) == 0);
    pawl_store_relaxed32(&here->unmapped, 1);
    return NULL;
}

/* Takes the lock and stops; drops it, and stops again. */
static pid_t start_dropper(const struct width *x, unsigned state)
{
    const pid_t child = child_of_this_test();
    if (child != 0)
        return child;
    must(x->take[state](page, UINT64_MAX));
    (void)test_start(unmap_when_told, NULL);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(77);
    raise(SIGSTOP);
    x->drop[state](page);
    raise(SIGSTOP);
    _exit(0);
}

static char state_of_process(pid_t process)
{
    char name[64], line[512];
    snprintf(name, sizeof name, "/proc/%d/stat", (int)process);
    FILE *file = fopen(name, "r");
    must(file != NULL && fgets(line, sizeof line, file) != NULL && fclose(file) == 0);
    const char *end = strrchr(line, ')');
    must(end != NULL);
    return end[2];
}

static pid_t start_sleeper(const struct width *x, unsigned state)
{
    const pid_t child = child_of_this_test();
    if (child == 0) {
        must(x->take[state](page, UINT64_MAX));
        x->drop[state](page);
        _exit(0);
    }
    while (state_of_process(child) != 'S')
        usleep(200);
    return child;
}

/* ---- One drop -------------------------------------------------------------------------------- */

/* One step of the dropper. False: the drop has returned. */
static bool step(pid_t dropper)
{
    must(ptrace(PTRACE_SINGLESTEP, dropper, NULL, NULL) == 0);
    const int status = test_wait(dropper);
    must(WIFSTOPPED(status));
    return WSTOPSIG(status) != SIGSTOP;
}

/* Whether the dropper's next instruction calls the system; its code is ours. */
static bool is_at_system_call(pid_t dropper)
{
#if defined(__x86_64__) || defined(__i386__)
    static const unsigned char calls[][2] = {{0x0f, 0x05}, {0x0f, 0x34}, {0xcd, 0x80}};
    struct user_regs_struct at;
    unsigned i;
    must(ptrace(PTRACE_GETREGS, dropper, NULL, &at) == 0);
    for (i = 0; i < sizeof calls / sizeof calls[0]; i++)
#ifdef __x86_64__
        if (memcmp((const void *)(uintptr_t)at.rip, calls[i], sizeof calls[i]) == 0)
#else
        if (memcmp((const void *)(uintptr_t)at.eip, calls[i], sizeof calls[i]) == 0)
#endif
            return true;
    return false;
#else
    return true; /* perhaps: each step counts */
#endif
}

/* Steps until the dropper has done what others can notice. False: the drop has returned. */
static bool step_noticeably(const struct width *x, pid_t dropper)
{
    unsigned char before[64];
    bool called;
    must(x->size <= sizeof before);
    memcpy(before, page, x->size);
    do {
        called = is_at_system_call(dropper);
        if (!step(dropper))
            return false;
    } while (!called && memcmp(before, page, x->size) == 0);
    return true;
}

/* False: the drop had returned before it made `more` such steps after it gave the lock up. */
static bool step_beyond_the_end(const struct width *x, pid_t dropper, unsigned more)
{
    const uint64_t held = units_in_word(x);
    while (units_in_word(x) == held)
        must(step(dropper));
    for (; more > 0; more--)
        if (!step_noticeably(x, dropper))
            return false;
    return true;
}

static void end_dropper(pid_t dropper, enum end how)
{
    int status;
    if (how == DIES) {
        must(kill(dropper, SIGKILL) == 0 && waitpid(dropper, &status, 0) == dropper);
        return;
    }
    pawl_store_relaxed32(&board->unmap, 1);
    while (pawl_load_relaxed32(&board->unmapped) == 0)
        sched_yield();
    do { /* the rest of its drop, and its end; or its death by an access to the lock */
        must(ptrace(PTRACE_CONT, dropper, NULL, NULL) == 0);
        must(waitpid(dropper, &status, 0) == dropper);
        assert_false(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSEGV);
    } while (WIFSTOPPED(status));
    assert_int_equal(status, 0);
}

/* False: no more points. The last one is the drop's return. */
static bool ended_at(const struct width *x, unsigned state, enum end how, unsigned more)
{
    static const unsigned waits[4][SLEEPERS] = {{W, R}, {S, W}, {R, W}, {W, R}}; /* for R S W A */
    pid_t dropper, sleepers[SLEEPERS];
    int status;
    memset(page, 0, x->size);
    memset(board, 0, sizeof *board);
    dropper = start_dropper(x, state);
    must(waitpid(dropper, &status, 0) == dropper);
    if (!WIFSTOPPED(status)) {
        print_message("this system does not let us trace: not run\n");
        skip();
    }
    for (unsigned i = 0; i < SLEEPERS; i++)
        sleepers[i] = start_sleeper(x, waits[state][i]);
    bool beyond = step_beyond_the_end(x, dropper, more);
    end_dropper(dropper, how);
    for (unsigned i = 0; i < SLEEPERS; i++) {
        must(waitpid(sleepers[i], &status, 0) == sleepers[i]); /* the alarm ends what hangs */
        assert_int_equal(status, 0);
    }
    assert_true(x->free(page));
    return beyond;
}

static void ended_everywhere(const struct width *x, enum end how)
{
    unsigned state, more, points = 0;
    for (state = 0; state < 4; state++)
        for (more = 0; ended_at(x, state, how, more); more++)
            points++;
    print_message("%u points\n", points);
    assert_true(points > 0);
}

static void dies(const struct width *x)
{
    ended_everywhere(x, DIES);
}

static void is_unmapped(const struct width *x)
{
    ended_everywhere(x, IS_UNMAPPED);
}

TEST_CASE(a_process_that_ends_after_its_drop_leaves_no_sleeper)
{
    FOR_EACH_WIDTH(dies);
}

TEST_CASE(a_lock_that_is_unmapped_beside_a_drop_leaves_no_sleeper)
{
    FOR_EACH_WIDTH(is_unmapped);
}

int main(int argc, char **argv)
{
    if (TEST_SANITIZED)
        return test_skipped("a sanitizer makes too many steps of a drop");
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    board =
        (struct board *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(page != MAP_FAILED && board != MAP_FAILED);
    alarm(TEST_HANGS);
    return test_main(argc, argv);
}
