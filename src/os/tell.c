/* SPDX-License-Identifier: MIT */
/* Descriptors that a wake makes readable (notice.h). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#include <errno.h>

#if PAWL_CALLS_OUT_ /* the harness has no descriptors */

int pawl_os_may_tell(int descriptor)
{
    return descriptor < 0 ? EBADF : 0;
}

void pawl_os_tell(int descriptor)
{
    pawl_hook_tell(descriptor);
}

/* The default: a harness whose threads wait for a descriptor defines it. */
__attribute__((weak)) void pawl_hook_tell(int descriptor)
{
    (void)descriptor;
}

#elif defined(_WIN32) || defined(__wasm__)

int pawl_os_may_tell(int descriptor)
{
    (void)descriptor;
    return ENOTSUP;
}

void pawl_os_tell(int descriptor)
{
    (void)descriptor;
}

#else

#include <fcntl.h>
#include <unistd.h>

int pawl_os_may_tell(int descriptor)
{
    const int before = errno;
    const int flags = fcntl(descriptor, F_GETFL);
    const int failed = errno;
    errno = before;
    if (flags == -1)
        return failed;
    return (flags & O_NONBLOCK) != 0 && (flags & O_ACCMODE) != O_RDONLY ? 0 : EINVAL;
}

/* A descriptor that is full is readable. One that was closed tells nobody. */
void pawl_os_tell(int descriptor)
{
    static const uint64_t one = 1;
    const int before = errno;
    const ssize_t written = write(descriptor, &one, sizeof one);
    (void)written;
    errno = before;
}

#endif
