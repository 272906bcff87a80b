/* SPDX-License-Identifier: MIT */
/* The daemon's parts: watchdogd.c (loop, options), clients.c (sockets), keeper.c, state.c. */
#pragma once

#include <stdbool.h>

#include "checks.h"
#include "link.h"
#include "say.h"

enum { MAX_TIMEOUT = 3600, CLIENTS = 16, LINE = 128, DEVICES_MOST = 4 };

/* Who refreshes: the daemon itself, or a client of the socket `watchdog` by its writes. */
enum feeder { NONE, CONNECTED, ABANDONED };

enum { STAMP = 21 }; /* bytes of the time before a note */

/* This outlasts a reset; nothing is kept without a path. */
struct state {
    const char *path;
    char boot[64];  /* the kernel's name of the boot that wrote it */
    char now[256];  /* a time, and why a reset would come; "": none is to be expected */
    char last[256]; /* the same when a machine that had such a note started anew */
    bool failed;    /* the last write did, and that was told */
};

struct keeper {
    struct link links[DEVICES_MOST];
    int device_count;
    int turn; /* where the next search for a lost device begins */
    struct state state;
    struct check checks[CHECKS_MOST];
    int check_count;
    int timeout;     /* seconds */
    int interval_ms; /* between two refreshes */
    bool wanted;     /* the device is to be armed */
    enum feeder feeder;
    char refused[200]; /* why the last refresh was withheld; "": it was not */
};

/* ---- keeper.c: what is done with the device -------------------------------------------------- */

/* The least time-out: one device of several that hangs must not starve the others. */
int keeper_least(const struct keeper *k);
/* Has every device that is there do it. True if one is there and all did; else `reply` says why. */
bool keeper_ask(struct keeper *k, const char *line, char reply[LINK_REPLY]);
bool keeper_arm(struct keeper *k, int seconds, char reply[LINK_REPLY]);
bool keeper_disarm(struct keeper *k, char reply[LINK_REPLY]);
/* Opens devices that are not there: one a call, as it may hang. */
void keeper_find(struct keeper *k);
/* The regular round: runs the checks, refreshes, finds devices. */
void keeper_round(struct keeper *k);
/* Checks and refreshes, on behalf of the daemon or of a client. */
void keeper_refresh(struct keeper *k);

/* ---- state.c: the cause of the last reset ---------------------------------------------------- */

void state_open(struct state *s);
/* Notes why a reset may come; "" that none may. Writes, and waits for the disk, if that is news. */
void state_note(struct state *s, const char *text);

/* ---- clients.c: the sockets `watchdog` and `control` ----------------------------------------- */

bool clients_open(const char *folder);
/* Waits for clients for at most so many milliseconds, and serves them. */
void clients_serve(struct keeper *k, int ms);
void clients_close(void);
