/* SPDX-License-Identifier: MIT */
/*
 * The progressive locks of all kinds, by a few real threads: the input says what each does and how
 * long it lingers before. Plain data tell who was in beside whom he excludes, or ThreadSanitizer
 * does; and at the end the word must be as it was found.
 *
 *   input   kind of lock, number of threads; then an operation and a delay, each thread in turn
 */
#include "fuzz/fuzz.h"
#include "fuzz/kinds.h"

enum { THREADS = 4, LONGEST = 64 };

static struct {
    struct kind kind;
    union any_lock lock;
    uint64_t number, complement; /* W changes both */
    uint64_t sum;                /* A adds to it, by atomic additions */
    unsigned seeker;             /* S and W own it */
    uint8_t script[THREADS][2 * LONGEST];
    unsigned length[THREADS];
} now;

static void linger(unsigned delay)
{
    if (delay >= 192)
        sched_yield();
    for (delay = 1u << (delay & 15u) >> 4; delay > 0; delay--)
        pawl_cpu_relax();
}

static void look(unsigned delay)
{
    const uint64_t number = now.number;
    must(now.complement == ~number);
    linger(delay);
    must(now.number == number);
}

/* Does what the state allows. */
static void use(enum pawl_state state, unsigned index, unsigned delay)
{
    const uint64_t sum =
        state == PAWL_STATE_R || state == PAWL_STATE_S || state == PAWL_STATE_W ? now.sum : 0;
    switch (state) {
    case PAWL_STATE_A:
        __atomic_fetch_add(&now.sum, 1, __ATOMIC_RELAXED);
        look(delay);
        return;
    case PAWL_STATE_W:
        now.number++;
        linger(delay);
        now.complement = ~now.number;
        now.seeker = index;
        break;
    case PAWL_STATE_S:
        now.seeker = index;
        look(delay);
        must(now.seeker == index);
        break;
    case PAWL_STATE_R: look(delay); break;
    default: return;
    }
    must(now.sum == sum); /* nobody adds beside a reader or writer */
}

/* Every other time with a deadline, where there is such a form, that may pass. */
static bool call(enum table_op op, unsigned delay)
{
    if ((op == OP_take_read || op == OP_drop_read) && fuzz_mistake("a_reader_does_not_claim"))
        return true;
    if (now.kind.until[op] && delay % 2)
        return now.kind.until[op](&now.lock, pawl_now() + (UINT64_C(1) << delay % 20));
    return now.kind.run[op](&now.lock);
}

static enum pawl_state operate(enum pawl_state state, enum table_op op, unsigned delay)
{
    const struct table_op_row *row = &table_ops[op];
    if (row->from != state)
        return state;
    if (row->kind == KIND_tells)
        (void)call(op, delay); /* in any case it ends so */
    else if (!call(op, delay))
        return state;
    return row->to;
}

static void body(void *unused, unsigned index)
{
    static const enum table_op drops[] = {OP_NONE, OP_drop_read, OP_drop_seek, OP_drop_write,
                                          OP_drop_atomic};
    enum pawl_state state = PAWL_STATE_U;
    for (unsigned i = 0; i < now.length[index]; i++) {
        const unsigned delay = now.script[index][2 * i + 1];
        linger(delay);
        state = operate(state, (enum table_op)(now.script[index][2 * i] % OP_COUNT), delay);
        use(state, index, delay);
    }
    if (state != PAWL_STATE_U)
        (void)call(drops[state], 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = fuzz_begin(data, size);
    uint64_t word;
    memset(&now, 0, sizeof now);
    now.complement = ~UINT64_C(0);
    unsigned which = fuzz_below(&f, KINDS);
    describe[which](&now.kind);
    unsigned threads = 2 + fuzz_below(&f, THREADS - 1);
    for (unsigned i = 0; fuzz_more(&f) && i < threads * LONGEST; i++) {
        const unsigned who = i % threads;
        uint8_t *step = &now.script[who][2 * now.length[who]++];
        step[0] = (uint8_t)fuzz_byte(&f);
        step[1] = (uint8_t)fuzz_byte(&f);
    }
    test_threads(threads, body, NULL);
    word = now.kind.word(&now.lock);
    if (which >= SPINS && which < KINDS - SHARED)
        word &= ~(uint64_t)PAWL_LOCK_BIASED; /* PAWL_BIAS=on leaves it */
    must(word == 0 || (which >= KINDS - SHARED && word == PAWL_PSHARED_PARKED));
    return 0;
}
