/* SPDX-License-Identifier: MIT */
/*
 * The waiting halves of the progressive lock that sleeps; lock.c includes this file for each width.
 * They follow the steps of spin_word.inc.h. Where the spinlock reads in a loop, this lock waits
 * (wait_for).
 */

/* The classes whose waiters could go on if the word had this value. */
static unsigned PAWL_NAME_(ready)(PAWL_WORD_ w)
{
    unsigned ready = 0;
    if (PAWL_IS_(no_writer)(w))
        ready |= WAIT_R | WAIT_GONE;
    else if (PAWL_IS_(one_reader)(w))
        ready |= WAIT_DRAIN;
    else if (PAWL_IS_(readers)(w) == 0)
        ready |= WAIT_UPDATE | (PAWL_IS_(writers)(w) == PAWL_W_ ? WAIT_KEEP : 0u);
    if (PAWL_IS_(seekers)(w) != 0)
        ready |= WAIT_GONE;
    if (PAWL_IS_(no_seeker_or_writer)(w))
        ready |= WAIT_S | WAIT_W;
    if (PAWL_IS_(atomic_may_claim)(w))
        ready |= WAIT_A;
    return ready;
}

/* I7: no access to the lock. For the classes that enter together, only the change counts. GONE
 * waits for S beside W too, but no drop brings that about: the waiter that keeps S there wakes the
 * GONE waiters itself (keep). S may also be a claim that hides that the last W has left. */
void PAWL_SLOW_(left)(const void *address, PAWL_WORD_ found, PAWL_WORD_ after)
{
    unsigned before = PAWL_NAME_(ready)(found) & WAIT_TOGETHER;
    unsigned ready = PAWL_NAME_(ready)(after);
    if (!PAWL_IS_(no_writer)(found))
        before &= ~(unsigned)WAIT_GONE;
    if (!PAWL_IS_(no_writer)(after))
        ready &= ~(unsigned)WAIT_GONE;
    if (PAWL_IS_(atomics_or_nobody)(after) && !PAWL_IS_(no_writer)(after))
        ready |= WAIT_TURN;
    lock_left(address, ready & ~before);
}

static bool PAWL_NAME_(lets_in)(const PAWL_LOCK_ *l, enum wait_class class)
{
    return (PAWL_NAME_(ready)(PAWL_AT_(pawl_load_relaxed)(&l->word)) & (unsigned)class) != 0;
}

/* Reads in a loop for as long as a wake costs, then once after each of the yields. */
static bool PAWL_NAME_(loop)(const PAWL_LOCK_ *l, const struct wait *wait, enum wait_class class,
                             unsigned yields)
{
    struct loop loop = LOOP_INIT;
    do
        if (PAWL_NAME_(lets_in)(l, class))
            return true;
    while (lock_loop_on(&loop, wait->deadline));
    while (yields-- > 0 && lock_yielded(wait->deadline))
        if (PAWL_NAME_(lets_in)(l, class))
            return true;
    return false;
}

/* The bucket is locked and this waiter is awake. Wakes the waiters that can enter at this value of
 * the word, because this waiter may have stood for their wake (I6). True if there were any; the
 * bucket is then unlocked. */
static bool PAWL_NAME_(let_in)(struct pawl_bucket *bucket, const PAWL_LOCK_ *l, PAWL_WORD_ w)
{
    struct wake_list list = {NULL, NULL, 0};
    lock_pick(bucket, l, PAWL_NAME_(ready)(w), &list);
    if (list.count == 0)
        return false;
    table_unlock(bucket);
    table_unpark(&list);
    return true;
}

/* I3: keeps W+S beside the holders until this W is the only one and no R is left. The caller then
 * holds W. The bucket is locked at the call and unlocked at the end. */
static enum outcome PAWL_NAME_(keep)(struct pawl_bucket *bucket, PAWL_LOCK_ *l, struct wait *wait);

/* Whether this waiter may keep a claim at this value of the word. A writer may at once over seekers
 * and atomic users. Any waiter without a claim may when its turn has come. */
static bool PAWL_NAME_(may_keep)(struct pawl_bucket *bucket, const struct wait *wait,
                                 enum wait_class class, PAWL_WORD_ w)
{
    if (class == WAIT_W && !PAWL_IS_(no_seeker_or_writer)(w) &&
        (PAWL_IS_(no_writer)(w) || PAWL_IS_(atomics_or_nobody)(w)))
        return !lock_somebody_keeps(bucket, wait->waiter.address);
    return !((unsigned)class & WAIT_CLAIMED) && lock_may_insist(bucket, wait);
}

/* Waits until the word lets the class go on. The caller has not yet acquired that value. */
static enum outcome PAWL_NAME_(wait_for)(PAWL_LOCK_ *l, struct wait *wait, enum wait_class class)
{
    struct pawl_bucket *bucket;
    PAWL_WORD_ w;

    if (!wait->queued && PAWL_NAME_(loop)(l, wait, class, YIELDS_BEFORE_JOINING))
        return WAIT_PASSED;
    for (;;) {
        bucket = lock_wait_join(wait);
        w = PAWL_AT_(pawl_load_relaxed)(&l->word);
        if (PAWL_NAME_(ready)(w) & (unsigned)class)
            break;
        if (PAWL_NAME_(may_keep)(bucket, wait, class, w))
            return PAWL_NAME_(keep)(bucket, l, wait);
        if (wait->may_spin) {
            table_unlock(bucket);
            if (PAWL_NAME_(loop)(l, wait, class, YIELDS_BEFORE_SLEEPING))
                return WAIT_PASSED;
            bucket = table_lock(l);
        }
        if (pawl_os_now() >= wait->deadline) {
            table_unlock(bucket);
            return WAIT_TIMED_OUT;
        }
        lock_not_awake(bucket, wait);
        /* [LOCK_PARK] release: the hint is cleared before a releaser finds this PARKED. */
        w = PAWL_AT_(pawl_fetch_or_release)(&l->word, PAWL_LOCK_PARKED, PAWL_LOCK_PARK);
        if (PAWL_NAME_(ready)(w) & (unsigned)class) {
            lock_awake(bucket, l);
            break;
        }
        if (PAWL_NAME_(let_in)(bucket, l, w))
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

/* The wait is over: the waiter was granted the lock, or its deadline has passed. A waiter that
 * leaves others asleep looks by changing the word, as before a sleep. A load could miss the change
 * of a releaser that has found the hint and left this look to the waiter. */
static void PAWL_NAME_(wait_end)(PAWL_LOCK_ *l, struct wait *wait)
{
    struct pawl_bucket *bucket;
    PAWL_WORD_ w;
    if (!wait->queued)
        return;
    bucket = table_lock(l);
    lock_not_awake(bucket, wait);
    table_remove(bucket, &wait->waiter);
    if (lock_anybody_asleep(bucket, l)) {
        /* [LOCK_PARK] release: the hint is cleared before a releaser finds this PARKED. */
        w = PAWL_AT_(pawl_fetch_or_release)(&l->word, PAWL_LOCK_PARKED, PAWL_LOCK_PARK);
        if (PAWL_NAME_(let_in)(bucket, l, w))
            bucket = NULL;
    } else {
        (void)PAWL_AT_(pawl_fetch_and_relaxed)(&l->word, (PAWL_WORD_)~(PAWL_WORD_)PAWL_LOCK_PARKED);
    }
    if (bucket != NULL)
        table_unlock(bucket);
    pawl_parker_done(wait->waiter.parker);
}

static enum outcome PAWL_NAME_(keep)(struct pawl_bucket *bucket, PAWL_LOCK_ *l, struct wait *wait)
{
    struct wake_list list = {NULL, NULL, 0};
    enum outcome how;

    pawl_store_relaxed64(&bucket->last_handoff, pawl_os_now());
    wait->waiter.kind = WAIT_KEEP;
    (void)PAWL_AT_(pawl_fetch_add_relaxed)(&l->word, PAWL_W_S_);
    lock_pick(bucket, l, WAIT_GONE, &list); /* S tells them to drop R */
    table_unlock(bucket);
    table_unpark(&list);
    PAWL_PROBE1(lock_handoff, l);
    how = PAWL_NAME_(wait_for)(l, wait, WAIT_KEEP);
    if (how == WAIT_TIMED_OUT) {
        PAWL_NAME_(left_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_), PAWL_W_S_);
        return how;
    }
    /* [SPIN_W_KEEP] acquire: the writer's stores follow the accesses of the holders it waited
     * for. */
    (void)PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_, PAWL_SPIN_W_KEEP);
    return WAIT_HOLDS_W;
}

/* ---- W --------------------------------------------------------------------------------------- */

/* I1: W+S+R is in the word and newcomers withdraw. The writer waits until the only R is its own. */
static bool PAWL_NAME_(drain)(PAWL_LOCK_ *l, struct wait *wait)
{
    if (PAWL_NAME_(wait_for)(l, wait, WAIT_DRAIN) == WAIT_TIMED_OUT)
        return false;
    /* [SPIN_W_DRAIN] acquire: the writer's stores follow the reads of the readers it waited for. */
    (void)PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_W_DRAIN);
    return true;
}

/* As `drain`, for a caller that has not waited before. Withdraws `units` when the deadline has
 * passed. */
static bool PAWL_NAME_(drain_until)(PAWL_LOCK_ *l, PAWL_WORD_ units, uint64_t deadline)
{
    struct wait wait;
    bool ok;
    lock_wait_begin(&wait, l, deadline);
    ok = PAWL_NAME_(drain)(l, &wait);
    if (!ok)
        PAWL_NAME_(left_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, units), units);
    PAWL_NAME_(wait_end)(l, &wait);
    return ok;
}

void PAWL_SLOW_(drain_readers)(PAWL_LOCK_ *l)
{
    (void)PAWL_NAME_(drain_until)(l, 0, PAWL_NO_DEADLINE);
}

/* `found`: the word as the caller's claim of W+S+R found it. The claim is still in the word. */
static bool PAWL_NAME_(wait_for_write)(PAWL_LOCK_ *l, PAWL_WORD_ found, uint64_t deadline)
{
    struct wait wait;
    enum outcome how = WAIT_PASSED;

    lock_wait_begin(&wait, l, deadline);
    while (!PAWL_IS_(nobody)(found)) {
        if (PAWL_IS_(no_seeker_or_writer)(found)) {
            how = PAWL_NAME_(drain)(l, &wait) ? WAIT_HOLDS_W : WAIT_TIMED_OUT;
            if (how == WAIT_TIMED_OUT)
                PAWL_NAME_(left_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_R_),
                                  PAWL_W_S_R_);
            break;
        }
        PAWL_NAME_(left_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_R_), PAWL_W_S_R_);
        how = PAWL_NAME_(wait_for)(l, &wait, WAIT_W);
        if (how != WAIT_PASSED)
            break;
        /* [SPIN_W_TAKE] acquire: the writer's stores follow all accesses of earlier holders. */
        found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_TAKE);
    }
    PAWL_NAME_(wait_end)(l, &wait);
    return how != WAIT_TIMED_OUT;
}

void PAWL_SLOW_(take_write_slow)(PAWL_LOCK_ *l, PAWL_WORD_ found)
{
    (void)PAWL_NAME_(wait_for_write)(l, found, PAWL_NO_DEADLINE);
}

bool PAWL_SLOW_(take_write_until)(PAWL_LOCK_ *l, uint64_t deadline)
{
    /* [SPIN_W_TAKE] acquire: the writer's stores follow all accesses of earlier holders. */
    return PAWL_NAME_(wait_for_write)(
        l, PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_TAKE), deadline);
}

bool PAWL_SLOW_(seek_to_write_until)(PAWL_LOCK_ *l, uint64_t deadline)
{
    /* [SPIN_S_TO_W] acquire: the writer's stores follow the reads of earlier readers. */
    if (PAWL_IS_(one_reader)(PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_, PAWL_SPIN_S_TO_W)))
        return true;
    return PAWL_NAME_(drain_until)(l, PAWL_W_, deadline);
}

bool PAWL_SLOW_(claim_write_until)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WORD_ found = PAWL_AT_(pawl_load_relaxed)(&l->word);
    if (!PAWL_IS_(no_seeker_or_writer)(found))
        return false;
    /* [SPIN_W_TAKE] acquire: the writer's stores follow all accesses of earlier holders. */
    found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_TAKE);
    if (PAWL_IS_(nobody)(found))
        return true;
    if (PAWL_IS_(no_seeker_or_writer)(found))
        return PAWL_NAME_(drain_until)(l, PAWL_W_S_R_, deadline);
    PAWL_NAME_(left_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_R_), PAWL_W_S_R_);
    return false;
}

bool PAWL_SLOW_(read_claim_write_until)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WORD_ found = PAWL_AT_(pawl_load_relaxed)(&l->word);
    if (!PAWL_IS_(no_seeker_or_writer)(found))
        return false;
    /* [SPIN_R_TO_W] acquire: the writer's stores follow all accesses of earlier holders. */
    found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_, PAWL_SPIN_R_TO_W);
    if (PAWL_IS_(lone_reader)(found))
        return true;
    if (PAWL_IS_(no_seeker_or_writer)(found))
        return PAWL_NAME_(drain_until)(l, PAWL_W_S_, deadline);
    PAWL_NAME_(left_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_), PAWL_W_S_);
    return false;
}

/* ---- R and S --------------------------------------------------------------------------------- */

/* Claims `units` of R or S+R, and waits for the class until they are granted. */
static bool PAWL_NAME_(wait_for_shared)(PAWL_LOCK_ *l, PAWL_WORD_ units, PAWL_WORD_ claimed,
                                        uint64_t deadline)
{
    const enum wait_class class = units == PAWL_R_ ? WAIT_R : WAIT_S;
    struct wait wait;
    enum outcome how;
    bool granted;

    lock_wait_begin(&wait, l, deadline);
    for (;;) {
        if (claimed)
            PAWL_NAME_(left_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, units), units);
        how = PAWL_NAME_(wait_for)(l, &wait, class);
        if (how == WAIT_HOLDS_W) { /* relaxed, as in a spinlock's escalation */
            const PAWL_WORD_ given = class == WAIT_R ? PAWL_W_S_ : PAWL_W_;
            PAWL_NAME_(left_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, given), given);
        }
        if (how != WAIT_PASSED)
            break;
        claimed = units;
        if (class == WAIT_R)
            /* [SPIN_R_TAKE] acquire: the reader's reads follow the last writer's stores. */
            granted = PAWL_IS_(no_writer)(
                PAWL_AT_(pawl_fetch_add_acquire)(&l->word, units, PAWL_SPIN_R_TAKE));
        else
            /* [SPIN_S_TAKE] acquire: the seeker sees the stores of the last seeker or writer. */
            granted = PAWL_IS_(no_seeker_or_writer)(
                PAWL_AT_(pawl_fetch_add_acquire)(&l->word, units, PAWL_SPIN_S_TAKE));
        if (granted)
            break;
    }
    PAWL_NAME_(wait_end)(l, &wait);
    return how != WAIT_TIMED_OUT;
}

/* `claimed`: PAWL_R_ when the caller's claim met a writer, 0 when it did not claim. */
void PAWL_SLOW_(take_read_slow)(PAWL_LOCK_ *l, PAWL_WORD_ claimed)
{
    (void)PAWL_NAME_(wait_for_shared)(l, PAWL_R_, claimed, PAWL_NO_DEADLINE);
}

bool PAWL_SLOW_(take_read_until)(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_NAME_(wait_for_shared)(l, PAWL_R_, 0, deadline);
}

/* The caller's claim S+R is in the word. */
void PAWL_SLOW_(take_seek_slow)(PAWL_LOCK_ *l)
{
    (void)PAWL_NAME_(wait_for_shared)(l, PAWL_R_S_, PAWL_R_S_, PAWL_NO_DEADLINE);
}

bool PAWL_SLOW_(take_seek_until)(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_NAME_(wait_for_shared)(l, PAWL_R_S_, 0, deadline);
}

/* ---- A --------------------------------------------------------------------------------------- */

/* The caller's W+S is in the word. Waits until the readers have left, then leaves W alone. */
static bool PAWL_NAME_(drain_update)(PAWL_LOCK_ *l, struct wait *wait)
{
    if (PAWL_NAME_(wait_for)(l, wait, WAIT_UPDATE) == WAIT_TIMED_OUT)
        return false;
    /* [SPIN_A_DRAIN] acquire: the atomic user's updates follow the reads of the readers it waited
     * for. */
    (void)PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_A_DRAIN);
    /* [SPIN_R_TO_A] release: the caller's reads under R are done before another atomic user
     * enters. */
    PAWL_NAME_(left_)(l, PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_S_, PAWL_SPIN_R_TO_A),
                      PAWL_S_);
    return true;
}

/* From U: W is in the word beside readers only. I2: S tells the readers that a claimant waits for
 * them. */
static bool PAWL_NAME_(mark_and_drain)(PAWL_LOCK_ *l, struct wait *wait)
{
    (void)PAWL_AT_(pawl_fetch_add_relaxed)(&l->word, PAWL_S_);
    if (PAWL_NAME_(drain_update)(l, wait))
        return true;
    PAWL_NAME_(left_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_), PAWL_W_S_);
    return false;
}

/* From R: W+S+R is in the word. Gives R up, or takes it back when the deadline has passed. */
static bool PAWL_NAME_(read_to_atomic)(PAWL_LOCK_ *l, uint64_t deadline)
{
    const PAWL_WORD_ back = (PAWL_WORD_)(PAWL_W_S_ - PAWL_R_);
    struct wait wait;
    bool ok;
    lock_wait_begin(&wait, l, deadline);
    PAWL_NAME_(left_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_R_), PAWL_R_);
    ok = PAWL_NAME_(drain_update)(l, &wait);
    if (!ok)
        PAWL_NAME_(left_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, back), back);
    PAWL_NAME_(wait_end)(l, &wait);
    return ok;
}

/* `mark`: S from U, minus R from R. */
void PAWL_SLOW_(drain_to_atomic)(PAWL_LOCK_ *l, PAWL_WORD_ mark)
{
    struct wait wait;
    if (mark != PAWL_S_) {
        (void)PAWL_NAME_(read_to_atomic)(l, PAWL_NO_DEADLINE);
        return;
    }
    lock_wait_begin(&wait, l, PAWL_NO_DEADLINE);
    (void)PAWL_NAME_(mark_and_drain)(l, &wait);
    PAWL_NAME_(wait_end)(l, &wait);
}

/* `found`: the word as the caller's claim of W found it. The claim is still in the word. */
static bool PAWL_NAME_(wait_for_atomic)(PAWL_LOCK_ *l, PAWL_WORD_ found, uint64_t deadline)
{
    struct wait wait;
    enum outcome how = WAIT_PASSED;

    lock_wait_begin(&wait, l, deadline);
    while (!PAWL_IS_(atomics_or_nobody)(found)) {
        if (PAWL_IS_(no_seeker_or_writer)(found)) {
            how = PAWL_NAME_(mark_and_drain)(l, &wait) ? WAIT_PASSED : WAIT_TIMED_OUT;
            break;
        }
        PAWL_NAME_(left_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_), PAWL_W_);
        how = PAWL_NAME_(wait_for)(l, &wait, WAIT_A);
        if (how == WAIT_HOLDS_W) /* relaxed, as in a spinlock's escalation */
            PAWL_NAME_(left_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_R_S_), PAWL_R_S_);
        if (how != WAIT_PASSED)
            break;
        /* [SPIN_A_TAKE] acquire: the atomic user's updates follow all accesses of earlier
         * holders. */
        found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_, PAWL_SPIN_A_TAKE);
    }
    PAWL_NAME_(wait_end)(l, &wait);
    return how != WAIT_TIMED_OUT;
}

void PAWL_SLOW_(take_atomic_slow)(PAWL_LOCK_ *l, PAWL_WORD_ found)
{
    (void)PAWL_NAME_(wait_for_atomic)(l, found, PAWL_NO_DEADLINE);
}

bool PAWL_SLOW_(take_atomic_until)(PAWL_LOCK_ *l, uint64_t deadline)
{
    /* [SPIN_A_TAKE] acquire: the atomic user's updates follow all accesses of earlier holders. */
    return PAWL_NAME_(wait_for_atomic)(
        l, PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_, PAWL_SPIN_A_TAKE), deadline);
}

bool PAWL_SLOW_(claim_atomic_until)(PAWL_LOCK_ *l, uint64_t deadline)
{
    struct wait wait;
    bool ok;
    PAWL_WORD_ found = PAWL_AT_(pawl_load_relaxed)(&l->word);
    if (!PAWL_IS_(atomic_may_claim)(found))
        return false;
    /* [SPIN_A_TAKE] acquire: the atomic user's updates follow all accesses of earlier holders. */
    found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_, PAWL_SPIN_A_TAKE);
    if (PAWL_IS_(atomics_or_nobody)(found))
        return true;
    if (!PAWL_IS_(no_seeker_or_writer)(found)) {
        PAWL_NAME_(left_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_), PAWL_W_);
        return false;
    }
    lock_wait_begin(&wait, l, deadline);
    ok = PAWL_NAME_(mark_and_drain)(l, &wait);
    PAWL_NAME_(wait_end)(l, &wait);
    return ok;
}

bool PAWL_SLOW_(read_claim_atomic_until)(PAWL_LOCK_ *l, uint64_t deadline)
{
    if (!PAWL_IS_(no_seeker_or_writer)(PAWL_AT_(pawl_load_relaxed)(&l->word)))
        return false;
    /* The drain acquires the accesses of earlier holders. */
    if (!PAWL_IS_(no_seeker_or_writer)(PAWL_AT_(pawl_fetch_add_relaxed)(&l->word, PAWL_W_S_))) {
        PAWL_NAME_(left_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_), PAWL_W_S_);
        return false;
    }
    return PAWL_NAME_(read_to_atomic)(l, deadline);
}

/* R is in the word beside the W of others. When these are claimants that wait for R (I2: they show
 * S), no thread could go on. The caller then drops R. */
static pawl_regained PAWL_NAME_(regain)(PAWL_LOCK_ *l, uint64_t deadline)
{
    struct wait wait;
    enum outcome how;
    PAWL_WORD_ w;

    lock_wait_begin(&wait, l, deadline);
    how = PAWL_NAME_(wait_for)(l, &wait, WAIT_GONE);
    if (how == WAIT_TIMED_OUT)
        PAWL_NAME_(left_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_R_), PAWL_R_);
    /* [SPIN_A_GONE] acquire: the reader's reads follow the updates of the atomic users it waited
     * for. */
    w = PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_A_GONE);
    PAWL_NAME_(wait_end)(l, &wait);
    if (how == WAIT_TIMED_OUT)
        return PAWL_REGAIN_TIMED_OUT;
    if (PAWL_IS_(no_writer)(w))
        return PAWL_REGAIN_KEPT;
    if (PAWL_NAME_(wait_for_shared)(l, PAWL_R_, PAWL_R_, deadline))
        return PAWL_REGAIN_LET_GO;
    return PAWL_REGAIN_TIMED_OUT;
}

pawl_regained PAWL_SLOW_(regain_slow)(PAWL_LOCK_ *l)
{
    return PAWL_NAME_(regain)(l, PAWL_NO_DEADLINE);
}

pawl_regained PAWL_SLOW_(atomic_to_read_until)(PAWL_LOCK_ *l, uint64_t deadline)
{
    /* [SPIN_A_TO_R] release: the caller's updates are done before others read or write. Acquire:
     * the caller sees the updates of earlier atomic users. */
    const PAWL_WORD_ found =
        PAWL_AT_(pawl_fetch_add_acq_rel)(&l->word, (PAWL_WORD_)(PAWL_R_ - PAWL_W_),
                                         PAWL_SPIN_A_TO_R);
    PAWL_NAME_(left_)(l, found, (PAWL_WORD_)(PAWL_W_ - PAWL_R_));
    return PAWL_IS_(writers)(found) == PAWL_W_ ? PAWL_REGAIN_KEPT : PAWL_NAME_(regain)(l, deadline);
}
