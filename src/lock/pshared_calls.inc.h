/* SPDX-License-Identifier: MIT */
/* The exported halves of the lock in shared memory for one width, which hand the word on; pshared.c
 * includes this file. */
#define WAIT(operation) shared_wait(HERE, deadline, operation)
#define MET_READER ((void)0)
#include "waiting_calls.inc.h"

void PAWL_SLOW_(changed)(PAWL_LOCK_ *l, PAWL_WORD_ found, PAWL_WORD_ now)
{
    shared_changed(&HERE, WIDE(found), WIDE(now));
}

bool PAWL_SLOW_(lets_in)(PAWL_WORD_ found, PAWL_WORD_ now)
{
    return shared_lets_in(WIDE(found), WIDE(now));
}

void PAWL_SLOW_(leave)(PAWL_LOCK_ *l, PAWL_WORD_ units)
{
    shared_leave(&HERE, WIDE(units));
}

#undef WAIT
#undef MET_READER
#undef LAYOUT
#undef HERE
#undef WIDE
#undef PAWL_WORD_BITS
