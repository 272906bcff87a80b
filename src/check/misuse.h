/* SPDX-License-Identifier: MIT */
/* A report of the checking variant in two lines, for primitives that keep their own books. */
#ifndef PAWL_MISUSE_H
#define PAWL_MISUSE_H

#include <pawl/thread.h>

#if PAWL_CHECKED

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "../os/os.h"

/* "pawl: WHAT: TYPE at ADDRESS", and who did it by which call. Then as for all reports: the end of
 * the program, unless PAWL_CHECK=report. */
static void report_misuse(const char *what, const char *type, const void *object, const char *call,
                          const void *site)
{
    static char text[4096]; /* guarded by the report lock, as the name of the site needs it */
    const char *mode = getenv("PAWL_CHECK");
    const int saved = errno;
    struct pawl_thread_line *line = pawl_thread_line_();
    size_t length;

    check_enter(line, &pawl_os_process()->report_lock);
    (void)snprintf(text, sizeof text, "pawl: %s: %s at %#lx\n  by %s in thread %u at ", what, type,
                   (unsigned long)(uintptr_t)object, call, pawl_os_thread_id());
    length = strlen(text);
    pawl_os_name_site((pawl_address_)(uintptr_t)site, text + length, sizeof text - length - 1,
                      pawl_os_now() + UINT64_C(5000000000));
    length = strlen(text);
    text[length++] = '\n';
    pawl_os_complain(text, length);
    check_leave(line, &pawl_os_process()->report_lock);
    if (mode == NULL || strcmp(mode, "report") != 0)
        abort();
    errno = saved;
}

#endif
#endif
