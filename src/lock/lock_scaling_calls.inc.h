/* SPDX-License-Identifier: MIT */
/* The exported halves of the readers that scale, for one width; for lock_calls.inc.h alone. */

bool PAWL_SLOW_(take_scaling)(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_LIKELY(PAWL_INNER_(enter_)(l)) || PAWL_SLOW_(take_read_slow)(l, deadline);
}

bool PAWL_SLOW_(try_scaling)(PAWL_LOCK_ *l)
{
    return PAWL_LIKELY(PAWL_INNER_(enter_)(l)) || PAWL_INNER_(do_try_read_counted_)(l);
}

void PAWL_SLOW_(drop_read_slow)(PAWL_LOCK_ *l)
{
    if (PAWL_INNER_(free_entry_)(l))
        return;
    lock_before_drop(HERE);
    PAWL_INNER_(do_drop_read_counted_)(l);
}

void PAWL_SLOW_(count_slow)(PAWL_LOCK_ *l)
{
    lock_count(HERE);
}

PAWL_WORD_ PAWL_SLOW_(look)(const PAWL_LOCK_ *l)
{
    return (PAWL_WORD_)word_narrow(lock_look_at_all(HERE), LAYOUT);
}

bool PAWL_SLOW_(claim_at_once)(PAWL_LOCK_ *l, PAWL_WORD_ held, PAWL_WORD_ claim, PAWL_WORD_ granted)
{
    return lock_claim_at_once(HERE, WIDE(held), WIDE(claim), WIDE(granted));
}
