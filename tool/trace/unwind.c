/* SPDX-License-Identifier: MIT */
#include "unwind.h"
#include "state.h"

#include <dlfcn.h>
#include <errno.h>
#include <features.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- Objects --------------------------------------------------------------------------------- */

#if __GLIBC_PREREQ(2, 35)
/* Absent where the program runs with an older C library than this file was built with. */
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

bool trace_unwind_is_possible(void)
{
    return _dl_find_object != NULL;
}

bool trace_unwind_object(uint64_t address, struct unwind_object *found)
{
    struct dl_find_object object;
    if (_dl_find_object((void *)(uintptr_t)address, &object) != 0)
        return false;
    found->from = (uint64_t)(uintptr_t)object.dlfo_map_start;
    found->to = (uint64_t)(uintptr_t)object.dlfo_map_end;
    found->tables = (uint64_t)(uintptr_t)object.dlfo_eh_frame;
    return true;
}
#else
bool trace_unwind_is_possible(void)
{
    return false;
}

bool trace_unwind_object(uint64_t address, struct unwind_object *found)
{
    (void)address;
    (void)found;
    return false;
}
#endif

/* ---- The stack ------------------------------------------------------------------------------- */

/* Copies some words from a little below the address up to the end of its page. A part of a page is
 * copied as a whole or not at all. */
static bool copy(struct unwind *u, uint64_t address)
{
    const uint64_t page = address & ~(uint64_t)(UNWIND_PAGE - 1);
    const uint64_t below = address - page < 56 ? address - page : 56;
    const uint64_t left = page + UNWIND_PAGE - (address - below);
    struct iovec from, to;
    if (!trace_may_call())
        return false;
    u->from = address - below;
    u->count = left / 8 < UNWIND_WORDS ? left / 8 : UNWIND_WORDS;
    from.iov_base = (void *)(uintptr_t)u->from;
    to.iov_base = u->words;
    from.iov_len = to.iov_len = (size_t)u->count * 8;
    bool done = next()->syscall(SYS_process_vm_readv, (long)u->thread, &to, 1L, &from, 1L, 0L) ==
                (long)to.iov_len;
    trace_has_called();
    if (!done)
        u->count = 0;
    return done;
}

bool trace_unwind_read(struct unwind *u, uint64_t address, uint64_t *value)
{
    if (address % 8 != 0)
        return false;
    if ((address < u->from || (address - u->from) / 8 >= u->count) && !copy(u, address))
        return false;
    *value = u->words[(address - u->from) / 8];
    return true;
}

uint64_t trace_unwind_without_signature(uint64_t address)
{
#if defined(__aarch64__)
    register uint64_t x30 __asm__("x30") = address;
    __asm__("hint #7" : "+r"(x30)); /* xpaclri */
    return x30;
#else
    return address;
#endif
}
