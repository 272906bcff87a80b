/* SPDX-License-Identifier: MIT */
/*
 * What must be well before the device is refreshed. The loop that refreshes also runs the checks,
 * so a daemon that hangs refreshes nothing.
 *
 *   pid:FILE           the process whose number is in FILE lives
 *   file:FILE:SECONDS  FILE was changed within so many seconds
 *   beat:FILE:SECONDS  a program called pawl_watch_beat() within so many seconds (pawl_watch.h),
 *                      and reported no stall
 *   load:NUMBER        the load average of one minute is at most this
 *   memory:MEGABYTES   at least so much memory is available
 *   command:COMMAND    sh -c COMMAND succeeds, within the interval between two refreshes
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { CHECKS_MOST = 16 };

struct check {
    const char *text; /* as it was given */
    int kind;
    char *argument;
    double number;
    pid_t child; /* a command that runs */
    bool passed; /* a command: the last one did */
};

/* False, and a sentence in `why`, if the text is none of the above. */
bool check_parse(struct check *c, const char *text, char *why, size_t size);
/* Whether it is well; if not, `why` says in a few words what is wrong. Never waits. */
bool check_passes(struct check *c, char *why, size_t size);
