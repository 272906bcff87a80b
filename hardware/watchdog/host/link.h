/* SPDX-License-Identifier: MIT */
/*
 * The line to the device: a serial port (CDC) or a hidraw node, told apart by their names in /dev.
 * A command is a line of the strict language (README.md); its reply comes back within a time limit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct link {
    const char *path;   /* of the device */
    const char *sysfs;  /* /sys, or what a test has in its place */
    const char *vendor; /* both names in full; NULL: not compared */
    const char *product;
    bool original;       /* the published device: vendor and product must be given */
    char original_digit; /* which command armed it last; 0: none */
    int fd;              /* -1: not open */
    bool was_open;       /* it answered, and its loss was not yet told */
    bool owes_disarm;    /* a disarm did not reach it */
    bool hid;
    char why[400]; /* one sentence, after a failure */
};

enum { LINK_REPLY = 64, LINK_MS = 1000 };

/* Opens the device, compares its names, asks for its version. */
bool link_open(struct link *l);
void link_close(struct link *l);
/* Sends a line and waits for its reply, without '=' and line end. False: the link is closed. */
bool link_ask(struct link *l, const char *line, char reply[LINK_REPLY]);
/* The same with the published device; used by link_ask. */
bool original_ask(struct link *l, const char *line, char reply[LINK_REPLY]);
