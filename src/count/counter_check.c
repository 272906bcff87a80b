/* SPDX-License-Identifier: MIT */
/* The counters under the checking variant: records of use. */
#include "cells.h"

#include "../base/base.h"

#if PAWL_CHECKED

PAWL_INTERNAL void cells_using(const void *object)
{
    char *block = ipawl_counter_mine_()->block;
    if (block != NULL)
        pawl_store_relaxed64(ipawl_cell_(block, CELL_IN_USE * 8), (uintptr_t)object);
}

PAWL_INTERNAL bool cells_in_use(const void *object)
{
    const char *own = ipawl_counter_mine_()->block;
    const uint32_t lines = cells_lines();
    for (uint32_t i = 0; i < lines; i++) {
        char *block = cells_block(i);
        if (block != NULL && block != own &&
            pawl_load_relaxed64(ipawl_cell_(block, CELL_IN_USE * 8)) == (uintptr_t)object)
            return true;
    }
    return false;
}

#endif
