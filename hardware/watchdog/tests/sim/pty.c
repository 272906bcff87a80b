/* SPDX-License-Identifier: MIT */
/*
 * The simulated device as a file: runs an image in real time, at a virtual host that carries bytes
 * between the device and a pseudo-terminal.
 *
 *   simulated-device LINK [jumper]   LINK becomes a symbolic link to the port; with `hidraw` in its
 *                                    name the HID image runs, and the port carries reports as a
 *                                    hidraw node does; `jumper` closes the jumper on PB2
 *
 * Writes lines to standard output, with milliseconds since the start: ready, pulled, released.
 * Takes lines from standard input: unplug, plug (the device loses power in between), restart (the
 * device starts anew while it is plugged), quit.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "sim/bus.h"
#include "sim/chip.h"

static int terminal = -1, other = -1;
static const char *place;
static double begin_ms;
static bool hid;

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void event(const char *what)
{
    printf("%.0f %s\n", now_ms() - begin_ms, what);
    fflush(stdout);
}

static void open_port(void)
{
    struct termios t;
    terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) {
        perror("pseudo-terminal");
        exit(2);
    }
    other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    if (tcgetattr(other, &t) == 0) { /* as ports are made: with echo; a hidraw node has none */
        t.c_lflag |= ECHO | ICANON;
        if (hid)
            cfmakeraw(&t);
        tcsetattr(other, TCSANOW, &t);
    }
    unlink(place);
    if (symlink(ptsname(terminal), place) != 0) {
        perror(place);
        exit(2);
    }
}

static void close_port(void)
{
    unlink(place);
    close(other);
    close(terminal);
    terminal = other = -1;
}

static void start_device(void)
{
    host_start();
    host_wait(60);
    if (!host_enumerate())
        event("not enumerated");
}

/* What the port has for the device. A report comes as nine bytes: its number, and itself. */
static void carry_out(void)
{
    static const uint8_t set_report[8] = {0x21, 9, 0, 2, 0, 0, 8, 0};
    static uint8_t data[9];
    static size_t have;
    const ssize_t n = read(terminal, data + have, hid ? sizeof data - have : 8);
    if (n <= 0)
        return;
    if (!hid) {
        host_out1(data, (unsigned)n, 20);
        return;
    }
    have += (size_t)n;
    if (have == sizeof data) {
        have = 0;
        host_control_out(set_report, data + 1);
    }
}

static void carry(void)
{
    uint8_t data[8];
    int n;
    carry_out();
    n = host_in1(data, 0);
    if (n > 0 && write(terminal, data, (size_t)n) != n)
        event("the port is full");
}

static bool obey(bool *plugged)
{
    struct pollfd wait = {.fd = 0, .events = POLLIN};
    char line[32];
    if (poll(&wait, 1, 0) <= 0)
        return true;
    if (fgets(line, sizeof line, stdin) == NULL || strcmp(line, "quit\n") == 0)
        return false;
    if (strcmp(line, "unplug\n") == 0 && *plugged) {
        close_port();
        *plugged = false;
    } else if (strcmp(line, "plug\n") == 0 && !*plugged) {
        chip_power_cycle();
        start_device();
        open_port();
        *plugged = true;
    } else if (strcmp(line, "restart\n") == 0) {
        chip_power_cycle();
        start_device();
    }
    event("obeyed");
    return true;
}

int main(int argc, char **argv)
{
    bool plugged = true, pulled = false;
    double offset;
    const struct chip_options options = {.jumper = argc == 3};
    if (argc != 2 && argc != 3)
        return 2;
    place = argv[1];
    hid = strstr(place, "hidraw") != NULL;
    setvbuf(stdin, NULL, _IONBF, 0);
    chip_start(hid ? IMAGES "/watchdog-hid.elf" : IMAGES "/watchdog-cdc.elf", &options);
    start_device();
    open_port();
    begin_ms = now_ms();
    event("ready");
    offset = chip_now() / FRAME;
    while (obey(&plugged)) {
        if (plugged)
            carry();
        host_wait(1);
        /* The chip's time follows the clock, as fast as this machine can. */
        while (now_ms() - begin_ms < chip_now() / FRAME - offset)
            usleep(300);
        if (chip_pwr_ok_is_pulled() != pulled) {
            pulled = !pulled;
            event(pulled ? "pulled" : "released");
        }
    }
    close_port();
    return 0;
}
