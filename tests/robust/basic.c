/* SPDX-License-Identifier: MIT */
/* The lock for processes that may be killed: what each state excludes, how deaths are told, what
 * bad input gets. Deaths here happen at chosen points; robust/stress_kill.c kills anywhere. */
#include "test.h"

#include <pawl/robust.h>

#include <sys/mman.h>

static pawl_robust_lock *lock; /* in memory that children share */

static int set_up(void **state)
{
    (void)state;
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
        unsigned i;
        for (i = 0; i < 3 && all[i]; i++)
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

static void each_state_lets_in_beside_it_whom_the_table_says(void **state)
{
    static const bool beside[4][4] = {/* R S W A */
                                      {true, true, false, false},
                                      {true, false, false, false},
                                      {false, false, false, false},
                                      {false, false, false, true}};
    unsigned held, asked;
    (void)state;
    for (held = 0; held < 4; held++) {
        const struct other o = other_holds(takes[held], NULL, NULL);
        for (asked = 0; asked < 4; asked++) {
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

static void a_free_lock_grants_each_state_and_is_free_again(void **state)
{
    unsigned i;
    (void)state;
    for (i = 0; i < 4; i++) {
        assert_int_equal(takes[i](lock), PAWL_ROBUST_OK);
        assert_int_equal(drops[i](lock), PAWL_ROBUST_OK);
        assert_int_equal(tries[i](lock), PAWL_ROBUST_OK);
        assert_int_equal(drops[i](lock), PAWL_ROBUST_OK);
        assert_int_equal(untils[i](lock, 0), PAWL_ROBUST_OK);
        assert_int_equal(drops[i](lock), PAWL_ROBUST_OK);
        assert_free();
    }
}

static void each_move_ends_in_the_state_that_its_name_says(void **state)
{
    (void)state;
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

static void a_seeker_waits_for_readers_and_keeps_s_when_the_time_is_over(void **state)
{
    struct other reader;
    (void)state;
    reader = other_holds(pawl_robust_lock_take_read, NULL, NULL);
    assert_int_equal(pawl_robust_lock_take_seek(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_try_seek_to_write(lock), PAWL_ROBUST_BUSY);
    assert_int_equal(pawl_robust_lock_seek_to_write_until(lock, soon()), PAWL_ROBUST_TIMED_OUT);
    assert_int_equal(pawl_robust_lock_drop_seek(lock), PAWL_ROBUST_OK);
    other_is_killed(reader);
}

static void a_reader_that_cannot_move_up_keeps_r(void **state)
{
    struct other seeker;
    (void)state;
    seeker = other_holds(pawl_robust_lock_take_seek, NULL, NULL);
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
    (void)index;
    must(pawl_robust_lock_take_read(lock) == PAWL_ROBUST_OK);
    pthread_barrier_wait(&crowd->full);
    must(pawl_robust_lock_drop_read(lock) == PAWL_ROBUST_OK);
}

static void as_many_readers_as_members_are_in_at_once(void **state)
{
    struct crowd crowd;
    (void)state;
    must(pthread_barrier_init(&crowd.full, NULL, PAWL_ROBUST_MEMBERS) == 0);
    test_threads(PAWL_ROBUST_MEMBERS, read_together, &crowd);
    pthread_barrier_destroy(&crowd.full);
    assert_free();
}

static void read_often(void *argument, unsigned index)
{
    unsigned i;
    (void)argument, (void)index;
    for (i = 0; i < 200; i++) {
        must(pawl_robust_lock_take_read(lock) == PAWL_ROBUST_OK);
        sched_yield();
        must(pawl_robust_lock_drop_read(lock) == PAWL_ROBUST_OK);
    }
}

static void more_readers_than_members_take_turns(void **state)
{
    (void)state;
    test_threads(3 * PAWL_ROBUST_MEMBERS, read_often, NULL);
    assert_free();
}

/* ---- Deaths ---------------------------------------------------------------------------------- */

static void whoever_takes_next_is_told_of_a_death_in_any_state(void **state)
{
    unsigned dead, next;
    (void)state;
    for (dead = 0; dead < 4; dead++)
        for (next = 0; next < 4; next++) {
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

static void deaths_after_moves_are_told_as_the_state_that_was_reached(void **state)
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
    unsigned i;
    (void)state;
    for (i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        other_is_killed(other_holds(ways[i].first, ways[i].second, ways[i].third));
        assert_int_equal(pawl_robust_lock_take_write_until(lock, late()), PAWL_ROBUST_OWNER_DIED);
        assert_int_equal(pawl_robust_lock_deaths(lock), died_bits[ways[i].as]);
        assert_int_equal(pawl_robust_lock_consistent(lock), PAWL_ROBUST_OK);
        assert_int_equal(pawl_robust_lock_drop_write(lock), PAWL_ROBUST_OK);
        assert_free();
    }
}

static void who_died_after_leaving_is_no_death(void **state)
{
    unsigned i;
    (void)state;
    for (i = 0; i < 4; i++)
        other_is_killed(other_holds(takes[i], drops[i], NULL));
    assert_free();
}

static void who_was_killed_while_waiting_is_no_death(void **state)
{
    unsigned i;
    (void)state;
    for (i = 0; i < 4; i++) {
        pid_t waiter;
        int status;
        assert_int_equal(pawl_robust_lock_take_write(lock), PAWL_ROBUST_OK);
        waiter = fork();
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

static void sleepers_are_woken_by_a_death_without_a_deadline(void **state)
{
    unsigned as;
    (void)state;
    for (as = 0; as < 4; as++) {
        const struct other writer = other_holds(pawl_robust_lock_take_write, NULL, NULL);
        struct sleeper sleepers[3] = {
            {as, PAWL_ROBUST_BUSY}, {as, PAWL_ROBUST_BUSY}, {R, PAWL_ROBUST_BUSY}};
        pthread_t threads[3];
        unsigned i, told = 0;
        for (i = 0; i < 3; i++)
            must(pthread_create(&threads[i], NULL, sleep_for_it, &sleepers[i]) == 0);
        usleep(10000);
        other_is_killed(writer);
        for (i = 0; i < 3; i++) {
            must(pthread_join(threads[i], NULL) == 0);
            assert_true(pawl_robust_held(sleepers[i].how));
            told += sleepers[i].how == PAWL_ROBUST_OWNER_DIED;
        }
        assert_in_range(told, 1, 3);
        assert_free();
    }
}

static void a_reader_may_leave_the_repair_to_the_next(void **state)
{
    (void)state;
    other_is_killed(other_holds(pawl_robust_lock_take_write, NULL, NULL));
    assert_int_equal(pawl_robust_lock_take_read(lock), PAWL_ROBUST_OWNER_DIED);
    assert_int_equal(pawl_robust_lock_drop_read(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_take_seek(lock), PAWL_ROBUST_OWNER_DIED);
    assert_int_equal(pawl_robust_lock_seek_to_write(lock), PAWL_ROBUST_OWNER_DIED);
    assert_int_equal(pawl_robust_lock_consistent(lock), PAWL_ROBUST_OK);
    assert_int_equal(pawl_robust_lock_drop_write(lock), PAWL_ROBUST_OK);
    assert_free();
}

static void a_writer_that_does_not_repair_makes_it_not_recoverable(void **state)
{
    unsigned i;
    (void)state;
    other_is_killed(other_holds(pawl_robust_lock_take_write, NULL, NULL));
    assert_int_equal(pawl_robust_lock_take_write(lock), PAWL_ROBUST_OWNER_DIED);
    assert_int_equal(pawl_robust_lock_drop_write(lock), PAWL_ROBUST_OK);
    for (i = 0; i < 4; i++) {
        assert_int_equal(takes[i](lock), PAWL_ROBUST_NOT_RECOVERABLE);
        assert_int_equal(tries[i](lock), PAWL_ROBUST_NOT_RECOVERABLE);
        assert_int_equal(untils[i](lock, soon()), PAWL_ROBUST_NOT_RECOVERABLE);
    }
    assert_int_equal(pawl_robust_lock_consistent(lock), PAWL_ROBUST_NOT_RECOVERABLE);
    assert_int_equal(pawl_robust_lock_init(lock), PAWL_ROBUST_OK);
    assert_free();
}

static void sleepers_learn_that_it_is_not_recoverable(void **state)
{
    struct sleeper sleepers[4] = {
        {R, PAWL_ROBUST_BUSY}, {S, PAWL_ROBUST_BUSY}, {W, PAWL_ROBUST_BUSY}, {A, PAWL_ROBUST_BUSY}};
    pthread_t threads[4];
    unsigned i;
    (void)state;
    other_is_killed(other_holds(pawl_robust_lock_take_write, NULL, NULL));
    assert_int_equal(pawl_robust_lock_take_write(lock), PAWL_ROBUST_OWNER_DIED);
    for (i = 0; i < 4; i++)
        must(pthread_create(&threads[i], NULL, sleep_for_it, &sleepers[i]) == 0);
    usleep(10000);
    assert_int_equal(pawl_robust_lock_drop_write(lock), PAWL_ROBUST_OK);
    for (i = 0; i < 4; i++) {
        must(pthread_join(threads[i], NULL) == 0);
        assert_int_equal(sleepers[i].how, PAWL_ROBUST_NOT_RECOVERABLE);
    }
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static void null_is_corrupt(void **state)
{
    unsigned i;
    (void)state;
    assert_int_equal(pawl_robust_lock_init(NULL), PAWL_ROBUST_CORRUPT);
    for (i = 0; i < 4; i++) {
        assert_int_equal(takes[i](NULL), PAWL_ROBUST_CORRUPT);
        assert_int_equal(tries[i](NULL), PAWL_ROBUST_CORRUPT);
        assert_int_equal(untils[i](NULL, 0), PAWL_ROBUST_CORRUPT);
        assert_int_equal(drops[i](NULL), PAWL_ROBUST_CORRUPT);
    }
    assert_int_equal(pawl_robust_lock_consistent(NULL), PAWL_ROBUST_CORRUPT);
    assert_int_equal(pawl_robust_lock_deaths(NULL), 0);
}

static void a_misaligned_lock_is_corrupt(void **state)
{
    void *askew = (char *)lock + 8;
    (void)state;
    assert_int_equal(pawl_robust_lock_init((pawl_robust_lock *)askew), PAWL_ROBUST_CORRUPT);
    assert_int_equal(pawl_robust_lock_take_read((pawl_robust_lock *)askew), PAWL_ROBUST_CORRUPT);
}

static void zero_bytes_are_no_lock(void **state)
{
    (void)state;
    memset((void *)lock, 0, sizeof *lock);
    assert_int_equal(pawl_robust_lock_take_write(lock), PAWL_ROBUST_CORRUPT);
}

static void what_a_scribbler_left_is_corrupt_and_nothing_hangs(void **state)
{
    uint64_t seed = test_seed();
    unsigned round, i, corrupt = 0;
    (void)state;
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
    assert_true(corrupt > 600); /* half of the takes at least; the rest missed what was hit */
}

static void garbage_everywhere_is_corrupt(void **state)
{
    uint64_t seed = test_seed();
    unsigned i, j;
    (void)state;
    for (i = 0; i < sizeof *lock; i++)
        ((unsigned char *)lock)[i] = (unsigned char)test_random(&seed);
    for (j = 0; j < 4; j++) {
        assert_int_equal(takes[j](lock), PAWL_ROBUST_CORRUPT);
        assert_int_equal(drops[j](lock), PAWL_ROBUST_CORRUPT);
    }
}

static void an_absurd_deadline_is_none_and_a_past_one_asks_once(void **state)
{
    unsigned i;
    struct other writer;
    (void)state;
    for (i = 0; i < 4; i++) {
        assert_int_equal(untils[i](lock, UINT64_MAX - 1), PAWL_ROBUST_OK);
        assert_int_equal(drops[i](lock), PAWL_ROBUST_OK);
        assert_int_equal(untils[i](lock, 1), PAWL_ROBUST_OK);
        assert_int_equal(drops[i](lock), PAWL_ROBUST_OK);
    }
    writer = other_holds(pawl_robust_lock_take_write, NULL, NULL);
    for (i = 0; i < 4; i++)
        assert_int_equal(untils[i](lock, 1), PAWL_ROBUST_TIMED_OUT);
    other_is_killed(writer);
}

static void dropping_what_one_does_not_hold_is_misuse(void **state)
{
    unsigned i, j;
    (void)state;
    for (i = 0; i < 4; i++)
        assert_int_equal(drops[i](lock), PAWL_ROBUST_MISUSE);
    for (i = 0; i < 4; i++) {
        assert_int_equal(takes[i](lock), PAWL_ROBUST_OK);
        for (j = 0; j < 4; j++)
            if (j != i)
                assert_int_equal(drops[j](lock), PAWL_ROBUST_MISUSE);
        assert_int_equal(drops[i](lock), PAWL_ROBUST_OK);
    }
    assert_int_equal(pawl_robust_lock_consistent(lock), PAWL_ROBUST_MISUSE);
    assert_int_equal(pawl_robust_lock_seek_to_write(lock), PAWL_ROBUST_MISUSE);
    assert_int_equal(pawl_robust_lock_write_to_read(lock), PAWL_ROBUST_MISUSE);
    assert_int_equal(pawl_robust_lock_try_read_to_seek(lock), PAWL_ROBUST_MISUSE);
}

static void a_child_of_the_holder_holds_nothing(void **state)
{
    unsigned i;
    (void)state;
    for (i = 0; i < 4; i++) {
        pid_t child;
        int status;
        assert_int_equal(takes[i](lock), PAWL_ROBUST_OK);
        child = fork();
        must(child >= 0);
        if (child == 0)
            _exit(drops[i](lock) == PAWL_ROBUST_MISUSE &&
                          pawl_robust_lock_try_write(lock) == PAWL_ROBUST_BUSY
                      ? 0
                      : 1);
        must(waitpid(child, &status, 0) == child);
        assert_int_equal(status, 0);
        assert_int_equal(drops[i](lock), PAWL_ROBUST_OK);
        assert_free();
    }
}

static void *take_and_end(void *argument)
{
    must(pawl_robust_held(takes[*(unsigned *)argument](lock)));
    return NULL;
}

static void a_thread_that_ends_with_the_lock_has_died(void **state)
{
    struct sleeper s = {W, PAWL_ROBUST_OK};
    unsigned i;
    (void)state;
    for (i = 0; i < 4; i++) {
        pthread_t thread;
        must(pthread_create(&thread, NULL, take_and_end, &i) == 0);
        must(pthread_join(thread, NULL) == 0);
        (void)sleep_for_it(&s);
        assert_int_equal(s.how, PAWL_ROBUST_OWNER_DIED);
    }
}

/* _Fork runs no handlers. The child once took itself for the parent's thread: its drop cleared the
 * record of the parent's hold, and returned CORRUPT. */
static void a_child_of_fork_without_handlers_holds_nothing(void **state)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    unsigned i;
    (void)state;
    for (i = 0; i < 4; i++) {
        pid_t child;
        int status;
        assert_int_equal(takes[i](lock), PAWL_ROBUST_OK);
        child = _Fork();
        must(child >= 0);
        if (child == 0) {
            const bool held_nothing = drops[i](lock) == PAWL_ROBUST_MISUSE &&
                                      pawl_robust_lock_try_write(lock) == PAWL_ROBUST_BUSY;
            if (i == 0 && (pawl_robust_lock_take_read(lock) != PAWL_ROBUST_OK ||
                           pawl_robust_lock_drop_read(lock) != PAWL_ROBUST_OK))
                _exit(2);
            _exit(held_nothing ? 0 : 1);
        }
        must(waitpid(child, &status, 0) == child);
        assert_int_equal(status, 0);
        assert_int_equal(drops[i](lock), PAWL_ROBUST_OK);
        assert_free();
    }
#else
    (void)state;
    skip();
#endif
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(each_state_lets_in_beside_it_whom_the_table_says),
        TEST(a_free_lock_grants_each_state_and_is_free_again),
        TEST(each_move_ends_in_the_state_that_its_name_says),
        TEST(a_seeker_waits_for_readers_and_keeps_s_when_the_time_is_over),
        TEST(a_reader_that_cannot_move_up_keeps_r),
        TEST(as_many_readers_as_members_are_in_at_once),
        TEST(more_readers_than_members_take_turns),
        TEST(whoever_takes_next_is_told_of_a_death_in_any_state),
        TEST(deaths_after_moves_are_told_as_the_state_that_was_reached),
        TEST(who_died_after_leaving_is_no_death),
        TEST(who_was_killed_while_waiting_is_no_death),
        TEST(sleepers_are_woken_by_a_death_without_a_deadline),
        TEST(a_reader_may_leave_the_repair_to_the_next),
        TEST(a_writer_that_does_not_repair_makes_it_not_recoverable),
        TEST(sleepers_learn_that_it_is_not_recoverable),
        TEST(null_is_corrupt),
        TEST(a_misaligned_lock_is_corrupt),
        TEST(zero_bytes_are_no_lock),
        TEST(what_a_scribbler_left_is_corrupt_and_nothing_hangs),
        TEST(garbage_everywhere_is_corrupt),
        TEST(an_absurd_deadline_is_none_and_a_past_one_asks_once),
        TEST(dropping_what_one_does_not_hold_is_misuse),
        TEST(a_child_of_the_holder_holds_nothing),
        TEST(a_child_of_fork_without_handlers_holds_nothing),
        TEST(a_thread_that_ends_with_the_lock_has_died),
    };
    alarm(TEST_HANGS);
    return test_run(argc, argv, tests);
}
