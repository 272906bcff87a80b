/* SPDX-License-Identifier: MIT */
/*
 * The progressive locks of all kinds and widths, by one thread that holds as much as the input
 * wants, beside the transition table: it foretells how each operation ends and which word it
 * leaves. An operation that would wait for ever is called with a deadline that has passed, if there
 * is such a form, and must leave the word as it was; else it is left out.
 *
 *   input   kind of lock; then an operation and how often, a byte each time (see `turn`)
 */
#include "fuzz/fuzz.h"
#include "fuzz/kinds.h"

/* As many holders as the smallest word can count, with one claimant beside them. */
enum { MOST = 48 };

static struct {
    struct table table;
    struct kind kind;
    union any_lock lock;
    unsigned which;
    unsigned held[5];
    uint64_t word; /* by the table */
} now;

/* How the operation ends, undisturbed: STEP_END_granted or _failed; STEP_COUNT when it waits. The
 * word then is what it waits with. */
static enum table_step foretell(enum table_op op, uint64_t *word)
{
    enum table_step step = table_first(&now.table, op);
    for (unsigned steps = 0; steps < 16; steps++) {
        const struct table_step_row *row = &now.table.steps[step];
        const struct table_fields found = table_fields_of(now.kind.bits, *word);
        if (row->how != HOW_ADD && !table_passes(row->gate, found))
            return row->how == HOW_LOOK_ADD || row->how == HOW_LOOK_CAS ? STEP_END_failed
                                                                        : STEP_COUNT;
        if (row->how != HOW_WAIT)
            *word = (*word + table_operand(now.kind.bits, row->add)) & table_mask(now.kind.bits);
        step = table_next(&now.table, step, found);
        must(step != STEP_COUNT);
        if (step > STEP_COUNT)
            return step;
    }
    must(!"the table leads in a circle");
    return STEP_COUNT;
}

/* The word as the table has it. Readers may be in entries, and PAWL_BIAS=on leaves BIASED behind.
 * Whose time is over in the lock for shared memory may leave PARKED, for the next drop to clear: on
 * a single CPU, where waiters do not poll, at once. */
static uint64_t units(void)
{
    if (now.which == SPINS)
        return PAWL_SYMBOL_(pawl_lock32_look)(&now.lock.l32) & ~PAWL_LOCK_BIASED;
    if (now.which == SPINS + 1)
        return PAWL_SYMBOL_(pawl_lock64_look)(&now.lock.l64) & ~(uint64_t)PAWL_LOCK_BIASED;
    if (now.which >= KINDS - SHARED)
        return now.kind.word(&now.lock) & ~(uint64_t)PAWL_PSHARED_PARKED;
    return now.kind.word(&now.lock);
}

static void word_is_as_foretold(void)
{
    must(units() == now.word);
}

static bool may_start(enum table_op op)
{
    const struct table_op_row *row = &now.table.ops[op];
    if (row->from != PAWL_STATE_U)
        return now.held[row->from] > 0;
    return now.held[PAWL_STATE_R] + now.held[PAWL_STATE_S] + now.held[PAWL_STATE_A] < MOST;
}

/* With a deadline when the input wants it so, or when it would wait. */
static void operate(enum table_op op, bool with_deadline)
{
    const struct table_op_row *row = &now.table.ops[op];
    uint64_t word = now.word;
    bool result;
    if (!may_start(op))
        return;
    enum table_step end = foretell(op, &word);
    if (end == STEP_COUNT || (with_deadline && now.kind.until[op])) {
        if (!now.kind.until[op])
            return;
        result = now.kind.until[op](&now.lock, 1);
        must(result == (end == STEP_END_granted));
    } else {
        if (row->kind == KIND_drop && fuzz_mistake("a_drop_is_forgotten"))
            result = true;
        else
            result = now.kind.run[op](&now.lock);
        must(result == (end == STEP_END_granted));
    }
    if (result) {
        now.held[row->from]--;
        now.held[row->to]++;
        now.word = word;
    } else if (end == STEP_END_failed)
        must(word == now.word); /* the table itself leaves the word as found */
    word_is_as_foretold();
}

/* The application bits of the locks that spin. */
static void change_bits(unsigned how)
{
    const uint16_t bits = how & 3u;
    if (now.which >= SPINS)
        return;
    if (how & 4u) {
        if (now.which == 0)
            pawl_set_bits(&now.lock.s16, bits);
        else if (now.which == 1)
            pawl_set_bits(&now.lock.s32, bits);
        else
            pawl_set_bits(&now.lock.s64, bits);
        now.word |= bits;
    } else {
        if (now.which == 0)
            pawl_clear_bits(&now.lock.s16, bits);
        else if (now.which == 1)
            pawl_clear_bits(&now.lock.s32, bits);
        else
            pawl_clear_bits(&now.lock.s64, bits);
        now.word &= ~(uint64_t)bits;
    }
    word_is_as_foretold();
}

static void turn(struct fuzz *f)
{
    static const unsigned often[8] = {1, 1, 1, 1, 2, 5, MOST, 1};
    const unsigned byte = fuzz_byte(f);
    const unsigned what = byte & 31u;
    unsigned times = often[byte >> 5];
    if (what >= OP_COUNT) {
        change_bits(byte);
        return;
    }
    for (; times > 0; times--)
        operate((enum table_op)what, byte >> 5 == 7);
}

static void drop_everything(void)
{
    static const enum table_op drops[] = {OP_drop_read, OP_drop_seek, OP_drop_write,
                                          OP_drop_atomic};
    for (unsigned i = 0; i < 4; i++)
        while (may_start(drops[i]))
            operate(drops[i], false);
    must(units() < 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = fuzz_begin(data, size);
    memset(&now, 0, sizeof now);
    now.table = table_as_it_is();
    now.which = fuzz_below(&f, KINDS);
    describe[now.which](&now.kind);
    while (fuzz_more(&f))
        turn(&f);
    drop_everything();
    return 0;
}
