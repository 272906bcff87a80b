/* SPDX-License-Identifier: MIT */
/* ASK_AHEAD(address): the thread will read that line soon. It is no access: it orders nothing, and
 * any address will do. */
#ifndef PAWL_AHEAD_H
#define PAWL_AHEAD_H

#include <pawl/atomic.h>

#ifdef PAWL_SIM
PAWL_C_BEGIN
void pawl_sim_ahead(const void *address);
PAWL_C_END
#define ASK_AHEAD(address) pawl_sim_ahead(address)
#elif PAWL_HOOKS
#define ASK_AHEAD(address) ((void)(address))
#else
#define ASK_AHEAD(address) __builtin_prefetch(address)
#endif

#endif
