/* SPDX-License-Identifier: MIT */
#include "sim/device.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

static enum device_kind kind;

void device_power_on(enum device_kind which, const struct chip_options *options)
{
    kind = which;
    static const char *const images[] = {IMAGES "/watchdog-hid.elf", IMAGES "/watchdog-cdc.elf",
                                         IMAGES "/watchdog-small.elf"};
    chip_start(images[which], options);
    host.random = test_seed();
    host_start();
    host_wait(60);
}

void device_start(enum device_kind which, const struct chip_options *options)
{
    device_power_on(which, options);
    must(host_enumerate());
}

int device_report(const uint8_t report[8])
{
    static const uint8_t set_report[8] = {0x21, 9, 0, 2, 0, 0, 8, 0};
    return host_control_out(set_report, report);
}

static bool send_parts(const char *line)
{
    const size_t length = strlen(line);
    for (size_t sent = 0, part = 0; sent < length || part == 0; part++) {
        uint8_t report[8] = {0};
        const size_t piece = length - sent < 7 ? length - sent : 7;
        report[0] = (uint8_t)(part << 4 | piece | (sent + piece == length ? 0x80 : 0));
        memcpy(report + 1, line + sent, piece);
        if (device_report(report) != 8)
            return false;
        sent += piece;
    }
    return true;
}

static bool send_bytes(const char *bytes)
{
    size_t length = strlen(bytes);
    while (length != 0) {
        const unsigned piece = length < 8 ? (unsigned)length : 8;
        if (host_out1((const uint8_t *)bytes, piece, 100) < 0)
            return false;
        bytes += piece;
        length -= piece;
    }
    return true;
}

bool device_send(const char *line)
{
    char text[128];
    if (kind == HID)
        return send_parts(line);
    snprintf(text, sizeof text, "%s\n", line);
    return send_bytes(text);
}

const char *device_reply(int milliseconds)
{
    static char reply[256];
    unsigned length = 0;
    for (;;) {
        uint8_t data[8];
        int n = host_in1(data, milliseconds);
        reply[length] = 0;
        if (n < 0 || length > 200)
            return length != 0 ? reply : "";
        if (kind == HID) {
            if ((data[0] >> 4 & 7) == 0)
                length = 0; /* a new reply took the place of the one before */
            must(n == 8 && (data[0] >> 4 & 7) == (length / 7) % 8 && (data[0] & 15) <= 7);
            memcpy(reply + length, data + 1, data[0] & 15);
            length += data[0] & 15;
            reply[length] = 0;
            if (data[0] & 0x80)
                return reply;
        } else {
            memcpy(reply + length, data, (size_t)n);
            length += (unsigned)n;
            reply[length] = 0;
            if (length != 0 && reply[length - 1] == '\n') {
                reply[length - 1] = 0;
                return reply;
            }
        }
    }
}

const char *device_ask(const char *line)
{
    must(device_send(line));
    return device_reply(200);
}

double device_wait_for_pull(double milliseconds)
{
    const double begin = chip_now();
    const unsigned pulls = chip_pulls();
    while (chip_pulls() == pulls && chip_now() - begin < milliseconds * FRAME)
        host_wait(1);
    return (chip_now() - begin) / FRAME;
}
