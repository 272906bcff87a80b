/* SPDX-License-Identifier: MIT */
/* Whether a thread takes its lock again after a wait for a condition. */
#include "retake.h"

#if PAWL_HOOKS || defined(PAWL_SIM) || !defined(__ELF__)
PAWL_INTERNAL void retake_begins(void)
{
}
PAWL_INTERNAL void retake_ends(void)
{
}
PAWL_INTERNAL bool is_retake(void)
{
    return false;
}
#else
static _Thread_local __attribute__((tls_model("initial-exec"))) bool is_between;

PAWL_INTERNAL void retake_begins(void)
{
    is_between = true;
}
PAWL_INTERNAL void retake_ends(void)
{
    is_between = false;
}
PAWL_INTERNAL bool is_retake(void)
{
    return is_between;
}
#endif
