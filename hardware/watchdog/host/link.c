/* SPDX-License-Identifier: MIT */
#include "link.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "say.h"

static bool fail(struct link *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(struct link *l, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(l->why, sizeof l->why, format, list);
    va_end(list);
    link_close(l);
    return false;
}

/* No echo, no translation, no flow control, nobody else, nothing left over from before. */
static bool make_raw(struct link *l)
{
    struct termios t;
    if (tcgetattr(l->fd, &t) != 0)
        return fail(l, "%s is not a serial port", l->path);
    cfmakeraw(&t);
    t.c_cflag |= CLOCAL | CREAD;
    t.c_cflag &= ~(tcflag_t)(CRTSCTS | HUPCL);
    t.c_iflag &= ~(tcflag_t)(IXON | IXOFF | IXANY);
    if (ioctl(l->fd, TIOCEXCL) != 0 || tcsetattr(l->fd, TCSANOW, &t) != 0 ||
        tcflush(l->fd, TCIOFLUSH) != 0)
        return fail(l, "cannot set up %s: %s", l->path, strerror(errno));
    return true;
}

static bool read_name(const char *folder, const char *name, char *text, size_t size)
{
    char path[4200];
    FILE *file;
    bool good;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "r");
    if (file == NULL)
        return false;
    good = fgets(text, (int)size, file) != NULL;
    fclose(file);
    if (good)
        text[strcspn(text, "\n")] = 0;
    return good;
}

/* The folder of the USB device above the node has both names; a node without one has none. */
static bool names_are_right(struct link *l)
{
    char real[PATH_MAX], start[600], vendor[128], product[128], node[PATH_MAX];
    char *slash;
    if (l->vendor == NULL)
        return true;
    if (realpath(l->path, node) == NULL)
        return fail(l, "%s: %s", l->path, strerror(errno));
    snprintf(start, sizeof start, "%s/class/%s/%.200s/device", l->sysfs, l->hid ? "hidraw" : "tty",
             strrchr(node, '/') + 1);
    if (realpath(start, real) == NULL)
        return fail(l, "%s has no names to compare (%s)", l->path, start);
    while ((slash = strrchr(real, '/')) != NULL && slash != real) {
        if (read_name(real, "manufacturer", vendor, sizeof vendor) &&
            read_name(real, "product", product, sizeof product)) {
            if (strcmp(vendor, l->vendor) == 0 && strcmp(product, l->product) == 0)
                return true;
            return fail(l, "%s is \"%s\" by \"%s\", not \"%s\" by \"%s\"; it was left alone",
                        l->path, product, vendor, l->product, l->vendor);
        }
        *slash = 0;
    }
    return fail(l, "%s has no names to compare", l->path);
}

bool link_open(struct link *l)
{
    char reply[LINK_REPLY];
    l->hid = strstr(l->path, "hidraw") != NULL;
    if (!names_are_right(l)) /* before anything is sent */
        return false;
    l->fd = open(l->path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (l->fd < 0)
        return fail(l, "cannot open %s: %s%s", l->path, strerror(errno),
                    errno == EACCES ? "; the udev rule gives access to the group pawl-watchdog"
                                    : "");
    if (!l->hid && !make_raw(l))
        return false;
    if (!l->original && !link_ask(l, "", reply) && l->fd < 0)
        return false;
    if (!link_ask(l, "V", reply))
        return false;
    if (strcmp(reply, "pawl-wd 1") != 0)
        return fail(l, "%s answers \"%.30s\" when asked for its version; it is left alone", l->path,
                    reply);
    return true;
}

void link_close(struct link *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}

static bool send_line(struct link *l, const char *line)
{
    const size_t length = strlen(line);
    unsigned char report[9];
    char text[80];
    size_t sent = 0, part = 0;
    if (!l->hid) {
        const int n = snprintf(text, sizeof text, "%s\n", line);
        return write(l->fd, text, (size_t)n) == n;
    }
    do { /* the first byte is the number of the report: none */
        const size_t piece = length - sent < 7 ? length - sent : 7;
        memset(report, 0, sizeof report);
        report[1] = (unsigned char)(part++ << 4 | piece | (sent + piece == length ? 0x80 : 0));
        memcpy(report + 2, line + sent, piece);
        if (write(l->fd, report, sizeof report) != sizeof report)
            return false;
        sent += piece;
    } while (sent < length);
    return true;
}

struct reader {
    char text[LINK_REPLY];
    size_t length;
    bool inside; /* a '=' has been seen */
};

/* True when a whole reply is there. What does not begin with '=' is noise. */
static bool take(struct reader *r, char c)
{
    if (c == '=') {
        r->inside = true;
        r->length = 0;
    } else if (c == '\n' && r->inside) {
        r->text[r->length] = 0;
        return true;
    } else if (r->inside && r->length + 1 < sizeof r->text) {
        r->text[r->length++] = c;
    }
    return false;
}

static bool take_report(struct reader *r, const unsigned char *report)
{
    const size_t length = report[0] & 15;
    if (length > 7)
        return false;
    if ((report[0] & 0x70) == 0)
        r->inside = false; /* a reply begins */
    for (size_t i = 1; i <= length; i++)
        take(r, (char)report[i]);
    return (report[0] & 0x80) && take(r, '\n');
}

static bool take_all(struct link *l, struct reader *r, const unsigned char *data, size_t n)
{
    for (size_t at = 0; at < n; at += l->hid ? 8 : 1)
        if (l->hid ? n - at >= 8 && take_report(r, data + at) : take(r, (char)data[at]))
            return true;
    return false;
}

/* An empty line has no reply: what comes within 20 ms is left over, and dropped. */
bool link_ask(struct link *l, const char *line, char reply[LINK_REPLY])
{
    struct reader r = {.length = 0};
    const long long end = now_ms() + (*line ? LINK_MS : 20);
    if (l->fd < 0)
        return false;
    if (l->original)
        return original_ask(l, line, reply) || fail(l, "%s does not answer", l->path);
    if (!send_line(l, line))
        return fail(l, "cannot write to %s: %s", l->path, strerror(errno));
    for (;;) {
        struct pollfd wait = {.fd = l->fd, .events = POLLIN};
        unsigned char data[64];
        const long long rest = end - now_ms();
        ssize_t n;
        if (rest <= 0 || poll(&wait, 1, (int)rest) == 0)
            return *line == 0 ? false : fail(l, "%s does not answer", l->path);
        n = read(l->fd, data, sizeof data);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return fail(l, "%s is gone", l->path);
        if (n > 0 && take_all(l, &r, data, (size_t)n) && *line) {
            memcpy(reply, r.text, r.length + 1);
            return true;
        }
    }
}
