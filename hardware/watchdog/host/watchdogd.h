/* SPDX-License-Identifier: MIT */
/* The daemon's state, shared by watchdogd.c (loop, options), clients.c (sockets) and keeper.c. */
#ifndef PAWL_WATCHDOGD_H
#define PAWL_WATCHDOGD_H

#include <stdbool.h>

#include "checks.h"
#include "link.h"
#include "say.h"

enum { MAX_TIMEOUT = 3600, CLIENTS = 16, LINE = 128 };

/* Who refreshes: the daemon itself, or a client of the socket `watchdog` by its writes. */
enum feeder { NONE, CONNECTED, ABANDONED };

struct keeper {
    struct link link;
    struct check checks[CHECKS_MOST];
    int check_count;
    int timeout;     /* seconds */
    int interval_ms; /* between two refreshes */
    bool wanted;     /* the device is to be armed */
    enum feeder feeder;
    bool was_connected;
    char refused[200]; /* why the last refresh was withheld; "": it was not */
};

/* ---- keeper.c: what is done with the device -------------------------------------------------- */

bool keeper_arm(struct keeper *k, int seconds);
bool keeper_disarm(struct keeper *k);
/* The regular round: finds the device, runs the checks, refreshes. */
void keeper_round(struct keeper *k);
/* Checks and refreshes, on behalf of the daemon or of a client. */
void keeper_refresh(struct keeper *k);

/* ---- clients.c: the sockets `watchdog` and `control` ----------------------------------------- */

bool clients_open(const char *folder);
/* Waits for clients for at most so many milliseconds, and serves them. */
void clients_serve(struct keeper *k, int ms);
void clients_close(void);

#endif
