/* SPDX-License-Identifier: MIT */
/*
 * The published device, and ours in its compatible language: the strict lines that the daemon
 * speaks, as one-byte commands. It has no version to ask for, so both names must be given and be
 * right. Its time-outs are 2^N-1 seconds: the next longer one is taken, and what was really set is
 * answered. Whether its power is off it does not tell.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "link.h"

enum { LONGEST_N = 8, MS = 1000 };

/* Two bytes come: the level, and the seconds left. */
static bool ask_state(struct link *l, unsigned char state[2])
{
    size_t have = 0;
    if (write(l->fd, "?", 1) != 1)
        return false;
    while (have < 2) {
        struct pollfd wait = {.fd = l->fd, .events = POLLIN};
        ssize_t n;
        if (poll(&wait, 1, MS) <= 0)
            return false;
        n = read(l->fd, state + have, 2 - have);
        if (n <= 0)
            return false;
        have += (size_t)n;
    }
    return state[0] == '0' || state[0] == '1';
}

static bool arm(struct link *l, int seconds)
{
    char digit = '1';
    while (digit < '0' + LONGEST_N && (1 << (digit - '0')) - 1 < seconds)
        digit++;
    l->original_digit = digit;
    return write(l->fd, &digit, 1) == 1;
}

bool original_ask(struct link *l, const char *line, char reply[LINK_REPLY])
{
    const size_t length = strlen(line);
    unsigned char state[2] = {0, 0};
    int seconds;
    bool good;
    if (strcmp(line, "V") == 0) /* an unknown byte: it resets the parser */
        good = write(l->fd, "\n", 1) == 1 && ask_state(l, state);
    else if (sscanf(line, "A%d", &seconds) == 1)
        good = arm(l, seconds) && ask_state(l, state);
    else if (strcmp(line, "K") == 0 || strcmp(line, "?") == 0)
        good = ask_state(l, state);
    else
        good = write(l->fd, *line == 'D' ? "0" : line, length) == (ssize_t)length;
    if (!good)
        return false;
    seconds = l->original_digit ? (1 << (l->original_digit - '0')) - 1 : 0;
    if (strcmp(line, "V") == 0)
        snprintf(reply, LINK_REPLY, "pawl-wd 1");
    else if (*line == '?')
        snprintf(reply, LINK_REPLY, "s %c n %d %d 0 - 0", state[0], state[1] ? seconds : 0,
                 state[1]);
    else if (*line == 'K' && state[1] == 0)
        snprintf(reply, LINK_REPLY, "no");
    else if (*line == 'K')
        return arm(l, seconds) && snprintf(reply, LINK_REPLY, "ok %d", seconds) > 0;
    else
        snprintf(reply, LINK_REPLY, "ok %d", seconds);
    return true;
}
