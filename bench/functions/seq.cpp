/* SPDX-License-Identifier: MIT */
/* The functions of seq.h, seq_latch.h and counter_seq.h. Values have 64 bytes. */
#include "functions/functions.hpp"

namespace bench::functions {
namespace {

constexpr std::size_t bytes = 64;

struct seq {
    pawl_seq lock = PAWL_SEQ_INIT;
    pawl_seq_word words[PAWL_SEQ_WORDS(bytes)] = {};
    pawl_seq_word begun = 0;
    pawl_seq_reader reader = PAWL_SEQ_READER(3);
    unsigned char value[bytes] = {};
};

struct latch {
    pawl_seq_latch lock = PAWL_SEQ_LATCH_INIT;
    pawl_seq_word words[2][PAWL_SEQ_WORDS(bytes)] = {};
    pawl_seq_word begun = 0;
    unsigned char value[bytes] = {};
};

struct seq_counter {
    pawl_seq_counter lock = PAWL_SEQ_COUNTER_INIT;
    pawl_seq_count value = {0, 0};
};

void add_latch(rows &all)
{
#define PAWL_LATCH_DO(verb) PAWL_DO(pawl_seq_latch_##verb(&o.lock))
#define PAWL_LATCH(verb, before, after)                                                            \
    PAWL_ROW(all, latch, pawl_seq_latch_##verb, before, PAWL_LATCH_DO(verb), after)
    PAWL_LATCH(init, PAWL_NOTHING, PAWL_NOTHING);
    PAWL_LATCH(begin, PAWL_NOTHING, PAWL_NOTHING);
    PAWL_ROW(all, latch, pawl_seq_latch_retry, PAWL_DO(o.begun = pawl_seq_latch_begin(&o.lock)),
             PAWL_DO(!pawl_seq_latch_retry(&o.lock, o.begun)), PAWL_NOTHING);
    PAWL_LATCH(take_write, PAWL_NOTHING, PAWL_LATCH_DO(drop_write));
    PAWL_LATCH(try_write, PAWL_NOTHING, PAWL_LATCH_DO(drop_write));
    PAWL_LATCH(drop_write, PAWL_LATCH_DO(take_write), PAWL_NOTHING);
    PAWL_ROW(all, latch, pawl_seq_latch_store, PAWL_NOTHING,
             PAWL_DO(pawl_seq_latch_store(&o.lock, o.words[0], o.value, bytes)), PAWL_NOTHING);
}

void add_seq_counter(rows &all)
{
#define PAWL_COUNT_ROW(verb, before, call, after)                                                  \
    PAWL_ROW(all, seq_counter, pawl_seq_counter_##verb, before,                                    \
             PAWL_DO(pawl_seq_counter_##verb call), after)
    PAWL_COUNT_ROW(init, PAWL_NOTHING, (&o.lock, &o.value), PAWL_NOTHING);
    PAWL_COUNT_ROW(peek, PAWL_NOTHING, (&o.lock, &o.value), PAWL_NOTHING);
    PAWL_COUNT_ROW(read, PAWL_NOTHING, (&o.lock, &o.value), PAWL_NOTHING);
    PAWL_COUNT_ROW(try_read, PAWL_NOTHING, (&o.lock, &o.value), PAWL_NOTHING);
    PAWL_COUNT_ROW(read_or_lock, PAWL_NOTHING, (&o.lock, &o.value, 3), PAWL_NOTHING);
    PAWL_COUNT_ROW(write_alone, PAWL_NOTHING, (&o.lock, &o.value), PAWL_NOTHING);
    PAWL_COUNT_ROW(take_write, PAWL_NOTHING, (&o.lock, &o.value),
                   PAWL_DO(pawl_seq_counter_cancel_write(&o.lock)));
    PAWL_COUNT_ROW(drop_write, PAWL_DO(pawl_seq_counter_take_write(&o.lock, &o.value)),
                   (&o.lock, &o.value), PAWL_NOTHING);
    PAWL_COUNT_ROW(cancel_write, PAWL_DO(pawl_seq_counter_take_write(&o.lock, &o.value)), (&o.lock),
                   PAWL_NOTHING);
    PAWL_COUNT_ROW(write, PAWL_NOTHING, (&o.lock, &o.value), PAWL_NOTHING);
    PAWL_COUNT_ROW(try_write, PAWL_NOTHING, (&o.lock, &o.value), PAWL_NOTHING);
    PAWL_COUNT_ROW(add, PAWL_NOTHING, (&o.lock, 5), PAWL_NOTHING);
    PAWL_COUNT_ROW(now, PAWL_NOTHING, (&o.lock), PAWL_NOTHING);
    PAWL_COUNT_ROW(try_now, PAWL_NOTHING, (&o.lock, &o.value), PAWL_NOTHING);
}

} // namespace

#define PAWL_SEQ_DO(verb) PAWL_DO(pawl_seq_##verb(&o.lock))
#define PAWL_SEQ_ROW(verb, before, after)                                                          \
    PAWL_ROW(all, seq, pawl_seq_##verb, before, PAWL_SEQ_DO(verb), after)

void add_seq(rows &all)
{
    all.group("seq");
    PAWL_ROW(all, seq, pawl_seq_copy_out, PAWL_NOTHING,
             PAWL_DO(pawl_seq_copy_out(o.value, o.words, bytes)), PAWL_NOTHING);
    PAWL_ROW(all, seq, pawl_seq_copy_in, PAWL_NOTHING,
             PAWL_DO(pawl_seq_copy_in(o.words, o.value, bytes)), PAWL_NOTHING);
    PAWL_SEQ_ROW(init, PAWL_NOTHING, PAWL_NOTHING);
    PAWL_SEQ_ROW(begin, PAWL_NOTHING, PAWL_NOTHING);
    PAWL_ROW(all, seq, pawl_seq_try_begin, PAWL_NOTHING,
             PAWL_DO(pawl_seq_try_begin(&o.lock, &o.begun)), PAWL_NOTHING);
    PAWL_ROW(all, seq, pawl_seq_retry, PAWL_DO(o.begun = pawl_seq_begin(&o.lock)),
             PAWL_DO(!pawl_seq_retry(&o.lock, o.begun)), PAWL_NOTHING);
    PAWL_ROW(all, seq, pawl_seq_begin_or_lock, PAWL_NOTHING,
             PAWL_DO(pawl_seq_begin_or_lock(&o.lock, &o.reader)), PAWL_NOTHING);
    PAWL_ROW(all, seq, pawl_seq_retry_or_unlock,
             PAWL_DO(pawl_seq_begin_or_lock(&o.lock, &o.reader)),
             PAWL_DO(!pawl_seq_retry_or_unlock(&o.lock, &o.reader)), PAWL_NOTHING);
    PAWL_SEQ_ROW(take_write, PAWL_NOTHING, PAWL_SEQ_DO(drop_write));
    PAWL_SEQ_ROW(try_write, PAWL_NOTHING, PAWL_SEQ_DO(drop_write));
    PAWL_SEQ_ROW(drop_write, PAWL_SEQ_DO(take_write), PAWL_NOTHING);
    PAWL_SEQ_ROW(begin_write, PAWL_NOTHING, PAWL_SEQ_DO(end_write));
    PAWL_SEQ_ROW(end_write, PAWL_SEQ_DO(begin_write), PAWL_NOTHING);
    add_latch(all);
    add_seq_counter(all);
}

} // namespace bench::functions
