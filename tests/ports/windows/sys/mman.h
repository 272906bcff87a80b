/* SPDX-License-Identifier: MIT */
/* Windows: the anonymous mappings that tests make, and nothing else of <sys/mman.h>. */
#pragma once

#include <stddef.h>

#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 4
#define MAP_FAILED ((void *)-1)

/* Of <windows.h>, whose names some tests would not bear. */
__declspec(dllimport) void *__stdcall VirtualAlloc(void *, size_t, unsigned long, unsigned long);
__declspec(dllimport) int __stdcall VirtualFree(void *, size_t, unsigned long);

static inline void *mmap(void *at, size_t size, int protection, int flags, int file, long offset)
{
    void *pages = VirtualAlloc(at, size, 0x3000 /* reserve, commit */, 4 /* read, write */);
    return pages == NULL ? MAP_FAILED : pages;
}

static inline int munmap(void *pages, size_t size)
{
    return VirtualFree(pages, 0, 0x8000 /* release */) ? 0 : -1;
}
