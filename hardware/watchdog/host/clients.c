/* SPDX-License-Identifier: MIT */
/*
 * Two UNIX sockets.
 *   watchdog  as Linux's /dev/watchdog: to connect arms, any write refreshes, V as the last byte
 *             before the end disarms, an end without it leaves the device counting. One client.
 *   control   a line, answered by one line of JSON: status, arm S, refresh, disarm, on, off, reset,
 *             led 0|1, timeout S. What is set comes back.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "watchdogd.h"

struct client {
    int fd;
    bool feeds; /* of the socket `watchdog` */
    char last;  /* its last byte */
    char line[LINE];
    size_t length;
};

static int listeners[2] = {-1, -1}; /* watchdog, control */
static char paths[2][108];
static struct client clients[CLIENTS];
static int count;

bool clients_open(const char *folder)
{
    static const char *const names[] = {"watchdog", "control"};
    for (int i = 0; i < 2; i++) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        const int n = snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
        if (n < 0 || (size_t)n >= sizeof address.sun_path) {
            say("the folder's name is too long for a socket: %s", folder);
            return false;
        }
        memcpy(address.sun_path, paths[i], (size_t)n + 1);
        unlink(paths[i]); /* the lock says that nobody listens there */
        listeners[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (listeners[i] < 0 || bind(listeners[i], (struct sockaddr *)&address, sizeof address) ||
            chmod(paths[i], 0660) != 0 || listen(listeners[i], 4) != 0) {
            say("cannot listen at %s: %s", paths[i], strerror(errno));
            return false;
        }
    }
    return true;
}

void clients_close(void)
{
    for (int i = 0; i < 2; i++) {
        close(listeners[i]);
        unlink(paths[i]);
    }
}

static void accept_client(struct keeper *k, int which)
{
    const int fd = accept4(listeners[which], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (count == CLIENTS || (which == 0 && k->feeder == CONNECTED)) {
        say("a client was refused: %s", which == 0 ? "another one has the watchdog" : "too many");
        close(fd);
        return;
    }
    clients[count] = (struct client){.fd = fd, .feeds = which == 0};
    count++;
    if (which == 0) {
        char reply[LINK_REPLY];
        say("a client opened the watchdog; from now on its writes refresh");
        k->feeder = CONNECTED;
        k->refused[0] = 0;
        keeper_arm(k, k->timeout, reply);
    }
}

static const char *boot_name(char letter)
{
    switch (letter) {
    case 'p': return "power-on";
    case 'b': return "brown-out";
    case 'w': return "own watchdog";
    case 'e': return "reset pin";
    default: return "unknown";
    }
}

/* Quotes, backslashes and control characters become spaces: enough for our own sentences. */
static const char *plain(char *text)
{
    for (char *c = text; *c; c++)
        if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
            *c = ' ';
    return text;
}

/* A device's own words, as members of an object; false: it says nothing. */
static bool state_of(struct link *l, char *members, size_t size)
{
    char reply[LINK_REPLY], power = '-', boot = '-';
    int level = 0, timeout = 0, left = 0, fired = 0, bad = 0;
    const bool found =
        link_ask(l, "?", reply) && sscanf(reply, "s %d %c %d %d %d %c %d", &level, &power, &timeout,
                                          &left, &fired, &boot, &bad) == 7;
    snprintf(members, size,
             "\"ok\": %s, \"connected\": %s, \"pwr_ok\": %s, \"power\": \"%s\", \"timeout\": %d, "
             "\"left\": %d, \"fired\": %d, \"boot\": \"%s\", \"bad_packets\": %d",
             found ? "true" : "false", found ? "true" : "false", level ? "true" : "false",
             power == 'n'   ? "on"
             : power == 'f' ? "off"
             : power == 'r' ? "reset"
                            : "unknown",
             timeout, left, fired, boot_name(boot), bad);
    return found;
}

/* The first device that answers, what the daemon has set, then each device. */
static void status(struct keeper *k, char *answer, size_t size)
{
    char members[DEVICES_MOST][300], path[108], why[108], last[sizeof k->state.last];
    int first = -1, n;
    for (int i = 0; i < k->device_count; i++)
        if (state_of(&k->links[i], members[i], sizeof members[i]) && first < 0)
            first = i;
    snprintf(last, sizeof last, "%s", k->state.last);
    n = snprintf(answer, size,
                 "{%s, \"wanted\": %s, \"set_timeout\": %d, \"refused\": \"%s\", "
                 "\"last_reset\": \"%s\", \"devices\": [",
                 members[first < 0 ? 0 : first], k->wanted ? "true" : "false", k->timeout,
                 plain(k->refused), plain(last));
    for (int i = 0; i < k->device_count; i++) {
        const struct link *l = &k->links[i];
        snprintf(path, sizeof path, "%.100s", l->path);
        snprintf(why, sizeof why, "%.100s", l->fd < 0 ? l->why : "");
        n += snprintf(answer + n, size - (size_t)n, "%s{\"device\": \"%s\", %s, \"why\": \"%s\"}",
                      i ? ", " : "", plain(path), members[i], plain(why));
    }
    snprintf(answer + n, size - (size_t)n, "]}\n");
}

/* A command that goes to the devices as it is. Those that touch timer or power cancel the timer. */
static bool pass_on(struct keeper *k, const char *line, char *reply)
{
    static const struct {
        const char *name, *line;
        bool cancels;
    } commands[] = {{"on", "ON", true},     {"off", "OFF", true},   {"reset", "RST", true},
                    {"led 0", "L0", false}, {"led 1", "L1", false}, {"refresh", "K", false}};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(line, commands[i].name) != 0)
            continue;
        if (commands[i].cancels) {
            char note[LINE + 32];
            snprintf(note, sizeof note, "a client asked for: %s", line);
            say("%s", note);
            state_note(&k->state, line[1] == 'n' ? "" : note); /* before it happens */
            k->wanted = false;
            k->feeder = NONE;
        }
        return keeper_ask(k, commands[i].line, reply);
    }
    snprintf(reply, LINK_REPLY, "there is no such command");
    return false;
}

static void obey(struct keeper *k, const char *line, char *answer, size_t size)
{
    char reply[LINK_REPLY] = "ok";
    int seconds = 0, used = 0;
    bool good;
    const int least = keeper_least(k);
    if (strcmp(line, "status") == 0) {
        status(k, answer, size);
        return;
    }
    if (sscanf(line, "arm %d%n", &seconds, &used) == 1 ||
        sscanf(line, "timeout %d%n", &seconds, &used) == 1) {
        good = line[used] == 0 && seconds >= least && seconds <= MAX_TIMEOUT;
        if (!good)
            snprintf(reply, sizeof reply, "a time-out is %d to %d s", least, MAX_TIMEOUT);
        else if (*line == 't' && !k->wanted)
            k->timeout = seconds;
        else
            good = keeper_arm(k, seconds, reply);
    } else if (strcmp(line, "disarm") == 0) {
        good = keeper_disarm(k, reply);
    } else {
        good = pass_on(k, line, reply);
    }
    if (k->interval_ms > k->timeout * 250)
        k->interval_ms = k->timeout * 250;
    snprintf(answer, size, "{\"ok\": %s, \"reply\": \"%s\", \"set_timeout\": %d}\n",
             good ? "true" : "false", plain(reply), k->timeout);
}

static void end_client(struct keeper *k, int i)
{
    if (clients[i].feeds && clients[i].last == 'V') {
        char reply[LINK_REPLY];
        say("the client closed the watchdog properly");
        keeper_disarm(k, reply);
    } else if (clients[i].feeds && k->feeder == CONNECTED) {
        k->feeder = ABANDONED;
        state_note(&k->state, "the client of the watchdog went away without V");
        say("the client went away without V: nobody refreshes, the reset comes within %d s",
            k->timeout);
    }
    close(clients[i].fd);
    clients[i] = clients[--count];
}

static void take_line(struct keeper *k, struct client *c, char byte)
{
    char answer[3200];
    if (byte != '\n') {
        if (c->length + 1 < sizeof c->line)
            c->line[c->length++] = byte;
        return;
    }
    c->line[c->length] = 0;
    c->length = 0;
    obey(k, c->line, answer, sizeof answer);
    if (send(c->fd, answer, strlen(answer), MSG_NOSIGNAL) < 0) {
        /* A full pipe, or nobody there: the client has lost its answer, the device is served. */
    }
}

static void read_client(struct keeper *k, int i)
{
    char data[256];
    const ssize_t n = recv(clients[i].fd, data, sizeof data, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        end_client(k, i);
        return;
    }
    if (clients[i].feeds) {
        clients[i].last = data[n - 1];
        keeper_refresh(k);
        return;
    }
    for (ssize_t at = 0; at < n; at++)
        take_line(k, &clients[i], data[at]);
}

void clients_serve(struct keeper *k, int ms)
{
    struct pollfd waits[2 + CLIENTS];
    const int before = count;
    for (int i = 0; i < 2; i++)
        waits[i] = (struct pollfd){.fd = listeners[i], .events = POLLIN};
    for (int i = 0; i < before; i++)
        waits[2 + i] = (struct pollfd){.fd = clients[i].fd, .events = POLLIN};
    if (poll(waits, (nfds_t)(2 + before), ms) <= 0)
        return;
    for (int i = before; i-- > 0;) /* downwards: the last one takes the place of one that ends */
        if (waits[2 + i].revents)
            read_client(k, i);
    for (int i = 0; i < 2; i++)
        if (waits[i].revents & POLLIN)
            accept_client(k, i);
}
