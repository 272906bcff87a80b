/* SPDX-License-Identifier: MIT */
/*
 * The lock for processes that may be killed, by three threads that take turns and may end with what
 * they hold, beside a model: who holds what, which deaths have been told and which are still to be
 * found, whether the lock is lost.
 *
 *   input   whose turn and what, a byte each: an operation, its end, or a new lock
 */
#include "fuzz/fuzz.h"
#include "fuzz/turns.h"

#include <pawl/robust.h>
#include <pawl/spin.h>

typedef enum pawl_robust call(pawl_robust_lock *);

enum kind { TAKE, MOVE, UP, DROP };

/* `late`: asked with a deadline that has passed, so that refusal is TIMED_OUT. */
static const struct row {
    enum kind kind;
    enum pawl_state from, to;
    bool late;
    call *plain;
    enum pawl_robust (*until)(pawl_robust_lock *, uint64_t);
} rows[] = {
#define R(name) pawl_robust_lock_##name
    {TAKE, PAWL_STATE_U, PAWL_STATE_R, false, R(try_read), NULL},
    {TAKE, PAWL_STATE_U, PAWL_STATE_S, false, R(try_seek), NULL},
    {TAKE, PAWL_STATE_U, PAWL_STATE_W, false, R(try_write), NULL},
    {TAKE, PAWL_STATE_U, PAWL_STATE_A, false, R(try_atomic), NULL},
    {TAKE, PAWL_STATE_U, PAWL_STATE_R, true, R(take_read), R(take_read_until)},
    {TAKE, PAWL_STATE_U, PAWL_STATE_S, true, R(take_seek), R(take_seek_until)},
    {TAKE, PAWL_STATE_U, PAWL_STATE_W, true, R(take_write), R(take_write_until)},
    {TAKE, PAWL_STATE_U, PAWL_STATE_A, true, R(take_atomic), R(take_atomic_until)},
    {DROP, PAWL_STATE_R, PAWL_STATE_U, false, R(drop_read), NULL},
    {DROP, PAWL_STATE_S, PAWL_STATE_U, false, R(drop_seek), NULL},
    {DROP, PAWL_STATE_W, PAWL_STATE_U, false, R(drop_write), NULL},
    {DROP, PAWL_STATE_A, PAWL_STATE_U, false, R(drop_atomic), NULL},
    {UP, PAWL_STATE_S, PAWL_STATE_W, false, R(try_seek_to_write), NULL},
    {UP, PAWL_STATE_S, PAWL_STATE_W, true, R(seek_to_write), R(seek_to_write_until)},
    {UP, PAWL_STATE_R, PAWL_STATE_S, false, R(try_read_to_seek), NULL},
    {UP, PAWL_STATE_R, PAWL_STATE_W, false, R(try_read_to_write), NULL},
    {UP, PAWL_STATE_R, PAWL_STATE_W, true, R(read_claim_write), R(read_claim_write_until)},
    {MOVE, PAWL_STATE_W, PAWL_STATE_S, false, R(write_to_seek), NULL},
    {MOVE, PAWL_STATE_W, PAWL_STATE_R, false, R(write_to_read), NULL},
    {MOVE, PAWL_STATE_S, PAWL_STATE_R, false, R(seek_to_read), NULL},
#undef R
};
enum { ROWS = sizeof rows / sizeof rows[0], CONSISTENT = ROWS, ENDS, ANEW, CHOICES };

static struct {
    pawl_robust_lock lock;
    enum pawl_state holds[TURNS];
    /* Deaths, by state as bits: those told; those that nobody has come upon; and those that
     * somebody may have come upon who was refused. */
    unsigned told, untold, half_told;
    bool lost;
} now;

static unsigned died_bit(enum pawl_state state)
{
    static const unsigned bits[] = {0, PAWL_ROBUST_DIED_READ, PAWL_ROBUST_DIED_SEEK,
                                    PAWL_ROBUST_DIED_WRITE, PAWL_ROBUST_DIED_ATOMIC};
    return bits[state];
}

static unsigned others(unsigned self, enum pawl_state state)
{
    unsigned i, count = 0;
    for (i = 0; i < TURNS; i++)
        count += i != self && now.holds[i] == state;
    return count;
}

/* Whether the other holders let this one be in. */
static bool lets(unsigned self, enum pawl_state to)
{
    const unsigned r = others(self, PAWL_STATE_R), s = others(self, PAWL_STATE_S),
                   w = others(self, PAWL_STATE_W), a = others(self, PAWL_STATE_A);
    switch (to) {
    case PAWL_STATE_R: return w + a == 0;
    case PAWL_STATE_S: return s + w + a == 0;
    case PAWL_STATE_W: return r + s + w + a == 0;
    default: return r + s + w == 0;
    }
}

/* ---- One call, in the thread whose turn it is ------------------------------------------------ */

struct ask {
    const struct row *row;
    bool plain; /* the form that would wait, where it need not */
    enum pawl_robust how;
};

static void ask(void *argument)
{
    struct ask *a = (struct ask *)argument;
    if (a->row->kind == DROP && fuzz_mistake("a_drop_is_forgotten")) {
        a->how = PAWL_ROBUST_OK;
        return;
    }
    a->how = a->row->until && !a->plain ? a->row->until(&now.lock, 1) : a->row->plain(&now.lock);
    if (a->how == PAWL_ROBUST_OWNER_DIED && fuzz_mistake("a_death_is_not_told"))
        a->how = PAWL_ROBUST_OK;
}

static void say_consistent(void *argument)
{
    *(enum pawl_robust *)argument = pawl_robust_lock_consistent(&now.lock);
}

/* `all`: whoever was granted something has found every death. */
static void compare_deaths(bool all)
{
    const unsigned deaths = pawl_robust_lock_deaths(&now.lock);
    const unsigned sure = now.told | (all ? now.untold : 0);
    must((deaths & sure) == sure);
    must((deaths & ~(now.told | now.untold | now.half_told)) == 0);
    now.told = deaths;
    if (all)
        now.untold = now.half_told = 0;
    now.half_told |= deaths & now.untold;
    now.untold &= ~deaths;
}

static void granted(unsigned self, const struct row *row, enum pawl_robust how)
{
    must(pawl_robust_held(how));
    now.holds[self] = row->to;
    if (row->kind == TAKE || row->kind == UP) {
        compare_deaths(row->kind == TAKE || row->to == PAWL_STATE_W);
        must((how == PAWL_ROBUST_OWNER_DIED) == (now.told != 0));
        return;
    }
    must(how == PAWL_ROBUST_OK);
    if (row->from == PAWL_STATE_W && row->to == PAWL_STATE_U && now.told) {
        now.lost = true;
        now.told = 0; /* nothing is said of them any more */
    }
}

static void operate(unsigned self, const struct row *row, bool plain)
{
    struct ask a;
    const bool may = row->kind == DROP || row->kind == MOVE || lets(self, row->to);
    if (row->kind == TAKE && now.holds[self] != PAWL_STATE_U)
        return; /* a thread that waits for itself */
    a.row = row;
    a.plain = plain && may;
    turn_of(self, ask, &a);
    if (now.holds[self] != row->from)
        must(a.how == PAWL_ROBUST_MISUSE);
    else if (may && now.lost)
        must(a.how == PAWL_ROBUST_NOT_RECOVERABLE);
    else if (may)
        granted(self, row, a.how);
    else if (row->from == PAWL_STATE_R &&
             others(self, PAWL_STATE_S) + others(self, PAWL_STATE_W) > 0)
        must(a.how == PAWL_ROBUST_BUSY); /* also with a deadline */
    else
        must(a.how == (row->late ? PAWL_ROBUST_TIMED_OUT : PAWL_ROBUST_BUSY));
    compare_deaths(false);
}

static void repair(unsigned self)
{
    enum pawl_robust how;
    turn_of(self, say_consistent, &how);
    if (now.lost)
        must(how == PAWL_ROBUST_NOT_RECOVERABLE);
    else if (now.holds[self] == PAWL_STATE_U)
        must(how == PAWL_ROBUST_MISUSE);
    else {
        must(how == PAWL_ROBUST_OK);
        now.told = 0;
    }
}

static void end(unsigned self)
{
    turn_ends(self);
    now.untold |= died_bit(now.holds[self]);
    now.holds[self] = PAWL_STATE_U;
}

static void begin_anew(void)
{
    for (unsigned i = 0; i < TURNS; i++)
        if (now.holds[i] != PAWL_STATE_U)
            return;
    must(pawl_robust_lock_init(&now.lock) == PAWL_ROBUST_OK);
    now.told = now.untold = now.half_told = 0;
    now.lost = false;
}

/* What is held is given up, and the lock must be as good as new. */
static void all_leave(void)
{
    static const unsigned drops[] = {0, 8, 9, 10, 11};
    for (unsigned i = 0; i < TURNS; i++)
        if (now.holds[i] != PAWL_STATE_U)
            operate(i, &rows[drops[now.holds[i]]], false);
    operate(0, &rows[2], false);
    if (now.holds[0] == PAWL_STATE_W) {
        repair(0);
        operate(0, &rows[10], false);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = fuzz_begin(data, size);
    memset(&now, 0, sizeof now);
    must(pawl_robust_lock_init(&now.lock) == PAWL_ROBUST_OK);
    while (fuzz_more(&f)) {
        const unsigned self = fuzz_below(&f, TURNS);
        const unsigned byte = fuzz_byte(&f);
        const unsigned what = byte % CHOICES;
        if (what < ROWS)
            operate(self, &rows[what], byte / CHOICES % 2);
        else if (what == CONSISTENT)
            repair(self);
        else if (what == ENDS)
            end(self);
        else
            begin_anew();
    }
    all_leave();
    turns_end();
    return 0;
}
