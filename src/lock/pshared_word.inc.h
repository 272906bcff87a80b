/* SPDX-License-Identifier: MIT */
/*
 * The waiting halves of the lock for shared memory, included by pshared.c for each width. They
 * follow the steps of spin_word.inc.h; where that one reads in a loop, this one waits (wait_for),
 * and what it withdraws it also tells (give).
 */
#define LOCK PAWL_CAT_(pawl_pshared_lock, PAWL_WORD_BITS)
#define SPIN PAWL_CAT_(pawl_spin, PAWL_WORD_BITS)
#define WORD PAWL_CAT_(PAWL_CAT_(uint, PAWL_WORD_BITS), _t)
#define NAME(verb) PAWL_CAT_(LOCK, _##verb)
#define IS(test) PAWL_CAT_(SPIN, _##test##_)
#define AT(operation) PAWL_CAT_(operation, PAWL_WORD_BITS)
#define SLOW(verb) PAWL_SYMBOL_(NAME(verb))
#define R1 PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _R)
#define S1 PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _S)
#define W1 PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _W)

/* Atomic users, or a claim of theirs, and nobody else. */
static bool NAME(atomics_alone)(WORD w)
{
    return IS(atomics_or_nobody)(w) && !IS(no_writer)(w);
}

/* The classes that may go on when the word has this value. Readers and seekers may go on where
 * atomic users are alone, because there they do not sleep but insist. */
static unsigned NAME(gates)(WORD w)
{
    unsigned open = 0;
    if (IS(no_writer)(w) || NAME(atomics_alone)(w))
        open |= PSHARED_READ;
    if (IS(no_seeker_or_writer)(w) || NAME(atomics_alone)(w))
        open |= PSHARED_SEEK;
    if (IS(no_writer)(w) || IS(atomics_or_nobody)(w))
        open |= PSHARED_WRITE;
    if (IS(atomic_may_claim)(w))
        open |= PSHARED_ATOMIC;
    if (IS(one_reader)(w))
        open |= PSHARED_DRAIN;
    if (IS(readers)(w) == 0)
        open |= PSHARED_UPDATE;
    if (IS(readers)(w) == 0 && IS(writers)(w) == W1)
        open |= PSHARED_KEEP;
    if (IS(no_writer)(w))
        open |= PSHARED_TURN;
    if (IS(seekers)(w) != 0)
        open |= PSHARED_YIELD;
    return open;
}

/* ---- Telling --------------------------------------------------------------------------------- */

static void NAME(tell)(LOCK *l, unsigned classes)
{
    /* [PSHARED_TELL] release: who reads the new count sees the word as it was changed before. */
    (void)pawl_fetch_add_release32(&l->waits, 1, PAWL_PSHARED_TELL);
    shared_wake(&l->waits, classes);
}

/* I6, for those who still hold the lock or are still inside an operation on it. Only subtractions
 * open gates, but for one: see drain_to_atomic. */
void SLOW(changed)(LOCK *l, WORD found, WORD now)
{
    const unsigned opened = NAME(gates)(now) & ~NAME(gates)(found);
    if (opened != 0)
        NAME(tell)(l, opened);
}

bool SLOW(lets_in)(WORD found, WORD now)
{
    return (NAME(gates)(now) & ~NAME(gates)(found)) != 0;
}

/* I7. Others may have dropped under our LEAVING and left the wakes to us, hence all open gates and
 * not only those that open now. Who finds the lock free and wakes a reader and a writer may leave
 * more asleep; those whom it wakes set PARKED again. */
void SLOW(leave)(LOCK *l, WORD units)
{
    const uint32_t *waits = &l->waits;
    WORD w, next;

    /* [PSHARED_TELL] release: who reads the new count sees LEAVING, or the lock given up. */
    (void)pawl_fetch_add_release32(&l->waits, 1, PAWL_PSHARED_TELL);
    w = AT(pawl_load_relaxed)(&l->word);
    do {
        next = (WORD)((w - units) & (WORD)~(WORD)PAWL_PSHARED_LEAVING);
        if (IS(nobody)(next))
            next = 0;
        /* [PSHARED_LEAVE] release: `waits` has changed before the next owner may free the lock. */
    } while (!AT(pawl_cas_release)(&l->word, &w, next, PAWL_PSHARED_LEAVE));
    shared_wake(waits, NAME(gates)(next));
}

/* Takes a claim back. */
static void NAME(give)(LOCK *l, WORD units)
{
    const WORD found = AT(pawl_fetch_sub_relaxed)(&l->word, units);
    if (found & PAWL_PSHARED_PARKED)
        SLOW(changed)(l, found, (WORD)(found - units));
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* Waits until the gate of the class is open. False: the deadline has passed and it is not. The
 * value read is not acquired; the caller does that, or claims. */
static bool NAME(wait_for)(LOCK *l, unsigned class, uint64_t deadline)
{
    struct backoff pauses = BACKOFF_INIT;
    bool in_time = true;
    bool slept = false;
    uint32_t count;
    WORD w;

    for (;;) {
        /* [PSHARED_HEAR] acquire: if the count is new, so is the word that we read next. */
        count = pawl_load_acquire32(&l->waits, PAWL_PSHARED_HEAR);
        w = AT(pawl_load_relaxed)(&l->word);
        /* The drop that woke us may have cleared PARKED though others sleep. */
        if (slept || (in_time && !(w & PAWL_PSHARED_PARKED) && shared_tired(&pauses) &&
                      !(NAME(gates)(w) & class)))
            w = AT(pawl_fetch_or_relaxed)(&l->word, PAWL_PSHARED_PARKED) | PAWL_PSHARED_PARKED;
        slept = false;
        if (NAME(gates)(w) & class)
            return true;
        in_time = in_time && !shared_late(deadline);
        if (!in_time)
            return false;
        if ((w & PAWL_PSHARED_LEAVING) || !(w & PAWL_PSHARED_PARKED) || !shared_tired(&pauses)) {
            pause_once(&pauses, &w);
            continue;
        }
        in_time = pawl_os_wait_classes(&l->waits, count, class, deadline);
        slept = true;
    }
}

/* ---- W --------------------------------------------------------------------------------------- */

bool SLOW(drain_readers)(LOCK *l, WORD units, uint64_t deadline)
{
    if (!NAME(wait_for)(l, PSHARED_DRAIN, deadline)) {
        NAME(give)(l, units);
        return false;
    }
    /* [SPIN_W_DRAIN] acquire: our stores come after the reads of those we waited for. */
    (void)AT(pawl_load_acquire)(&l->word, PAWL_SPIN_W_DRAIN);
    return true;
}

/* I3: keeps W+S, which holds everybody back, and gives back R. */
static bool NAME(keep_write)(LOCK *l, uint64_t deadline)
{
    NAME(give)(l, R1);
    if (!NAME(wait_for)(l, PSHARED_KEEP, deadline)) {
        NAME(give)(l, (WORD)(W1 + S1));
        return false;
    }
    /* [SPIN_W_KEEP] acquire: our stores come after what those we waited for have done. */
    (void)AT(pawl_fetch_add_acquire)(&l->word, R1, PAWL_SPIN_W_KEEP);
    return true;
}

bool SLOW(take_write_slow)(LOCK *l, WORD found, uint64_t deadline)
{
    while (!IS(nobody)(found)) {
        if (IS(no_seeker_or_writer)(found))
            return SLOW(drain_readers)(l, (WORD)(W1 + S1 + R1), deadline);
        if (IS(no_writer)(found) || IS(atomics_or_nobody)(found))
            return NAME(keep_write)(l, deadline);
        NAME(give)(l, (WORD)(W1 + S1 + R1));
        if (!NAME(wait_for)(l, PSHARED_WRITE, deadline))
            return false;
        /* [SPIN_W_TAKE] acquire: our stores come after what all who left had done. */
        found = AT(pawl_fetch_add_acquire)(&l->word, (WORD)(W1 + S1 + R1), PAWL_SPIN_W_TAKE);
    }
    return true;
}

/* The way in for those who have been patient. */
static bool NAME(insist)(LOCK *l, uint64_t deadline)
{
    /* [SPIN_W_TAKE] acquire: as for any writer; R, S or A comes out of W. */
    return SLOW(take_write_slow)(
        l, AT(pawl_fetch_add_acquire)(&l->word, (WORD)(W1 + S1 + R1), PAWL_SPIN_W_TAKE), deadline);
}

/* ---- R and S --------------------------------------------------------------------------------- */

/* `claimed`: R1 when the caller's claim met a writer, 0 when it did not claim. */
bool SLOW(take_read_slow)(LOCK *l, WORD claimed, uint64_t deadline)
{
    unsigned patience = PAWL_PSHARED_PATIENCE;
    struct backoff pauses = BACKOFF_INIT;

    for (;; claimed = R1) {
        if (claimed)
            NAME(give)(l, R1);
        if (!NAME(wait_for)(l, PSHARED_READ, deadline))
            return false;
        for (; patience > 0 && NAME(atomics_alone)(AT(pawl_load_relaxed)(&l->word)); patience--)
            pause_once(&pauses, &patience);
        if (patience-- == 0)
            break;
        /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
        if (IS(no_writer)(AT(pawl_fetch_add_acquire)(&l->word, R1, PAWL_SPIN_R_TAKE)))
            return true;
    }
    if (!NAME(insist)(l, deadline))
        return false;
    NAME(do_write_to_read_)(l);
    return true;
}

/* The caller's claim S+R is in the word. */
bool SLOW(take_seek_slow)(LOCK *l, uint64_t deadline)
{
    unsigned patience = PAWL_PSHARED_PATIENCE;
    struct backoff pauses = BACKOFF_INIT;

    for (;;) {
        NAME(give)(l, (WORD)(S1 + R1));
        if (!NAME(wait_for)(l, PSHARED_SEEK, deadline))
            return false;
        for (; patience > 0 && NAME(atomics_alone)(AT(pawl_load_relaxed)(&l->word)); patience--)
            pause_once(&pauses, &patience);
        if (patience-- == 0)
            break;
        /* [SPIN_S_TAKE] acquire: we see what the last seeker or writer stored. */
        if (IS(no_seeker_or_writer)(
                AT(pawl_fetch_add_acquire)(&l->word, (WORD)(S1 + R1), PAWL_SPIN_S_TAKE)))
            return true;
    }
    if (!NAME(insist)(l, deadline))
        return false;
    NAME(do_write_to_seek_)(l);
    return true;
}

/* ---- A --------------------------------------------------------------------------------------- */

/* I2: W is in the word and only readers are beside it; S says that somebody waits for R to fall.
 * Who turns from A to R may have gone to sleep when W was there without our S. Whether S is new is
 * no question: what was there may have been the claim of a seeker who told nobody. */
bool SLOW(drain_to_atomic)(LOCK *l, WORD mark, WORD back, uint64_t deadline)
{
    WORD found = AT(pawl_fetch_add_relaxed)(&l->word, mark);
    if (found & PAWL_PSHARED_PARKED)
        NAME(tell)(l, PSHARED_YIELD |
                          (NAME(gates)((WORD)(found + mark)) & ~NAME(gates)(found)));
    if (!NAME(wait_for)(l, PSHARED_UPDATE, deadline)) {
        NAME(give)(l, (WORD)(0u - back));
        return false;
    }
    /* [SPIN_A_DRAIN] acquire: our updates come after the reads of those we waited for. */
    (void)AT(pawl_load_acquire)(&l->word, PAWL_SPIN_A_DRAIN);
    /* [SPIN_R_TO_A] release: our reads under R are done before another atomic user enters. */
    found = AT(pawl_fetch_sub_release)(&l->word, S1, PAWL_SPIN_R_TO_A);
    if (found & PAWL_PSHARED_PARKED)
        SLOW(changed)(l, found, (WORD)(found - S1));
    return true;
}

bool SLOW(take_atomic_slow)(LOCK *l, WORD found, uint64_t deadline)
{
    unsigned patience = PAWL_PSHARED_PATIENCE;

    while (!IS(atomics_or_nobody)(found)) {
        if (IS(no_seeker_or_writer)(found))
            return SLOW(drain_to_atomic)(l, S1, (WORD)(0u - W1 - S1), deadline);
        NAME(give)(l, W1);
        if (!NAME(wait_for)(l, PSHARED_ATOMIC, deadline))
            return false;
        if (patience-- == 0) {
            if (!NAME(insist)(l, deadline))
                return false;
            /* Relaxed: we have stored nothing under W. */
            found = AT(pawl_fetch_sub_relaxed)(&l->word, (WORD)(S1 + R1));
            if (found & PAWL_PSHARED_PARKED)
                SLOW(changed)(l, found, (WORD)(found - S1 - R1));
            return true;
        }
        /* [SPIN_A_TAKE] acquire: our updates come after what all who left had done. */
        found = AT(pawl_fetch_add_acquire)(&l->word, W1, PAWL_SPIN_A_TAKE);
    }
    return true;
}

/* R is in the word beside the W of others. When these wait for R (I2: they show S), we let go. */
bool SLOW(atomic_to_read_slow)(LOCK *l, uint64_t deadline, bool *kept)
{
    if (!NAME(wait_for)(l, PSHARED_TURN | PSHARED_YIELD, deadline)) {
        *kept = false;
        NAME(give)(l, R1);
        return false;
    }
    /* [SPIN_A_GONE] acquire: our reads come after the updates of those we waited for. */
    *kept = IS(no_writer)(AT(pawl_load_acquire)(&l->word, PAWL_SPIN_A_GONE));
    return *kept || SLOW(take_read_slow)(l, R1, deadline);
}

#undef LOCK
#undef SPIN
#undef WORD
#undef NAME
#undef IS
#undef AT
#undef SLOW
#undef R1
#undef S1
#undef W1
