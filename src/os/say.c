/* SPDX-License-Identifier: MIT */
/* Output of reports to standard error, on every system. */
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
