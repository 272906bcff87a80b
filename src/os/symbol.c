/* SPDX-License-Identifier: MIT */
/* The names of global variables and functions, for the reports of the checking variant. The dynamic
 * linker knows exported ones only, so this reads the symbol table of the module's file. Only the
 * names of C++ allocate. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if PAWL_CHECKED

#include <stdio.h>
#include <stdlib.h>

#ifdef __linux__

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A module's file in memory. */
struct file {
    const char *bytes;
    size_t size;
};

/* `size` bytes at `offset`; NULL: they are not in the file. */
static const void *symbol_bytes(const struct file *f, uint64_t offset, uint64_t size)
{
    return offset <= f->size && size <= f->size - offset ? f->bytes + offset : NULL;
}

/* The address that is looked for, and where its name goes. */
struct wanted {
    unsigned char type; /* STT_OBJECT or STT_FUNC */
    uintptr_t address;
    char *text;
    size_t size;
};

/* Of the C++ runtime, where the program has it. Allocates. */
extern char *__cxa_demangle(const char *name, char *room, size_t *size, int *status)
    __attribute__((weak));

static void symbol_say(const struct wanted *w, const char *name, unsigned long offset)
{
    int status = -1;
    char *plain = strncmp(name, "_Z", 2) == 0 && __cxa_demangle != NULL
                      ? __cxa_demangle(name, NULL, NULL, &status)
                      : NULL;
    if (plain != NULL)
        name = plain;
    if (offset == 0)
        (void)snprintf(w->text, w->size, "%s", name);
    else
        (void)snprintf(w->text, w->size, "%s+%#lx", name, offset);
    free(plain);
}

/* The object at the address of the module, in one table of symbols. */
static bool symbol_in(const struct file *f, const ElfW(Shdr) *table, const ElfW(Shdr) *names,
                      const struct wanted *w)
{
    const ElfW(Sym) *symbol = (const ElfW(Sym) *)symbol_bytes(f, table->sh_offset, table->sh_size);
    const char *strings = (const char *)symbol_bytes(f, names->sh_offset, names->sh_size);
    size_t left = table->sh_size / sizeof *symbol;
    if (symbol == NULL || strings == NULL || names->sh_size == 0 ||
        strings[names->sh_size - 1] != 0)
        return false;
    for (; left > 0; left--, symbol++) {
        const uintptr_t offset = w->address - symbol->st_value;
        if ((symbol->st_info & 0xf) != w->type || w->address < symbol->st_value ||
            offset >= symbol->st_size || symbol->st_name >= names->sh_size)
            continue;
        symbol_say(w, strings + symbol->st_name, (unsigned long)offset);
        return true;
    }
    return false;
}

static void symbol_find(const struct file *f, uintptr_t base, struct wanted *w)
{
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)symbol_bytes(f, 0, sizeof *head);
    const ElfW(Shdr) *sections;
    if (head == NULL || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_shentsize != sizeof *sections)
        return;
    if (head->e_type != ET_EXEC)
        w->address -= base;
    sections = (const ElfW(Shdr) *)symbol_bytes(f, head->e_shoff,
                                                (uint64_t)head->e_shnum * sizeof *sections);
    if (sections == NULL)
        return;
    for (unsigned i = 0; i < head->e_shnum; i++)
        if ((sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM) &&
            sections[i].sh_link < head->e_shnum &&
            symbol_in(f, &sections[i], &sections[sections[i].sh_link], w))
            return;
}

static void symbol_name(unsigned char type, ipawl_address_ address, char *text, size_t size)
{
    struct wanted wanted = {type, (uintptr_t)address, text, size};
    Dl_info info, program;
    struct stat about;
    struct file f = {NULL, 0};
    void *mapped = MAP_FAILED;
    const char *path;
    int file;

    text[0] = 0;
    if (dladdr((const void *)(uintptr_t)address, &info) == 0 || info.dli_fname == NULL)
        return;
    /* The program's own name is its argv[0], which need not be a path to it. */
    path = dladdr((const void *)getauxval(AT_PHDR), &program) != 0 &&
                   program.dli_fbase == info.dli_fbase
               ? "/proc/self/exe"
               : info.dli_fname;
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    if (fstat(file, &about) == 0 && about.st_size > 0) {
        f.size = (size_t)about.st_size;
        mapped = mmap(NULL, f.size, PROT_READ, MAP_PRIVATE, file, 0);
    }
    (void)close(file);
    if (mapped == MAP_FAILED)
        return;
    f.bytes = (const char *)mapped;
    symbol_find(&f, (uintptr_t)info.dli_fbase, &wanted);
    (void)munmap(mapped, f.size);
}

void pawl_os_name_data(ipawl_address_ address, char *text, size_t size)
{
    symbol_name(STT_OBJECT, address, text, size);
}

void pawl_os_name_function(ipawl_address_ address, char *text, size_t size)
{
    symbol_name(STT_FUNC, address, text, size);
}

#else

void pawl_os_name_function(ipawl_address_ address, char *text, size_t size)
{
    (void)address;
    if (size > 0)
        text[0] = 0;
}

void pawl_os_name_data(ipawl_address_ address, char *text, size_t size)
{
    (void)address;
    if (size > 0)
        text[0] = 0;
}

#endif

#endif
