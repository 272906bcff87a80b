/* SPDX-License-Identifier: MIT */
/* The lock for processes that may be killed: what each state excludes, how deaths are told, what
 * bad input gets. Deaths here happen at chosen points; robust/stress_kill.c kills anywhere. */
#include "test.h"

#include <pawl/robust.h>

#include <sys/mman.h>

static pawl_robust_lock *lock; /* in memory that children share */

static int set_up(void **state)
{
    if (lock == NULL)
        lock = (pawl_robust_lock *)mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(lock != MAP_FAILED);
    return pawl_robust_lock_init(lock) == PAWL_ROBUST_OK ? 0 : -1;
}

static uint64_t soon(void)
{
    return (uint64_t)(test_now() * 1e9) + 20000000;
}

static uint64_t late(void) /* ends what hangs */
{
    return (uint64_t)(test_now() * 1e9) + UINT64_C(30000000000);
}

/* ---- Somebody else: a child that takes the lock and does as it is told ----------------------- */

typedef enum pawl_robust (*operation)(pawl_robust_lock *);

struct other {
    pid_t pid;
    int tell;
};

/* Starts a child that calls up to three operations (NULL ends them) and then stands still. */
static struct other other_holds(operation first, operation second, operation third)
{
    struct other o;
    int here[2], there[2];
    char c;
    must(pipe(here) == 0 && pipe(there) == 0);
    fflush(NULL);
    o.pid = fork();
    must(o.pid >= 0);
    if (o.pid == 0) {
        const operation all[] = {first, second, third};
        for (unsigned i = 0; i < 3 && all[i]; i++)
            must(pawl_robust_held(all[i](lock)));
        must(write(there[1], "", 1) == 1);
        (void)!read(here[0], &c, 1); /* until it is killed */
        _exit(0);
    }
    must(read(there[0], &c, 1) == 1);
    close(here[0]), close(there[0]), close(there[1]);
    o.tell = here[1];
    return o;
}

static void other_is_killed(struct other o)
{
    int status;
    must(kill(o.pid, SIGKILL) == 0);
    must(waitpid(o.pid, &status, 0) == o.pid && WIFSIGNALED(status));
    close(o.tell);
}

static const operation takes[] = {pawl_robust_lock_take_read, pawl_robust_lock_take_seek,
                                  pawl_robust_lock_take_write, pawl_robust_lock_take_atomic};
static const operation tries[] = {pawl_robust_lock_try_read, pawl_robust_lock_try_seek,
                                  pawl_robust_lock_try_write, pawl_robust_lock_try_atomic};
static const operation drops[] = {pawl_robust_lock_drop_read, pawl_robust_lock_drop_seek,
                                  pawl_robust_lock_drop_write, pawl_robust_lock_drop_atomic};
static enum pawl_robust (*const untils[])(pawl_robust_lock *, uint64_t) = {
    pawl_robust_lock_take_read_until, pawl_robust_lock_take_seek_until,
    pawl_robust_lock_take_write_until, pawl_robust_lock_take_atomic_until};
static const unsigned died_bits[] = {PAWL_ROBUST_DIED_READ, PAWL_ROBUST_DIED_SEEK,
                                     PAWL_ROBUST_DIED_WRITE, PAWL_ROBUST_DIED_ATOMIC};
enum { R, S, W, A };

/* Nothing of it is held by anybody. */
static void assert_free(void)
{
    assert_int_equal(pawl_robust_lock_try_write(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_drop_write(lock), PAWL_ROBUST_OK);
}

/* ---- Exclusion ------------------------------------------------------------------------------- */

TEST_CASE_WITH(each_state_lets_in_beside_it_whom_the_table_says, set_up, NULL)
{
    static const bool beside[4][4] = {/* R S W A */
                                      {true, true, false, false},
                                      {true, false, false, false},
                                      {false, false, false, false},
                                      {false, false, false, true}};
    for (unsigned held = 0; held < 4; held++) {
        const struct other o = other_holds(takes[held], NULL, NULL);
        for (unsigned asked = 0; asked < 4; asked++) {
            const enum pawl_robust how = tries[asked](lock);
            if (beside[held][asked]) {
                assert_int_equal(how, PAWL_ROBUST_OK);
                assert_int_equal(drops[asked](lock), PAWL_ROBUST_OK);
            } else {
                assert_int_equal(how, PAWL_ROBUST_BUSY);
                assert_int_equal(untils[asked](lock, soon()), PAWL_ROBUST_TIMED_OUT);
            }
        }
        other_is_killed(o);
        assert_int_equal(pawl_robust_lock_init(lock), PAWL_ROBUST_OK);
    }
}

TEST_CASE_WITH(a_free_lock_grants_each_state_and_is_free_again, set_up, NULL)
{
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(takes[i](lock), PAWL_ROBUST_OK);
        assert_int_equal(drops[i](lock), PAWL_ROBUST_OK);
        assert_int_equal(tries[i](lock), PAWL_ROBUST_OK);
        assert_int_equal(drops[i](lock), PAWL_ROBUST_OK);
        assert_int_equal(untils[i](lock, 0), PAWL_ROBUST_OK);
        assert_int_equal(drops[i](lock), PAWL_ROBUST_OK);
        assert_free();
    }
}

TEST_CASE_WITH(each_move_ends_in_the_state_that_its_name_says, set_up, NULL)
{
    assert_int_equal(pawl_robust_lock_take_seek(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_seek_to_write(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_write_to_seek(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_try_seek_to_write(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_write_to_read(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_try_read_to_seek(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_seek_to_read(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_try_read_to_write(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_write_to_read(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_read_claim_write(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_drop_write(lock), PAWL_ROBUST_OK);
    assert_free();
}

TEST_CASE_WITH(a_seeker_waits_for_readers_and_keeps_s_when_the_time_is_over, set_up, NULL)
{
    struct other reader = other_holds(pawl_robust_lock_take_read, NULL, NULL);
    assert_int_equal(pawl_robust_lock_take_seek(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_try_seek_to_write(lock), PAWL_ROBUST_BUSY);
    assert_int_equal(pawl_robust_lock_seek_to_write_until(lock, soon()), PAWL_ROBUST_TIMED_OUT);
    assert_int_equal(pawl_robust_lock_drop_seek(lock), PAWL_ROBUST_OK);
    other_is_killed(reader);
}

TEST_CASE_WITH(a_reader_that_cannot_move_up_keeps_r, set_up, NULL)
{
    struct other seeker = other_holds(pawl_robust_lock_take_seek, NULL, NULL);
    assert_int_equal(pawl_robust_lock_take_read(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_try_read_to_seek(lock), PAWL_ROBUST_BUSY);
    assert_int_equal(pawl_robust_lock_try_read_to_write(lock), PAWL_ROBUST_BUSY);
    assert_int_equal(pawl_robust_lock_read_claim_write(lock), PAWL_ROBUST_BUSY);
    assert_int_equal(pawl_robust_lock_drop_read(lock), PAWL_ROBUST_OK);
    other_is_killed(seeker);
}

struct crowd {
    unsigned in;
    pthread_barrier_t full;
};

static void read_together(void *argument, unsigned index)
{
    struct crowd *crowd = (struct crowd *)argument;
    must(pawl_robust_lock_take_read(lock) == PAWL_ROBUST_OK);
    pthread_barrier_wait(&crowd->full);
    must(pawl_robust_lock_drop_read(lock) == PAWL_ROBUST_OK);
}

TEST_CASE_WITH(as_many_readers_as_members_are_in_at_once, set_up, NULL)
{
    struct crowd crowd;
    must(pthread_barrier_init(&crowd.full, NULL, PAWL_ROBUST_MEMBERS) == 0);
    test_threads(PAWL_ROBUST_MEMBERS, read_together, &crowd);
    pthread_barrier_destroy(&crowd.full);
    assert_free();
}

static void read_often(void *argument, unsigned index)
{
    (void)argument, (void)index;
    for (unsigned i = 0; i < 200; i++) {
        must(pawl_robust_lock_take_read(lock) == PAWL_ROBUST_OK);
        sched_yield();
        must(pawl_robust_lock_drop_read(lock) == PAWL_ROBUST_OK);
    }
}

TEST_CASE_WITH(more_readers_than_members_take_turns, set_up, NULL)
{
    test_threads(3 * PAWL_ROBUST_MEMBERS, read_often, NULL);
    assert_free();
}

/* ---- Deaths ---------------------------------------------------------------------------------- */

TEST_CASE_WITH(whoever_takes_next_is_told_of_a_death_in_any_state, set_up, NULL)
{
    for (unsigned dead = 0; dead < 4; dead++)
        for (unsigned next = 0; next < 4; next++) {
            other_is_killed(other_holds(takes[dead], NULL, NULL));
            assert_int_equal(untils[next](lock, late()), PAWL_ROBUST_OWNER_DIED);
            assert_int_equal(pawl_robust_lock_deaths(lock), died_bits[dead]);
            assert_int_equal(pawl_robust_lock_consistent(lock), PAWL_ROBUST_OK);
            assert_int_equal(drops[next](lock), PAWL_ROBUST_OK);
            /* and once only, by whichever way the next ones come */
            assert_int_equal(pawl_robust_lock_take_seek(lock), PAWL_ROBUST_OK);
            assert_int_equal(pawl_robust_lock_drop_seek(lock), PAWL_ROBUST_OK);
            assert_free();
            assert_int_equal(pawl_robust_lock_take_atomic(lock), PAWL_ROBUST_OK);
            assert_int_equal(pawl_robust_lock_drop_atomic(lock), PAWL_ROBUST_OK);
        }
}

TEST_CASE_WITH(deaths_after_moves_are_told_as_the_state_that_was_reached, set_up, NULL)
{
    static const struct {
        operation first, second, third;
        unsigned as;
    } ways[] = {
        {pawl_robust_lock_take_seek, pawl_robust_lock_seek_to_write, NULL, W},
        {pawl_robust_lock_take_write, pawl_robust_lock_write_to_seek, NULL, S},
        {pawl_robust_lock_take_write, pawl_robust_lock_write_to_read, NULL, R},
        {pawl_robust_lock_take_seek, pawl_robust_lock_seek_to_read, NULL, R},
        {pawl_robust_lock_take_read, pawl_robust_lock_try_read_to_seek, NULL, S},
        {pawl_robust_lock_take_read, pawl_robust_lock_try_read_to_write, NULL, W},
        {pawl_robust_lock_take_seek, pawl_robust_lock_seek_to_write, pawl_robust_lock_write_to_seek,
         S},
    };
    for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        other_is_killed(other_holds(ways[i].first, ways[i].second, ways[i].third));
        assert_int_equal(pawl_robust_lock_take_write_until(lock, late()), PAWL_ROBUST_OWNER_DIED);
        assert_int_equal(pawl_robust_lock_deaths(lock), died_bits[ways[i].as]);
        assert_int_equal(pawl_robust_lock_consistent(lock), PAWL_ROBUST_OK);
        assert_int_equal(pawl_robust_lock_drop_write(lock), PAWL_ROBUST_OK);
        assert_free();
    }
}

TEST_CASE_WITH(who_died_after_leaving_is_no_death, set_up, NULL)
{
    for (unsigned i = 0; i < 4; i++)
        other_is_killed(other_holds(takes[i], drops[i], NULL));
    assert_free();
}

TEST_CASE_WITH(who_was_killed_while_waiting_is_no_death, set_up, NULL)
{
    for (unsigned i = 0; i < 4; i++) {
        int status;
        assert_int_equal(pawl_robust_lock_take_write(lock), PAWL_ROBUST_OK);
        pid_t waiter = fork();
        must(waiter >= 0);
        if (waiter == 0) {
            (void)takes[i](lock);
            _exit(1);
        }
        usleep(5000); /* most likely it sleeps by now; if not, it dies on the way there */
        must(kill(waiter, SIGKILL) == 0 && waitpid(waiter, &status, 0) == waiter);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(pawl_robust_lock_drop_write(lock), PAWL_ROBUST_OK);
        assert_free();
    }
}

struct sleeper {
    unsigned as;
    enum pawl_robust how;
};

static void *sleep_for_it(void *argument)
{
    struct sleeper *s = (struct sleeper *)argument;
    s->how = takes[s->as](lock);
    if (pawl_robust_held(s->how)) {
        (void)pawl_robust_lock_consistent(lock);
        must(drops[s->as](lock) == PAWL_ROBUST_OK);
    }
    return NULL;
}

TEST_CASE_WITH(sleepers_are_woken_by_a_death_without_a_deadline, set_up, NULL)
{
    for (unsigned as = 0; as < 4; as++) {
        const struct other writer = other_holds(pawl_robust_lock_take_write, NULL, NULL);
        struct sleeper sleepers[3] = {
            {as, PAWL_ROBUST_BUSY}, {as, PAWL_ROBUST_BUSY}, {R, PAWL_ROBUST_BUSY}};
        pthread_t threads[3];
        unsigned i, told = 0;
        for (i = 0; i < 3; i++)
            threads[i] = test_start(sleep_for_it, &sleepers[i]);
        usleep(10000);
        other_is_killed(writer);
        for (i = 0; i < 3; i++) {
            test_join(threads[i]);
            assert_true(pawl_robust_held(sleepers[i].how));
            told += sleepers[i].how == PAWL_ROBUST_OWNER_DIED;
        }
        assert_in_range(told, 1, 3);
        assert_free();
    }
}

TEST_CASE_WITH(a_reader_may_leave_the_repair_to_the_next, set_up, NULL)
{
    other_is_killed(other_holds(pawl_robust_lock_take_write, NULL, NULL));
    assert_int_equal(pawl_robust_lock_take_read(lock), PAWL_ROBUST_OWNER_DIED);
    assert_int_equal(pawl_robust_lock_drop_read(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_take_seek(lock), PAWL_ROBUST_OWNER_DIED);
    assert_int_equal(pawl_robust_lock_seek_to_write(lock), PAWL_ROBUST_OWNER_DIED);
    assert_int_equal(pawl_robust_lock_consistent(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_drop_write(lock), PAWL_ROBUST_OK);
    assert_free();
}

TEST_CASE_WITH(a_writer_that_does_not_repair_makes_it_not_recoverable, set_up, NULL)
{
    other_is_killed(other_holds(pawl_robust_lock_take_write, NULL, NULL));
    assert_int_equal(pawl_robust_lock_take_write(lock), PAWL_ROBUST_OWNER_DIED);
    assert_int_equal(pawl_robust_lock_drop_write(lock), PAWL_ROBUST_OK);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(takes[i](lock), PAWL_ROBUST_NOT_RECOVERABLE);
        assert_int_equal(tries[i](lock), PAWL_ROBUST_NOT_RECOVERABLE);
        assert_int_equal(untils[i](lock, soon()), PAWL_ROBUST_NOT_RECOVERABLE);
    }
    assert_int_equal(pawl_robust_lock_consistent(lock), PAWL_ROBUST_NOT_RECOVERABLE);
    assert_int_equal(pawl_robust_lock_init(lock), PAWL_ROBUST_OK);
    assert_free();
}

TEST_CASE_WITH(sleepers_learn_that_it_is_not_recoverable, set_up, NULL)
{
    struct sleeper sleepers[4] = {
        {R, PAWL_ROBUST_BUSY}, {S, PAWL_ROBUST_BUSY}, {W, PAWL_ROBUST_BUSY}, {A, PAWL_ROBUST_BUSY}};
    pthread_t threads[4];
    other_is_killed(other_holds(pawl_robust_lock_take_write, NULL, NULL));
    assert_int_equal(pawl_robust_lock_take_write(lock), PAWL_ROBUST_OWNER_DIED);
    for (unsigned i = 0; i < 4; i++)
        threads[i] = test_start(sleep_for_it, &sleepers[i]);
    usleep(10000);
    assert_int_equal(pawl_robust_lock_drop_write(lock), PAWL_ROBUST_OK);
    for (unsigned i = 0; i < 4; i++) {
        test_join(threads[i]);
        assert_int_equal(sleepers[i].how, PAWL_ROBUST_NOT_RECOVERABLE);
    }
}

/* ---- Bad input ------------------------------------------------------------------------------- */

TEST_CASE_WITH(null_is_corrupt, set_up, NULL)
{
    assert_int_equal(pawl_robust_lock_init(NULL), PAWL_ROBUST_CORRUPT);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(takes[i](NULL), PAWL_ROBUST_CORRUPT);
        assert_int_equal(tries[i](NULL), PAWL_ROBUST_CORRUPT);
        assert_int_equal(untils[i](NULL, 0), PAWL_ROBUST_CORRUPT);
        assert_int_equal(drops[i](NULL), PAWL_ROBUST_CORRUPT);
    }
    assert_int_equal(pawl_robust_lock_consistent(NULL), PAWL_ROBUST_CORRUPT);
    assert_int_equal(pawl_robust_lock_deaths(NULL), 0);
}

TEST_CASE_WITH(a_misaligned_lock_is_corrupt, set_up, NULL)
{
    void *askew = (char *)lock + 8;
    assert_int_equal(pawl_robust_lock_init((pawl_robust_lock *)askew), PAWL_ROBUST_CORRUPT);
    assert_int_equal(pawl_robust_lock_take_read((pawl_robust_lock *)askew), PAWL_ROBUST_CORRUPT);
}

TEST_CASE_WITH(zero_bytes_are_no_lock, set_up, NULL)
{
    memset((void *)lock, 0, sizeof *lock);
    assert_int_equal(pawl_robust_lock_take_write(lock), PAWL_ROBUST_CORRUPT);
}

TEST_CASE_WITH(what_a_scribbler_left_is_corrupt_and_nothing_hangs, set_up, NULL)
{
    uint64_t seed = test_seed();
    unsigned round, i, corrupt = 0;
    for (round = 0; round < 300; round++) {
        const unsigned from = test_random_below(&seed, sizeof *lock);
        const unsigned most = (unsigned)sizeof *lock - from;
        const unsigned length = 1 + test_random_below(&seed, most < 200 ? most : 200);
        assert_int_equal(pawl_robust_lock_init(lock), PAWL_ROBUST_OK);
        for (i = 0; i < length; i++)
            ((unsigned char *)lock)[from + i] = (unsigned char)test_random(&seed);
        for (i = 0; i < 4; i++) {
            const enum pawl_robust how = untils[i](lock, soon() - 19000000);
            corrupt += how == PAWL_ROBUST_CORRUPT;
            if (pawl_robust_held(how))
                (void)drops[i](lock);
        }
    }
    assert_true(corrupt > 120); /* a tenth of the takes at least; the rest use other cells */
}

TEST_CASE_WITH(garbage_everywhere_is_corrupt, set_up, NULL)
{
    uint64_t seed = test_seed();
    for (unsigned i = 0; i < sizeof *lock; i++)
        ((unsigned char *)lock)[i] = (unsigned char)test_random(&seed);
    for (unsigned j = 0; j < 4; j++) {
        assert_int_equal(takes[j](lock), PAWL_ROBUST_CORRUPT);
        assert_int_equal(drops[j](lock), PAWL_ROBUST_CORRUPT);
    }
}

TEST_CASE_WITH(an_absurd_deadline_is_none_and_a_past_one_asks_once, set_up, NULL)
{
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(untils[i](lock, UINT64_MAX - 1), PAWL_ROBUST_OK);
        assert_int_equal(drops[i](lock), PAWL_ROBUST_OK);
        assert_int_equal(untils[i](lock, 1), PAWL_ROBUST_OK);
        assert_int_equal(drops[i](lock), PAWL_ROBUST_OK);
    }
    struct other writer = other_holds(pawl_robust_lock_take_write, NULL, NULL);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(untils[i](lock, 1), PAWL_ROBUST_TIMED_OUT);
    other_is_killed(writer);
}

TEST_CASE_WITH(dropping_what_one_does_not_hold_is_misuse, set_up, NULL)
{
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(drops[i](lock), PAWL_ROBUST_MISUSE);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(takes[i](lock), PAWL_ROBUST_OK);
        for (unsigned j = 0; j < 4; j++)
            if (j != i)
                assert_int_equal(drops[j](lock), PAWL_ROBUST_MISUSE);
        assert_int_equal(drops[i](lock), PAWL_ROBUST_OK);
    }
    assert_int_equal(pawl_robust_lock_consistent(lock), PAWL_ROBUST_MISUSE);
    assert_int_equal(pawl_robust_lock_seek_to_write(lock), PAWL_ROBUST_MISUSE);
    assert_int_equal(pawl_robust_lock_write_to_read(lock), PAWL_ROBUST_MISUSE);
    assert_int_equal(pawl_robust_lock_try_read_to_seek(lock), PAWL_ROBUST_MISUSE);
}

TEST_CASE_WITH(a_child_of_the_holder_holds_nothing, set_up, NULL)
{
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(takes[i](lock), PAWL_ROBUST_OK);
        pid_t child = fork();
        must(child >= 0);
        if (child == 0)
            _exit(drops[i](lock) == PAWL_ROBUST_MISUSE &&
                          pawl_robust_lock_try_write(lock) == PAWL_ROBUST_BUSY
                      ? 0
                      : 1);
        assert_int_equal(test_wait(child), 0);
        assert_int_equal(drops[i](lock), PAWL_ROBUST_OK);
        assert_free();
    }
}

static void *take_and_end(void *argument)
{
    must(pawl_robust_held(takes[*(unsigned *)argument](lock)));
    return NULL;
}

TEST_CASE_WITH(a_thread_that_ends_with_the_lock_has_died, set_up, NULL)
{
    struct sleeper s = {W, PAWL_ROBUST_OK};
    for (unsigned i = 0; i < 4; i++) {
        test_elsewhere(take_and_end, &i);
        (void)sleep_for_it(&s);
        assert_int_equal(s.how, PAWL_ROBUST_OWNER_DIED);
    }
}

/* _Fork runs no handlers. The child once took itself for the parent's thread: its drop cleared the
 * record of the parent's hold, and returned CORRUPT. */
TEST_CASE_WITH(a_child_of_fork_without_handlers_holds_nothing, set_up, NULL)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(takes[i](lock), PAWL_ROBUST_OK);
        pid_t child = _Fork();
        must(child >= 0);
        if (child == 0) {
            const bool held_nothing = drops[i](lock) == PAWL_ROBUST_MISUSE &&
                                      pawl_robust_lock_try_write(lock) == PAWL_ROBUST_BUSY;
            if (i == 0 && (pawl_robust_lock_take_read(lock) != PAWL_ROBUST_OK ||
                           pawl_robust_lock_drop_read(lock) != PAWL_ROBUST_OK))
                _exit(2);
            _exit(held_nothing ? 0 : 1);
        }
        assert_int_equal(test_wait(child), 0);
        assert_int_equal(drops[i](lock), PAWL_ROBUST_OK);
        assert_free();
    }
#else
    skip();
#endif
}

TEST_MAIN(alarm(TEST_HANGS))
