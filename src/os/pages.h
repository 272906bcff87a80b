/* SPDX-License-Identifier: MIT */
/* Pages of memory by mmap: linux.c, darwin.c and freebsd.c include this file. */
#ifndef PAWL_OS_PAGES_H
#define PAWL_OS_PAGES_H

#include "os.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __linux__
/* Most pages are never touched: no huge page may bring them in. */
#define OS_KEEP_SMALL(pages, size) ((void)madvise(pages, size, MADV_NOHUGEPAGE))
#define OS_MAKE_ZERO(pages, size) (madvise(pages, size, MADV_DONTNEED) == 0)
#else
#define OS_KEEP_SMALL(pages, size) ((void)0)
#define OS_MAKE_ZERO(pages, size)                                                                  \
    (mmap(pages, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0) == pages)
#endif

void *pawl_os_pages(size_t size)
{
    const int saved = errno;
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (pages != MAP_FAILED)
        OS_KEEP_SMALL(pages, size);
    errno = saved;
    if (pages == MAP_FAILED)
        return NULL;
    pawl_os_told_own(pages, size);
    return pages;
}

void pawl_os_give_up_pages(void *pages, size_t size)
{
    const int saved = errno;
    (void)munmap(pages, size);
    errno = saved;
}

bool pawl_os_return_pages(void *pages, size_t size)
{
    const int saved = errno;
    const long page = sysconf(_SC_PAGESIZE);
    const bool done = page > 0 && size % (size_t)page == 0 && OS_MAKE_ZERO(pages, size);
    errno = saved;
    return done;
}

#endif
