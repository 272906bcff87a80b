/* SPDX-License-Identifier: MIT */
/*
 * A child uses the lock in all states and is killed at any instruction: after a random time, or,
 * traced, after a random number of single steps. The parent then takes the lock, with a deadline
 * that only ends what hangs: it must be granted, be told of the death if the data were left in
 * between, and find the lock whole after its repair. Siblings that sleep at the lock go on living.
 * Rounds go on until the time is over (PAWL_STRESS_SECONDS); they follow from the seed (--seed=N),
 * but for what the clock decides.
 */
#include "test.h"

#include <pawl/robust.h>

#include <sys/mman.h>
#include <sys/ptrace.h>

/* A sanitizer makes more steps of an operation. */
enum { MOST_STEPS = TEST_SANITIZED ? 20000 : 1200 };

static struct shared {
    pawl_robust_lock lock;
    uint64_t first, second; /* equal, but while a writer is at them */
    uint64_t sum;           /* atomic users add to it */
    uint32_t begun;         /* children that are at work */
    uint32_t stop;
} *shared;

static uint64_t after(double seconds)
{
    return (uint64_t)((test_now() + seconds) * 1e9);
}

/* ---- What they do with it -------------------------------------------------------------------- */

/* Repairs what it is told may be broken. Under W. */
static void repair_if(enum pawl_robust how)
{
    must(pawl_robust_held(how));
    if (how == PAWL_ROBUST_OWNER_DIED) {
        shared->second = shared->first;
        must(pawl_robust_lock_consistent(&shared->lock) == PAWL_ROBUST_OK);
    }
    must(shared->first == shared->second);
}

static void write_both(void)
{
    __atomic_store_n(&shared->first, shared->first + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&shared->second, shared->second + 1, __ATOMIC_RELAXED);
}

static void read_both(enum pawl_robust how)
{
    must(pawl_robust_held(how));
    if (how == PAWL_ROBUST_OK)
        must(shared->first == shared->second);
}

static void seek_and_write(pawl_robust_lock *l, uint64_t *random)
{
    read_both(pawl_robust_lock_take_seek(l));
    repair_if(pawl_robust_lock_seek_to_write(l));
    write_both();
    if (test_random_below(random, 2)) {
        must(pawl_robust_lock_write_to_seek(l) == PAWL_ROBUST_OK);
        must(pawl_robust_lock_seek_to_read(l) == PAWL_ROBUST_OK);
    } else {
        must(pawl_robust_lock_write_to_read(l) == PAWL_ROBUST_OK);
    }
    must(pawl_robust_lock_drop_read(l) == PAWL_ROBUST_OK);
}

static void read_and_write(pawl_robust_lock *l)
{
    read_both(pawl_robust_lock_take_read(l));
    enum pawl_robust how = pawl_robust_lock_read_claim_write(l);
    if (how == PAWL_ROBUST_BUSY) {
        must(pawl_robust_lock_drop_read(l) == PAWL_ROBUST_OK);
        return;
    }
    repair_if(how);
    write_both();
    must(pawl_robust_lock_drop_write(l) == PAWL_ROBUST_OK);
}

static void do_something(uint64_t *random)
{
    pawl_robust_lock *l = &shared->lock;
    enum pawl_robust how;
    switch (test_random_below(random, 7)) {
    case 0:
        read_both(pawl_robust_lock_take_read(l));
        must(pawl_robust_lock_drop_read(l) == PAWL_ROBUST_OK);
        break;
    case 1:
        repair_if(pawl_robust_lock_take_write(l));
        write_both();
        must(pawl_robust_lock_drop_write(l) == PAWL_ROBUST_OK);
        break;
    case 2:
        how = pawl_robust_lock_take_atomic(l);
        must(pawl_robust_held(how));
        __atomic_fetch_add(&shared->sum, 1, __ATOMIC_RELAXED);
        must(pawl_robust_lock_drop_atomic(l) == PAWL_ROBUST_OK);
        break;
    case 3:
    case 4: seek_and_write(l, random); break;
    case 5: read_and_write(l); break;
    default:
        how = pawl_robust_lock_take_write_until(l, after(1e-5 * test_random_below(random, 9)));
        if (how != PAWL_ROBUST_TIMED_OUT) {
            repair_if(how);
            must(pawl_robust_lock_drop_write(l) == PAWL_ROBUST_OK);
        }
    }
}

/* ---- Killing --------------------------------------------------------------------------------- */

static pid_t start(uint64_t seed, bool traced)
{
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        uint64_t random = seed;
        if (traced) {
            if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
                _exit(77);
            raise(SIGSTOP);
        }
        __atomic_fetch_add(&shared->begun, 1, __ATOMIC_RELAXED);
        while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED))
            do_something(&random);
        _exit(0);
    }
    return child;
}

/* Lets the child make so many steps. False when it cannot be traced here. */
static bool step(pid_t child, unsigned steps)
{
    int status;
    must(waitpid(child, &status, 0) == child);
    if (!WIFSTOPPED(status))
        return false;
    for (; steps > 0; steps--) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0)
            return false;
        must(waitpid(child, &status, 0) == child);
        must(WIFSTOPPED(status));
    }
    return true;
}

/* The lock must come, in any state, and be whole. Returns whether a death was told. */
static bool take_after_death(unsigned as)
{
    static enum pawl_robust (*const takes[])(pawl_robust_lock *, uint64_t) = {
        pawl_robust_lock_take_read_until, pawl_robust_lock_take_seek_until,
        pawl_robust_lock_take_write_until, pawl_robust_lock_take_atomic_until};
    static enum pawl_robust (*const drops[])(pawl_robust_lock *) = {
        pawl_robust_lock_drop_read, pawl_robust_lock_drop_seek, pawl_robust_lock_drop_write,
        pawl_robust_lock_drop_atomic};
    pawl_robust_lock *l = &shared->lock;
    enum pawl_robust how = takes[as](l, after(60));
    const bool told = how == PAWL_ROBUST_OWNER_DIED;
    assert_true(pawl_robust_held(how));
    if (!told)
        assert_true(shared->first == shared->second || as == 3);
    if (as == 2)
        repair_if(how);
    assert_int_equal(drops[as](l), PAWL_ROBUST_OK);
    how = pawl_robust_lock_take_write_until(l, after(60));
    assert_true(how == PAWL_ROBUST_OK ||
                (how == PAWL_ROBUST_OWNER_DIED && (told || as == 3) && as != 2));
    repair_if(how);
    assert_int_equal(pawl_robust_lock_drop_write(l), PAWL_ROBUST_OK);
    return told;
}

static int set_up(void **state)
{
    if (!shared)
        shared = (struct shared *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(shared != MAP_FAILED);
    memset((void *)shared, 0, sizeof *shared);
    must(pawl_robust_lock_init(&shared->lock) == PAWL_ROBUST_OK);
    fflush(NULL);
    return 0;
}

static void kill_rounds(bool traced, double seconds)
{
    const double end = test_now() + seconds;
    uint64_t seed = test_seed();
    unsigned rounds = 0, told = 0, most = MOST_STEPS;
    do {
        const uint32_t before = __atomic_load_n(&shared->begun, __ATOMIC_RELAXED);
        const pid_t child = start(test_random(&seed), traced);
        int status;
        if (traced && !step(child, test_random_below(&seed, most))) {
            (void)kill(child, SIGKILL);
            (void)waitpid(child, &status, 0);
            print_message("this system does not let us trace: not run\n");
            skip();
        }
        while (!traced && __atomic_load_n(&shared->begun, __ATOMIC_RELAXED) == before)
            sched_yield();
        if (!traced)
            usleep(test_random_below(&seed, 3000));
        must(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        told += take_after_death(test_random_below(&seed, 4));
        if (++rounds % 64 == 0 && told == 0)
            most *= 2;
    } while (test_now() < end || told == 0); /* one in ten, roughly, dies where it is told */
    print_message("killed %u, told of %u deaths\n", rounds, told);
}

TEST_CASE_WITH(killed_at_any_time_the_lock_comes_back, set_up, NULL)
{
    kill_rounds(false, test_seconds(2));
}

TEST_CASE_WITH(killed_after_any_instruction_the_lock_comes_back, set_up, NULL)
{
    kill_rounds(true, test_seconds(3));
}

/* The child comes to its end by itself: it does not hang, and no check of its own has failed. */
static void assert_ends(pid_t child)
{
    const double end = test_now() + 60;
    int status = -1;
    pid_t ended;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0 && test_now() < end)
        usleep(1000);
    if (ended == 0)
        (void)kill(child, SIGKILL); /* its siblings find their end by the alarm */
    assert_int_equal(ended, child);
    assert_int_equal(status, 0);
}

/* Several at once, so that the dying are waited for by sleepers and the dead find the dead. Each
 * round ends soon, because a sleeper whose wake was lost shows only when no traffic wakes it. */
TEST_CASE_WITH(the_living_go_on_while_others_are_killed, set_up, NULL)
{
    const double end = test_now() + test_seconds(4);
    uint64_t seed = test_seed();
    pid_t children[4];
    unsigned i, kills, killed = 0, rounds = 0;
    do {
        __atomic_store_n(&shared->stop, 0, __ATOMIC_RELAXED);
        for (i = 0; i < 4; i++)
            children[i] = start(test_random(&seed), false);
        for (kills = 1 + test_random_below(&seed, 12); kills > 0; kills--) {
            i = test_random_below(&seed, 4);
            usleep(test_random_below(&seed, 2000));
            must(kill(children[i], SIGKILL) == 0);
            const int status = test_wait(children[i]);
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
            children[i] = start(test_random(&seed), false);
            killed++;
        }
        __atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
        for (i = 0; i < 4; i++)
            assert_ends(children[i]);
        repair_if(pawl_robust_lock_take_write_until(&shared->lock, after(60)));
        assert_int_equal(pawl_robust_lock_drop_write(&shared->lock), PAWL_ROBUST_OK);
        rounds++;
    } while (test_now() < end);
    print_message("killed %u in %u rounds\n", killed, rounds);
}

TEST_MAIN(alarm(TEST_HANGS))
