/* SPDX-License-Identifier: MIT */
/*
 * The compiled join, claim and lorw operations under random schedules: some threads, played by
 * the explorer, that give way to another at each access to the word and each pause. Unlike real
 * threads they get in at any access, and a seed brings the same schedule back. Each looks whether
 * those are in whom its state excludes; a schedule that does not end has a deadlock.
 */
#include <pawl/compat/plock.h>

#include "explorer/explorer.h"

enum { PLAYERS = SCHED_THREADS, ROUNDS = 6 };

static uint64_t chance;
static unsigned long word;

/* ---- Who is in ------------------------------------------------------------------------------- */

static int readers, joiners, claimers, changers, exclusives;

/* In for a while, during which others have their turns. */
static void stay(int *own, bool alone)
{
    must(exclusives == 0);
    (*own)++;
    must(!alone || *own == 1);
    for (unsigned i = test_random_below(&chance, 4); i > 0; i--)
        sched_pass();
    must(!alone || *own == 1);
    (*own)--;
}

static void read_a_while(void)
{
    must(joiners == 0 && claimers == 0 && changers == 0);
    stay(&readers, false);
}

static void join_a_while(void)
{
    must(readers == 0 && changers == 0);
    stay(&joiners, false);
    must(readers == 0 && changers == 0);
}

static void claim_a_while(void)
{
    must(readers == 0 && changers == 0);
    stay(&claimers, false);
    must(readers == 0 && changers == 0);
}

static void change_a_while(void)
{
    must(readers == 0 && joiners == 0 && claimers == 0);
    stay(&changers, false);
    must(readers == 0 && joiners == 0 && claimers == 0);
}

static void be_alone_a_while(void)
{
    must(readers == 0 && joiners == 0 && claimers == 0 && changers == 0);
    stay(&exclusives, true);
    must(readers == 0 && joiners == 0 && claimers == 0 && changers == 0);
}

/* ---- The plays ------------------------------------------------------------------------------- */

static bool perhaps(void)
{
    return test_random_below(&chance, 2) == 0;
}

static void go_up(void)
{
    pl_rtoj(&word);
    join_a_while();
    if (test_random_below(&chance, 6) == 0) {
        pl_drop_j(&word);
        return;
    }
    pl_jtoc(&word);
    claim_a_while();
    if (test_random_below(&chance, 4) == 0) {
        pl_drop_c(&word);
        return;
    }
    pl_ctoa(&word);
    change_a_while();
    if (perhaps()) {
        pl_drop_a(&word);
        return;
    }
    pl_ator(&word);
    read_a_while();
    pl_drop_r(&word);
}

static void play_joining(void)
{
    if (test_random_below(&chance, 5) == 0) {
        if (perhaps() || !pl_try_j(&word))
            pl_take_j(&word);
        be_alone_a_while();
        perhaps() ? pl_drop_j(&word) : (pl_jtoc(&word), pl_drop_c(&word));
        return;
    }
    if (perhaps() || !pl_try_r(&word))
        pl_take_r(&word);
    read_a_while();
    if (test_random_below(&chance, 3) == 0)
        pl_drop_r(&word);
    else
        go_up();
}

/* The other way: A from U, and J from U alone. */
static void play_alone(void)
{
    const unsigned choice = test_random_below(&chance, 4);
    if (choice == 0) {
        pl_take_r(&word);
        read_a_while();
        if (perhaps() && pl_try_rtoa(&word)) {
            change_a_while();
            pl_ator(&word);
            read_a_while();
        }
        pl_drop_r(&word);
    } else if (choice == 1) {
        if (perhaps() || !pl_try_a(&word))
            pl_take_a(&word);
        change_a_while();
        pl_drop_a(&word);
    } else {
        if (perhaps())
            pl_take_j(&word);
        else if (!pl_try_j(&word))
            return;
        be_alone_a_while();
        pl_drop_j(&word);
    }
}

static void play_lorw(void)
{
    if (perhaps()) {
        pl_lorw_rdlock(&word);
        read_a_while();
        perhaps() ? pl_lorw_rdunlock(&word) : pl_lorw_unlock(&word);
    } else {
        pl_lorw_wrlock(&word);
        must(readers == 0);
        be_alone_a_while();
        perhaps() ? pl_lorw_wrunlock(&word) : pl_lorw_unlock(&word);
    }
}

/* ---- Directing ------------------------------------------------------------------------------- */

static void (*play)(void);

static void perform(void *unused)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        play();
}

static void many_schedules(void (*what)(void))
{
    static void (*const bodies[PLAYERS])(void *) = {perform, perform, perform, perform};
    play = what;
    if (TEST_SANITIZED) {
        print_message("skipped: sanitizers do not follow contexts\n");
        skip();
    }
    for (unsigned i = 0; i < 3000; i++) {
        const uint64_t seed = test_seed() + i;
        const unsigned long application = what == play_lorw ? 0 : (unsigned long)seed % 4;
        chance = seed;
        word = application;
        if (!sched_random(PLAYERS, bodies, NULL, seed))
            fail_msg("seed %" PRIu64 ": no end; the word is %#lx", seed, word);
        assert_true(word == application);
    }
}

TEST_CASE(joiners_and_claimers_under_random_schedules)
{
    many_schedules(play_joining);
}

TEST_CASE(j_alone_and_atomic_users_under_random_schedules)
{
    many_schedules(play_alone);
}

/* ---- Writers among claimers ------------------------------------------------------------------ */

#if ULONG_MAX > 0xffffffff
#define TWO_CLAIMERS (2 * (PLOCK64_WL_1 + PLOCK64_RL_1) + PLOCK64_SL_1)
#else
#define TWO_CLAIMERS (2ul * (PLOCK32_WL_1 + PLOCK32_RL_1) + PLOCK32_SL_1)
#endif

static void change_and_leave(void *unused)
{
    pl_ctoa(&word);
    stay(&changers, false);
    pl_drop_a(&word);
}

static void write_twice(void *unused)
{
    for (unsigned i = 0; i < 2; i++) {
        perhaps() ? (void)pl_take_w(&word) : (pl_take_s(&word), pl_stow(&word));
        must(changers == 0);
        stay(&exclusives, true);
        pl_drop_w(&word);
    }
}

/*
 * A program may mix them, and the published form survives it:
 *
 *   claimers 1 and 2: give up R; 1 clears S     writer: finds only W, keeps W+S, gives R back
 *   claimer 2: sees S without R, clears it      writer: drops W+S+R, and S borrows from W
 */
TEST_CASE(writers_among_claimers_leave_the_word_as_it_was)
{
    static void (*const bodies[PLAYERS])(void *) = {change_and_leave, change_and_leave, write_twice,
                                                    write_twice};
    if (TEST_SANITIZED) {
        print_message("skipped: sanitizers do not follow contexts\n");
        skip();
    }
    for (unsigned i = 0; i < 3000; i++) {
        chance = test_seed() + i;
        word = TWO_CLAIMERS;
        if (!sched_random(PLAYERS, bodies, NULL, test_seed() + i))
            fail_msg("seed %" PRIu64 ": no end; the word is %#lx", test_seed() + i, word);
        assert_true(word == 0);
    }
}

TEST_CASE(lorw_under_random_schedules)
{
    many_schedules(play_lorw);
}

TEST_MAIN()
