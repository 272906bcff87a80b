/* SPDX-License-Identifier: MIT */
/* A plug-in that carries the library: operations of its copy, for lock.c, robust/copies.c and
 * table/copies.c. */
#include <string.h>

#include "os/robust.h"
#include "promises/verbs.h"
#include "table/calls.h"

__attribute__((visibility("default"))) verbs_describe promises_verbs;
__attribute__((visibility("default"))) uint32_t promises_self(void);
__attribute__((visibility("default"))) struct table_calls promises_table(void);

struct table_calls promises_table(void)
{
    return table_calls_of_this_copy();
}

uint32_t promises_self(void)
{
    return pawl_os_robust_self();
}

void promises_verbs(unsigned bits, struct verbs *v)
{
    verbs_of_this_copy(bits, v);
}
