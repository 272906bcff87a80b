/* SPDX-License-Identifier: MIT */
/* The needs of reports on every system: output to standard error, and the names of threads. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <errno.h>
#include <unistd.h>
#endif
#if defined(__linux__) && !PAWL_HOOKS
#include <fcntl.h>
#include <stdio.h>
#endif

#ifdef _WIN32

void pawl_os_complain(const char *text, size_t length)
{
    DWORD written;
    while (length > 0) {
        const DWORD part = length < 4096 ? (DWORD)length : 4096;
        if (!WriteFile(GetStdHandle(STD_ERROR_HANDLE), text, part, &written, NULL) || written == 0)
            return;
        text += written;
        length -= written;
    }
}

#else

void pawl_os_complain(const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(STDERR_FILENO, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return;
        text += written;
        length -= (size_t)written;
    }
}

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
