/* SPDX-License-Identifier: MIT */
/*
 * The compiled join, claim and lorw operations under random schedules: some threads, played by
 * contexts of one, that give way to another at each access to the word and each pause. Unlike real
 * threads they get in at any access, and a seed brings the same schedule back. Each looks whether
 * those are in whom its state excludes; a schedule that does not end has a deadlock.
 */
#include <pawl/compat/plock.h>

#include "../test.h"

#include <ucontext.h>

enum { PLAYERS = 4, STACK = 65536, ROUNDS = 6, MOST_TURNS = 200000 };

static ucontext_t director, players[PLAYERS];
static bool ended[PLAYERS];
static unsigned still_playing;
static unsigned on_stage;
static uint64_t chance;
static unsigned turns;
static unsigned long word;

/* ---- The hooks: every access is a turn ------------------------------------------------------- */

static void give_way(void)
{
    swapcontext(&players[on_stage], &director);
}

uint64_t pawl_hook_atomic(const struct pawl_operation *o)
{
    uint64_t old = 0, left;
    give_way();
    if (o->width == 0)
        return 0;
    memcpy(&old, o->address, o->width);
    left = o->kind == PAWL_ADD   ? old + o->operand
           : o->kind == PAWL_SUB ? old - o->operand
           : o->kind == PAWL_AND ? old & o->operand
           : o->kind == PAWL_OR  ? old | o->operand
           : o->kind == PAWL_LOAD || (o->kind == PAWL_COMPARE_EXCHANGE && old != o->expected)
               ? old
               : o->operand;
    memcpy(o->address, &left, o->width);
    return old;
}

void pawl_hook_relax(void) { give_way(); }
void pawl_hook_yield(void) { give_way(); }
bool pawl_hook_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    (void)address, (void)expected, (void)deadline;
    return true;
}
unsigned pawl_hook_wake(const uint32_t *address, unsigned most)
{
    (void)address, (void)most;
    return 0;
}
uint64_t pawl_hook_now(void) { return 0; }
uint32_t pawl_hook_thread_id(void) { return on_stage + 1; }
struct pawl_thread_line **pawl_hook_thread_slot(void)
{
    static struct pawl_thread_line *slots[PLAYERS];
    return &slots[on_stage];
}

/* ---- Who is in ------------------------------------------------------------------------------- */

static int readers, joiners, claimers, changers, exclusives;

/* In for a while, during which others have their turns. */
static void stay(int *own, bool alone)
{
    unsigned i;
    must(exclusives == 0);
    (*own)++;
    must(!alone || *own == 1);
    for (i = test_random_below(&chance, 4); i > 0; i--)
        give_way();
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

static void perform(void)
{
    unsigned i;
    for (i = 0; i < ROUNDS; i++)
        play();
    ended[on_stage] = true;
    still_playing--;
    give_way();
}

/* Apart from the loop over all players: getcontext may return twice, and loops keep registers. */
static void dress(ucontext_t *player, char *stack)
{
    must(getcontext(player) == 0);
    player->uc_stack.ss_sp = stack;
    player->uc_stack.ss_size = STACK;
    player->uc_link = NULL;
    makecontext(player, perform, 0);
}

/* One schedule, to its end: whoever can go on gets turns, a few in a row now and then. */
static void direct(uint64_t seed)
{
    static char stacks[PLAYERS][STACK];
    unsigned i;
    still_playing = PLAYERS;
    chance = seed;
    turns = 0;
    for (i = 0; i < PLAYERS; i++) {
        dress(&players[i], stacks[i]);
        ended[i] = false;
    }
    while (still_playing > 0) {
        if (++turns > MOST_TURNS) {
            fprintf(stderr, "seed %" PRIu64 ": no end; the word is %#lx\n", seed, word);
            abort();
        }
        if (ended[on_stage] || test_random_below(&chance, 3) == 0)
            on_stage = test_random_below(&chance, PLAYERS);
        if (ended[on_stage])
            continue;
        swapcontext(&director, &players[on_stage]);
    }
}

static void many_schedules(void (*what)(void))
{
    unsigned i;
    play = what;
    if (TEST_SANITIZED) {
        print_message("skipped: sanitizers do not follow contexts\n");
        skip();
    }
    for (i = 0; i < 3000; i++) {
        const uint64_t seed = test_seed() + i;
        const unsigned long application = what == play_lorw ? 0 : (unsigned long)seed % 4;
        word = application;
        direct(seed);
        assert_true(word == application);
    }
}

static void joiners_and_claimers_under_random_schedules(void **state)
{
    (void)state;
    many_schedules(play_joining);
}

static void j_alone_and_atomic_users_under_random_schedules(void **state)
{
    (void)state;
    many_schedules(play_alone);
}

static void lorw_under_random_schedules(void **state)
{
    (void)state;
    many_schedules(play_lorw);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joiners_and_claimers_under_random_schedules),
        cmocka_unit_test(j_alone_and_atomic_users_under_random_schedules),
        cmocka_unit_test(lorw_under_random_schedules),
    };
    return test_run(argc, argv, tests);
}
