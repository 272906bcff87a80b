/* SPDX-License-Identifier: MIT */
/* A plug-in that carries the library: operations of its copy, for lock.c and robust/copies.c. */
#include <string.h>

#include "os/robust.h"
#include "promises/verbs.h"

__attribute__((visibility("default"))) verbs_describe promises_verbs;
__attribute__((visibility("default"))) uint32_t promises_self(void);

uint32_t promises_self(void)
{
    return pawl_os_robust_self();
}

void promises_verbs(unsigned bits, struct verbs *v)
{
    verbs_of_this_copy(bits, v);
}
