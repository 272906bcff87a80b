/* SPDX-License-Identifier: MIT */
/*
 * The code does what transitions.def says. Each operation runs with hooks that answer every access
 * with words of the test's choice, so that it takes every branch; beside it the table is followed,
 * and each access must be the one that the table foretells: kind, operand, order, tag, address and
 * width. The word that a hook returns need not be one that other threads could have made.
 *
 * Choices are gone through depth-first: at each access every word is tried; of those that lead to
 * the same row only the first is followed further in every way, the others go the shortest way out.
 */
#include "spin/follow.h"

/* ---- The hooks ------------------------------------------------------------------------------- */

static bool plain; /* the hooks work on memory, and nothing is compared */
static unsigned plain_rmws;
static uint64_t now;

/* For a hook that a spinlock has no business to call. */
static void never(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

static uint64_t on_memory(const struct pawl_operation *o)
{
    const uint64_t mask = table_mask(o->width * 8);
    uint64_t found = 0;
    memcpy(&found, o->address, o->width); /* little endian, as all targets that tests run on */
    uint64_t made = found;
    switch (o->kind) {
    case PAWL_HOOK_ADD: made = found + o->operand; break;
    case PAWL_HOOK_SUB: made = found - o->operand; break;
    case PAWL_HOOK_AND: made = found & o->operand; break;
    case PAWL_HOOK_OR: made = found | o->operand; break;
    case PAWL_HOOK_XOR: made = found ^ o->operand; break;
    case PAWL_HOOK_STORE: made = o->operand; break;
    case PAWL_HOOK_COMPARE_EXCHANGE: made = found == o->expected ? o->operand : found; break;
    default: break;
    }
    made &= mask;
    memcpy(o->address, &made, o->width);
    plain_rmws += o->kind != PAWL_HOOK_LOAD && o->kind != PAWL_HOOK_STORE;
    return found;
}

uint64_t pawl_hook_atomic(const struct pawl_operation *operation)
{
    return plain ? on_memory(operation) : follow(operation);
}

void pawl_hook_relax(void)
{
    run.paused = true;
}

void pawl_hook_yield(void)
{
    now += 1000;
}

bool pawl_hook_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    (void)address, (void)expected, (void)deadline;
    never("a spinlock never sleeps");
    return false;
}

unsigned pawl_hook_wake(const uint32_t *address, unsigned count)
{
    (void)address, (void)count;
    never("a spinlock never wakes anybody");
    return 0;
}

uint64_t pawl_hook_now(void)
{
    return ++now; /* a virtual clock */
}

uint32_t pawl_hook_thread_id(void)
{
    return 1;
}

struct pawl_thread_line **pawl_hook_thread_slot(void)
{
    never("a spinlock needs no thread line");
    return NULL;
}

void *pawl_hook_shared(void *object)
{
    never("a spinlock needs nothing that is process-wide");
    return object;
}

/* ---- Going through all choices --------------------------------------------------------------- */

static void run_once(void)
{
    run.step = STEP_COUNT;
    memset(run.visits, 0, sizeof run.visits);
    run.depth = 0;
    run.then = OP_NONE;
    run.insists = false;
    run.left = false;
    run.hurry = false;
    run.atomics = 0;
    run.unpaused = 0;
    run.seen = 0;
    go(table_first(&run.table, run.target->op));
    run.left = false;
    if (setjmp(run.out))
        return;
    volatile bool result = run.target->run(&lock);
    if (run.step < STEP_COUNT)
        mistake("ended early", 0, run.step);
    same("result", result,
         run.table.ops[run.target->op].kind == KIND_tells ? !run.left
                                                          : run.step == STEP_END_granted);
}

/* True while there is another script. */
static bool next_script(void)
{
    while (run.depth > 0 && run.choice[run.depth - 1] + 1 >= run.choices[run.depth - 1])
        run.depth--;
    if (run.depth == 0)
        return false;
    run.choice[run.depth - 1]++;
    run.scripted = run.depth;
    return true;
}

/* Runs the operation in every way; false at the first mistake. */
static bool agrees(const struct target *target, const struct table *t, uint64_t application,
                   bool *visited)
{
    run.table = *t;
    run.target = target;
    run.application = application;
    run.scripted = 0;
    run.mistake[0] = 0;
    memset(run.outcomes, 0, sizeof run.outcomes);
    do {
        run_once();
        for (unsigned i = 0; i < STEP_COUNT; i++)
            visited[i] = visited[i] || run.visits[i];
        if (run.mistake[0])
            return false;
    } while (next_script());
    return true;
}

TEST_CASE(every_operation_makes_the_accesses_that_the_table_foretells)
{
    const struct table t = table_as_it_is();
    bool visited[STEP_COUNT] = {false};
    for (uint64_t application = 0; application <= 3; application += TEST_SANITIZED ? 3 : 1)
        for (unsigned i = 0; i < TARGETS; i++)
            if (!agrees(&targets[i], &t, application, visited))
                fail_msg("%s", run.mistake);
    for (unsigned i = 0; i < STEP_COUNT; i++)
        if (!visited[i])
            fail_msg("%s was never reached", t.steps[i].name);
}

/* A table with one change at this step: the operation that it belongs to must disagree. */
static bool is_noticed(const struct table *t, unsigned step)
{
    bool visited[STEP_COUNT] = {false};
    for (unsigned i = 0; i < TARGETS; i++)
        if (targets[i].bits == 32 && targets[i].op == t->steps[step].op)
            return !agrees(&targets[i], t, 0, visited);
    return false;
}

/* A mistake is left by longjmp, from inside a lock operation. */
static void skip_under_thread_sanitizer(void)
{
    if (PAWL_TSAN_) {
        print_message("skipped: ThreadSanitizer is told when an operation ends, and would wait\n");
        skip();
    }
}

TEST_CASE(a_change_of_any_order_tag_or_unit_is_noticed)
{
    skip_under_thread_sanitizer();
    for (unsigned step = 0; step < STEP_COUNT; step++) {
        struct table t = table_as_it_is();
        t.steps[step].order = t.steps[step].order == ORDER_relaxed ? ORDER_acquire : ORDER_relaxed;
        if (!is_noticed(&t, step))
            fail_msg("%s with another order", t.steps[step].name);
        t = table_as_it_is();
        t.steps[step].tag = t.steps[step].tag == TAG_NONE ? TAG_SPIN_BITS : TAG_NONE;
        if (!is_noticed(&t, step))
            fail_msg("%s with another tag", t.steps[step].name);
        t = table_as_it_is();
        t.steps[step].add.s += 1;
        if (t.steps[step].how != HOW_WAIT && !is_noticed(&t, step))
            fail_msg("%s with S more", t.steps[step].name);
    }
}

TEST_CASE(a_change_of_any_gate_or_row_is_noticed)
{
    skip_under_thread_sanitizer();
    for (unsigned i = 0; i < STEP_COUNT; i++) {
        struct table t = table_as_it_is();
        t.steps[i].gate = t.steps[i].gate == TEST_NO_W ? TEST_NO_SW : TEST_NO_W;
        if (t.steps[i].how != HOW_ADD && !is_noticed(&t, i))
            fail_msg("%s with another gate", t.steps[i].name);
    }
    for (unsigned i = 0; i < TABLE_NEXTS; i++) {
        struct table t = table_as_it_is();
        t.nexts[i].next =
            t.nexts[i].next == STEP_END_granted ? STEP_drop_read_leave : STEP_END_granted;
        if (!is_noticed(&t, t.nexts[i].step))
            fail_msg("row %u of %s with another end", i, t.steps[t.nexts[i].step].name);
    }
}

/* ---- Undisturbed ----------------------------------------------------------------------------- */

static uint64_t word_now(unsigned bits)
{
    return bits == 16 ? lock.l16.word : bits == 32 ? lock.l32.word : lock.l64.word;
}

static void set_word(unsigned bits, uint64_t word)
{
    lock.l64.word = 0;
    if (bits == 16)
        lock.l16.word = (uint16_t)word;
    else if (bits == 32)
        lock.l32.word = (uint32_t)word;
    else
        lock.l64.word = word;
}

TEST_CASE(an_undisturbed_operation_costs_what_the_table_says)
{
    plain = true;
    for (uint64_t application = 0; application <= PAWL_SPIN_APPLICATION_BITS; application++)
        for (unsigned i = 0; i < TARGETS; i++) {
            const struct table_op_row *op = &table_ops[targets[i].op];
            const unsigned bits = targets[i].bits;
            set_word(bits, table_operand(bits, table_held(op->from)) + application);
            plain_rmws = 0;
            assert_true(targets[i].run(&lock));
            assert_int_equal(plain_rmws, op->cost);
            assert_true(word_now(bits) == table_operand(bits, table_held(op->to)) + application);
        }
    plain = false;
}

TEST_MAIN()
