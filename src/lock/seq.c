/* SPDX-License-Identifier: MIT */
/* Sequence locks: the reader that waits, and the tests of the checking variant. */
#include <pawl/seq.h>

#include "../base/base.h"
#include "../check/check.h"

pawl_seq_word pawl_seq_wait_(const pawl_seq *s)
{
    pawl_seq_word n;
    PAWL_PROBE1(seq_wait, s);
    /* [SEQ_READ_BEGIN] acquire: the words are at least as new as the number. */
    WAIT_UNTIL(n, PAWL_SEQ_AT_(pawl_load_acquire)(&s->sequence, PAWL_SEQ_READ_BEGIN),
               (n & 1) == 0);
    return n;
}

#if PAWL_CHECKED

/* Bit of `writer`: the thread was declared to be the only one. */
#define DECLARED UINT32_C(0x80000000)

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
    pawl_report_misuse_(what, c->type, c->object, c->call, c->site);
}

/* A declared writer keeps others out for good, any other writer while it writes. A thread that is
 * gone (the parent's, in the child of a fork) keeps no thread out: the next writer repairs its
 * write. */
static void seq_begins(const struct seq_check *c)
{
    const uint32_t me = pawl_os_thread_id();
    const uint32_t writer = pawl_load_relaxed32(c->writer);
    const uint32_t who = writer & ~DECLARED;
    if ((writer & DECLARED) != 0 && who != me && pawl_os_thread_lives(who))
        seq_misuse(c, "written by another thread than the declared writer");
    else if (c->writing && who == me)
        seq_misuse(c, "written inside the same thread's write");
    else if (c->writing && who != 0 && pawl_os_thread_lives(who))
        seq_misuse(c, "written by two threads at once");
    pawl_store_relaxed32(c->writer, me | (who == me ? writer & DECLARED : 0));
}

static void seq_ends(const struct seq_check *c)
{
    const uint32_t writer = pawl_load_relaxed32(c->writer);
    if (!c->writing)
        seq_misuse(c, "end of a write that was not begun");
    else if ((writer & ~DECLARED) != pawl_os_thread_id())
        seq_misuse(c, "written by two threads at once");
    if ((writer & DECLARED) == 0)
        pawl_store_relaxed32(c->writer, 0);
}

__attribute__((noinline)) void pawl_seq_check_(void *object, unsigned what)
{
    static const char *const calls[] = {"pawl_seq_declare_writer",       "pawl_seq_begin_write",
                                        "pawl_seq_end_write",            "pawl_seq_destroy",
                                        "pawl_seq_latch_declare_writer", "pawl_seq_latch_store",
                                        "pawl_seq_latch_store",          "pawl_seq_latch_destroy"};
    const bool latch = what >= PAWL_SEQ_LATCH_DECLARED_;
    pawl_seq *s = (pawl_seq *)object;
    pawl_seq_latch *l = (pawl_seq_latch *)object;
    const pawl_seq_word n =
        PAWL_SEQ_AT_(pawl_load_relaxed)(latch ? &l->sequence : &s->sequence);
    struct seq_check c;

    c.object = object;
    c.writer = latch ? &l->writer : &s->writer;
    c.writing = (latch ? PAWL_SEQ_STATE_(n) : n & 1) != 0;
    c.type = latch ? "pawl_seq_latch" : "pawl_seq";
    c.call = calls[what];
    c.site = __builtin_return_address(0);
    switch (latch ? what - PAWL_SEQ_LATCH_DECLARED_ : what) {
    case PAWL_SEQ_DECLARED_:
        pawl_store_relaxed32(c.writer, pawl_os_thread_id() | DECLARED);
        break;
    case PAWL_SEQ_BEGINS_:
        seq_begins(&c);
        break;
    case PAWL_SEQ_ENDS_:
        seq_ends(&c);
        break;
    default:
        if (c.writing)
            seq_misuse(&c, "destroyed while it is written");
    }
}

#endif
