/* SPDX-License-Identifier: MIT */
/*
 * How copies of the library in one process find each other (shared.h).
 *
 * A module is a program or a library, as the loader knows them. It has at most one copy of each
 * version and variant. The loader's list of modules has the order in which they were loaded, and
 * nothing is put before what is there. So the first module that has a name stays the first, for
 * all copies and at all times, if it is never unloaded: it pins itself.
 *
 * A copy walks to its own module, mostly the first one of the list, and looks at the notes of those
 * before it. It does so under the loader's lock or before main, and never again.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if PAWL_FINDS_COPIES_

#include <link.h>
#include <stdlib.h>
#include <string.h>

/* Weak: a statically linked program need not have it, and loads no copies. */
extern __typeof__(dl_iterate_phdr) dl_iterate_phdr __attribute__((weak));

struct copies_note {
    uint32_t owner_size, size, type;
    char owner[8];       /* "Pawl" */
    int32_t place, from; /* distances from these fields */
    char name[];         /* and behind it the version */
};

static bool copies_in_program;
static bool copies_stranger;

/* ---- Notes ----------------------------------------------------------------------------------- */

/* Whether the module has these bytes in memory. */
static bool copies_has(const struct dl_phdr_info *module, uintptr_t at, size_t size)
{
    for (unsigned i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *const part = &module->dlpi_phdr[i];
        const uintptr_t offset = at - (uintptr_t)(module->dlpi_addr + part->p_vaddr);
        if (part->p_type == PT_LOAD && offset < part->p_memsz && size <= part->p_memsz - offset)
            return true;
    }
    return false;
}

struct copies_walk {
    const struct dl_phdr_info *module;
    unsigned segment;
    const char *at;
    size_t left;
};

/* From one note of the segment to the next; NULL: it was no note of the library. */
static const struct copies_note *copies_step(struct copies_walk *walk)
{
    const struct copies_note *const note = (const struct copies_note *)(const void *)walk->at;
    const uint64_t size = offsetof(struct copies_note, owner) +
                          (((uint64_t)note->owner_size + 3) & ~(uint64_t)3) +
                          (((uint64_t)note->size + 3) & ~(uint64_t)3);
    if (size > walk->left) {
        walk->left = 0;
        return NULL;
    }
    walk->at += size;
    walk->left -= (size_t)size;
    return note->owner_size == 5 && memcmp(note->owner, "Pawl", 5) == 0 && note->type == 1 ? note
                                                                                           : NULL;
}

/* The next note of the library in the module, or NULL. */
static const struct copies_note *copies_next(struct copies_walk *walk)
{
    const ElfW(Phdr) *part;
    for (;;) {
        while (walk->left > offsetof(struct copies_note, owner)) {
            const struct copies_note *const note = copies_step(walk);
            if (note != NULL)
                return note;
        }
        if (walk->segment == walk->module->dlpi_phnum)
            return NULL;
        part = &walk->module->dlpi_phdr[walk->segment++];
        walk->at = (const char *)(uintptr_t)(walk->module->dlpi_addr + part->p_vaddr);
        walk->left = 0;
        /* Notes of another alignment are not the library's. */
        if (part->p_type == PT_NOTE && part->p_align <= 4 &&
            copies_has(walk->module, (uintptr_t)walk->at, part->p_memsz))
            walk->left = part->p_memsz;
    }
}

static const char *copies_version(const struct copies_note *note)
{
    return note->name + strlen(note->name) + 1;
}

typedef void *(*copies_function)(void);

static copies_function copies_place(const struct copies_note *note)
{
    return (copies_function)((uintptr_t)&note->place + (uintptr_t)(intptr_t)note->place);
}

static copies_function *copies_from(const struct copies_note *note)
{
    return (copies_function *)((uintptr_t)&note->from + (uintptr_t)(intptr_t)note->from);
}

/* ---- Modules --------------------------------------------------------------------------------- */

struct copies_search {
    struct dl_phdr_info own; /* dlpi_phdr is NULL until it is found */
    bool begun;
};

static int copies_find_own(struct dl_phdr_info *module, size_t size, void *opaque)
{
    struct copies_search *const search = (struct copies_search *)opaque;
    (void)size;
#ifdef __GLIBC__
    /* The program is the first of its list, and has no name there. A namespace of dlmopen has a
     * list of its own, without the program. */
    if (!search->begun && module->dlpi_name[0] != 0)
        copies_stranger = true;
#endif
    search->begun = true;
    if (!copies_has(module, (uintptr_t)&copies_stranger, 1))
        return 0;
    /* An older C library's structure ends behind these. */
    search->own.dlpi_addr = module->dlpi_addr;
    search->own.dlpi_name = module->dlpi_name;
    search->own.dlpi_phdr = module->dlpi_phdr;
    search->own.dlpi_phnum = module->dlpi_phnum;
    return 1;
}

/* A note of an earlier module: the first of its name and version is the one that all use. */
static void copies_meet(const struct dl_phdr_info *own, const struct copies_note *theirs)
{
    struct copies_walk walk = {own, 0, NULL, 0};
    const struct copies_note *note;
    while ((note = copies_next(&walk)) != NULL) {
        if (strcmp(note->name, theirs->name) != 0 || *copies_from(note) != NULL)
            continue;
        if (strcmp(copies_version(note), copies_version(theirs)) == 0)
            *copies_from(note) = copies_place(theirs);
        else
            copies_stranger = true;
    }
}

static int copies_look(struct dl_phdr_info *module, size_t size, void *opaque)
{
    const struct copies_search *const search = (const struct copies_search *)opaque;
    struct copies_walk walk = {module, 0, NULL, 0};
    const struct copies_note *note;
    (void)size;
    if (module->dlpi_phdr == search->own.dlpi_phdr)
        return 1;
    while ((note = copies_next(&walk)) != NULL)
        copies_meet(&search->own, note);
    return 0;
}

/* The loader may have bound both names to one place. Then the inline functions have it, too. True:
 * this copy is the first to have that name. */
static bool copies_settle(const struct copies_note *note)
{
    const copies_function found = *copies_from(note);
    if (found == NULL)
        return true;
    if (copies_place(note)() == found())
        *copies_from(note) = NULL;
    return false;
}

void pawl_os_find_copies(void)
{
    static bool done;
    struct copies_search search;
    struct copies_walk walk = {&search.own, 0, NULL, 0};
    const struct copies_note *note;
    bool first = false;
    if (done || dl_iterate_phdr == NULL)
        return;
    done = true;
    memset(&search, 0, sizeof search);
    (void)dl_iterate_phdr(copies_find_own, &search);
    if (search.own.dlpi_phdr == NULL)
        return;
    copies_in_program = search.own.dlpi_name[0] == 0;
    while ((note = copies_next(&walk)) != NULL)
        *copies_from(note) = NULL;
    (void)dl_iterate_phdr(copies_look, &search);
    walk.segment = 0;
    while ((note = copies_next(&walk)) != NULL)
        first |= copies_settle(note);
    if (first && !copies_in_program)
        (void)pawl_os_pin();
}

void *pawl_os_bind(copies_function *from, copies_function bind, copies_function place)
{
    pawl_os_find_copies();
    if (*from == bind) /* it could not look */
        *from = NULL;
    return *from == NULL ? place() : (*from)();
}

bool pawl_os_is_stranger(void)
{
    return copies_stranger;
}

static PAWL_COLD PAWL_NORETURN void copies_never(void)
{
    static const char text[] =
        "pawl: a lock has readers of another copy of the library, which this copy cannot see: it "
        "is of another version or variant, or one of the two was loaded with dlmopen. Set "
        "PAWL_BIAS=off, or let all link one libpawl.so\n";
    pawl_os_complain(text, sizeof text - 1);
    abort();
}

void pawl_os_must_be_known(void)
{
    if (PAWL_UNLIKELY(copies_stranger))
        copies_never();
}

bool pawl_os_in_program(void)
{
    return copies_in_program;
}

PAWL_OS_EARLY static void copies_find_early(void)
{
    pawl_os_find_copies();
}

#endif
