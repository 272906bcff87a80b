/* SPDX-License-Identifier: MIT */
/* The operations of brlock.h, made of the protocol in brlock.c, and the life of a lock. */
#ifndef PAWL_COMPILED_
#define PAWL_COMPILED_ /* as in src/pawl.c */
#endif

#include <pawl/brlock.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "brlock_check.h"

/* ---- Reading --------------------------------------------------------------------------------- */

void ipawl_brlock_take_read_call_(pawl_brlock *l)
{
    uint32_t *const own = brlock_own(l);
    BRLOCK_BEFORE_TAKE(l, own, "pawl_brlock_take_read");
    BRLOCK_WAITS(l, "pawl_brlock_take_read");
    (void)brlock_take_read(l, own, PAWL_NO_DEADLINE);
    BRLOCK_WAITED();
}

bool ipawl_brlock_take_read_until_call_(pawl_brlock *l, uint64_t until)
{
    uint32_t *const own = brlock_own(l);
    BRLOCK_BEFORE_TAKE(l, own, "pawl_brlock_take_read_until");
    return brlock_take_read(l, own, until);
}

bool ipawl_brlock_try_read_call_(pawl_brlock *l)
{
    return brlock_try_read(l, brlock_own(l));
}

void ipawl_brlock_drop_read_call_(pawl_brlock *l)
{
    uint32_t *const own = brlock_own(l);
    BRLOCK_HOLDS_R(l, own, "pawl_brlock_drop_read");
    brlock_count_out(l, own);
}

void pawl_brlock_take_read_any(pawl_brlock *l)
{
    BRLOCK_BEFORE_TAKE(l, NULL, "pawl_brlock_take_read_any");
    BRLOCK_WAITS(l, "pawl_brlock_take_read_any");
    (void)brlock_take_read(l, NULL, PAWL_NO_DEADLINE);
    BRLOCK_WAITED();
}

bool pawl_brlock_try_read_any(pawl_brlock *l)
{
    return brlock_try_read(l, NULL);
}

void pawl_brlock_drop_read_any(pawl_brlock *l)
{
    BRLOCK_HOLDS_R(l, &l->shared, "pawl_brlock_drop_read_any");
    brlock_count_out(l, NULL);
}

/* ---- Seeking and writing --------------------------------------------------------------------- */

void pawl_brlock_take_seek(pawl_brlock *l)
{
    BRLOCK_BEFORE_TAKE(l, brlock_own(l), "pawl_brlock_take_seek");
    BRLOCK_WAITS(l, "pawl_brlock_take_seek");
    (void)brlock_take_seek(l, PAWL_NO_DEADLINE);
    BRLOCK_WAITED();
}

bool pawl_brlock_take_seek_until(pawl_brlock *l, uint64_t until)
{
    BRLOCK_BEFORE_TAKE(l, brlock_own(l), "pawl_brlock_take_seek_until");
    return brlock_take_seek(l, until);
}

bool pawl_brlock_try_seek(pawl_brlock *l)
{
    if (!brlock_gate_try(l))
        return false;
    brlock_have(l);
    return true;
}

void pawl_brlock_drop_seek(pawl_brlock *l)
{
    BRLOCK_HOLDS_GATE(l, 0, "pawl_brlock_drop_seek");
    brlock_gate_drop(l);
}

void pawl_brlock_take_write(pawl_brlock *l)
{
    BRLOCK_BEFORE_TAKE(l, brlock_own(l), "pawl_brlock_take_write");
    BRLOCK_WAITS(l, "pawl_brlock_take_write");
    (void)brlock_take_write(l, PAWL_NO_DEADLINE);
    BRLOCK_WAITED();
}

bool pawl_brlock_take_write_until(pawl_brlock *l, uint64_t until)
{
    BRLOCK_BEFORE_TAKE(l, brlock_own(l), "pawl_brlock_take_write_until");
    return brlock_take_write(l, until);
}

bool pawl_brlock_try_write(pawl_brlock *l)
{
    if (!brlock_gate_try(l))
        return false;
    brlock_have(l);
    if (brlock_try_seek_to_write(l))
        return true;
    brlock_gate_drop(l);
    return false;
}

void pawl_brlock_drop_write(pawl_brlock *l)
{
    BRLOCK_HOLDS_GATE(l, 1, "pawl_brlock_drop_write");
    brlock_open(l);
    brlock_gate_drop(l);
}

/* ---- Moving ---------------------------------------------------------------------------------- */

void pawl_brlock_seek_to_write(pawl_brlock *l)
{
    BRLOCK_HOLDS_GATE(l, 0, "pawl_brlock_seek_to_write");
    BRLOCK_WAITS(l, "pawl_brlock_seek_to_write");
    (void)brlock_seek_to_write(l, PAWL_NO_DEADLINE);
    BRLOCK_WAITED();
}

bool pawl_brlock_seek_to_write_until(pawl_brlock *l, uint64_t until)
{
    BRLOCK_HOLDS_GATE(l, 0, "pawl_brlock_seek_to_write_until");
    return brlock_seek_to_write(l, until);
}

bool pawl_brlock_try_seek_to_write(pawl_brlock *l)
{
    BRLOCK_HOLDS_GATE(l, 0, "pawl_brlock_try_seek_to_write");
    return brlock_try_seek_to_write(l);
}

void pawl_brlock_write_to_seek(pawl_brlock *l)
{
    BRLOCK_HOLDS_GATE(l, 1, "pawl_brlock_write_to_seek");
    brlock_open(l);
}

void pawl_brlock_write_to_read(pawl_brlock *l)
{
    BRLOCK_HOLDS_GATE(l, 1, "pawl_brlock_write_to_read");
    brlock_count_in(l, brlock_own(l));
    brlock_open(l);
    brlock_gate_drop(l);
}

void pawl_brlock_seek_to_read(pawl_brlock *l)
{
    BRLOCK_HOLDS_GATE(l, 0, "pawl_brlock_seek_to_read");
    brlock_count_in(l, brlock_own(l));
    brlock_gate_drop(l);
}

bool pawl_brlock_try_read_to_seek(pawl_brlock *l)
{
    uint32_t *const own = brlock_own(l);
    BRLOCK_HOLDS_R(l, own, "pawl_brlock_try_read_to_seek");
    if (!brlock_gate_try(l))
        return false;
    brlock_have(l);
    brlock_count_out(l, own);
    return true;
}

/* ---- The life of a lock ---------------------------------------------------------------------- */

static void brlock_set_up(pawl_brlock *l, pawl_brlock_line *lines, uint32_t count, uint32_t flags)
{
    memset(l, 0, sizeof *l);
    if (count > 0)
        memset(lines, 0, count * sizeof *lines);
    l->lines = lines;
    l->count = count;
    l->fenced = (flags & PAWL_BRLOCK_FENCED) != 0;
    l->inlined = l->fenced ? 0 : count;
    l->drain = brlock_drain_of(l);
}

int pawl_brlock_init(pawl_brlock *l, uint32_t lines)
{
    const uint32_t flags = lines & PAWL_BRLOCK_FENCED;
    const uint32_t count = lines & ~PAWL_BRLOCK_FENCED;
    char *memory;
    void *whole;
    uintptr_t first;
    if (l == NULL)
        return EINVAL;
    if (count == 0 || count > PAWL_BRLOCK_MOST_LINES) {
        brlock_set_up(l, NULL, 0, flags);
        return EINVAL;
    }
    whole = malloc((count + 1) * sizeof(pawl_brlock_line));
    if (whole == NULL) {
        brlock_set_up(l, NULL, 0, flags);
        return ENOMEM;
    }
    memory = (char *)whole;
    first = ((uintptr_t)memory + PAWL_CACHE_LINE - 1) & ~(uintptr_t)(PAWL_CACHE_LINE - 1);
    memory += first - (uintptr_t)memory;
    brlock_set_up(l, (pawl_brlock_line *)(void *)memory, count, flags);
    l->memory = whole;
    return 0;
}

int pawl_brlock_init_in(pawl_brlock *l, void *memory, size_t bytes, uint32_t flags)
{
    const size_t count = bytes / sizeof(pawl_brlock_line);
    if (l == NULL)
        return EINVAL;
    if (memory == NULL || (uintptr_t)memory % PAWL_CACHE_LINE != 0 || count == 0 ||
        (flags & ~PAWL_BRLOCK_FENCED) != 0) {
        brlock_set_up(l, NULL, 0, flags);
        return EINVAL;
    }
    brlock_set_up(l, (pawl_brlock_line *)memory,
                  count > PAWL_BRLOCK_MOST_LINES ? PAWL_BRLOCK_MOST_LINES : (uint32_t)count, flags);
    return 0;
}

void pawl_brlock_destroy(pawl_brlock *l)
{
    if (l == NULL)
        return;
    BRLOCK_UNUSED(l, "pawl_brlock_destroy");
    free(l->memory);
    l->memory = NULL;
    l->lines = NULL;
    l->count = 0;
    l->inlined = 0;
}
