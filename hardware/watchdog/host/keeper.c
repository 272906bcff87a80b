/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "watchdogd.h"

static const char ARMED[] = "no refresh was withheld: a hang, a loss of power, or a reset by hand";

int keeper_least(const struct keeper *k)
{
    return k->device_count > 1 ? 5 : 1;
}

bool keeper_ask(struct keeper *k, const char *line, char reply[LINK_REPLY])
{
    char one[LINK_REPLY];
    bool good = true, any = false;
    snprintf(reply, LINK_REPLY, "%.60s", k->links[0].why);
    for (int i = 0; i < k->device_count; i++) {
        if (k->links[i].fd < 0)
            continue;
        if (!link_ask(&k->links[i], line, one))
            snprintf(one, sizeof one, "%.60s", k->links[i].why);
        if (good)
            memcpy(reply, one, sizeof one); /* the first that refuses is told */
        good = good && strncmp(one, "ok", 2) == 0;
        any = true;
    }
    return any && good;
}

static bool arm_one(struct keeper *k, struct link *l, char reply[LINK_REPLY])
{
    char line[16];
    int set = 0;
    snprintf(line, sizeof line, "A%d", k->timeout);
    l->owes_disarm = false;
    if (!link_ask(l, line, reply)) {
        snprintf(reply, LINK_REPLY, "%.60s", l->why);
        return false;
    }
    if (sscanf(reply, "ok %d", &set) != 1 || set < 1)
        return false;
    k->timeout = set; /* what was really set */
    say("%s is armed: a reset comes unless it is refreshed every %d s", l->path, set);
    return true;
}

bool keeper_arm(struct keeper *k, int seconds, char reply[LINK_REPLY])
{
    char one[LINK_REPLY];
    bool good = true, any = false;
    k->timeout = seconds;
    k->wanted = true;
    state_note(&k->state, ARMED);
    snprintf(reply, LINK_REPLY, "%.60s", k->links[0].why);
    for (int i = 0; i < k->device_count; i++) {
        if (k->links[i].fd < 0)
            continue;
        any = true;
        if (!arm_one(k, &k->links[i], one) && good) {
            good = false;
            memcpy(reply, one, sizeof one);
        }
    }
    if (any && good)
        snprintf(reply, LINK_REPLY, "ok");
    return any && good;
}

bool keeper_disarm(struct keeper *k, char reply[LINK_REPLY])
{
    bool good;
    k->wanted = false;
    k->feeder = NONE;
    k->refused[0] = 0;
    good = keeper_ask(k, "D", reply);
    for (int i = 0; i < k->device_count; i++)
        k->links[i].owes_disarm = k->links[i].fd < 0;
    if (good)
        say("disarmed");
    state_note(&k->state, "");
    return good;
}

/* Two names of one node must not become two devices. */
static bool is_open_already(struct keeper *k, struct link *l)
{
    struct stat mine, other;
    if (stat(l->path, &mine) != 0)
        return false;
    for (int i = 0; i < k->device_count; i++)
        if (k->links[i].fd >= 0 && fstat(k->links[i].fd, &other) == 0 &&
            other.st_rdev == mine.st_rdev && other.st_ino == mine.st_ino) {
            snprintf(l->why, sizeof l->why, "%s is the same device as %s", l->path,
                     k->links[i].path);
            return true;
        }
    return false;
}

static void find(struct keeper *k, struct link *l)
{
    char reply[LINK_REPLY];
    if (is_open_already(k, l) || !link_open(l))
        return;
    l->was_open = true;
    say("the device at %s answers", l->path);
    if (k->wanted)
        arm_one(k, l, reply);
    else if (l->owes_disarm && link_ask(l, "D", reply))
        l->owes_disarm = false;
}

void keeper_find(struct keeper *k)
{
    for (int i = 0; i < k->device_count; i++) {
        struct link *l = &k->links[i];
        if (l->fd < 0 && l->was_open) {
            say("the device is lost: %s%s", l->why,
                k->wanted ? "; it counts on if it has power, and is armed again when it is back"
                          : "");
            l->was_open = false;
        }
    }
    for (int i = 0; i < k->device_count; i++) {
        struct link *l = &k->links[k->turn++ % k->device_count];
        if (l->fd < 0) {
            find(k, l);
            return;
        }
    }
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
    if (!all_is_well(k)) {
        state_note(&k->state, k->refused);
        return;
    }
    for (int i = 0; i < k->device_count; i++) {
        struct link *l = &k->links[i];
        if (l->fd < 0 || !link_ask(l, "K", reply) || strncmp(reply, "ok", 2) == 0)
            continue;
        say("the device was not armed any more: it was reset, or it fired; it is armed again");
        k->wanted = true;
        arm_one(k, l, reply);
    }
    keeper_find(k);
    if (k->wanted)
        state_note(&k->state, ARMED); /* after the refresh: a disk may be slow */
}

void keeper_round(struct keeper *k)
{
    char reply[LINK_REPLY];
    if (!k->wanted) {
        keeper_ask(k, "?", reply); /* notices a device that is gone */
        keeper_find(k);
    } else if (k->feeder == NONE) {
        keeper_refresh(k);
    } else {
        keeper_find(k); /* its client refreshes, or has ceased to */
    }
}
