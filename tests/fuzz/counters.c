/* SPDX-License-Identifier: MIT */
/*
 * Counters of all kinds and big references, changed by three threads that take turns, beside the
 * numbers that they should be. Threads end, and counters come and go, so that cells change hands.
 *
 *   input   whose turn, which counter, an operation, a number
 */
#include "fuzz/fuzz.h"
#include "fuzz/turns.h"

#include <pawl/bigref.h>
#include <pawl/counter.h>

enum kind { NONE, PLAIN, CPU, ATOMIC, EXACT, LIMIT, PAIR, REFERENCE, KINDS };
enum { SLOTS = 6 };

static struct slot {
    enum kind kind;
    union {
        pawl_counter plain;
        pawl_cpu_counter cpu;
        pawl_atomic_counter atomic;
        pawl_counter_exact exact;
        pawl_counter_limit limit;
        pawl_seq_counter pair;
        pawl_bigref reference;
    } is;
    uint64_t value; /* modulo 2^64; of a reference, how many there are */
    uint64_t limit; /* of PAIR how many were added */
    bool killed, released, was_released;
} slots[SLOTS];

static struct {
    struct slot *slot;
    unsigned what;
    uint64_t number;
} now;

/* ---- What should be -------------------------------------------------------------------------- */

static void note_release(pawl_bigref *r, void *arg)
{
    struct slot *s = (struct slot *)arg;
    must(r == &s->is.reference && !s->was_released);
    s->was_released = true;
}

static void compare(struct slot *s)
{
    const int64_t value = (int64_t)s->value;
    pawl_seq_count pair;
    switch (s->kind) {
    case NONE:
    case KINDS: break;
    case PLAIN: must(pawl_counter_read(&s->is.plain) == value); break;
    case CPU: must(pawl_cpu_counter_read(&s->is.cpu) == value); break;
    case ATOMIC: must(pawl_atomic_counter_read(&s->is.atomic) == value); break;
    case EXACT: must(pawl_counter_exact_read(&s->is.exact) == value); break;
    case LIMIT: must(pawl_counter_limit_read(&s->is.limit) == value); break;
    case PAIR:
        pair = pawl_seq_counter_now(&s->is.pair);
        must(pair.sum == value && pair.count == (int64_t)s->limit);
        must(pawl_seq_counter_try_now(&s->is.pair, &pair) && pair.sum == value);
        break;
    case REFERENCE:
        must(s->released == s->was_released);
        must(pawl_bigref_read(&s->is.reference) == (s->released ? 0 : value));
        break;
    }
}

/* ---- One operation, in the thread whose turn it is ------------------------------------------- */

static void change_plain(struct slot *s)
{
    pawl_counter *const c = &s->is.plain;
    const int64_t n = (int64_t)now.number;
    switch (now.what % 5) {
    case 0: pawl_counter_add(c, n), s->value += now.number; break;
    case 1: pawl_counter_sub(c, n), s->value -= now.number; break;
    case 2: pawl_counter_inc(c), s->value++; break;
    case 3: pawl_counter_dec(c), s->value--; break;
    default:
        s->value += now.number;
        if (!fuzz_mistake("an_addition_is_lost"))
            pawl_counter_add_in_handler(c, n);
        break;
    }
}

static void change_cpu(struct slot *s)
{
    pawl_cpu_counter *const c = &s->is.cpu;
    const int64_t n = (int64_t)now.number;
    switch (now.what % 4) {
    case 0: pawl_cpu_counter_add(c, n), s->value += now.number; break;
    case 1: pawl_cpu_counter_sub(c, n), s->value -= now.number; break;
    case 2: pawl_cpu_counter_inc(c), s->value++; break;
    default: pawl_cpu_counter_dec(c), s->value--; break;
    }
}

static void change_atomic(struct slot *s)
{
    const int64_t n = (int64_t)now.number;
    s->value = now.what % 2 ? s->value - now.number : s->value + now.number;
    must((now.what % 2 ? pawl_atomic_counter_sub(&s->is.atomic, n)
                       : pawl_atomic_counter_add(&s->is.atomic, n)) == (int64_t)s->value);
}

static void change_exact(struct slot *s)
{
    const int64_t n = (int64_t)now.number;
    if (now.what % 2) {
        pawl_counter_exact_sub(&s->is.exact, n);
        s->value -= now.number;
    } else {
        pawl_counter_exact_add(&s->is.exact, n);
        s->value += now.number;
    }
}

/* Nothing is taken away that was not added. */
static void change_limit(struct slot *s)
{
    const uint64_t n = now.number;
    if (now.what % 8 == 0) {
        s->limit = n > INT64_MAX ? (uint64_t)INT64_MAX : n;
        pawl_counter_limit_set_limit(&s->is.limit, n);
    } else if (now.what % 8 < 4) {
        if (n <= s->value) {
            pawl_counter_limit_sub(&s->is.limit, n);
            s->value -= n;
        }
    } else {
        const uint64_t room = s->value <= s->limit ? s->limit - s->value : 0;
        const bool fits = n <= room; /* 0 always does, even beyond a limit that was lowered */
        must(pawl_counter_limit_try_add(&s->is.limit, n) == fits);
        s->value += fits ? n : 0;
    }
}

static void drop_reference(struct slot *s)
{
    if (s->value == 0 && !s->released)
        return;
    pawl_bigref_drop(&s->is.reference); /* after the release it does nothing */
    s->value -= !s->released;
    s->released = s->released || (s->killed && s->value == 0);
}

/* Many at once move units between a thread's part and the global one. */
static void change_reference(struct slot *s)
{
    pawl_bigref *const r = &s->is.reference;
    const uint64_t times = now.what / 8 % 16 == 0 ? 3 * PAWL_BIGREF_TARGET : 1 + now.number % 4;
    switch (now.what % 8) {
    case 0:
        must(pawl_bigref_kill(r) == !s->killed);
        s->killed = true;
        s->released = s->released || s->value == 0;
        break;
    case 1:
        must(pawl_bigref_revive(r) == !s->released);
        s->killed = s->released;
        break;
    case 2:
    case 3:
    case 4:
        for (uint64_t i = 0; i < times; i++)
            drop_reference(s);
        break;
    case 5:
        must(pawl_bigref_try_get(r) == !s->released);
        s->value += !s->released;
        break;
    default:
        for (uint64_t i = 0; i < times && !s->released; i++, s->value++)
            pawl_bigref_get(r);
        break;
    }
}

static void change(void *unused)
{
    struct slot *s = now.slot;
    switch (s->kind) {
    case NONE:
    case KINDS: break;
    case PLAIN: change_plain(s); break;
    case CPU: change_cpu(s); break;
    case ATOMIC: change_atomic(s); break;
    case EXACT: change_exact(s); break;
    case LIMIT: change_limit(s); break;
    case PAIR:
        pawl_seq_counter_add(&s->is.pair, (int64_t)now.number);
        s->value += now.number;
        s->limit++;
        break;
    case REFERENCE: change_reference(s); break;
    }
}

/* ---- Coming and going ------------------------------------------------------------------------ */

static void destroy(void *unused)
{
    struct slot *s = now.slot;
    const int64_t value = (int64_t)s->value;
    compare(s);
    switch (s->kind) {
    case PLAIN: must(pawl_counter_destroy(&s->is.plain) == value); break;
    case CPU: must(pawl_cpu_counter_destroy(&s->is.cpu) == value); break;
    case EXACT: must(pawl_counter_exact_destroy(&s->is.exact) == value); break;
    case LIMIT: must(pawl_counter_limit_destroy(&s->is.limit) == value); break;
    case REFERENCE:
        if (!s->killed)
            pawl_bigref_destroy(&s->is.reference);
        else
            while (!s->released)
                drop_reference(s);
        break;
    default: break;
    }
    memset(s, 0, sizeof *s);
}

static void make(void *unused)
{
    struct slot *s = now.slot;
    s->kind = (enum kind)(now.what % KINDS);
    switch (s->kind) {
    case NONE:
    case KINDS:
    case PAIR: break; /* zero bytes */
    case PLAIN: pawl_counter_init(&s->is.plain); break;
    case CPU: pawl_cpu_counter_init(&s->is.cpu); break;
    case ATOMIC: pawl_atomic_counter_init(&s->is.atomic, 0); break;
    case EXACT:
        pawl_counter_exact_init(&s->is.exact, (enum pawl_exact_mode)(now.what / KINDS % 4));
        break;
    case LIMIT:
        s->limit = now.number > INT64_MAX ? (uint64_t)INT64_MAX : now.number;
        pawl_counter_limit_init(&s->is.limit, now.number);
        break;
    case REFERENCE:
        pawl_bigref_init(&s->is.reference, note_release, s);
        s->value = 1;
        break;
    }
}

static void turn(struct fuzz *f)
{
    const unsigned who = fuzz_below(f, TURNS);
    const unsigned how = fuzz_below(f, 16);
    now.slot = &slots[fuzz_below(f, SLOTS)];
    now.what = fuzz_byte(f);
    now.number = fuzz_number(f);
    if (how == 0)
        turn_ends(who);
    else if (how == 1 || now.slot->kind == NONE) {
        turn_of(who, destroy, NULL);
        turn_of(who, make, NULL);
    } else
        turn_of(who, change, NULL);
    compare(now.slot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = fuzz_begin(data, size);
    memset(slots, 0, sizeof slots);
    while (fuzz_more(&f))
        turn(&f);
    for (unsigned i = 0; i < SLOTS; i++) {
        now.slot = &slots[i];
        destroy(NULL);
    }
    turns_end();
    return 0;
}
