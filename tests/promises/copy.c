/* SPDX-License-Identifier: MIT */
/* A plug-in that carries the library: the operations of its copy, for lock.c. */
#include <string.h>

#include "promises/verbs.h"

__attribute__((visibility("default"))) verbs_describe promises_verbs;

void promises_verbs(unsigned bits, struct verbs *v)
{
    verbs_of_this_copy(bits, v);
}
