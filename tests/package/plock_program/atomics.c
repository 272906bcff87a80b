/* SPDX-License-Identifier: MIT */
/* A part of a program written against plock that uses the atomic helpers alone. */
#include "atomic-ops.h"

unsigned int next_number(unsigned int *count);
unsigned int next_number(unsigned int *count)
{
    pl_cpu_relax();
    pl_mb();
    pl_inc_noret(count);
    if (pl_cmpxchg(count, 1U, 3U) == 1U)
        pl_or_noret(count, 8U);
    return pl_load(count);
}
