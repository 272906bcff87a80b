/* SPDX-License-Identifier: MIT */
/* Sequence locks: the reader that waits, and the tests of the checking variant. */
#include <pawl/seq.h>

#include <stdio.h>

#include "../base/base.h"
#include "../check/check.h"

#if PAWL_CHECKED
/* Bit of `writer`: the thread was declared to be the only one. */
#define DECLARED UINT32_C(0x80000000)

static void seq_awaits(const pawl_seq *s, const void *site);

static void seq_wait_begins(const pawl_seq *s, const void *site)
{
    seq_awaits(s, site);
    ipawl_wait_begins_("pawl_seq", s, "pawl_seq_begin", pawl_load_relaxed32(&s->writer) & ~DECLARED,
                       site);
}
#define SEQ_WAIT_BEGINS(s, site) seq_wait_begins(s, site)
#define SEQ_WAIT_ENDS() ipawl_wait_ends_()
#else
#define SEQ_WAIT_BEGINS(s, site) ((void)(s))
#define SEQ_WAIT_ENDS() ((void)0)
#endif

pawl_seq_word ipawl_seq_wait_(const pawl_seq *s)
{
    pawl_seq_word n;
    PAWL_PROBE1(seq_wait, s);
    SEQ_WAIT_BEGINS(s, __builtin_return_address(0));
    /* [SEQ_READ_BEGIN] acquire: the words are at least as new as the number. */
    WAIT_UNTIL(n, PAWL_SEQ_AT_(pawl_load_acquire)(&s->sequence, PAWL_SEQ_READ_BEGIN), (n & 1) == 0);
    SEQ_WAIT_ENDS();
    return n;
}

#if PAWL_CHECKED

struct seq_check {
    void *object;
    uint32_t *writer;
    bool writing; /* by the number */
    const char *type;
    const char *call;
    const void *site;
};

static void seq_misuse(const struct seq_check *c, const char *what)
{
    ipawl_report_misuse_(what, c->type, c->object, c->call, c->site);
}

/* How long a writer that is to blame may still be about to go. The kernel lets pthread_join return
 * before it forgets the thread; a busy machine may hold up the thread in between. */
#define SEQ_GOING_NS 1000000000u

static bool seq_stays(uint32_t thread)
{
    const uint64_t bound = pawl_os_now() + SEQ_GOING_NS;
    while (pawl_os_thread_lives(thread)) {
        if (pawl_os_now() >= bound)
            return true;
        pawl_os_yield();
    }
    return false;
}

/* A declared writer keeps others out for good, any other writer while it writes. A thread that is
 * gone (the parent's, in the child of a fork) keeps no thread out: the next writer repairs its
 * write. */
static void seq_begins(const struct seq_check *c)
{
    const uint32_t me = pawl_os_thread_id();
    const uint32_t writer = pawl_load_relaxed32(c->writer);
    const uint32_t who = writer & ~DECLARED;
    if ((writer & DECLARED) != 0 && who != me && seq_stays(who))
        seq_misuse(c, "written by another thread than the declared writer");
    else if (c->writing && who == me)
        seq_misuse(c, "written inside the same thread's write");
    else if (c->writing && who != 0 && seq_stays(who))
        seq_misuse(c, "written by two threads at once");
    pawl_store_relaxed32(c->writer, me | (who == me ? writer & DECLARED : 0));
    /* [CHECK_BOOK] light: the writer is noted before the number is odd. */
    pawl_fence_light(PAWL_CHECK_BOOK);
}

static void seq_ends(const struct seq_check *c)
{
    const uint32_t writer = pawl_load_relaxed32(c->writer);
    if (!c->writing)
        seq_misuse(c, "end of a write that was not begun");
    else if ((writer & ~DECLARED) != pawl_os_thread_id())
        seq_misuse(c, "written by two threads at once");
}

/* The number is even. Another writer may have begun. */
static void seq_ended(uint32_t *writer)
{
    uint32_t found = pawl_os_thread_id();
    /* [CHECK_BOOK] light: the number is even before no writer is noted. */
    pawl_fence_light(PAWL_CHECK_BOOK);
    (void)pawl_cas_relaxed32(writer, &found, 0);
}

/* Reports a number that stays odd: its writer does not exist. The three looks are of one instant:
 * the note of a writer stands while the number is odd (check_view.c argues the fences). */
static void seq_awaits(const pawl_seq *s, const void *site)
{
    const pawl_seq_word n = PAWL_SEQ_AT_(pawl_load_relaxed)(&s->sequence);
    uint32_t writer = pawl_load_relaxed32(&s->writer) & ~DECLARED;
    if ((n & 1) == 0 || (writer != 0 && pawl_os_thread_lives(writer)))
        return;
    /* [CHECK_LOOK] heavy: the note is at least as new as the number. */
    pawl_fence_heavy(PAWL_CHECK_LOOK);
    writer = pawl_load_relaxed32(&s->writer) & ~DECLARED;
    /* [CHECK_LOOK] heavy: the second look at the number is newer than the note. */
    pawl_fence_heavy(PAWL_CHECK_LOOK);
    if (PAWL_SEQ_AT_(pawl_load_relaxed)(&s->sequence) == n &&
        (writer == 0 || !pawl_os_thread_lives(writer)))
        ipawl_report_misuse_("waits for a write that nobody makes", "pawl_seq", s, "pawl_seq_begin",
                             site);
}

__attribute__((noinline)) void ipawl_seq_check_(void *object, unsigned what)
{
    static const char *const calls[] = {
        "pawl_seq_declare_writer", "pawl_seq_begin_write",          "pawl_seq_end_write",
        "pawl_seq_destroy",        "pawl_seq_latch_declare_writer", "pawl_seq_latch_store",
        "pawl_seq_latch_store",    "pawl_seq_latch_destroy"};
    const bool latch = what >= PAWL_SEQ_LATCH_DECLARED_;
    pawl_seq *s = (pawl_seq *)object;
    pawl_seq_latch *l = (pawl_seq_latch *)object;
    const pawl_seq_word n = PAWL_SEQ_AT_(pawl_load_relaxed)(latch ? &l->sequence : &s->sequence);
    struct seq_check c;

    if (what == PAWL_SEQ_ENDED_) {
        seq_ended(&s->writer);
        return;
    }
    c.object = object;
    c.writer = latch ? &l->writer : &s->writer;
    c.writing = (latch ? PAWL_SEQ_STATE_(n) : n & 1) != 0;
    c.type = latch ? "pawl_seq_latch" : "pawl_seq";
    c.call = calls[what];
    c.site = __builtin_return_address(0);
    switch (latch ? what - PAWL_SEQ_LATCH_DECLARED_ : what) {
    case PAWL_SEQ_DECLARED_: pawl_store_relaxed32(c.writer, pawl_os_thread_id() | DECLARED); break;
    case PAWL_SEQ_BEGINS_: seq_begins(&c); break;
    case PAWL_SEQ_ENDS_:
        seq_ends(&c);
        if (latch)
            seq_ended(c.writer);
        break;
    default:
        if (c.writing)
            seq_misuse(&c, "destroyed while it is written");
    }
}

/* ---- The own lock ---------------------------------------------------------------------------- */

static bool seq_own(pawl_spin32 *lock, unsigned what)
{
    switch (what) {
    case PAWL_SEQ_OWN_take_write: ipawl_spin32_take_write_unchecked_(lock); return true;
    case PAWL_SEQ_OWN_try_write: return ipawl_spin32_try_write_unchecked_(lock);
    case PAWL_SEQ_OWN_drop_write: ipawl_spin32_drop_write_unchecked_(lock); return true;
    case PAWL_SEQ_OWN_take_read: ipawl_spin32_take_read_unchecked_(lock); return true;
    default: ipawl_spin32_drop_read_unchecked_(lock); return true;
    }
}

__attribute__((noinline)) bool ipawl_seq_own_(pawl_spin32 *lock, unsigned what)
{
    static const struct pawl_check_call calls[] = {
        {0, 0, "take_write", 0, 32, CHECK_take, PAWL_STATE_U, PAWL_STATE_W},
        {0, 0, "try_write", 0, 32, CHECK_try, PAWL_STATE_U, PAWL_STATE_W},
        {0, 0, "drop_write", 0, 32, CHECK_drop, PAWL_STATE_W, PAWL_STATE_U},
        {0, 0, "begin_or_lock", 0, 32, CHECK_take, PAWL_STATE_U, PAWL_STATE_R},
        {0, 0, "retry_or_unlock", 0, 32, CHECK_drop, PAWL_STATE_R, PAWL_STATE_U},
        {0, 0, "init", 0, 32, CHECK_drop, PAWL_STATE_U, PAWL_STATE_U},
        {0, 0, "destroy", 0, 32, CHECK_drop, PAWL_STATE_U, PAWL_STATE_U}};
    const bool latch = what >= PAWL_SEQ_OWN_LATCH_;
    struct pawl_check_call call = calls[latch ? what - PAWL_SEQ_OWN_LATCH_ : what];
    struct pawl_held *held;
    char name[48];
    bool ok;

    what -= latch ? PAWL_SEQ_OWN_LATCH_ : 0;
    (void)snprintf(name, sizeof name, "%s_%s", latch ? "pawl_seq_latch" : "pawl_seq", call.name);
    call.name = name;
    call.lock = (ipawl_address_)(uintptr_t)lock;
    call.site = (ipawl_address_)(uintptr_t)__builtin_return_address(0);
    call.word = pawl_load_relaxed32(&lock->word);
    call.bits |= latch ? CHECK_SEQ_LATCH : CHECK_SEQ;
    if (what == PAWL_SEQ_OWN_init || what == PAWL_SEQ_OWN_destroy) {
        const bool made = what == PAWL_SEQ_OWN_destroy;
        ipawl_check_unused_(&call, made ? "destroyed while in use" : "initialised while in use",
                            made && call.word > PAWL_SPIN_APPLICATION_BITS);
        if (!made)
            pawl_store_relaxed32(&lock->word, 0);
        return true;
    }
    held = ipawl_check_before_(&call);
    ok = seq_own(lock, what);
    ipawl_check_after_(&call, held, ok);
    return ok;
}

#endif
