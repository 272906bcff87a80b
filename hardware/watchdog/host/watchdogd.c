/* SPDX-License-Identifier: MIT */
/*
 * pawl-watchdogd: keeps the USB watchdog refreshed as long as the machine is well. See usage().
 * One thread, one loop: what hangs it hangs the refresh.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "watchdogd.h"

enum { BAD_INPUT = 2 };

static volatile sig_atomic_t ended;

static void usage(FILE *to)
{
    fputs(
        "usage: pawl-watchdogd --device PATH... [OPTION...]\n"
        "Refreshes the USB watchdog while all checks pass. Arms nothing unless told to.\n\n"
        "  --device PATH       serial port or hidraw node (the udev rule makes\n"
        "                      /dev/pawl-watchdog-hidraw and /dev/pawl-watchdog-tty);\n"
        "                      up to 4, by repeating it: each is fed, one that is lost is sought\n"
        "  --vendor NAME       use the device only if both names are right, in full\n"
        "  --product NAME\n"
        "  --original          the published device, or ours in that language; both names are\n"
        "                      needed, and time-outs become 1, 3, 7 ... 255 s\n"
        "  --folder DIR        where the sockets and the lock are (/run/pawl-watchdogd)\n"
        "  --state FILE        keep the cause of the last reset there\n"
        "  --timeout SECONDS   1 to 3600 (60); with several devices 5 or more\n"
        "  --interval MS       between two refreshes (a quarter of the time-out)\n"
        "  --arm               arm at once; else a client does\n"
        "  --keep-armed        leave the device counting when the daemon is stopped\n"
        "  --check CHECK       may be repeated: pid:FILE file:FILE:SECONDS beat:FILE:SECONDS\n"
        "                      load:NUMBER memory:MEGABYTES command:COMMAND\n"
        "  --realtime          run before all ordinary processes\n"
        "  --sysfs DIR         instead of /sys, for tests\n"
        "exit codes: 0 stopped, 1 failed, 2 bad input\n",
        to);
}

static void on_signal(int number)
{
    (void)number;
    ended = 1;
}

/* Tells systemd (sd_notify's protocol: a datagram to a socket that it names). */
static void notify(const char *text)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *name = getenv("NOTIFY_SOCKET");
    const size_t length = name ? strlen(name) : 0;
    int fd;
    if (length == 0 || length >= sizeof address.sun_path)
        return;
    memcpy(address.sun_path, name, length);
    if (name[0] == '@')
        address.sun_path[0] = 0;
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&address,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
    close(fd);
}

struct options {
    const char *folder;
    const char *vendor, *product, *sysfs; /* of every device, as is `original` */
    bool arm, keep_armed, realtime, original;
};

static int whole_number(const char *text, int least, int most)
{
    char *end;
    const long number = strtol(text, &end, 10);
    return *text && *end == 0 && number >= least && number <= most ? (int)number : -1;
}

static bool add_check(struct keeper *k, const char *text)
{
    char why[160] = "there are too many checks";
    if (k->check_count < CHECKS_MOST &&
        check_parse(&k->checks[k->check_count], text, why, sizeof why)) {
        k->check_count++;
        return true;
    }
    say("--check: %s", why);
    return false;
}

static bool add_device(struct keeper *k, const char *path)
{
    for (int i = 0; i < k->device_count; i++)
        if (strcmp(k->links[i].path, path) == 0) {
            say("--device: %s is given twice", path);
            return false;
        }
    if (k->device_count == DEVICES_MOST) {
        say("--device: %d are the most", DEVICES_MOST);
        return false;
    }
    k->links[k->device_count++] = (struct link){.fd = -1, .path = path};
    return true;
}

static const struct option names[] = {
    {"device", 1, NULL, 'd'},   {"vendor", 1, NULL, 'v'},     {"product", 1, NULL, 'p'},
    {"folder", 1, NULL, 'f'},   {"timeout", 1, NULL, 't'},    {"interval", 1, NULL, 'i'},
    {"arm", 0, NULL, 'a'},      {"keep-armed", 0, NULL, 'k'}, {"check", 1, NULL, 'c'},
    {"realtime", 0, NULL, 'r'}, {"sysfs", 1, NULL, 's'},      {"help", 0, NULL, 'h'},
    {"original", 0, NULL, 'o'}, {"state", 1, NULL, 'S'},      {NULL, 0, NULL, 0},
};

/* False, after a sentence, if an option is wrong. */
static bool take_option(struct keeper *k, struct options *o, int option, const char *value)
{
    switch (option) {
    case 'd': return add_device(k, value);
    case 'v': o->vendor = value; return true;
    case 'p': o->product = value; return true;
    case 's': o->sysfs = value; return true;
    case 'f': o->folder = value; return true;
    case 'o': o->original = true; return true;
    case 'S': k->state.path = value; return true;
    case 'a': o->arm = true; return true;
    case 'k': o->keep_armed = true; return true;
    case 'r': o->realtime = true; return true;
    case 'c': return add_check(k, value);
    case 't':
        k->timeout = whole_number(value, 1, MAX_TIMEOUT);
        if (k->timeout < 0)
            say("--timeout: %s is not a number from 1 to %d", value, MAX_TIMEOUT);
        return k->timeout > 0;
    case 'i':
        k->interval_ms = whole_number(value, 10, MAX_TIMEOUT * 1000);
        if (k->interval_ms < 0)
            say("--interval: %s is not a number of milliseconds, 10 or more", value);
        return k->interval_ms > 0;
    default: return false;
    }
}

static int read_options(struct keeper *k, struct options *o, int argc, char **argv)
{
    int option;
    while ((option = getopt_long(argc, argv, "h", names, NULL)) != -1) {
        if (option == 'h') {
            usage(stdout);
            exit(0);
        }
        if (!take_option(k, o, option, optarg))
            return BAD_INPUT;
    }
    if (k->device_count == 0 || optind != argc || (o->vendor == NULL) != (o->product == NULL)) {
        say("--device is needed, and --vendor and --product go together; see --help");
        return BAD_INPUT;
    }
    if (k->timeout < keeper_least(k)) {
        say("--timeout: with several devices it is %d s or more", keeper_least(k));
        return BAD_INPUT;
    }
    for (int i = 0; i < k->device_count; i++) {
        struct link *l = &k->links[i];
        l->vendor = o->vendor;
        l->product = o->product;
        l->sysfs = o->sysfs;
        l->original = o->original;
        if (o->original &&
            (o->vendor == NULL || k->timeout > 255 || strstr(l->path, "hidraw") != NULL)) {
            say("--original needs --vendor and --product, a serial port, and at most 255 s");
            return BAD_INPUT;
        }
    }
    if (k->interval_ms == 0 || k->interval_ms > k->timeout * 500)
        k->interval_ms = k->timeout * 250;
    return 0;
}

/* One daemon a folder: the lock lasts as long as the process. */
static bool lock_folder(const char *folder)
{
    char path[300];
    int fd;
    snprintf(path, sizeof path, "%s/lock", folder);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        say("cannot write in %s: %s", folder, strerror(errno));
        return false;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        say("another pawl-watchdogd runs in %s", folder);
        return false;
    }
    return true;
}

/* A page that must come back from a disk, or a busy processor, must not delay a refresh. */
static void become_steady(bool realtime)
{
    const struct sched_param priority = {.sched_priority = 10};
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        say("memory is not locked: %s", strerror(errno));
    if (realtime && sched_setscheduler(0, SCHED_FIFO, &priority) != 0)
        say("no real-time priority: %s", strerror(errno));
}

static bool any_is_open(const struct keeper *k)
{
    for (int i = 0; i < k->device_count; i++)
        if (k->links[i].fd >= 0)
            return true;
    return false;
}

static void serve(struct keeper *k)
{
    long long next = 0;
    while (!ended) {
        const long long now = now_ms();
        if (now >= next) {
            keeper_round(k);
            notify("WATCHDOG=1");
            next = now_ms() + (any_is_open(k) || k->interval_ms < 1000 ? k->interval_ms : 1000);
        }
        clients_serve(k, (int)(next - now > 0 ? next - now : 0));
    }
}

int main(int argc, char **argv)
{
    struct keeper keeper = {.timeout = 60};
    struct options options = {.folder = "/run/pawl-watchdogd", .sysfs = "/sys"};
    const struct sigaction action = {.sa_handler = on_signal};
    const int wrong = read_options(&keeper, &options, argc, argv);
    char reply[LINK_REPLY];
    if (wrong)
        return wrong;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    if (!lock_folder(options.folder) || !clients_open(options.folder))
        return 1;
    state_open(&keeper.state);
    become_steady(options.realtime);
    for (int i = 0; i < keeper.device_count; i++) {
        keeper_find(&keeper);
        if (keeper.links[i].fd < 0)
            say("no device yet: %s", keeper.links[i].why);
    }
    if (options.arm)
        keeper_arm(&keeper, keeper.timeout, reply);
    notify("READY=1");
    serve(&keeper);
    notify("STOPPING=1");
    if (keeper.wanted && (keeper.feeder != NONE || options.keep_armed))
        say("stopped; the device counts on, the reset comes within %d s", keeper.timeout);
    else if (keeper.wanted)
        keeper_disarm(&keeper, reply);
    else
        state_note(&keeper.state, "");
    clients_close();
    return 0;
}
