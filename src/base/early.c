/* SPDX-License-Identifier: MIT */
/* The set-up before main, for programs with a subsystem that needs it. A program that has none of
 * these does not contain this file, and nothing of the library runs before its main. */
#include "base.h"

void ipawl_subsystem_register_early_(enum pawl_floor floor, const struct pawl_subsystem *subsystem)
{
    ipawl_subsystem_register_(floor, subsystem);
}

#if !PAWL_HOOKS /* a harness calls it */
/* Before main, or when the object is loaded: here the registry may allocate. */
__attribute__((constructor)) static void thread_set_up_early(void)
{
    ipawl_set_up_();
}
#endif
