/* SPDX-License-Identifier: MIT */
/* The rows of waiting.def, asked of a word: which waiters may go on, and which may claim. */
#include "waiting.h"

#include <limits.h>

static unsigned lock_facts_of(uint64_t field, uint64_t unit)
{
    if (field == 0)
        return WORD_NO_R;
    return field == unit ? WORD_SOME_R | WORD_ONE_R : WORD_SOME_R | WORD_MORE_R;
}

static unsigned lock_facts(uint64_t w)
{
    return lock_facts_of(ipawl_spin64_readers_(w), UNIT_R) |
           lock_facts_of(ipawl_spin64_seekers_(w), UNIT_S) * WORD_NO_S |
           lock_facts_of(ipawl_spin64_writers_(w), UNIT_W) * WORD_NO_W;
}

PAWL_INTERNAL unsigned lock_ready(uint64_t w)
{
    const unsigned facts = lock_facts(w);
    return 0u
#define WAIT_READY(class, needs) | (((needs) & ~facts) == 0 ? (unsigned)(class) : 0u)
#include "waiting.def"
        ;
}

PAWL_INTERNAL bool lock_atomics_only(uint64_t w)
{
    return ipawl_spin64_atomics_or_nobody_(w) && !ipawl_spin64_no_writer_(w);
}

PAWL_INTERNAL unsigned lock_sleepless(uint64_t w, unsigned escalate)
{
    return lock_ready(w) | (lock_atomics_only(w) ? escalate : 0u);
}

PAWL_INTERNAL unsigned lock_opened(uint64_t found, uint64_t after, unsigned one_by_one,
                                   unsigned escalate)
{
    return lock_sleepless(after, escalate) & ~(lock_sleepless(found, escalate) & ~one_by_one);
}

/* The first claim of these that the word permits a waiter for one of the classes. */
static enum wait_class lock_first_claim(unsigned classes, unsigned claims, uint64_t w, bool turn)
{
    static const struct {
        uint16_t class, claim, needs;
    } rows[] = {
#define WAIT_CLAIM(class, claim, facts) {class, claim, facts},
#include "waiting.def"
    };
    const unsigned facts = lock_facts(w) | (turn ? WAIT_IN_TURN : 0u);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if ((rows[i].class & classes) && (rows[i].claim & claims) && (rows[i].needs & ~facts) == 0)
            return (enum wait_class)rows[i].claim;
    return WAIT_NOTHING;
}

PAWL_INTERNAL bool lock_permits(enum wait_class claim, uint64_t w, bool turn)
{
    return lock_first_claim(UINT_MAX, (unsigned)claim, w, turn) != WAIT_NOTHING;
}

PAWL_INTERNAL enum wait_class lock_claim_of(enum wait_class class, uint64_t w, bool turn)
{
    return lock_first_claim((unsigned)class, UINT_MAX, w, turn);
}

PAWL_INTERNAL uint64_t lock_units_of(enum wait_class claim)
{
    const unsigned class = (unsigned)claim;
    return (class & WAIT_CLAIMS ? UNIT_S : 0) + (class & WAIT_CLAIMS_W ? UNIT_W : 0) +
           (class & WAIT_CLAIMS_R ? UNIT_R : 0);
}
