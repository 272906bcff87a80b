/* SPDX-License-Identifier: MIT */
/* The objects that are one per process (shared.h): their pages are reserved at the first use. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if !PAWL_HOOKS

#include <pawl/detail/told.h>

#include <stdlib.h>

/* ThreadSanitizer takes new pages for written by the thread that reserved them. The system has
 * written them, before any thread can find them: zero bytes need no order between threads. */
#if PAWL_TSAN_
#define SHARED_TOLD_MADE(pointer) ipawl_told_give_(pointer)
#define SHARED_TOLD_FOUND(pointer) ipawl_told_get_(pointer)
#else
#define SHARED_TOLD_MADE(pointer) ((void)0)
#define SHARED_TOLD_FOUND(pointer) ((void)0)
#endif

static PAWL_COLD PAWL_NORETURN void shared_never(void)
{
    static const char text[] =
        "pawl: the system gives no memory for what threads share: allow mmap, or use a lock once "
        "before the program forbids itself that call\n";
    pawl_os_complain(text, sizeof text - 1);
    abort();
}

static PAWL_COLD void *shared_reserve(ipawl_address_ *pointer, size_t size)
{
    void *const pages = pawl_os_pages(size);
    ipawl_address_ found = 0;
    if (pages == NULL)
        return NULL;
    SHARED_TOLD_MADE(pointer);
    if (PAWL_ADDRESS_(pawl_cas_relaxed)(pointer, &found, (ipawl_address_)(uintptr_t)pages))
        return pages;
    pawl_os_give_up_pages(pages, size); /* another thread, or a handler of this one, was first */
    SHARED_TOLD_FOUND(pointer);
    return (void *)(uintptr_t)found;
}

void *pawl_os_shared_or_none(ipawl_address_ *pointer, size_t size)
{
    const ipawl_address_ found = PAWL_ADDRESS_(pawl_load_relaxed)(pointer);
    if (PAWL_UNLIKELY(found == 0))
        return shared_reserve(pointer, size);
    SHARED_TOLD_FOUND(pointer);
    return (void *)(uintptr_t)found;
}

void *pawl_os_shared(ipawl_address_ *pointer, size_t size)
{
    void *const object = pawl_os_shared_or_none(pointer, size);
    if (PAWL_UNLIKELY(object == NULL))
        shared_never();
    return object;
}

#undef SHARED_TOLD_MADE
#undef SHARED_TOLD_FOUND

#endif
