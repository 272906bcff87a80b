/* SPDX-License-Identifier: MIT */
/* The names that the program gives its locks (name.h): a hash table by address. */
#include <pawl/name.h>

#include "check.h"

#if PAWL_CHECKED

#include <stdio.h>
#include <string.h>

#define NAMES 4096u

/* How often a report asks for the table before it goes without names. */
#define NAME_TRIES 1000

/* Indices count from 1, 0 is none. */
struct pawl_check_name {
    ipawl_address_ object;
    uint32_t next; /* in its chain, or in the free list */
    char text[PAWL_NAME_LENGTH + 1];
};

struct pawl_names {
    struct pawl_latch lock; /* everything below */
    uint32_t used, free;
    uint32_t some; /* 1: there has been a name; read without the lock */
    uint32_t chains[NAMES];
    struct pawl_check_name names[NAMES + 1];
};

PAWL_SHARED_DECLARE(struct pawl_names, names_object);
PAWL_SHARED_DEFINE(struct pawl_names, names_object);

static struct pawl_names *names_here(void)
{
    return PAWL_SHARED(struct pawl_names, names_object);
}

/* The link that leads to the object's name, or the last link of its chain. */
static uint32_t *name_link(struct pawl_names *n, ipawl_address_ object)
{
    uint32_t *link = &n->chains[(uint32_t)((object * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % NAMES];
    while (*link != 0 && n->names[*link].object != object)
        link = &n->names[*link].next;
    return link;
}

/* A free entry; 0: there is none. */
static uint32_t name_new(struct pawl_names *n)
{
    uint32_t i = n->free;
    if (i != 0)
        n->free = n->names[i].next;
    else if (n->used < NAMES)
        i = ++n->used;
    return i;
}

void pawl_name_lock(const void *object, const char *name)
{
    struct pawl_names *const n = names_here();
    struct pawl_check_line *const line = check_line();
    uint32_t *link;
    if (line != NULL && line->busy != 0)
        return; /* a handler that interrupted the checker */
    check_enter(line, &n->lock);
    pawl_store_relaxed32(&n->some, 1);
    link = name_link(n, (ipawl_address_)(uintptr_t)object);
    if (*link == 0 && (*link = name_new(n)) != 0) {
        n->names[*link].object = (ipawl_address_)(uintptr_t)object;
        n->names[*link].next = 0;
    }
    if (*link != 0)
        (void)snprintf(n->names[*link].text, sizeof n->names[*link].text, "%s",
                       name == NULL ? "" : name);
    check_leave(line, &n->lock);
}

void ipawl_name_forget_(ipawl_address_ object)
{
    struct pawl_names *const n = names_here();
    struct pawl_check_line *const line = check_line();
    uint32_t *link;
    uint32_t i;
    if (pawl_load_relaxed32(&n->some) == 0 || (line != NULL && line->busy != 0))
        return;
    check_enter(line, &n->lock);
    link = name_link(n, object);
    i = *link;
    if (i != 0) {
        *link = n->names[i].next;
        n->names[i].next = n->free;
        n->free = i;
    }
    check_leave(line, &n->lock);
}

void pawl_unname_lock(const void *object)
{
    ipawl_name_forget_((ipawl_address_)(uintptr_t)object);
}

/* A handler that interrupted a naming thread reports without names. */
void ipawl_name_of_(ipawl_address_ object, char *text, size_t size)
{
    struct pawl_names *const n = names_here();
    uint32_t i;
    text[0] = 0;
    if (pawl_load_relaxed32(&n->some) == 0)
        return;
    for (int tries = 0; !latch_try(&n->lock); tries++) {
        if (tries == NAME_TRIES)
            return;
        pawl_os_yield();
    }
    i = *name_link(n, object);
    if (i != 0)
        (void)snprintf(text, size, "%s", n->names[i].text);
    latch_drop(&n->lock);
}

/* Another thread was changing the table as the process forked: the child begins anew. */
void ipawl_name_after_fork_(void)
{
    struct pawl_names *const n = names_here();
    if (pawl_load_relaxed32(&n->lock.word) != 0)
        memset(n, 0, sizeof *n);
}

#endif
