/* SPDX-License-Identifier: MIT */
/*
 * The waiting halves of the progressive lock that sleeps, for one width. lock_word.inc.h and
 * pshared_word.inc.h include this file, and each says how a thread waits:
 *
 *   PAWL_WAIT_              the type of one operation's wait; its field `claim` says which claim it
 *                           keeps, 0 for none
 *   wait_begin, wait_end
 *   wait_for                waits until the word lets the class go on; may give the waiter its
 *                           turn, and finds a claim that another thread made for it
 *   stake                   makes a claim if the word permits it
 *   alter                   adds units to what the waiter keeps, and wakes whom that lets in.
 *                           Release [SPIN_R_TO_A]: an atomic user's reads under R are done before
 *                           another atomic user enters
 *   enter_in_turn           a reader's PAST becomes R, unless there is another W
 *   class_to_read           the class of a reader: R or PASS
 *   enter_scaling           a reader that finds no W enters by an entry, if readers scale
 *   claim_at_lines          makes a claim in the queue before W looks at the entries
 *   readers_gone            W of the caller is in the word: waits until no entry has the lock;
 *                           false when the deadline has passed first
 *   PAWL_ONE_BY_ONE_        the classes of which a change wakes a waiter whenever they can go on
 *   PAWL_ESCALATES_         the classes that do not sleep where only atomic users are in, but wait
 *                           awake for their turn
 *
 * Each operation is a loop: claim if the word permits, else wait. waiting.h has the classes. The
 * read that ends a wait is relaxed; the access that follows acquires.
 */

/* ---- The word -------------------------------------------------------------------------------- */

/* The classes whose waiters can go on at this value of the word. */
static unsigned PAWL_NAME_(ready)(PAWL_WORD_ w)
{
    unsigned ready = 0;
    if (PAWL_IS_(no_writer)(w))
        ready |= WAIT_R | WAIT_GONE | (PAWL_IS_(seekers)(w) == PAWL_S_ ? WAIT_NEXT : 0u);
    if (PAWL_IS_(seekers)(w) != 0)
        ready |= WAIT_GONE;
    if (PAWL_IS_(no_seeker_or_writer)(w))
        ready |= WAIT_S | WAIT_W;
    if (PAWL_IS_(atomic_may_claim)(w))
        ready |= WAIT_A;
    if (PAWL_IS_(one_reader)(w))
        ready |= WAIT_DRAIN;
    if (PAWL_IS_(readers)(w) == 0)
        ready |= WAIT_UPDATE;
    if (PAWL_IS_(writers)(w) == PAWL_W_)
        ready |= WAIT_PAST | (PAWL_IS_(readers)(w) == 0 ? WAIT_ALONE : 0u);
    if (!PAWL_IS_(no_writer)(w) && PAWL_IS_(readers)(w) > PAWL_R_)
        ready |= WAIT_BESIDE; /* a granted writer is alone */
    return ready;
}

/* Only atomic users are in, or about to enter. */
static bool PAWL_NAME_(atomics_only)(PAWL_WORD_ w)
{
    return PAWL_IS_(atomics_or_nobody)(w) && !PAWL_IS_(no_writer)(w);
}

/* The classes whose waiters do not sleep at this value. */
static unsigned PAWL_NAME_(awake)(PAWL_WORD_ w)
{
    return PAWL_NAME_(ready)(w) | (PAWL_NAME_(atomics_only)(w) ? PAWL_ESCALATES_ : 0u);
}

/* The classes that a change lets go on, or keeps from sleeping, and that waited before. */
static unsigned PAWL_NAME_(opened)(PAWL_WORD_ found, PAWL_WORD_ after)
{
    unsigned before = PAWL_NAME_(awake)(found) & ~PAWL_ONE_BY_ONE_;
    /* GONE has two reasons to go on, and each is reported by itself. */
    if ((PAWL_IS_(no_writer)(after) && !PAWL_IS_(no_writer)(found)) ||
        (PAWL_IS_(seekers)(after) != 0 && PAWL_IS_(seekers)(found) == 0))
        before &= ~(unsigned)WAIT_GONE;
    return PAWL_NAME_(awake)(after) & ~before;
}

/* Whether the word permits a claim of this class. ALONE is a writer's over seekers or over atomic
 * users. `turn`: it is the waiter's turn. */
static bool PAWL_NAME_(permits)(enum wait_class claim, PAWL_WORD_ w, bool turn)
{
    switch (claim) {
    case WAIT_DRAIN:
    case WAIT_UPDATE: return PAWL_IS_(no_seeker_or_writer)(w);
    case WAIT_ALONE:
        return !PAWL_IS_(no_seeker_or_writer)(w) &&
               (turn || PAWL_IS_(no_writer)(w) || PAWL_IS_(atomics_or_nobody)(w));
    case WAIT_PAST: return turn && !PAWL_IS_(no_writer)(w);
    case WAIT_NEXT: return turn && PAWL_IS_(no_writer)(w) && PAWL_IS_(seekers)(w) != 0;
    default: return false;
    }
}

/* The claim of a waiter for the class whose turn it is; nothing where a turn would not help it, or
 * would keep out readers beside a seeker. */
static enum wait_class PAWL_NAME_(claim_of_turn)(enum wait_class class, PAWL_WORD_ w)
{
    switch (class) {
    case WAIT_W: return WAIT_ALONE;
    case WAIT_R:
    case WAIT_PASS: return WAIT_PAST;
    case WAIT_S:
    case WAIT_A: return PAWL_IS_(no_writer)(w) ? WAIT_NEXT : WAIT_PAST;
    default: return WAIT_NOTHING;
    }
}

static PAWL_WORD_ PAWL_NAME_(units_of)(enum wait_class claim)
{
    switch (claim) {
    case WAIT_DRAIN: return PAWL_W_S_R_;
    case WAIT_NEXT: return PAWL_S_;
    case WAIT_UPDATE:
    case WAIT_ALONE:
    case WAIT_PAST: return PAWL_W_S_;
    default: return 0;
    }
}

/* How a thread waits. */
static void PAWL_NAME_(wait_begin)(PAWL_WAIT_ *wait, PAWL_LOCK_ *l, uint64_t deadline);
static void PAWL_NAME_(wait_end)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait);
static enum outcome PAWL_NAME_(wait_for)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait, enum wait_class class);
static bool PAWL_NAME_(stake)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait, enum wait_class claim);
static void PAWL_NAME_(alter)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait, PAWL_WORD_ units,
                              enum wait_class claim);
static bool PAWL_NAME_(enter_in_turn)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait);
static enum wait_class PAWL_NAME_(class_to_read)(const PAWL_WAIT_ *wait);
static bool PAWL_NAME_(enter_scaling)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait, PAWL_WORD_ w);
static enum lines_claim PAWL_NAME_(claim_at_lines)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait);
static bool PAWL_NAME_(readers_gone)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait);

/* ---- Claims ---------------------------------------------------------------------------------- */

/* Takes the waiter's claim out of the word; always false. */
static bool PAWL_NAME_(withdraw)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait, PAWL_WORD_ units)
{
    PAWL_NAME_(alter)(l, wait, (PAWL_WORD_)(0u - units), WAIT_NOTHING);
    return false;
}

/* I1: W+S+R is in the word and newcomers wait. The writer waits until the only R is its own.
 * `units` is what it takes back when the deadline passes. */
static bool PAWL_NAME_(drain)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait, PAWL_WORD_ units)
{
    if (!PAWL_NAME_(readers_gone)(l, wait) ||
        PAWL_NAME_(wait_for)(l, wait, WAIT_DRAIN) == WAIT_TIMED_OUT)
        return PAWL_NAME_(withdraw)(l, wait, units);
    /* [SPIN_W_DRAIN] acquire: the writer's stores follow the reads of the readers it waited for. */
    (void)PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_W_DRAIN);
    return true;
}

/* I2: W+S is in the word, and S tells atomic users that turn to R that a claimant waits for R. The
 * caller becomes an atomic user: S goes when no reader is left. */
static bool PAWL_NAME_(update)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait, PAWL_WORD_ units)
{
    if (!PAWL_NAME_(readers_gone)(l, wait) ||
        PAWL_NAME_(wait_for)(l, wait, WAIT_UPDATE) == WAIT_TIMED_OUT)
        return PAWL_NAME_(withdraw)(l, wait, units);
    /* [SPIN_A_DRAIN] acquire: the atomic user's updates follow the reads of the readers it waited
     * for. */
    (void)PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_A_DRAIN);
    PAWL_NAME_(alter)(l, wait, (PAWL_WORD_)(0u - PAWL_S_), WAIT_NOTHING);
    return true;
}

/* I3: the waiter keeps W+S, which holds newcomers back, without R: R falls to zero when the last
 * holder has left. */
static bool PAWL_NAME_(alone)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait)
{
    if (!PAWL_NAME_(readers_gone)(l, wait) ||
        PAWL_NAME_(wait_for)(l, wait, WAIT_ALONE) == WAIT_TIMED_OUT)
        return PAWL_NAME_(withdraw)(l, wait, PAWL_W_S_);
    PAWL_NAME_(alter)(l, wait, PAWL_R_, WAIT_NOTHING);
    /* [SPIN_W_KEEP] acquire: the writer's stores follow the accesses of the holders it waited
     * for. */
    (void)PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_W_KEEP);
    return true;
}

/* It is the turn of a waiter for R, S or A. It waits until the writers have left. */
static bool PAWL_NAME_(past)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait)
{
    if (PAWL_NAME_(wait_for)(l, wait, WAIT_PAST) == WAIT_TIMED_OUT)
        return PAWL_NAME_(withdraw)(l, wait, PAWL_W_S_);
    return true;
}

/* For S and A it keeps only S then, which lets readers in, until nobody else has S or W. */
static bool PAWL_NAME_(next)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait)
{
    if (wait->claim == WAIT_PAST) {
        if (!PAWL_NAME_(past)(l, wait))
            return false;
        PAWL_NAME_(alter)(l, wait, (PAWL_WORD_)(0u - PAWL_W_), WAIT_NEXT);
    }
    if (PAWL_NAME_(wait_for)(l, wait, WAIT_NEXT) == WAIT_TIMED_OUT)
        return PAWL_NAME_(withdraw)(l, wait, PAWL_S_);
    return true;
}

/* ---- From U ---------------------------------------------------------------------------------- */

static bool PAWL_NAME_(wait_read)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait)
{
    const enum wait_class class = PAWL_NAME_(class_to_read)(wait);
    enum outcome how;
    PAWL_WORD_ w;
    for (;;) {
        w = PAWL_AT_(pawl_load_relaxed)(&l->word);
        while (PAWL_NAME_(ready)(w) & (unsigned)class) {
            if (PAWL_IS_(no_writer)(w) && PAWL_NAME_(enter_scaling)(l, wait, w))
                return true;
            /* [SPIN_R_TAKE] acquire: the reader's reads follow the last writer's stores. */
            if (PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_R_),
                                           PAWL_SPIN_R_TAKE))
                return true;
        }
        how = PAWL_NAME_(wait_for)(l, wait, class);
        if (how == WAIT_TIMED_OUT || how == WAIT_ENTERED)
            return how == WAIT_ENTERED;
        if (how == WAIT_CLAIM_MADE)
            break;
    }
    while (PAWL_NAME_(past)(l, wait))
        if (PAWL_NAME_(enter_in_turn)(l, wait)) /* else a seeker has become a writer meanwhile */
            return true;
    return false;
}

static bool PAWL_NAME_(wait_seek)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait)
{
    enum outcome how;
    PAWL_WORD_ w;
    for (;;) {
        w = PAWL_AT_(pawl_load_relaxed)(&l->word);
        while (PAWL_IS_(no_seeker_or_writer)(w)) {
            /* [SPIN_S_TAKE] acquire: the seeker sees the stores of the last seeker or writer. */
            if (PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_R_S_),
                                           PAWL_SPIN_S_TAKE))
                return true;
        }
        how = PAWL_NAME_(wait_for)(l, wait, WAIT_S);
        if (how == WAIT_TIMED_OUT)
            return false;
        if (how == WAIT_CLAIM_MADE)
            break;
    }
    if (!PAWL_NAME_(next)(l, wait))
        return false;
    PAWL_NAME_(alter)(l, wait, PAWL_R_, WAIT_NOTHING);
    /* [SPIN_S_TAKE] acquire: the seeker sees the stores of the last seeker or writer. */
    (void)PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_S_TAKE);
    return true;
}

static bool PAWL_NAME_(wait_write)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait)
{
    enum outcome how;
    PAWL_WORD_ w;
    for (;;) {
        w = PAWL_AT_(pawl_load_relaxed)(&l->word);
        while (PAWL_IS_(nobody)(w) && !PAWL_NAME_(scales_)(w)) {
            /* [SPIN_W_TAKE] acquire: the writer's stores follow all accesses of earlier holders. */
            if (PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_W_S_R_),
                                           PAWL_SPIN_W_TAKE))
                return true;
        }
        if (PAWL_IS_(nobody)(w)) {
            switch (PAWL_NAME_(claim_at_lines)(l, wait)) {
            case LINES_GRANTED: return true;
            case LINES_IN_USE: return PAWL_NAME_(drain)(l, wait, PAWL_W_S_R_);
            case LINES_CHANGED: continue;
            }
        }
        if (PAWL_IS_(no_seeker_or_writer)(w)) {
            if (PAWL_NAME_(stake)(l, wait, WAIT_DRAIN))
                return PAWL_NAME_(drain)(l, wait, PAWL_W_S_R_);
            continue;
        }
        if (PAWL_NAME_(permits)(WAIT_ALONE, w, false) && PAWL_NAME_(stake)(l, wait, WAIT_ALONE))
            return PAWL_NAME_(alone)(l, wait);
        how = PAWL_NAME_(wait_for)(l, wait, WAIT_W);
        if (how == WAIT_TIMED_OUT)
            return false;
        if (how == WAIT_CLAIM_MADE)
            return wait->claim == WAIT_DRAIN ? PAWL_NAME_(drain)(l, wait, PAWL_W_S_R_)
                                             : PAWL_NAME_(alone)(l, wait);
    }
}

static bool PAWL_NAME_(wait_atomic)(PAWL_LOCK_ *l, PAWL_WAIT_ *wait)
{
    enum outcome how;
    PAWL_WORD_ w;
    for (;;) {
        w = PAWL_AT_(pawl_load_relaxed)(&l->word);
        while (PAWL_IS_(atomics_or_nobody)(w) &&
               !(PAWL_NAME_(scales_)(w) && PAWL_IS_(no_writer)(w))) {
            /* [SPIN_A_TAKE] acquire: the atomic user's updates follow all accesses of earlier
             * holders. */
            if (PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_W_),
                                           PAWL_SPIN_A_TAKE))
                return true;
        }
        if (PAWL_IS_(no_seeker_or_writer)(w)) {
            if (PAWL_NAME_(stake)(l, wait, WAIT_UPDATE))
                return PAWL_NAME_(update)(l, wait, PAWL_W_S_);
            continue;
        }
        how = PAWL_NAME_(wait_for)(l, wait, WAIT_A);
        if (how == WAIT_TIMED_OUT)
            return false;
        if (how == WAIT_CLAIM_MADE)
            break;
    }
    if (wait->claim != WAIT_UPDATE) {
        if (!PAWL_NAME_(next)(l, wait))
            return false;
        PAWL_NAME_(alter)(l, wait, PAWL_W_, WAIT_UPDATE);
    }
    return PAWL_NAME_(update)(l, wait, PAWL_W_S_);
}

#define TAKE_SLOW(verb)                                                                            \
    bool PAWL_SLOW_(take_##verb##_slow)(PAWL_LOCK_ * l, uint64_t deadline)                         \
    {                                                                                              \
        PAWL_WAIT_ wait;                                                                           \
        bool granted;                                                                              \
        PAWL_NAME_(wait_begin)(&wait, l, deadline);                                                \
        granted = PAWL_NAME_(wait_##verb)(l, &wait);                                               \
        PAWL_NAME_(wait_end)(l, &wait);                                                            \
        return granted;                                                                            \
    }
TAKE_SLOW(read)
TAKE_SLOW(seek)
TAKE_SLOW(write)
TAKE_SLOW(atomic)
#undef TAKE_SLOW

/* ---- Claims at once, or not at all ----------------------------------------------------------- */

bool PAWL_SLOW_(claim_write_slow)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WAIT_ wait;
    bool granted;
    PAWL_NAME_(wait_begin)(&wait, l, deadline);
    granted = PAWL_NAME_(stake)(l, &wait, WAIT_DRAIN) && PAWL_NAME_(drain)(l, &wait, PAWL_W_S_R_);
    PAWL_NAME_(wait_end)(l, &wait);
    return granted;
}

bool PAWL_SLOW_(claim_atomic_slow)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WAIT_ wait;
    bool granted;
    PAWL_NAME_(wait_begin)(&wait, l, deadline);
    granted = PAWL_NAME_(do_try_atomic_)(l) ||
              (PAWL_NAME_(stake)(l, &wait, WAIT_UPDATE) && PAWL_NAME_(update)(l, &wait, PAWL_W_S_));
    PAWL_NAME_(wait_end)(l, &wait);
    return granted;
}

/* ---- From S, R and A ------------------------------------------------------------------------- */

bool PAWL_SLOW_(drain_slow)(PAWL_LOCK_ *l, PAWL_WORD_ claim, uint64_t deadline)
{
    PAWL_WAIT_ wait;
    bool granted;
    PAWL_NAME_(wait_begin)(&wait, l, deadline);
    granted = PAWL_NAME_(drain)(l, &wait, claim);
    PAWL_NAME_(wait_end)(l, &wait);
    return granted;
}

/* Takes R back when the deadline passes: W+S has kept everybody else out. */
bool PAWL_SLOW_(read_to_atomic_slow)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WAIT_ wait;
    bool granted;
    PAWL_NAME_(wait_begin)(&wait, l, deadline);
    PAWL_NAME_(alter)(l, &wait, (PAWL_WORD_)(0u - PAWL_R_), WAIT_UPDATE);
    granted = PAWL_NAME_(update)(l, &wait, (PAWL_WORD_)(PAWL_W_S_ - PAWL_R_));
    PAWL_NAME_(wait_end)(l, &wait);
    return granted;
}

/* R is in the word beside the W of others. When these are claimants that wait for R (I2: they show
 * S), no thread could go on. The caller then drops R. */
pawl_regained PAWL_SLOW_(regain_slow)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WAIT_ wait;
    enum outcome how;
    PAWL_WORD_ w;

    PAWL_NAME_(wait_begin)(&wait, l, deadline);
    how = PAWL_NAME_(wait_for)(l, &wait, WAIT_GONE);
    /* [SPIN_A_GONE] acquire: the reader's reads follow the updates of the atomic users it waited
     * for. */
    w = PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_A_GONE);
    if (how == WAIT_PASSED && PAWL_IS_(no_writer)(w)) {
        PAWL_NAME_(wait_end)(l, &wait);
        return PAWL_REGAIN_KEPT;
    }
    (void)PAWL_NAME_(withdraw)(l, &wait, PAWL_R_);
    PAWL_NAME_(wait_end)(l, &wait);
    if (how == WAIT_PASSED && PAWL_NAME_(do_take_read_)(l, deadline))
        return PAWL_REGAIN_LET_GO;
    return PAWL_REGAIN_TIMED_OUT;
}
