/* SPDX-License-Identifier: MIT */
/*
 * The waiting halves of the progressive lock that sleeps, included by lock.c for each width. They
 * follow the steps of spin_word.inc.h; where that one reads in a loop, this one waits (wait_for).
 */
#define LOCK PAWL_CAT_(pawl_lock, PAWL_WORD_BITS)
#define WORD PAWL_CAT_(PAWL_CAT_(uint, PAWL_WORD_BITS), _t)
#define NAME(verb) PAWL_CAT_(LOCK, _##verb)
#define AT(operation) PAWL_CAT_(operation, PAWL_WORD_BITS)
#define SLOW(verb) PAWL_SYMBOL_(NAME(verb))
#define R1 PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _R)
#define S1 PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _S)
#define W1 PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _W)

/* What an addition that took units away found. */
#define LEFT(found, units)                                                                         \
    do {                                                                                           \
        const WORD found_ = (found);                                                               \
        if (found_ & PAWL_PARKED)                                                                  \
            SLOW(left)(l, found_, (WORD)(found_ - (units)));                                       \
    } while (0)

/* The classes whose waiters could go on if the word had this value. */
static unsigned NAME(ready)(WORD w)
{
    unsigned ready = 0;
    if (NAME(no_writer_)(w))
        ready |= WAIT_R | WAIT_GONE;
    else if (NAME(one_reader_)(w))
        ready |= WAIT_DRAIN;
    else if (NAME(readers_)(w) == 0)
        ready |= WAIT_UPDATE | (NAME(writers_)(w) == W1 ? WAIT_KEEP : 0u);
    if (NAME(seekers_)(w) != 0)
        ready |= WAIT_GONE;
    if (NAME(no_seeker_or_writer_)(w))
        ready |= WAIT_S | WAIT_W;
    if (NAME(atomic_may_claim_)(w))
        ready |= WAIT_A;
    return ready;
}

/* I7: no access to the lock. For those who are let in together only the change counts. S beside W,
 * which GONE waits for too, is nobody's leaving: whoever keeps S there wakes them himself (keep),
 * and S may be a claim that hides that the last W has left. */
void SLOW(left)(const void *address, WORD found, WORD after)
{
    unsigned before = NAME(ready)(found) & WAIT_TOGETHER;
    unsigned ready = NAME(ready)(after);
    if (!NAME(no_writer_)(found))
        before &= ~(unsigned)WAIT_GONE;
    if (!NAME(no_writer_)(after))
        ready &= ~(unsigned)WAIT_GONE;
    if (NAME(atomics_or_nobody_)(after) && !NAME(no_writer_)(after))
        ready |= WAIT_TURN;
    lock_left(address, ready & ~before);
}

static bool NAME(lets_in)(const LOCK *l, enum wait_class class)
{
    return (NAME(ready)(AT(pawl_load_relaxed)(&l->word)) & (unsigned)class) != 0;
}

/* Reads in a loop for as long as a wake costs, then between offers of the CPU. */
static bool NAME(loop)(const LOCK *l, const struct wait *wait, enum wait_class class,
                       unsigned yields)
{
    struct loop loop = LOOP_INIT;
    do
        if (NAME(lets_in)(l, class))
            return true;
    while (lock_loop_on(&loop, wait->deadline));
    while (yields-- > 0 && lock_yielded(wait->deadline))
        if (NAME(lets_in)(l, class))
            return true;
    return false;
}

/* The bucket is locked, the waiter awake. Wakes who can enter by this value of the word, for which
 * this waiter may have stood (I6). True if there was somebody; the bucket is unlocked then. */
static bool NAME(let_in)(struct pawl_bucket *bucket, const LOCK *l, WORD w)
{
    struct wake_list list = {NULL, NULL, 0};
    lock_pick(bucket, l, NAME(ready)(w), &list);
    if (list.count == 0)
        return false;
    table_unlock(bucket);
    table_unpark(&list);
    return true;
}

/* I3: keeps W+S beside whoever is in, until W is down to this and R to nothing; then the caller
 * holds W. The bucket is locked, and unlocked at the end. */
static enum outcome NAME(keep)(struct pawl_bucket *bucket, LOCK *l, struct wait *wait);

/* Whether this waiter may keep a claim, by what the word shows: a writer over seekers and atomic
 * users at once, anybody when its turn has come. */
static bool NAME(may_keep)(struct pawl_bucket *bucket, const struct wait *wait,
                           enum wait_class class, WORD w)
{
    if (class == WAIT_W && !NAME(no_seeker_or_writer_)(w) &&
        (NAME(no_writer_)(w) || NAME(atomics_or_nobody_)(w)))
        return !lock_somebody_keeps(bucket, wait->waiter.address);
    return !((unsigned)class & WAIT_CLAIMED) && lock_may_insist(bucket, wait);
}

/* Waits until the word lets the class go on. The value that did is not yet acquired. */
static enum outcome NAME(wait_for)(LOCK *l, struct wait *wait, enum wait_class class)
{
    struct pawl_bucket *bucket;
    WORD w;

    if (!wait->queued && NAME(loop)(l, wait, class, YIELDS_BEFORE_JOINING))
        return WAIT_PASSED;
    for (;;) {
        bucket = lock_wait_join(wait);
        w = AT(pawl_load_relaxed)(&l->word);
        if (NAME(ready)(w) & (unsigned)class)
            break;
        if (NAME(may_keep)(bucket, wait, class, w))
            return NAME(keep)(bucket, l, wait);
        if (wait->may_spin) {
            table_unlock(bucket);
            if (NAME(loop)(l, wait, class, YIELDS_BEFORE_SLEEPING))
                return WAIT_PASSED;
            bucket = table_lock(l);
        }
        if (pawl_os_now() >= wait->deadline) {
            table_unlock(bucket);
            return WAIT_TIMED_OUT;
        }
        lock_not_awake(bucket, wait);
        /* [LOCK_PARK] release: the hint is cleared before a releaser finds this PARKED. */
        w = AT(pawl_fetch_or_release)(&l->word, PAWL_PARKED, PAWL_LOCK_PARK);
        if (NAME(ready)(w) & (unsigned)class) {
            lock_awake(bucket, l);
            break;
        }
        if (NAME(let_in)(bucket, l, w))
            continue;
        wait->waiter.kind = (uint32_t)class;
        PAWL_PROBE2(lock_park, l, class);
        if (!table_sleep(&bucket, &wait->waiter, wait->deadline)) {
            table_unlock(bucket);
            return WAIT_TIMED_OUT;
        }
        if (wait->waiter.woken_at != 0)
            lock_note_wake(wait->waiter.woken_at);
        table_unlock(bucket);
    }
    table_unlock(bucket);
    return WAIT_PASSED;
}

/* The wait is over: with the lock, or without it when the time was over. Who leaves others asleep
 * looks by changing the word, as before a sleep: a load could miss the change of a releaser who has
 * found the hint and left this look to us. */
static void NAME(wait_end)(LOCK *l, struct wait *wait)
{
    struct pawl_bucket *bucket;
    WORD w;
    if (!wait->queued)
        return;
    bucket = table_lock(l);
    lock_not_awake(bucket, wait);
    table_remove(bucket, &wait->waiter);
    if (lock_anybody_asleep(bucket, l)) {
        /* [LOCK_PARK] release: the hint is cleared before a releaser finds this PARKED. */
        w = AT(pawl_fetch_or_release)(&l->word, PAWL_PARKED, PAWL_LOCK_PARK);
        if (NAME(let_in)(bucket, l, w))
            bucket = NULL;
    } else {
        (void)AT(pawl_fetch_and_relaxed)(&l->word, (WORD)~(WORD)PAWL_PARKED);
    }
    if (bucket != NULL)
        table_unlock(bucket);
    pawl_parker_done(wait->waiter.parker);
}

static enum outcome NAME(keep)(struct pawl_bucket *bucket, LOCK *l, struct wait *wait)
{
    struct wake_list list = {NULL, NULL, 0};
    enum outcome how;

    pawl_store_relaxed64(&bucket->last_handoff, pawl_os_now());
    wait->waiter.kind = WAIT_KEEP;
    (void)AT(pawl_fetch_add_relaxed)(&l->word, (WORD)(W1 + S1));
    lock_pick(bucket, l, WAIT_GONE, &list); /* S tells them to let go */
    table_unlock(bucket);
    table_unpark(&list);
    PAWL_PROBE1(lock_handoff, l);
    how = NAME(wait_for)(l, wait, WAIT_KEEP);
    if (how == WAIT_TIMED_OUT) {
        LEFT(AT(pawl_fetch_sub_relaxed)(&l->word, (WORD)(W1 + S1)), W1 + S1);
        return how;
    }
    /* [SPIN_W_KEEP] acquire: our stores come after what those we waited for have done. */
    (void)AT(pawl_fetch_add_acquire)(&l->word, R1, PAWL_SPIN_W_KEEP);
    return WAIT_HOLDS_W;
}

/* ---- W --------------------------------------------------------------------------------------- */

/* I1: W+S+R is in the word and newcomers withdraw; waits until R is ours alone. */
static bool NAME(drain)(LOCK *l, struct wait *wait)
{
    if (NAME(wait_for)(l, wait, WAIT_DRAIN) == WAIT_TIMED_OUT)
        return false;
    /* [SPIN_W_DRAIN] acquire: our stores come after the reads of those we waited for. */
    (void)AT(pawl_load_acquire)(&l->word, PAWL_SPIN_W_DRAIN);
    return true;
}

/* As `drain` for one who has not waited before; gives up `units` when the time is over. */
static bool NAME(drain_until)(LOCK *l, WORD units, uint64_t deadline)
{
    struct wait wait;
    bool ok;
    lock_wait_begin(&wait, l, deadline);
    ok = NAME(drain)(l, &wait);
    if (!ok)
        LEFT(AT(pawl_fetch_sub_relaxed)(&l->word, units), units);
    NAME(wait_end)(l, &wait);
    return ok;
}

void SLOW(drain_readers)(LOCK *l)
{
    (void)NAME(drain_until)(l, 0, PAWL_NO_DEADLINE);
}

/* `found`: what the caller's claim of W+S+R found; it is still in the word. */
static bool NAME(wait_for_write)(LOCK *l, WORD found, uint64_t deadline)
{
    struct wait wait;
    enum outcome how = WAIT_PASSED;

    lock_wait_begin(&wait, l, deadline);
    while (!NAME(nobody_)(found)) {
        if (NAME(no_seeker_or_writer_)(found)) {
            how = NAME(drain)(l, &wait) ? WAIT_HOLDS_W : WAIT_TIMED_OUT;
            if (how == WAIT_TIMED_OUT)
                LEFT(AT(pawl_fetch_sub_relaxed)(&l->word, (WORD)(W1 + S1 + R1)), W1 + S1 + R1);
            break;
        }
        LEFT(AT(pawl_fetch_sub_relaxed)(&l->word, (WORD)(W1 + S1 + R1)), W1 + S1 + R1);
        how = NAME(wait_for)(l, &wait, WAIT_W);
        if (how != WAIT_PASSED)
            break;
        /* [SPIN_W_TAKE] acquire: our stores come after what all who left had done. */
        found = AT(pawl_fetch_add_acquire)(&l->word, (WORD)(W1 + S1 + R1), PAWL_SPIN_W_TAKE);
    }
    NAME(wait_end)(l, &wait);
    return how != WAIT_TIMED_OUT;
}

void SLOW(take_write_slow)(LOCK *l, WORD found)
{
    (void)NAME(wait_for_write)(l, found, PAWL_NO_DEADLINE);
}

bool SLOW(take_write_until)(LOCK *l, uint64_t deadline)
{
    /* [SPIN_W_TAKE] acquire: our stores come after what all who left had done. */
    return NAME(wait_for_write)(
        l, AT(pawl_fetch_add_acquire)(&l->word, (WORD)(W1 + S1 + R1), PAWL_SPIN_W_TAKE), deadline);
}

bool SLOW(seek_to_write_until)(LOCK *l, uint64_t deadline)
{
    /* [SPIN_S_TO_W] acquire: our stores come after the reads of readers who have left. */
    if (NAME(one_reader_)(AT(pawl_fetch_add_acquire)(&l->word, W1, PAWL_SPIN_S_TO_W)))
        return true;
    return NAME(drain_until)(l, W1, deadline);
}

bool SLOW(claim_write_until)(LOCK *l, uint64_t deadline)
{
    WORD found = AT(pawl_load_relaxed)(&l->word);
    if (!NAME(no_seeker_or_writer_)(found))
        return false;
    /* [SPIN_W_TAKE] acquire: our stores come after what all who left had done. */
    found = AT(pawl_fetch_add_acquire)(&l->word, (WORD)(W1 + S1 + R1), PAWL_SPIN_W_TAKE);
    if (NAME(nobody_)(found))
        return true;
    if (NAME(no_seeker_or_writer_)(found))
        return NAME(drain_until)(l, (WORD)(W1 + S1 + R1), deadline);
    LEFT(AT(pawl_fetch_sub_relaxed)(&l->word, (WORD)(W1 + S1 + R1)), W1 + S1 + R1);
    return false;
}

bool SLOW(read_claim_write_until)(LOCK *l, uint64_t deadline)
{
    WORD found = AT(pawl_load_relaxed)(&l->word);
    if (!NAME(no_seeker_or_writer_)(found))
        return false;
    /* [SPIN_R_TO_W] acquire: our stores come after what those who left had done. */
    found = AT(pawl_fetch_add_acquire)(&l->word, (WORD)(W1 + S1), PAWL_SPIN_R_TO_W);
    if (NAME(lone_reader_)(found))
        return true;
    if (NAME(no_seeker_or_writer_)(found))
        return NAME(drain_until)(l, (WORD)(W1 + S1), deadline);
    LEFT(AT(pawl_fetch_sub_relaxed)(&l->word, (WORD)(W1 + S1)), W1 + S1);
    return false;
}

/* ---- R and S --------------------------------------------------------------------------------- */

/* `units` of R or S+R in the word, or a wait for the class until they are granted. */
static bool NAME(wait_for_shared)(LOCK *l, WORD units, WORD claimed, uint64_t deadline)
{
    const enum wait_class class = units == R1 ? WAIT_R : WAIT_S;
    struct wait wait;
    enum outcome how;
    bool granted;

    lock_wait_begin(&wait, l, deadline);
    for (;;) {
        if (claimed)
            LEFT(AT(pawl_fetch_sub_relaxed)(&l->word, units), units);
        how = NAME(wait_for)(l, &wait, class);
        if (how == WAIT_HOLDS_W) { /* relaxed, as of spinlocks that insist */
            const WORD given = class == WAIT_R ? (WORD)(W1 + S1) : W1;
            LEFT(AT(pawl_fetch_sub_relaxed)(&l->word, given), given);
        }
        if (how != WAIT_PASSED)
            break;
        claimed = units;
        if (class == WAIT_R)
            /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
            granted = NAME(no_writer_)(
                AT(pawl_fetch_add_acquire)(&l->word, units, PAWL_SPIN_R_TAKE));
        else
            /* [SPIN_S_TAKE] acquire: we see what the last seeker or writer stored. */
            granted = NAME(no_seeker_or_writer_)(
                AT(pawl_fetch_add_acquire)(&l->word, units, PAWL_SPIN_S_TAKE));
        if (granted)
            break;
    }
    NAME(wait_end)(l, &wait);
    return how != WAIT_TIMED_OUT;
}

/* `claimed`: R1 when the caller's claim met a writer, 0 when it did not claim. */
void SLOW(take_read_slow)(LOCK *l, WORD claimed)
{
    (void)NAME(wait_for_shared)(l, R1, claimed, PAWL_NO_DEADLINE);
}

bool SLOW(take_read_until)(LOCK *l, uint64_t deadline)
{
    return NAME(wait_for_shared)(l, R1, 0, deadline);
}

/* The caller's claim S+R is in the word. */
void SLOW(take_seek_slow)(LOCK *l)
{
    (void)NAME(wait_for_shared)(l, (WORD)(S1 + R1), (WORD)(S1 + R1), PAWL_NO_DEADLINE);
}

bool SLOW(take_seek_until)(LOCK *l, uint64_t deadline)
{
    return NAME(wait_for_shared)(l, (WORD)(S1 + R1), 0, deadline);
}

/* ---- A --------------------------------------------------------------------------------------- */

/* W+S is ours in the word; waits until the readers have left, then shows W alone. */
static bool NAME(drain_update)(LOCK *l, struct wait *wait)
{
    if (NAME(wait_for)(l, wait, WAIT_UPDATE) == WAIT_TIMED_OUT)
        return false;
    /* [SPIN_A_DRAIN] acquire: our updates come after the reads of those we waited for. */
    (void)AT(pawl_load_acquire)(&l->word, PAWL_SPIN_A_DRAIN);
    /* [SPIN_R_TO_A] release: our reads under R are done before another atomic user enters. */
    LEFT(AT(pawl_fetch_sub_release)(&l->word, S1, PAWL_SPIN_R_TO_A), S1);
    return true;
}

/* From U: W is in the word beside readers only. I2: S tells all that somebody waits for them. */
static bool NAME(mark_and_drain)(LOCK *l, struct wait *wait)
{
    (void)AT(pawl_fetch_add_relaxed)(&l->word, S1);
    if (NAME(drain_update)(l, wait))
        return true;
    LEFT(AT(pawl_fetch_sub_relaxed)(&l->word, (WORD)(W1 + S1)), W1 + S1);
    return false;
}

/* From R, W+S+R is in the word: gives R up, or takes it back when the time is over. */
static bool NAME(read_to_atomic)(LOCK *l, uint64_t deadline)
{
    struct wait wait;
    bool ok;
    lock_wait_begin(&wait, l, deadline);
    LEFT(AT(pawl_fetch_sub_relaxed)(&l->word, R1), R1);
    ok = NAME(drain_update)(l, &wait);
    if (!ok)
        LEFT(AT(pawl_fetch_sub_relaxed)(&l->word, (WORD)(W1 + S1 - R1)), W1 + S1 - R1);
    NAME(wait_end)(l, &wait);
    return ok;
}

/* `mark`: S from U, minus R from R. */
void SLOW(drain_to_atomic)(LOCK *l, WORD mark)
{
    struct wait wait;
    if (mark != S1) {
        (void)NAME(read_to_atomic)(l, PAWL_NO_DEADLINE);
        return;
    }
    lock_wait_begin(&wait, l, PAWL_NO_DEADLINE);
    (void)NAME(mark_and_drain)(l, &wait);
    NAME(wait_end)(l, &wait);
}

/* `found`: what the caller's claim of W found; it is still in the word. */
static bool NAME(wait_for_atomic)(LOCK *l, WORD found, uint64_t deadline)
{
    struct wait wait;
    enum outcome how = WAIT_PASSED;

    lock_wait_begin(&wait, l, deadline);
    while (!NAME(atomics_or_nobody_)(found)) {
        if (NAME(no_seeker_or_writer_)(found)) {
            how = NAME(mark_and_drain)(l, &wait) ? WAIT_PASSED : WAIT_TIMED_OUT;
            break;
        }
        LEFT(AT(pawl_fetch_sub_relaxed)(&l->word, W1), W1);
        how = NAME(wait_for)(l, &wait, WAIT_A);
        if (how == WAIT_HOLDS_W) /* relaxed, as of spinlocks that insist */
            LEFT(AT(pawl_fetch_sub_relaxed)(&l->word, (WORD)(S1 + R1)), S1 + R1);
        if (how != WAIT_PASSED)
            break;
        /* [SPIN_A_TAKE] acquire: our updates come after what all who left had done. */
        found = AT(pawl_fetch_add_acquire)(&l->word, W1, PAWL_SPIN_A_TAKE);
    }
    NAME(wait_end)(l, &wait);
    return how != WAIT_TIMED_OUT;
}

void SLOW(take_atomic_slow)(LOCK *l, WORD found)
{
    (void)NAME(wait_for_atomic)(l, found, PAWL_NO_DEADLINE);
}

bool SLOW(take_atomic_until)(LOCK *l, uint64_t deadline)
{
    /* [SPIN_A_TAKE] acquire: our updates come after what all who left had done. */
    return NAME(wait_for_atomic)(l, AT(pawl_fetch_add_acquire)(&l->word, W1, PAWL_SPIN_A_TAKE),
                              deadline);
}

bool SLOW(claim_atomic_until)(LOCK *l, uint64_t deadline)
{
    struct wait wait;
    bool ok;
    WORD found = AT(pawl_load_relaxed)(&l->word);
    if (!NAME(atomic_may_claim_)(found))
        return false;
    /* [SPIN_A_TAKE] acquire: our updates come after what all who left had done. */
    found = AT(pawl_fetch_add_acquire)(&l->word, W1, PAWL_SPIN_A_TAKE);
    if (NAME(atomics_or_nobody_)(found))
        return true;
    if (!NAME(no_seeker_or_writer_)(found)) {
        LEFT(AT(pawl_fetch_sub_relaxed)(&l->word, W1), W1);
        return false;
    }
    lock_wait_begin(&wait, l, deadline);
    ok = NAME(mark_and_drain)(l, &wait);
    NAME(wait_end)(l, &wait);
    return ok;
}

bool SLOW(read_claim_atomic_until)(LOCK *l, uint64_t deadline)
{
    if (!NAME(no_seeker_or_writer_)(AT(pawl_load_relaxed)(&l->word)))
        return false;
    /* What those did who have left is acquired by the drain. */
    if (!NAME(no_seeker_or_writer_)(AT(pawl_fetch_add_relaxed)(&l->word, (WORD)(W1 + S1)))) {
        LEFT(AT(pawl_fetch_sub_relaxed)(&l->word, (WORD)(W1 + S1)), W1 + S1);
        return false;
    }
    return NAME(read_to_atomic)(l, deadline);
}

/* R is in the word beside the W of others. When these are claimants that wait for R (I2: they show
 * S), nobody would ever move: we let go. */
static enum pawl_regained NAME(regain)(LOCK *l, uint64_t deadline)
{
    struct wait wait;
    enum outcome how;
    WORD w;

    lock_wait_begin(&wait, l, deadline);
    how = NAME(wait_for)(l, &wait, WAIT_GONE);
    if (how == WAIT_TIMED_OUT)
        LEFT(AT(pawl_fetch_sub_relaxed)(&l->word, R1), R1);
    /* [SPIN_A_GONE] acquire: our reads come after the updates of those we waited for. */
    w = AT(pawl_load_acquire)(&l->word, PAWL_SPIN_A_GONE);
    NAME(wait_end)(l, &wait);
    if (how == WAIT_TIMED_OUT)
        return PAWL_TIMED_OUT;
    if (NAME(no_writer_)(w))
        return PAWL_KEPT;
    return NAME(wait_for_shared)(l, R1, R1, deadline) ? PAWL_LET_GO : PAWL_TIMED_OUT;
}

bool SLOW(atomic_to_read_slow)(LOCK *l)
{
    return NAME(regain)(l, PAWL_NO_DEADLINE) == PAWL_KEPT;
}

enum pawl_regained SLOW(atomic_to_read_until)(LOCK *l, uint64_t deadline)
{
    /* [SPIN_A_TO_R] release: our updates are done before others read or write. Acquire: we see
     * those of the atomic users who have left. */
    const WORD found = AT(pawl_fetch_add_acq_rel)(&l->word, (WORD)(R1 - W1), PAWL_SPIN_A_TO_R);
    LEFT(found, W1 - R1);
    return NAME(writers_)(found) == W1 ? PAWL_KEPT : NAME(regain)(l, deadline);
}

#undef LOCK
#undef WORD
#undef NAME
#undef AT
#undef SLOW
#undef R1
#undef S1
#undef W1
#undef LEFT
