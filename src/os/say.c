/* SPDX-License-Identifier: MIT */
/* Output of reports to standard error, on every system: to the file that descriptor 2 was when the
 * library was loaded. A daemon closes it, and its next file gets the number. No duplicate is kept:
 * it would hold a pipe open whose end another process waits for. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#ifdef _WIN32

void pawl_os_remember_errors(void)
{
}

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

#ifdef __GLIBC__ /* 32-bit programs, too, meet inodes of 64 bits */
#define os_stat stat64
#define os_fstat fstat64
#else
#define os_stat stat
#define os_fstat fstat
#endif

static struct {
    uint64_t device, inode;
    uint32_t known; /* 0: not looked yet */
    bool open;
} os_errors;

static bool os_look_at_errors(uint64_t *device, uint64_t *inode)
{
    struct os_stat now;
    if (os_fstat(STDERR_FILENO, &now) != 0)
        return false;
    *device = (uint64_t)now.st_dev;
    *inode = (uint64_t)now.st_ino;
    return true;
}

PAWL_OS_EARLY static void os_remember_errors_early(void)
{
    const int saved = errno;
    if (os_errors.known == 0)
        pawl_os_remember_errors();
    errno = saved;
}

void pawl_os_remember_errors(void)
{
    os_errors.open = os_look_at_errors(&os_errors.device, &os_errors.inode);
    os_errors.known = 1;
}

/* The checking variant follows descriptor 2, as frameworks of tests redirect it. */
static bool os_errors_are_ours(void)
{
    uint64_t device, inode;
    os_remember_errors_early(); /* a constructor of another file may be first */
    return PAWL_CHECKED || (os_errors.open && os_look_at_errors(&device, &inode) &&
                            device == os_errors.device && inode == os_errors.inode);
}

void pawl_os_complain(const char *text, size_t length)
{
    const int saved = errno;
    const bool ours = os_errors_are_ours();
    while (ours && length > 0) {
        const ssize_t written = write(STDERR_FILENO, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break;
        text += written;
        length -= (size_t)written;
    }
    errno = saved;
}

#endif
