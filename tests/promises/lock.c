/* SPDX-License-Identifier: MIT */
/*
 * The promises of lock.h, each under each circumstance (promises.txt has the table). A promise is a
 * script of operations of two threads. A circumstance is one event, or two at once. It comes
 * before the first step, before the second, and so on: a run of the script for each place, for
 * locks of 32 and 64 bits. parties.h has the oracle. Each promise under each circumstance is a test
 * of its own, in a process of its own: <promise>.<circumstance>.
 */
#include "test.h"

#include <pawl/lock.h>

#include "lock/entries.h"

#if PAWL_SCALES_ && defined(__linux__)

#include "promises/parties.h"

/* ---- Promises -------------------------------------------------------------------------------- */

/* m and o are the two threads. A step whose thread waits, or is in another state, is left out. */
static const struct script {
    const char *name, *steps;
} scripts[] = {
    {"a_writer_keeps_all_out", "m.take_write o.try_read o.try_seek o.try_write o.try_atomic "
                               "o.claim_write o.claim_atomic m.drop_write o.try_read o.drop_read"},
    {"readers_share", "m.take_read o.take_read m.drop_read m.try_read o.drop_read m.drop_read"},
    {"a_seeker_lets_readers_in", "m.take_seek o.try_seek o.try_write o.claim_write o.try_atomic "
                                 "o.take_read o.drop_read m.drop_seek"},
    {"atomic_users_share", "m.take_atomic o.try_read o.try_seek o.try_write o.take_atomic "
                           "m.drop_atomic o.drop_atomic"},
    {"a_reader_waits_for_a_writer", "o.take_write m.take_read o.write_to_read o.drop_read"},
    {"a_reader_waits_for_an_atomic_user", "o.take_atomic m.take_read o.drop_atomic m.drop_read"},
    {"a_seeker_waits_for_a_seeker", "o.take_seek m.take_seek o.drop_seek m.drop_seek"},
    {"a_writer_waits_for_readers", "o.take_read m.take_write o.drop_read m.drop_write"},
    {"a_writer_waits_for_a_seeker", "o.take_seek m.take_write o.seek_to_read o.drop_read"},
    {"an_atomic_user_waits_for_readers", "o.take_read m.take_atomic o.drop_read m.drop_atomic"},
    {"a_claim_of_w_waits_for_readers_alone", "o.take_read m.claim_write o.drop_read m.drop_write "
                                             "o.take_seek m.claim_write o.drop_seek"},
    {"a_claim_of_a_waits_for_readers_alone", "o.take_read m.claim_atomic o.drop_read m.drop_atomic "
                                             "o.take_atomic m.claim_atomic m.drop_atomic"},
    {"s_becomes_w_after_the_readers", "m.take_seek o.take_read m.try_seek_to_write m.seek_to_write "
                                      "o.drop_read m.drop_write"},
    {"downgrades_let_in_at_once", "m.take_write m.write_to_seek o.try_read o.drop_read "
                                  "m.seek_to_read o.try_seek o.drop_seek m.drop_read m.take_write "
                                  "m.write_to_read o.try_read o.drop_read m.drop_read"},
    {"r_becomes_s_or_stays", "m.take_read o.take_seek m.try_read_to_seek o.drop_seek "
                             "m.try_read_to_seek m.drop_seek"},
    {"a_move_that_fails_keeps_r", "o.take_read m.take_seek o.try_read_to_seek m.drop_seek "
                                  "m.try_write o.drop_read"},
    {"r_becomes_w_alone_or_stays", "m.take_read o.take_read m.try_read_to_write o.drop_read "
                                   "m.try_read_to_write m.drop_write"},
    {"r_claims_w", "m.take_read o.take_read m.read_claim_write o.drop_read m.drop_write "
                   "m.take_read o.take_seek m.read_claim_write o.drop_seek m.drop_read"},
    {"r_becomes_a_alone_or_stays", "m.take_read o.take_read m.try_read_to_atomic o.drop_read "
                                   "m.try_read_to_atomic m.drop_atomic"},
    {"r_claims_a", "m.take_read o.take_read m.read_claim_atomic o.drop_read m.drop_atomic"},
    {"a_becomes_r_after_the_others", "m.take_atomic o.take_atomic m.atomic_to_read o.drop_atomic "
                                     "m.drop_read"},
    {"any_thread_drops_a_counted_read", "m.take_read_counted o.try_write m.try_read_counted "
                                        "o.drop_read_counted m.drop_read_counted o.take_write "
                                        "m.try_read_counted m.take_read_counted o.drop_write"},
    {"the_oldest_sleeper_has_its_turn", "o.take_write m.take_write o.hand_off o.drop_write "
                                        "m.hand_off m.drop_write"},
    {"a_condition_gives_r_up_and_takes_it_again", "m.take_read m.cond_wait_read o.try_seek "
                                                  "m.cond_wait_read o.drop_seek m.drop_read"},
};
enum { SCRIPTS = sizeof scripts / sizeof scripts[0], MOST_STEPS = 16 };

static struct step {
    unsigned who, verb;
} steps[MOST_STEPS];

static unsigned verb_named(const char *name)
{
    static const char *const more[] = {"take_read_counted", "try_read_counted", "drop_read_counted",
                                       "hand_off", "cond_wait_read"};
    unsigned i;
    for (i = 0; i < OP_COUNT; i++)
        if (strcmp(table_ops[i].name, name) == 0)
            return i;
    while (strcmp(more[i - OP_COUNT], name) != 0)
        i++;
    return i;
}

static unsigned read_script(const struct script *s)
{
    const char *text = s->steps;
    char who, verb[32];
    unsigned count = 0;
    int length = 0;
    for (; sscanf(text, " %c.%31s%n", &who, verb, &length) == 2; text += length) {
        must(count < MOST_STEPS);
        steps[count].who = who == 'm' ? ME : OTHER;
        steps[count++].verb = verb_named(verb);
    }
    return count;
}

/* ---- Circumstances --------------------------------------------------------------------------- */

enum { READS = 1, GAINED = 2, LOST = 4, DEAR = 8, HANDLER = 16, ENDS = 32, FORKS = 64, LATE = 128 };

static const struct circumstance {
    const char *name;
    unsigned events;
    bool biased; /* from the start */
    enum { AS_EVER, BY_COPIES, IN_THE_PAST, WITHOUT_MEMORY } how;
} circumstances[] = {
    {"plain", 0, false, AS_EVER},
    {"in_entry", READS, true, AS_EVER}, /* a third thread, which leaves where the script needs it */
    {"gained", GAINED | READS, false, AS_EVER},
    {"lost", LOST, true, AS_EVER},
    {"lost_by_a_look", DEAR | READS, true, AS_EVER},
    {"copies", READS, true, BY_COPIES},
    {"copies_gained", GAINED | READS, false, BY_COPIES},
    {"copies_lost", DEAR, true, BY_COPIES},
    {"handler", HANDLER | READS, true, AS_EVER},
    {"handler_and_end", HANDLER | ENDS, true, AS_EVER},
    {"handler_and_fork", HANDLER | FORKS | READS, true, AS_EVER},
    {"fork", FORKS | READS, false, AS_EVER},
    {"handler_and_time_out", HANDLER | LATE | READS, true, AS_EVER},
    {"past_deadlines", READS, true, IN_THE_PAST},
    {"past_deadlines_gained", GAINED | READS, false, IN_THE_PAST},
    {"no_memory", READS, false, WITHOUT_MEMORY},
};
enum { CIRCUMSTANCES = sizeof circumstances / sizeof circumstances[0] };

static struct cell {
    const struct script *script;
    const struct circumstance *circumstance;
} cells[SCRIPTS * CIRCUMSTANCES];

static const struct circumstance *here; /* of the run */

static void word_or(uint32_t bits)
{
    if (now.own.kind.bits == 32)
        (void)__atomic_fetch_or(&now.lock.l32.word, bits, __ATOMIC_RELAXED);
    else
        (void)__atomic_fetch_or(&now.lock.l64.word, (uint64_t)bits, __ATOMIC_RELAXED);
}

static void word_loses_bias(void)
{
    if (now.own.kind.bits == 32)
        (void)__atomic_fetch_and(&now.lock.l32.word, ~PAWL_LOCK_BIASED, __ATOMIC_RELAXED);
    else
        (void)__atomic_fetch_and(&now.lock.l64.word, ~(uint64_t)PAWL_LOCK_BIASED, __ATOMIC_RELAXED);
}

/* Word and entries together, without the two bits. */
static uint64_t look(void)
{
    const uint64_t w = !now.entries              ? now.own.kind.word(&now.lock)
                       : now.own.kind.bits == 32 ? PAWL_SYMBOL_(pawl_lock32_look)(&now.lock.l32)
                                                 : PAWL_SYMBOL_(pawl_lock64_look)(&now.lock.l64);
    return w & ~(uint64_t)(PAWL_LOCK_PARKED | PAWL_LOCK_BIASED);
}

static bool in_any_entry(void)
{
    return ((look() ^ now.own.kind.word(&now.lock)) & ~(uint64_t)3) != 0;
}

/* A reader sets BIASED while no W is in the word. */
static void gain(void)
{
    if (table_fields_of(now.own.kind.bits, now.own.kind.word(&now.lock)).W == 0)
        word_or(PAWL_LOCK_BIASED);
}

/* Somebody with W granted has found the entries free, or has come and gone. */
static void lose(void)
{
    const unsigned held = held_beside(NULL);
    if (!in_any_entry() && (held == HAS_W || (held == 0 && pending() == 0)))
        word_loses_bias();
}

/* The next claim finds that looks cost too much. */
static void make_looks_dear(void)
{
    for (unsigned i = 0; i < ENTRIES_NOTES; i++) {
        struct entries_note *const note = &entries_all()->notes[i];
        note->identity = (ipawl_address_)(uintptr_t)&now.lock | (now.own.kind.bits == 64 ? 1u : 0u);
        note->looks = ENTRIES_LEAST + ENTRIES_TIMED - 1;
        note->begun = 1;
        note->spent = UINT64_MAX / 64;
    }
}

/* ---- The child of a fork --------------------------------------------------------------------- */

/* It finds held all that others held, whether in the word or in an entry. Their claims are taken
 * back. */
static void child_goes_on(struct party *p)
{
    static const unsigned drops[] = {0, OP_drop_read, OP_drop_seek, OP_drop_write, OP_drop_atomic};
    struct table_units left = {0, 0, (int)now.counted};
    alarm(TEST_HANGS);
    for (unsigned i = 0; i < PARTIES; i++) {
        const struct party *const q = &now.parties[i];
        if (q != p)
            left = table_sum(left, table_held(q->state));
    }
    if (p->state != PAWL_STATE_U)
        (void)p->verbs->run[drops[p->state]](&now.lock);
    must(look() == table_operand(now.own.kind.bits, left));
    must(p->verbs->run[OP_try_write](&now.lock) == (left.w + left.s + left.r == 0));
    _exit(0);
}

static void forks(struct party *p)
{
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0)
        child_goes_on(p);
    must(test_wait(child) == 0);
}

/* ---- The handler ----------------------------------------------------------------------------- */

/* How often, by whom; they order the main thread and handlers. One count of all would let the main
 * thread go on when the reader's handler has run, and change what is held beside the other. */
static unsigned asked, handled[PARTIES];

/* Only a thread that ends changes meanwhile what is held. */
static void tries_as_a_handler(int number)
{
    const int saved = errno;
    bool (*const *const run)(void *) = self->verbs->run;
    (void)__atomic_load_n(&asked, __ATOMIC_ACQUIRE);
    if (pending() == 0) {
        const bool reads = run[OP_try_read](&now.lock);
        must(reads == !(held_beside(NULL) & (HAS_W | HAS_A)));
        if (reads)
            run[OP_drop_read](&now.lock);
    }
    if (run[OP_try_write](&now.lock)) {
        must(held_beside(NULL) == 0 && pending() == 0);
        run[OP_drop_write](&now.lock);
    } else {
        must(held_beside(NULL) != 0 || pending() > 0 || self->ends);
    }
    if ((here->events & FORKS) && !self->pending)
        forks(self);
    (void)__atomic_add_fetch(&handled[self - now.parties], 1, __ATOMIC_RELEASE);
    errno = saved;
}

static void signals(struct party *p)
{
    (void)__atomic_add_fetch(&asked, 1, __ATOMIC_RELEASE);
    must(pthread_kill(p->id, SIGUSR1) == 0);
}

static void handler_runs_in(struct party *p)
{
    unsigned *const count = &handled[p - now.parties];
    const unsigned before = __atomic_load_n(count, __ATOMIC_ACQUIRE);
    signals(p);
    while (__atomic_load_n(count, __ATOMIC_ACQUIRE) == before)
        usleep(10);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static void reader_comes(void)
{
    struct party *const reader = &now.parties[READER];
    if (reader->state == PAWL_STATE_U)
        party_operates(reader, OP_try_read, 0);
}

static void reader_leaves(void)
{
    struct party *const reader = &now.parties[READER];
    if (reader->state == PAWL_STATE_R)
        party_operates(reader, OP_drop_read, 0);
    while (now.counted > 0 && here->events & ENDS) {
        now.counted--;
        must(now.own.run[OP_drop_read_counted](&now.lock));
        settle();
    }
}

/* The reader ends in the midst of its read, beside handlers of it and of another thread. */
static void reader_ends(void)
{
    struct party *const reader = &now.parties[READER];
    reader_comes();
    __atomic_store_n(&reader->ends, true, __ATOMIC_RELEASE);
    signals(reader);
    handler_runs_in(&now.parties[ME]);
    test_join(reader->id);
    now.counted += reader->state == PAWL_STATE_R; /* by now in the word, for ever */
    reader->state = PAWL_STATE_U;
    party_start(reader, reader->verbs);
}

static void event(unsigned events)
{
    if (events & GAINED)
        gain();
    if (events & LOST)
        lose();
    if (events & DEAR)
        make_looks_dear();
    if (events & READS)
        reader_comes();
    if (events & ENDS)
        reader_ends();
    else if ((events & HANDLER) && !(events & LATE))
        handler_runs_in(&now.parties[ME]);
    if (events & FORKS && !now.parties[ME].pending)
        party_does(&now.parties[ME], forks);
}

static bool may(const struct party *p, unsigned verb)
{
    if (p->pending)
        return false;
    switch (verb) {
    case OP_drop_read_counted: return now.counted > 0 && !(here->events & ENDS);
    case OP_take_read_counted:
    case OP_try_read_counted: return true;
    case OP_cond_wait_read: return p->state == PAWL_STATE_R && here->how != IN_THE_PAST;
    case OP_hand_off: return p->state != PAWL_STATE_U;
    default: return p->state == table_ops[verb].from;
    }
}

/* It waits with a deadline that comes soon, and signals meanwhile. */
static void times_out_beside_handlers(struct party *p, unsigned verb)
{
    if (pending() > 0 || foretell(p, verb) != WAITS || p->verbs->until[verb] == NULL ||
        verb == OP_atomic_to_read)
        return;
    p->verb = verb;
    p->deadline = pawl_now() + 300000;
    party_begins(p, operate);
    p->pending = true;
    while (!party_is_done(p)) {
        signals(p);
        usleep(50);
    }
    must(!p->result);
    p->pending = false;
}

static void step(const struct step *s, bool event_is_here)
{
    struct party *const p = &now.parties[s->who];
    if (p->pending)
        reader_leaves();
    if (!may(p, s->verb))
        return;
    if (event_is_here && (here->events & LATE))
        times_out_beside_handlers(p, s->verb);
    bool waits = foretell(p, s->verb) == WAITS;
    if (here->how != IN_THE_PAST)
        party_operates(p, s->verb, 0);
    else if (p->verbs->until[s->verb] != NULL)
        party_operates(p, s->verb, 1);
    else if (!waits)
        party_operates(p, s->verb, 0);
}

static void all_leave(void)
{
    static const unsigned drops[] = {0, OP_drop_read, OP_drop_seek, OP_drop_write, OP_drop_atomic};
    bool any = true;
    unsigned i;
    reader_leaves();
    while (now.counted > 0)
        party_operates(&now.parties[READER], OP_drop_read_counted, 0);
    while (any)
        for (i = 0, any = false; i < PARTIES; i++) {
            struct party *const p = &now.parties[i];
            any |= p->pending || p->state != PAWL_STATE_U;
            if (!p->pending && p->state != PAWL_STATE_U)
                party_operates(p, drops[p->state], 0);
            settle();
        }
    must(look() == 0);
    must(now.own.kind.bits == 32 ? pawl_lock32_is_free(&now.lock.l32)
                                 : pawl_lock64_is_free(&now.lock.l64));
}

static void run_with_event_at(unsigned at, unsigned count)
{
    memset(&now.lock, 0, sizeof now.lock);
    if (here->biased)
        word_or(PAWL_LOCK_BIASED);
    for (unsigned k = 0; k < count; k++) {
        if (k == at)
            event(here->events);
        step(&steps[k], k == at);
    }
    all_leave();
}

/* From now on the thread gets no memory, or ends the process by a call that a promise forbids. */
static void forbid(struct party *p)
{
    pawl_lock32 first = {PAWL_LOCK_BIASED};
    if (here->how == WITHOUT_MEMORY) {
        (void)pawl_wake_one(&first); /* doc/sizes.md: that reserves the wait lists */
        must(sandbox_refuses(TEST_SYS_MMAP));
        return;
    }
    pawl_lock32_take_read(&first); /* a thread's first read may map what threads share */
    pawl_lock32_drop_read(&first);
    must(sandbox_kills(SYS_futex) && sandbox_kills(SYS_membarrier) &&
         sandbox_kills(TEST_SYS_MMAP) && sandbox_kills(SYS_sched_yield));
}

static void run_cell(const struct cell *cell, verbs_describe *copy)
{
    const unsigned count = read_script(cell->script);
    here = cell->circumstance;
    must(signal(SIGUSR1, tries_as_a_handler) != SIG_ERR);
    now.entries = here->how != WITHOUT_MEMORY;
    if (!now.entries)
        ipawl_entries_mode_(ENTRIES_ON); /* evidence for each lock, and no room for entries yet */
    if (now.entries)
        (void)entries_all();
    for (unsigned bits = 32; bits <= 64; bits += 32) {
        verbs_of_this_copy(bits, &now.own);
        if (copy != NULL)
            copy(bits, &now.copied);
        for (unsigned i = 0; i < PARTIES; i++) {
            party_start(&now.parties[i], i != ME && copy != NULL ? &now.copied : &now.own);
            if (here->how == IN_THE_PAST || here->how == WITHOUT_MEMORY)
                party_does(&now.parties[i], forbid);
        }
        for (unsigned at = 0; at < count; at++)
            run_with_event_at(at, count);
        for (unsigned i = 0; i < PARTIES; i++)
            party_end(&now.parties[i]);
    }
}

enum { HANGS = TEST_HANGS / 4 };

/* ---- Processes ------------------------------------------------------------------------------- */

static void runs_in_child(void *cell)
{
    const struct circumstance *const c = ((const struct cell *)cell)->circumstance;
    verbs_describe *copy = NULL;
    alarm(HANGS);
    if (c->how == BY_COPIES) {
        void *const handle = dlopen(PROMISES_COPY, RTLD_NOW | RTLD_LOCAL);
        must(handle != NULL);
        *(void **)&copy = dlsym(handle, "promises_verbs");
        must(copy != NULL);
    }
    run_cell((const struct cell *)cell, copy);
}

#include "promises/cells.h"

int main(int argc, char **argv)
{
    if (TEST_SANITIZED)
        return test_skipped("sanitizers make the system calls that these tests forbid");
    return run_cells(argc, argv);
}

#else

TEST_SKIPPED("readers do not scale on this system")

#endif
