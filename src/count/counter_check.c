/* SPDX-License-Identifier: MIT */
/* The counters under the checking variant: records of use, and reports of misuse. */
#include "cells.h"

#include "../base/base.h"

#if PAWL_CHECKED

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PAWL_INTERNAL void cells_using(const void *object)
{
    char *block = pawl_counter_mine_()->block;
    if (block != NULL)
        pawl_store_relaxed64(pawl_cell_(block, CELL_IN_USE * 8), (uintptr_t)object);
}

PAWL_INTERNAL bool cells_in_use(const void *object)
{
    const char *own = pawl_counter_mine_()->block;
    const uint32_t lines = cells_lines();
    uint32_t i;
    for (i = 0; i < lines; i++) {
        char *block = cells_block(i);
        if (block != NULL && block != own &&
            pawl_load_relaxed64(pawl_cell_(block, CELL_IN_USE * 8)) == (uintptr_t)object)
            return true;
    }
    return false;
}

PAWL_INTERNAL void cells_report(const char *what, const char *type, const void *object,
                                const char *name,
                         void *site)
{
    char place[1024], text[2048];
    const char *mode = getenv("PAWL_CHECK");
    pawl_os_name_site((pawl_address_)(uintptr_t)site, place, sizeof place,
                      pawl_os_now() + UINT64_C(5000000000));
    (void)snprintf(text, sizeof text, "pawl: %s: %s at %#lx\n  by %s in thread %u at %s\n", what,
                   type, (unsigned long)(uintptr_t)object, name, pawl_os_thread_id(), place);
    pawl_os_complain(text, strlen(text));
    if (mode == NULL || strcmp(mode, "report") != 0)
        abort();
}

#endif
