/* SPDX-License-Identifier: MIT */
/*
 * Four lines in a file: a header, the boot that wrote it, what that boot would say of a reset now,
 * and the cause of the last one. The file is replaced as a whole, so a reset leaves the old or the
 * new one.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "watchdogd.h"

static const char header[] = "pawl-watchdogd 1";

/* A whole line, or false. */
static bool read_line(FILE *file, char *text, size_t size)
{
    if (fgets(text, (int)size, file) == NULL || strchr(text, '\n') == NULL)
        return false;
    *strchr(text, '\n') = 0;
    return true;
}

static bool read_state(FILE *file, struct state *s)
{
    char line[64];
    return read_line(file, line, sizeof line) && strcmp(line, header) == 0 &&
           read_line(file, s->boot, sizeof s->boot) && read_line(file, s->now, sizeof s->now) &&
           read_line(file, s->last, sizeof s->last) && getc(file) == EOF;
}

static bool sync_and_close(int fd)
{
    const bool good = fd >= 0 && fsync(fd) == 0;
    return (fd < 0 || close(fd) == 0) && good;
}

static void write_state(struct state *s)
{
    char path[4200], folder[4200];
    int fd;
    bool good;
    snprintf(path, sizeof path, "%s.new", s->path);
    snprintf(folder, sizeof folder, "%s", s->path);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    good = fd >= 0 && dprintf(fd, "%s\n%s\n%s\n%s\n", header, s->boot, s->now, s->last) > 0;
    good = sync_and_close(fd) && good && rename(path, s->path) == 0 &&
           sync_and_close(open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!good && !s->failed)
        say("cannot keep the cause of a reset in %s: %s", s->path, strerror(errno));
    s->failed = !good;
}

void state_open(struct state *s)
{
    char boot[sizeof s->boot] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    int fd;
    if (file != NULL) {
        read_line(file, boot, sizeof boot);
        fclose(file);
    }
    if (s->path == NULL)
        return;
    fd = open(s->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    file = fd < 0 ? NULL : fdopen(fd, "r");
    if (file == NULL ? errno != ENOENT : !read_state(file, s)) {
        say("%s cannot be read, or is damaged: what it knew of the last reset is lost", s->path);
        s->now[0] = s->last[0] = 0;
    } else if (s->now[0] && strcmp(s->boot, boot) != 0) {
        memcpy(s->last, s->now, sizeof s->last);
        s->now[0] = 0;
        say("the machine started anew while the device counted: %s", s->last);
    }
    if (file != NULL)
        fclose(file);
    memcpy(s->boot, boot, sizeof boot);
    write_state(s);
}

void state_note(struct state *s, const char *text)
{
    char made[sizeof s->now] = "";
    const time_t now = time(NULL);
    struct tm parts;
    size_t n;
    if (s->path == NULL || strcmp(text, s->now[0] ? s->now + STAMP : "") == 0)
        return;
    if (*text) {
        n = strftime(made, sizeof made, "%Y-%m-%dT%H:%M:%SZ ", gmtime_r(&now, &parts));
        snprintf(made + n, sizeof made - n, "%.*s", (int)(sizeof made - n - 1), text);
        for (char *c = made; *c; c++)
            if ((unsigned char)*c < ' ')
                *c = ' ';
    }
    memcpy(s->now, made, sizeof made);
    write_state(s);
}
