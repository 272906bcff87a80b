/* SPDX-License-Identifier: MIT */
/* The extra lines of RCU (src/rcu/rcu_extra.c), as tests see them. */
#pragma once

#include "test.h"

#include "rcu/rcu.h"

static inline struct pawl_rcu_extra *extra_line(uint32_t number)
{
    const ipawl_address_ block = rcu_here()->extra[number / RCU_EXTRA_IN_BLOCK];
    return &((struct pawl_rcu_extra *)(uintptr_t)block)[number % RCU_EXTRA_IN_BLOCK];
}

static inline uint32_t extra_lines(void)
{
    uint32_t blocks = 0;
    while (blocks < RCU_EXTRA_BLOCKS && rcu_here()->extra[blocks] != 0)
        blocks++;
    return blocks * RCU_EXTRA_IN_BLOCK;
}

/* The caller's line in RCU. */
static inline struct pawl_rcu_line *line_of_caller(void)
{
    struct pawl_rcu_extra *const extra = PAWL_RCU_MINE_.extra;
    return extra != NULL ? &extra->line : &rcu_here()->lines[thread_number(thread_registered())];
}
