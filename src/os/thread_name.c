/* SPDX-License-Identifier: MIT */
/* The names of threads, for reports. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if defined(__linux__) && !PAWL_HOOKS
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#endif

#if defined(__linux__) && !PAWL_HOOKS

void pawl_os_thread_name(uint32_t id, char *text, size_t size)
{
    const int saved = errno;
    char path[64];
    ssize_t length = 0;
    int file;
    (void)snprintf(path, sizeof path, "/proc/self/task/%lu/comm", (unsigned long)id);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        length = read(file, text, size - 1);
        (void)close(file);
    }
    text[length > 0 ? length - 1 : 0] = 0; /* in place of the end of the line */
    errno = saved;
}

#else

void pawl_os_thread_name(uint32_t id, char *text, size_t size)
{
    (void)id;
    (void)size;
    text[0] = 0;
}

#endif
