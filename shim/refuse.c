/* SPDX-License-Identifier: MIT */
/* What both preload libraries say. Without stdio: the program may have replaced malloc, or closed
 * its streams. */
#include "mode.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void shim_say(int file, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        const ssize_t written = write(file, text, left);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return;
        text += written;
        left -= (size_t)written;
    }
}

void shim_refuse(const char *sentence)
{
    shim_say(STDERR_FILENO, "libpawl-preload: ");
    shim_say(STDERR_FILENO, sentence);
    shim_say(STDERR_FILENO, ".\n");
    _exit(2);
}
