/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watchdogd.h"

bool keeper_arm(struct keeper *k, int seconds)
{
    char line[16], reply[LINK_REPLY];
    int set = 0;
    k->timeout = seconds;
    k->wanted = true;
    snprintf(line, sizeof line, "A%d", seconds);
    if (!link_ask(&k->link, line, reply) || sscanf(reply, "ok %d", &set) != 1 || set < 1)
        return false;
    k->timeout = set; /* what was really set */
    say("armed: a reset comes unless the device is refreshed every %d s", set);
    return true;
}

bool keeper_disarm(struct keeper *k)
{
    char reply[LINK_REPLY];
    k->wanted = false;
    k->feeder = NONE;
    k->refused[0] = 0;
    if (!link_ask(&k->link, "D", reply))
        return false;
    say("disarmed");
    return true;
}

/* Finds the device, also under another number; a device that was lost is armed again. */
static bool find_device(struct keeper *k)
{
    if (k->link.fd >= 0)
        return true;
    if (k->was_connected) {
        say("the device is lost: %s%s", k->link.why,
            k->wanted ? "; it counts on if it has power, and is armed again when it is back" : "");
        k->was_connected = false;
    }
    if (!link_open(&k->link))
        return false;
    k->was_connected = true;
    say("the device at %s answers", k->link.path);
    return !k->wanted || keeper_arm(k, k->timeout);
}

static bool all_is_well(struct keeper *k)
{
    char why[100], now[sizeof k->refused] = "";
    for (int i = 0; i < k->check_count; i++)
        if (!check_passes(&k->checks[i], why, sizeof why) && now[0] == 0)
            snprintf(now, sizeof now, "check %.80s: %s", k->checks[i].text, why);
    if (strcmp(now, k->refused) != 0) {
        if (now[0])
            say("no refresh: %s; the reset comes within %d s unless this changes", now, k->timeout);
        else
            say("refreshing again: all checks pass");
        memcpy(k->refused, now, sizeof now);
    }
    return now[0] == 0;
}

void keeper_refresh(struct keeper *k)
{
    char reply[LINK_REPLY];
    if (!all_is_well(k) || !find_device(k))
        return;
    if (!link_ask(&k->link, "K", reply))
        return;
    if (strncmp(reply, "ok", 2) != 0) {
        say("the device was not armed any more: it was reset, or it fired; it is armed again");
        keeper_arm(k, k->timeout);
    }
}

void keeper_round(struct keeper *k)
{
    char reply[LINK_REPLY];
    if (!k->wanted) {
        if (find_device(k))
            link_ask(&k->link, "?", reply); /* notices a device that is gone */
    } else if (k->feeder == NONE) {
        keeper_refresh(k);
    } else {
        find_device(k); /* its client refreshes, or has ceased to */
    }
}
