/* SPDX-License-Identifier: MIT */
/* The exported halves that lock.h and pshared.h have in common, for one width: they hand their word
 * on to WAIT, and tell MET_READER of a reader that another has disturbed. lock_calls.inc.h and
 * pshared_calls.inc.h include this file. */
#define LAYOUT (PAWL_WORD_BITS == 64 ? WORD_64 : WORD_32)
#define HERE ((struct word){(void *)(uintptr_t)l, LAYOUT})
#define WIDE(w) word_widen(w, LAYOUT)

#define CALL(name, operation)                                                                      \
    bool PAWL_SLOW_(name)(PAWL_LOCK_ * l, uint64_t deadline)                                       \
    {                                                                                              \
        return WAIT(operation);                                                                    \
    }
CALL(take_seek_slow, lock_take_seek)
CALL(take_atomic_slow, lock_take_atomic)
CALL(claim_write_slow, lock_claim_write)
CALL(read_to_atomic_slow, lock_read_to_atomic)
#undef CALL

/* Mostly another reader has changed the word since the load of the fast path. The compare-exchange
 * that failed has brought the line, so one at once hardly ever fails. The line would be gone again
 * before a wait has begun. A writer that has left meanwhile counts as a reader that was met. */
bool PAWL_SLOW_(take_read_slow)(PAWL_LOCK_ *l, uint64_t deadline)
{
    if (PAWL_INNER_(scales_)(PAWL_AT_(pawl_load_relaxed)(&l->word)) ||
        !PAWL_INNER_(do_try_read_)(l))
        return WAIT(lock_take_read);
    MET_READER;
    return true;
}

/* In a crowd most words that fail the first attempt show sleepers alone. They need no wait. */
bool PAWL_SLOW_(take_write_slow)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    return PAWL_INNER_(take_free_)(l, &w) || WAIT(lock_take_write);
}

bool PAWL_SLOW_(claim_atomic_slow)(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_INNER_(do_try_atomic_)(l) || WAIT(lock_claim_atomic);
}

bool PAWL_SLOW_(drain_slow)(PAWL_LOCK_ *l, PAWL_WORD_ claim, uint64_t deadline)
{
    return WAIT(claim == PAWL_W_ ? lock_seek_to_write : lock_read_to_write);
}

pawl_regained PAWL_SLOW_(regain_slow)(PAWL_LOCK_ *l, uint64_t deadline)
{
    if (WAIT(lock_regain))
        return PAWL_REGAIN_KEPT;
    return PAWL_INNER_(do_take_read_)(l, deadline) ? PAWL_REGAIN_LET_GO : PAWL_REGAIN_TIMED_OUT;
}
