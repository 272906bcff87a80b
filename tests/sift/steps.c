/* SPDX-License-Identifier: MIT */
/*
 * Priority-sifting locks, access by access: the fast paths are what they cost, the slow path shuts
 * the contexts from the lowest up and opens them from the highest down, with signals blocked only
 * within, and limits are kept. Also the priority rule of POSIX.
 */
#include "sift/world.h"

enum { MOST_STEPS = 128 };

/* What one thread did, in words. */
static const char *steps[MOST_STEPS];
static unsigned count;

static void note(const char *step)
{
    must(count < MOST_STEPS);
    steps[count++] = step;
}

static const char *const subscribes[] = {"shut thread", "shut realtime", "shut deferred",
                                         "shut interrupt"};
static const char *const opens[] = {"open thread", "open realtime", "open deferred",
                                    "open interrupt"};

/* Runs beside world_access, through the mistake hook, which here makes none. */
static uint64_t take_down(const struct pawl_operation *o,
                          uint64_t (*make)(const struct pawl_operation *))
{
    const uint32_t *const address = (const uint32_t *)o->address;
    const uint64_t mask = world.mask[sched.current];
    const uint64_t before = world.lock.word;
    const uint64_t found = make(o);
    static uint64_t known;
    if (count == 0)
        known = 0;
    if (mask != known)
        note(mask > known ? "block" : "unblock");
    known = mask;
    if (o->kind == PAWL_HOOK_LOAD)
        return found;
    if (address >= world.lock.contexts && address < world.lock.contexts + PAWL_SIFT_CONTEXTS) {
        const size_t c = (size_t)(address - world.lock.contexts);
        if (o->operand == 0x10000)
            note(o->kind == PAWL_HOOK_ADD ? subscribes[c] : opens[c]);
        else
            note("context word");
    } else if (address == &world.lock.mutex) {
        note(o->kind == PAWL_HOOK_EXCHANGE ? "drop mutex" : "take mutex");
    } else if (address == &world.lock.gate) {
        note(o->operand == 0 ? "drop gate" : "take gate");
    } else if (address == (const uint32_t *)(const void *)&world.lock.word) {
        if (world.lock.word == before)
            note("word, in vain");
        else if ((before ^ world.lock.word) >= PAWL_SIFT_SLOW_)
            note(world.lock.word > before ? "join" : "leave");
        else
            note("word");
    }
    return found;
}

static void assert_steps(const char *const *expected)
{
    unsigned i;
    for (i = 0; expected[i] != NULL; i++) {
        if (i >= count)
            fail_msg("step %u: nothing instead of \"%s\"", i, expected[i]);
        if (strcmp(steps[i], expected[i]) != 0)
            fail_msg("step %u: \"%s\" instead of \"%s\"", i, steps[i], expected[i]);
    }
    assert_int_equal(count, i);
}

static void run_alone(void (*body)(void *), uint64_t word)
{
    void (*const bodies[])(void *) = {body};
    world_begins(NULL);
    memset(world.due, 0, sizeof world.due);
    world.mistake = take_down;
    world.lock.word = word;
    count = 0;
    must(sched_random(1, bodies, NULL, 1));
    world.mistake = NULL;
    world_ends(NULL);
    sched.fault = NULL;
    if (world.broken != NULL)
        fail_msg("%s", world.broken);
}

static void read_once(void *unused)
{
    pawl_sift_take_read(&world.lock, PAWL_SIFT_THREAD);
    pawl_sift_drop_read(&world.lock, PAWL_SIFT_THREAD);
}

static void write_once(void *unused)
{
    pawl_sift_take_write(&world.lock);
    note("in");
    pawl_sift_drop_write(&world.lock);
    if (world.mask[sched.current] != 0)
        note("still blocked");
}

TEST_CASE(a_lone_reader_makes_two_accesses)
{
    static const char *const expected[] = {"word", "word", NULL};
    memset(&world.use, 0, sizeof world.use);
    run_alone(read_once, 0);
    assert_steps(expected);
}

TEST_CASE(a_lone_writer_makes_two_accesses)
{
    static const char *const expected[] = {"word", "in", "word", NULL};
    memset(&world.use, 0, sizeof world.use);
    run_alone(write_once, 0);
    assert_steps(expected);
}

static void use_all_contexts(uint32_t flags)
{
    memset(&world.use, 0, sizeof world.use);
    world.use.readers = 15;
    world.use.deferred = WORLD_DEFERRED;
    world.use.interrupt = WORLD_INTERRUPT;
    world.use.flags = flags;
    world.use.ceiling = flags & PAWL_SIFT_RAISE ? 50 : 0;
}

TEST_CASE(the_fast_path_blocks_once_and_unblocks_after_the_drop)
{
    static const char *const expected[] = {"block", "word", "in", "word", NULL};
    use_all_contexts(PAWL_SIFT_RAISE);
    run_alone(write_once, 0);
    assert_steps(expected);
}

/* A stale WAITED is enough for the slow path, which then has nobody to wait for. */
TEST_CASE(the_slow_path_shuts_from_the_lowest_and_opens_from_the_highest)
{
    static const char *const expected[] = {"join",           "shut thread",    "shut realtime",
                                           "block",          "shut deferred",  "block",
                                           "shut interrupt", "take mutex",     "in",
                                           "drop mutex",     "open interrupt", "unblock",
                                           "open deferred",  "unblock",        "open realtime",
                                           "open thread",    "leave",          NULL};
    use_all_contexts(PAWL_SIFT_RAISE);
    run_alone(write_once, PAWL_SIFT_WAITED_);
    assert_steps(expected);
    assert_true(world.lock.word == 0); /* the last one clears it */
}

/* Nothing is touched after leaving the gate, which is the last. */
TEST_CASE(a_lock_that_lends_takes_the_gate_first_and_drops_it_last)
{
    static const char *const expected[] = {"take gate", "word", "in", "word", "drop gate", NULL};
    memset(&world.use, 0, sizeof world.use);
    world.use.readers = PAWL_SIFT_READS(PAWL_SIFT_THREAD) | PAWL_SIFT_READS(PAWL_SIFT_REALTIME);
    run_alone(write_once, 0);
    assert_steps(expected);
}

TEST_CASE(writers_begin_at_their_own_context)
{
    static const char *const expected[] = {"join",  "block",      "shut interrupt", "take mutex",
                                           "in",    "drop mutex", "open interrupt", "unblock",
                                           "leave", NULL};
    memset(&world.use, 0, sizeof world.use);
    world.use.readers = PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT);
    world.use.writers = PAWL_SIFT_INTERRUPT;
    world.use.interrupt = WORLD_INTERRUPT;
    run_alone(write_once, PAWL_SIFT_WAITED_);
    assert_steps(expected);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static void fill_the_field(void *unused)
{
    assert_false(pawl_sift_try_read(&world.lock, PAWL_SIFT_INTERRUPT));
    assert_true(pawl_sift_try_read(&world.lock, PAWL_SIFT_DEFERRED));
    pawl_sift_drop_read(&world.lock, PAWL_SIFT_DEFERRED);
    assert_false(pawl_sift_try_write(&world.lock));
    pawl_sift_drop_read(&world.lock, PAWL_SIFT_INTERRUPT);
    assert_true(pawl_sift_try_read(&world.lock, PAWL_SIFT_INTERRUPT));
}

/* Never carries into the next field: further readers wait for room. */
TEST_CASE(a_full_field_refuses_and_spills_nowhere)
{
    void (*const bodies[])(void *) = {fill_the_field};
    const uint64_t full = PAWL_SIFT_SLOW_ - PAWL_SIFT_UNIT_(PAWL_SIFT_INTERRUPT);
    use_all_contexts(PAWL_SIFT_RAISE);
    world_begins(NULL);
    world.lock.word = full;
    must(sched_random(1, bodies, NULL, 1));
    sched.fault = NULL;
    assert_true(world.lock.word == full);
}

static void wait_for_room(void *unused)
{
    if (sched.current == 0) {
        pawl_sift_take_read(&world.lock, PAWL_SIFT_INTERRUPT);
        world.granted++;
    } else {
        pawl_sift_drop_read(&world.lock, PAWL_SIFT_INTERRUPT);
    }
}

TEST_CASE(who_waits_for_room_gets_it)
{
    void (*const bodies[])(void *) = {wait_for_room, wait_for_room};
    const uint64_t full = PAWL_SIFT_SLOW_ - PAWL_SIFT_UNIT_(PAWL_SIFT_INTERRUPT);
    uint64_t seed = test_seed();
    use_all_contexts(PAWL_SIFT_RAISE);
    for (unsigned i = 0; i < 1000; i++) {
        world_begins(NULL);
        world.granted = 0;
        world.lock.word = full;
        must(sched_random(2, bodies, NULL, test_random(&seed)));
        sched.fault = NULL;
        assert_int_equal(world.granted, 1);
        assert_true(world.lock.word == full);
    }
}

/* ---- Handlers go first ----------------------------------------------------------------------- */

static bool handler_was_in, write_was_slow;

static void write_twice_or_read(void *unused)
{
    pawl_sift *const l = &world.lock;
    if (sched.current == 1) {
        world.mask[1] |= WORLD_INTERRUPT; /* raised to the handlers' context */
        while ((pawl_load_relaxed64(&l->word) & PAWL_SIFT_WRITER_) == 0)
            pawl_hook_relax();
        pawl_sift_take_read(l, PAWL_SIFT_INTERRUPT);
        handler_was_in = true;
        pawl_sift_drop_read(l, PAWL_SIFT_INTERRUPT);
        world.mask[1] = 0;
        return;
    }
    pawl_sift_take_write(l);
    while ((pawl_load_relaxed64(&l->word) & PAWL_SIFT_WAITED_) == 0)
        pawl_hook_relax(); /* until the handler waits */
    pawl_sift_drop_write(l);
    pawl_sift_take_write(l);
    write_was_slow = (l->word & PAWL_SIFT_WRITER_) == 0;
    if (!handler_was_in)
        world_break("a writer passed the handler");
    pawl_sift_drop_write(l);
}

TEST_CASE(a_handler_that_waits_for_a_fast_writer_is_passed_by_no_other)
{
    void (*const bodies[])(void *) = {write_twice_or_read, write_twice_or_read};
    uint64_t seed = test_seed();
    unsigned i, slow = 0;
    use_all_contexts(PAWL_SIFT_RAISE);
    for (i = 0; i < 1000; i++) {
        handler_was_in = write_was_slow = false;
        world_begins(NULL);
        must(sched_random(2, bodies, NULL, test_random(&seed)));
        world_ends(NULL);
        sched.fault = NULL;
        slow += write_was_slow;
        if (world.broken != NULL)
            fail_msg("%s", world.broken);
    }
    assert_true(slow > 0); /* when the handler was not yet gone */
}

/* ---- The priority rule ----------------------------------------------------------------------- */

static bool passed;

/* Thread 1 writes, and waits for the thread reader that is in. Meanwhile 0 reads in real time; then
 * that reader leaves. */
static void priority_body(void *unused)
{
    pawl_sift *const l = &world.lock;
    if (sched.current == 1) {
        pawl_sift_take_write(l);
        pawl_sift_drop_write(l);
        return;
    }
    while (l->word < PAWL_SIFT_SLOW_)
        pawl_hook_relax(); /* until the writer waits */
    passed = pawl_sift_try_read(l, PAWL_SIFT_REALTIME);
    if (passed)
        pawl_sift_drop_read(l, PAWL_SIFT_REALTIME);
    pawl_sift_drop_read(l, PAWL_SIFT_THREAD);
    pawl_sift_take_read(l, PAWL_SIFT_REALTIME);
    pawl_sift_drop_read(l, PAWL_SIFT_REALTIME);
}

static bool passes(uint32_t reader, uint32_t writer, uint32_t flags, uint64_t seed)
{
    void (*const bodies[])(void *) = {priority_body, priority_body};
    memset(&world.use, 0, sizeof world.use);
    world.use.readers = PAWL_SIFT_READS(PAWL_SIFT_THREAD) | PAWL_SIFT_READS(PAWL_SIFT_REALTIME);
    world.use.flags = flags | PAWL_SIFT_RAISE;
    world.use.ceiling = 99;
    world_begins(NULL);
    world.priority[0] = reader;
    world.priority[1] = writer;
    world.lock.word = PAWL_SIFT_UNIT_(PAWL_SIFT_THREAD);
    must(sched_random(2, bodies, NULL, seed));
    world_ends(NULL);
    sched.fault = NULL;
    assert_null(world.broken);
    assert_int_equal(world.lock.ranks[writer], 0);
    memset(world.priority, 0, sizeof world.priority);
    return passed;
}

/* The writer waits for a thread that reads, so it has not shut the readers' context. */
static unsigned passes_out_of(unsigned runs, uint32_t reader, uint32_t writer, uint32_t flags)
{
    uint64_t seed = test_seed();
    unsigned i, sum = 0;
    for (i = 0; i < runs; i++)
        sum += passes(reader, writer, flags, test_random(&seed));
    return sum;
}

TEST_CASE(a_reader_does_not_pass_a_waiting_writer_of_equal_or_higher_priority)
{
    assert_int_equal(passes_out_of(300, 10, 10, PAWL_SIFT_PRIORITY), 0);
    assert_int_equal(passes_out_of(300, 10, 11, PAWL_SIFT_PRIORITY), 0);
    assert_int_equal(passes_out_of(300, 10, 99, PAWL_SIFT_PRIORITY), 0);
}

TEST_CASE(a_reader_passes_waiting_writers_of_lower_priority_and_all_without_the_rule)
{
    assert_int_equal(passes_out_of(300, 10, 9, PAWL_SIFT_PRIORITY), 300);
    assert_int_equal(passes_out_of(300, 10, 0, PAWL_SIFT_PRIORITY), 300);
    assert_int_equal(passes_out_of(300, 10, 11, 0), 300);
}

int main(int argc, char **argv)
{
    if (TEST_SANITIZED) /* they do not follow a thread from stack to stack */
        return test_skipped("sanitizers know nothing of fibers");
    return test_main(argc, argv);
}
