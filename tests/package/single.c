/* SPDX-License-Identifier: MIT */
/* Uses each primitive once, through the one header of the two files; C11 and C++17. */
#include "pawl.h"

static pawl_spin16 spin16;
static pawl_spin64 spin64;
static pawl_lock32 lock32;
static pawl_lock64 lock64;
static pawl_pshared_lock32 shared;
static pawl_seq seq;
static uint32_t bits, waited;
static pawl_cond cond;

static int uses_locks(void)
{
    pawl_take_write(&spin16);
    pawl_drop_write(&spin16);
    pawl_take_seek(&spin64);
    pawl_seek_to_write(&spin64);
    pawl_drop_write(&spin64);
    pawl_take_read(&lock32);
    pawl_drop_read(&lock32);
    pawl_take_atomic(&lock64);
    pawl_drop_atomic(&lock64);
    pawl_take_write(&shared);
    pawl_drop_write(&shared);
    pawl_bitlock32_take(&bits, 5);
    pawl_bitlock32_drop(&bits, 5);
    return bits == 0 && spin64.word == 0 && lock64.word == 0;
}

static int uses_the_rest(void)
{
    pawl_counter counter;
    pawl_brlock br;
    pawl_seq_word n;
    pawl_counter_init(&counter);
    pawl_counter_inc(&counter);
    if (pawl_counter_read(&counter) != 1 || pawl_counter_destroy(&counter) != 1)
        return 0;
    if (pawl_brlock_init(&br, PAWL_BRLOCK_LINES) != 0)
        return 0;
    pawl_brlock_take_read(&br);
    pawl_brlock_drop_read(&br);
    pawl_brlock_destroy(&br);
    pawl_seq_begin_write(&seq);
    pawl_seq_end_write(&seq);
    do
        n = pawl_seq_begin(&seq);
    while (pawl_seq_retry(&seq, n));
    pawl_rcu_read_lock();
    pawl_rcu_read_unlock();
    pawl_rcu_synchronize();
    pawl_cond_signal(&cond);
    return pawl_wait32_until(&waited, 1, pawl_now()) == PAWL_WAIT_DIFFERS;
}

int main(void)
{
    return uses_locks() && uses_the_rest() ? 0 : 1;
}
