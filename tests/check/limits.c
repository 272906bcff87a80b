/* SPDX-License-Identifier: MIT */
/* How many may hold and claim one lock at once, and how much the checker keeps count of. */
#include "support/misuse.h"

#include "check/check.h" /* to make the instant between a claim and its grant last */

static pawl_spin16 lock;
static uint32_t asked;    /* threads whose entries are made up */
static uint32_t released; /* 1: holders may drop */

/* ---- Real threads on the 16-bit lock --------------------------------------------------------- */

struct crowd {
    unsigned threads;
    const struct operation *take, *drop;
    bool too_many; /* the last one's claim ends the program; until then all stay */
};

static void take_and_drop(void *opaque, unsigned index)
{
    const struct crowd *crowd = (const struct crowd *)opaque;
    must(crowd->take->run(&lock));
    test_await(pawl_load_acquire32(&released, PAWL_TAG_NONE_));
    must(crowd->drop->run(&lock));
}

/* Those who hold the lock or have asked for it, as their entries tell. */
static unsigned claimants(void)
{
    const struct pawl_check_line *lines = check_here()->lines;
    unsigned count = 0;
    for (unsigned i = 0; i < PAWL_CHECK_LINES; i++)
        for (unsigned k = 0; k < check_used_of(&lines[i]); k++)
            count += check_lock_of(&lines[i].held[k]) == (ipawl_address_)(uintptr_t)&lock;
    return count;
}

/* Opens the gate once all are there. */
static void *open_gate(void *opaque)
{
    const unsigned threads = *(const unsigned *)opaque;
    test_await(claimants() >= threads);
    pawl_store_release32(&released, 1, PAWL_TAG_NONE_);
    return NULL;
}

static void crowd_in(void *opaque)
{
    struct crowd *crowd = (struct crowd *)opaque;
    misuse_without_lines();
    if (crowd->too_many) {
        test_threads(crowd->threads, take_and_drop, crowd);
        must(!"they are all in");
    }
    const pthread_t opener = test_start(open_gate, &crowd->threads);
    test_threads(crowd->threads, take_and_drop, crowd);
    test_join(opener);
    must(pawl_spin16_is_free(&lock));
}

static struct crowd crowd_of(unsigned threads, enum pawl_state state)
{
    struct crowd crowd = {threads, find_operation(0, KIND_take, PAWL_STATE_U, state),
                          find_operation(0, KIND_drop, state, PAWL_STATE_U), false};
    return crowd;
}

static struct crowd too_many(unsigned threads, enum pawl_state state)
{
    struct crowd crowd = crowd_of(threads, state);
    crowd.too_many = true;
    return crowd;
}

TEST_CASE(the_64th_reader_of_a_16_bit_lock_is_reported_and_the_63rd_is_not)
{
    struct crowd crowd = crowd_of(63, PAWL_STATE_R);
    assert_silent(crowd_in, &crowd);
    crowd = too_many(64, PAWL_STATE_R);
    assert_reports(crowd_in, &crowd, "pawl: too many claimants: pawl_spin16 at ",
                   "by pawl_spin16_take_read", "R could reach 64 of 63", NULL);
}

TEST_CASE(the_52nd_writer_of_a_16_bit_lock_is_reported_and_the_51st_is_not)
{
    struct crowd crowd = crowd_of(51, PAWL_STATE_W);
    assert_silent(crowd_in, &crowd);
    crowd = too_many(52, PAWL_STATE_W);
    assert_reports(crowd_in, &crowd, "pawl: too many claimants: pawl_spin16 at ",
                   "by pawl_spin16_take_write", "52 holders and claimants at once",
                   "W:S, counted in S, 260 of 255", "thread ", "W, asked at ", NULL);
}

TEST_CASE(the_64th_seeker_of_a_16_bit_lock_is_reported_and_the_63rd_is_not)
{
    struct crowd crowd = crowd_of(63, PAWL_STATE_S);
    assert_silent(crowd_in, &crowd);
    crowd = too_many(64, PAWL_STATE_S);
    assert_reports(crowd_in, &crowd, "pawl: too many claimants: pawl_spin16 at ",
                   "by pawl_spin16_take_seek", "R could reach 64 of 63", NULL);
}

/* Five units of S for each that may have to wait, four for each that is in. */
TEST_CASE(the_64th_atomic_user_of_a_16_bit_lock_is_reported_and_the_51st_is_not)
{
    struct crowd crowd = crowd_of(51, PAWL_STATE_A);
    assert_silent(crowd_in, &crowd);
    crowd = too_many(64, PAWL_STATE_A);
    assert_reports(crowd_in, &crowd, "pawl: too many claimants: pawl_spin16 at ",
                   "by pawl_spin16_take_atomic", " of 255", NULL);
}

/* A thread that stays inside an operation which asks for W, as its entry tells the others. */
static void ask_for_write(void *opaque, unsigned index)
{
    const unsigned kind = *(const unsigned *)opaque;
    struct pawl_held *held = &check_line()->held[0];
    pawl_store_relaxed32(&check_line()->held_used, 1);
    pawl_store_relaxed32(&held->what, check_what(PAWL_STATE_U, PAWL_STATE_W, kind, 16));
    PAWL_ADDRESS_(pawl_store_relaxed)(&held->lock, (ipawl_address_)(uintptr_t)&lock);
    (void)pawl_fetch_add_relaxed32(&asked, 1);
    test_await(pawl_load_relaxed32(&released));
    PAWL_ADDRESS_(pawl_store_relaxed)(&held->lock, 0);
}

static void *write_beside_sixty(void *unused)
{
    test_await(pawl_load_relaxed32(&asked) >= 60);
    must(pawl_try_write(&lock));
    pawl_drop_write(&lock);
    pawl_store_relaxed32(&released, 1);
    return unused;
}

static void ask_sixty_times(void *kind)
{
    misuse_without_lines();
    const pthread_t writer = test_start(write_beside_sixty, NULL);
    test_threads(60, ask_for_write, kind);
    test_join(writer);
}

TEST_CASE(a_take_counts_from_when_it_asks_and_a_try_for_w_from_when_it_is_granted)
{
    unsigned kind = CHECK_try;
    assert_silent(ask_sixty_times, &kind);
    kind = CHECK_take;
    assert_reports(ask_sixty_times, &kind, "pawl: too many claimants: pawl_spin16 at ",
                   "by pawl_spin16_try_write", "60 holders and claimants at once",
                   "W:S, counted in S, 300 of 255", NULL);
}

static void try_often(void *unused, unsigned index)
{
    for (unsigned i = 0; i < 200; i++)
        if (pawl_try_write(&lock)) {
            sched_yield();
            pawl_drop_write(&lock);
        } else if (pawl_try_atomic(&lock)) {
            pawl_drop_atomic(&lock);
        }
}

SILENT_CASE(tries_that_add_nothing_until_granted_may_be_as_many_as_they_like)
{
    test_threads(100, try_often, unused);
}

static void readers_beside_an_atomic_user(void *opaque)
{
    struct crowd *crowd = (struct crowd *)opaque;
    misuse_without_lines();
    pawl_take_atomic(&lock);
    test_threads(crowd->threads, take_and_drop, crowd); /* they wait for us, and we for them */
}

TEST_CASE(waiting_readers_count_as_writers_beside_an_atomic_user)
{
    struct crowd crowd = crowd_of(51, PAWL_STATE_R);
    assert_reports(readers_beside_an_atomic_user, &crowd,
                   "pawl: too many claimants: pawl_spin16 at ", "by pawl_spin16_take_read",
                   "W:S, counted in S, 259 of 255", NULL);
}

/* ---- By the word ----------------------------------------------------------------------------- */

static pawl_spin16 full16 = {0xff00};
static pawl_spin32 full32 = {UINT32_C(0xffff0000)};
static pawl_spin64 full64 = {UINT64_C(0xffffffff00000000)};
static pawl_spin16 read16 = {63 << 2};
static pawl_spin32 read32 = {UINT32_C(16383) << 2};
static pawl_spin64 read64 = {((UINT64_C(1) << 30) - 1) << 2};

static void claim(void *opaque)
{
    const unsigned which = *(const unsigned *)opaque;
    misuse_without_lines();
    switch (which) {
    case 0: pawl_take_write(&full16); break;
    case 1: pawl_take_seek(&full32); break;
    case 2: pawl_take_atomic(&full64); break;
    case 3: pawl_take_read(&read16); break;
    case 4: (void)!pawl_try_read(&read32); break;
    default: pawl_take_seek(&read64); break;
    }
}

TEST_CASE(a_claim_on_a_full_word_of_any_width_is_reported_before_it_is_made)
{
    static const char *const sums[] = {
        "260 of 255",     "65536 of 65535",       "4294967300 of 4294967295",
        "reach 64 of 63", "reach 16384 of 16383", "reach 1073741824 of 1073741823",
    };
    for (unsigned i = 0; i < sizeof sums / sizeof sums[0]; i++)
        assert_reports(claim, &i, "pawl: too many claimants: ", "by the word", sums[i], NULL);
}

static void *claim_without_a_line(void *opaque)
{
    claim(opaque);
    return NULL;
}

static void claim_when_no_line_is_free(void *opaque)
{
    struct pawl_process *process = ipawl_process_();
    for (unsigned i = 0; i < PAWL_THREAD_LINES; i++) /* as if we, who live, had them all */
        pawl_store_relaxed32(&process->lines[i].owner, (uint32_t)getpid());
    test_elsewhere(claim_without_a_line, opaque);
}

TEST_CASE(a_thread_without_a_line_is_still_kept_from_claiming_on_a_full_word)
{
    unsigned which = 1;
    assert_reports(claim_when_no_line_is_free, &which, "pawl: warning: more threads than ",
                   "pawl: too many claimants: pawl_spin32", "by the word",
                   "this thread has no line", NULL);
}

SILENT_CASE(a_try_that_reads_first_does_not_claim_on_a_full_word)
{
    static pawl_spin16 drained = {0x500 | 63 << 2}; /* a writer that waits for 62 readers */
    must(!pawl_try_read(&drained) && drained.word == (0x500 | 63 << 2));
    must(!pawl_try_write(&full16) && !pawl_claim_write(&full16) && !pawl_try_read(&full16));
    must(!pawl_try_seek(&full32) && !pawl_claim_atomic(&full32));
    must(!pawl_try_atomic(&full64) && !pawl_try_seek(&full64));
}

/* ---- What the checker has room for ----------------------------------------------------------- */

static void hold_many(void *opaque)
{
    static pawl_spin32 many[200];
    const unsigned count = *(const unsigned *)opaque;
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < count; i++)
            pawl_take_read(&many[i]);
        for (unsigned i = 0; i < count; i++)
            pawl_drop_read(&many[i]);
    }
}

TEST_CASE(a_thread_that_holds_more_locks_than_noted_gets_one_warning)
{
    unsigned count = 64;
    assert_silent(hold_many, &count);
    count = 200;
    assert_says_only(
        hold_many, &count,
        "pawl: warning: a thread holds more locks than the checking variant can note\n");
}

static void order_many(void *unused)
{
    enum { MANY = 17000 };
    static pawl_spin16 many[MANY];
    pawl_spin32 first = PAWL_SPIN32_INIT;
    pawl_take_seek(&first);
    for (unsigned i = 0; i < MANY; i++) {
        pawl_take_read(&many[i]);
        pawl_drop_read(&many[i]);
    }
    pawl_drop_seek(&first);
    pawl_destroy(&first);
    for (unsigned i = 0; i < MANY; i++)
        pawl_destroy(&many[i]);
}

TEST_CASE(a_full_table_of_orders_gets_one_warning)
{
    assert_says_only(
        order_many, NULL,
        "pawl: warning: the table of lock orders is full; further orders go unchecked\n");
}

/* Most threads of the process hold a line; the last ones have none. */
enum { THREADS = 1100 };
static pthread_barrier_t all_have_taken;
static pawl_spin32 shared;

static void *take_together(void *unused)
{
    pawl_take_read(&shared);
    (void)pthread_barrier_wait(&all_have_taken);
    pawl_drop_read(&shared);
    return unused;
}

static void start_many(void *unused)
{
    static pthread_t threads[THREADS];
    pthread_attr_t small;
    must(pthread_barrier_init(&all_have_taken, NULL, THREADS) == 0);
    must(pthread_attr_init(&small) == 0);
    must(pthread_attr_setstacksize(&small, 256 * 1024) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        must(pthread_create(&threads[i], &small, take_together, NULL) == 0);
    test_join_all(threads, THREADS);
    must(pawl_spin32_is_free(&shared));
}

TEST_CASE(threads_beyond_the_lines_are_served_unchecked_with_one_warning)
{
    assert_says_only(start_many, NULL,
                     "pawl: warning: more threads than the checking variant has lines for; "
                     "some go unchecked\n");
}

TEST_MAIN()
