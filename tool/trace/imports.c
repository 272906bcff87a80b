/* SPDX-License-Identifier: MIT */
/*
 * Does any object of the program call what is recorded? Most small programs do not, and need no
 * raw file. One that loads such an object later makes its file at its first lock.
 */
#include "file.h"

#include <elf.h>
#include <link.h>

static const char *const prefixes[] = {"pthread_mutex_",
                                       "pthread_rwlock_",
                                       "pthread_spin_",
                                       "pthread_cond_",
                                       "pthread_barrier_",
                                       "sem_",
                                       "mtx_",
                                       "cnd_",
                                       "ipawl_trace_done_",
                                       "ipawl_trace_name_"};

static bool is_ours(const char *name)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* The loader adds the base to these entries, but for the kernel's own object. */
static const void *at(const struct dl_phdr_info *object, const ElfW(Dyn) *d)
{
    const uint64_t value = d->d_un.d_ptr;
    return (const void *)(uintptr_t)(value < object->dlpi_addr ? object->dlpi_addr + value : value);
}

/* Names that an object wants of others come first in its table: before those in its hash. */
static int wants_ours(struct dl_phdr_info *object, size_t size, void *unused)
{
    const ElfW(Dyn) *d = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    uint32_t i, count = 0;
    (void)size;
    (void)unused;
    for (i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            d = (const ElfW(Dyn) *)(uintptr_t)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    for (; d != NULL && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            symbols = at(object, d);
        else if (d->d_tag == DT_STRTAB)
            names = at(object, d);
        else if (d->d_tag == DT_GNU_HASH)
            count = ((const uint32_t *)at(object, d))[1];
        else if (d->d_tag == DT_HASH && count == 0)
            count = ((const uint32_t *)at(object, d))[1];
    }
    if (symbols == NULL || names == NULL)
        return 0;
    for (i = 1; i < count; i++)
        if (symbols[i].st_shndx == SHN_UNDEF && is_ours(names + symbols[i].st_name))
            return 1;
    return 0;
}

bool trace_imports_locks(void)
{
    return dl_iterate_phdr(wants_ours, NULL) != 0;
}
