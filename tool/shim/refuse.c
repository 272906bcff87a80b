/* SPDX-License-Identifier: MIT */
/* What both preload libraries say. Without stdio: the program may have replaced malloc, or closed
 * its streams. */
#include "mode.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool shim_say(int file, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        const ssize_t written = write(file, text, left);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text += written;
        left -= (size_t)written;
    }
    return true;
}

void shim_refuse(const char *sentence)
{
    (void)shim_say(STDERR_FILENO, "libpawl-preload: ");
    (void)shim_say(STDERR_FILENO, sentence);
    (void)shim_say(STDERR_FILENO, ".\n");
    _exit(2);
}
