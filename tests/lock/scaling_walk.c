/* SPDX-License-Identifier: MIT */
/*
 * Readers that scale: every state that the lock's own code can reach with two threads, and some
 * with three. A state has the word, the entries of each thread, the wait lists, and how far each
 * thread is (sched_walk), so there is no bound on preemptions. In no state is a thread in beside
 * one that it excludes, and from each state all threads can end.
 *
 * The lock has BIASED from the start, or gets it by the first drop of R, or loses it by a dear
 * look. Planted mistakes show that each promise would be seen broken.
 *
 * PAWL_WALK=all in the environment: also the programs that have more states.
 */
#include "lock/scaling_scene.h"

/* ---- What a thread does: each letter is an operation, and the drop --------------------------- */

static void take_and_drop(enum pawl_state state, uint64_t deadline)
{
    if (take_until(state, deadline))
        drop(state);
}

static void try_and_drop(bool (*try_it)(LOCK *), enum pawl_state state)
{
    if (!try_it(&scene.lock))
        return;
    enter(state);
    drop(state);
}

/* The book has no R from before the move on, as the move may let others in. */
static void read_and_move(bool (*move)(LOCK *), enum pawl_state to)
{
    must(take_until(PAWL_STATE_R, UINT64_MAX));
    leave(PAWL_STATE_R);
    if (!move(&scene.lock))
        to = PAWL_STATE_R;
    enter(to);
    drop(to);
}

/* Once more than the thread has entries, unless a writer waits for those that it has. */
static void read_more_often(void)
{
    unsigned i;
    for (i = 0; i <= PAWL_ENTRIES; i++)
        if (!take_until(PAWL_STATE_R, i == 0 ? UINT64_MAX : 0))
            break;
    while (i-- > 0)
        drop(PAWL_STATE_R);
}

static void read_counted(void)
{
    OF(take_read_counted)(&scene.lock);
    enter(PAWL_STATE_R);
    sched_pass();
    leave(PAWL_STATE_R);
    OF(drop_read_counted)(&scene.lock);
}

static void seek_and_write(bool (*upgrade)(LOCK *))
{
    must(take_until(PAWL_STATE_S, UINT64_MAX));
    leave(PAWL_STATE_S);
    if (!upgrade(&scene.lock)) {
        enter(PAWL_STATE_S);
        drop(PAWL_STATE_S);
        return;
    }
    enter(PAWL_STATE_W);
    leave(PAWL_STATE_W);
    scene.held[PAWL_STATE_R]++; /* before the move, which lets others see the reader */
    OF(write_to_read)(&scene.lock);
    drop(PAWL_STATE_R);
}

static bool upgrade(LOCK *l)
{
    OF(seek_to_write)(l);
    return true;
}

static void write_and_seek(void)
{
    must(take_until(PAWL_STATE_W, UINT64_MAX));
    leave(PAWL_STATE_W);
    scene.held[PAWL_STATE_S]++;
    OF(write_to_seek)(&scene.lock);
    leave(PAWL_STATE_S);
    scene.held[PAWL_STATE_R]++;
    OF(seek_to_read)(&scene.lock);
    drop(PAWL_STATE_R);
}

static void act(char what)
{
    switch (what) {
    case 'r': take_and_drop(PAWL_STATE_R, UINT64_MAX); break;
    case 's': take_and_drop(PAWL_STATE_S, UINT64_MAX); break;
    case 'w': take_and_drop(PAWL_STATE_W, UINT64_MAX); break;
    case 'a': take_and_drop(PAWL_STATE_A, UINT64_MAX); break;
    case 't': take_and_drop(PAWL_STATE_R, sched.clock + 100); break;
    case 'v': take_and_drop(PAWL_STATE_W, sched.clock + 100); break;
    case 'q': take_and_drop(PAWL_STATE_A, sched.clock + 100); break;
    case 'R': try_and_drop(OF(try_read), PAWL_STATE_R); break;
    case 'W': try_and_drop(OF(try_write), PAWL_STATE_W); break;
    case 'A': try_and_drop(OF(try_atomic), PAWL_STATE_A); break;
    case 'C': try_and_drop(OF(claim_write), PAWL_STATE_W); break;
    case 'D': try_and_drop(OF(claim_atomic), PAWL_STATE_A); break;
    case 'k': read_and_move(OF(try_read_to_seek), PAWL_STATE_S); break;
    case 'u': read_and_move(OF(try_read_to_write), PAWL_STATE_W); break;
    case 'b': read_and_move(OF(try_read_to_atomic), PAWL_STATE_A); break;
    case 'c': read_and_move(OF(read_claim_write), PAWL_STATE_W); break;
    case 'd': read_and_move(OF(read_claim_atomic), PAWL_STATE_A); break;
    case 'x': seek_and_write(upgrade); break;
    case 'X': seek_and_write(OF(try_seek_to_write)); break;
    case 'y': write_and_seek(); break;
    case 'z': atomic_then_read(UINT64_MAX); break;
    case 'm': read_more_often(); break;
    case 'n': read_counted(); break;
    default: must(!"the letter of an operation");
    }
}

static void thread_body(void *scripts)
{
    const char *what = ((const char *const *)scripts)[sched.current];
    for (; *what != 0; what++)
        act(*what);
}

/* ---- Walks ----------------------------------------------------------------------------------- */

static bool walk_bodies(unsigned threads, void (*const bodies[])(void *), void *argument,
                        void (*begins)(void *), unsigned *states)
{
    const struct sched_memory memory[] = {
        {&scene.lock, sizeof scene.lock},
        {scene.held, sizeof scene.held},
        {&sched.touched_late, sizeof sched.touched_late},
        {table_here(), sizeof *table_here()},
        {entries_all(), sizeof *entries_all()},
        {NULL, 0},
    };
    return sched_walk(threads, bodies, argument, memory, begins, scene_ends, states);
}

/* Scripts as "rw|w"; false: a state from which the threads cannot all end. */
static bool walk(const char *scripts, unsigned *states)
{
    static void (*const bodies[])(void *) = {thread_body, thread_body, thread_body};
    char copy[64];
    const char *of[3] = {copy, NULL, NULL};
    unsigned threads = 1;
    must(strlen(scripts) < sizeof copy);
    strcpy(copy, scripts);
    for (char *bar = strchr(copy, '|'); bar != NULL; bar = strchr(bar, '|')) {
        *bar++ = 0;
        must(threads < 3);
        of[threads++] = bar;
    }
    scaling_lines = threads;
    return walk_bodies(threads, bodies, of, scene_begins, states);
}

static unsigned total;

static void walk_well(const char *scripts, enum scaling_bias bias)
{
    unsigned states;
    scaling_with(bias);
    if (!walk(scripts, &states))
        fail_msg("%s, bias %u", scripts, bias);
    total += states;
}

static void walk_all(const char *const *all, size_t count, enum scaling_bias bias)
{
    total = 0;
    for (size_t i = 0; i < count; i++)
        walk_well(all[i], bias);
    print_message("%u states\n", total);
}
#define WALK_ALL(all, bias) walk_all(all, sizeof(all) / sizeof *(all), bias)

static void walk_pairs(const char *first, const char *second, enum scaling_bias bias)
{
    char scripts[4] = "r|r";
    total = 0;
    for (; *first != 0; first++)
        for (const char *other = second; *other != 0; other++) {
            scripts[0] = *first;
            scripts[2] = *other;
            walk_well(scripts, bias);
        }
    print_message("%u states\n", total);
}

/* The programs of many states are for PAWL_WALK=all, which takes some minutes. */
static bool walks_all(void)
{
    const char *const asked = getenv("PAWL_WALK");
    return asked != NULL && strcmp(asked, "all") == 0;
}

TEST_CASE(each_operation_beside_a_reader)
{
    walk_pairs("r", walks_all() ? "rswaRWACDkubcdxXyzmntvq" : "rswRWAkucxXmn",
               SCALING_FROM_THE_START);
    assert_true(total > 10000);
}

TEST_CASE(each_operation_beside_one_that_looks_at_entries)
{
    walk_pairs("w", walks_all() ? "swaRWACDkubcdxXyzmntvq" : "swaRWACDnv", SCALING_FROM_THE_START);
    walk_pairs("a", walks_all() ? "saRWACDkubcdxXyzmntvq" : "saRWAC", SCALING_FROM_THE_START);
    walk_pairs("W", "kubcdxXyzm", SCALING_FROM_THE_START);
}

TEST_CASE(readers_that_move_beside_each_other)
{
    walk_pairs(walks_all() ? "kubcd" : "k", walks_all() ? "kubcd" : "ku", SCALING_FROM_THE_START);
}

TEST_CASE(three_threads)
{
    static const char *const few[] = {"r|r|R", "r|k|R", "R|R|W"};
    static const char *const more[] = {"r|R|W", "R|R|w"};
    WALK_ALL(few, SCALING_FROM_THE_START);
    if (walks_all())
        WALK_ALL(more, SCALING_FROM_THE_START);
}

TEST_CASE(bias_that_comes_with_a_drop)
{
    static const char *const few[] = {"rr|w", "rr|W", "rr|rr", "r|W"};
    static const char *const more[] = {"rr|a", "rr|x", "rk|w", "rr|ww"};
    WALK_ALL(few, SCALING_BY_A_DROP);
    if (walks_all())
        WALK_ALL(more, SCALING_BY_A_DROP);
}

TEST_CASE(bias_that_a_dear_look_takes_away)
{
    static const char *const few[] = {"rr|W"};
    static const char *const more[] = {"rr|WW", "r|w", "k|w"};
    WALK_ALL(few, SCALING_UNTIL_A_LOOK);
    if (walks_all())
        WALK_ALL(more, SCALING_UNTIL_A_LOOK);
    assert_true(scaling_lost != 0);
}

/* ---- One address, two locks ------------------------------------------------------------------ */

/* A writer that was granted W is the last user. It makes the memory another lock at once, while the
 * reader of the first one, whose entry is free, may still look for waiters. */
static void reads_the_first_life(void *reads)
{
    must(take_until(PAWL_STATE_R, UINT64_MAX));
    *(bool *)reads = true;
    drop(PAWL_STATE_R);
}

static void begins_the_second_life(void *reads)
{
    if (!*(bool *)reads)
        return; /* it would not be the last user */
    must(take_until(PAWL_STATE_W, UINT64_MAX));
    scene.lock.word = PAWL_LOCK_BIASED;
    leave(PAWL_STATE_W);
    must(take_until(PAWL_STATE_R, UINT64_MAX));
    must(!OF(try_write)(&scene.lock));
    drop(PAWL_STATE_R);
    take_and_drop(PAWL_STATE_W, UINT64_MAX);
    *(bool *)reads = false;
}

static void begins_the_first_life(void *reads)
{
    *(bool *)reads = false;
    scene_begins(NULL);
}

TEST_CASE(a_late_reader_of_a_lock_that_was_freed_disturbs_no_other)
{
    static void (*const bodies[])(void *) = {reads_the_first_life, begins_the_second_life};
    bool reads = false;
    unsigned states;
    scaling_with(SCALING_FROM_THE_START);
    scaling_lines = 2;
    assert_true(walk_bodies(2, bodies, &reads, begins_the_first_life, &states));
    assert_true(states > 20);
}

/* ---- Planted mistakes ------------------------------------------------------------------------ */

struct mistake {
    const char *name;
    sched_fault *make;
    const char *scripts;
};

static const struct mistake mistakes[] = {
#define MISTAKE(make, scripts) {#make, make, scripts}
    MISTAKE(a_second_look_is_left_out, "r|w"), MISTAKE(an_entry_is_passed_by, "r|w"),
    MISTAKE(a_reader_does_not_look, "r|w"),    MISTAKE(a_reader_looks_too_early, "r|w"),
    MISTAKE(a_waiter_is_not_counted, "r|w"),   MISTAKE(biased_is_cleared_by_a_reader, "r|r|w"),
#undef MISTAKE
};

static void walk_with(void *opaque)
{
    const struct mistake *const m = (const struct mistake *)opaque;
    unsigned states;
    sched.fault = m->make;
    if (!walk(m->scripts, &states))
        abort();
}

/* A check of the scene ends the child, or there is a state from which the threads cannot end. */
TEST_CASE(every_planted_mistake_is_found)
{
    static char said[1 << 16];
    scaling_with(SCALING_FROM_THE_START);
    for (unsigned i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        struct mistake m = mistakes[i];
        if (test_in_child(walk_with, &m, said, sizeof said) == 0)
            fail_msg("%s is not found", m.name);
        if (strstr(said, "PAWL_SCHEDULE=") == NULL)
            fail_msg("%s: no schedule is named: %s", m.name, said);
    }
}

int main(int argc, char **argv)
{
    if (TEST_SANITIZED) /* they do not follow a thread from stack to stack */
        return test_skipped("sanitizers know nothing of fibers");
    return test_main(argc, argv);
}
