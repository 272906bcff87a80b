/* SPDX-License-Identifier: MIT */
/*
 * The simulated device as a HID of this machine's kernel (/dev/uhid): runs the HID image at a
 * virtual host that carries reports. Writes the name of its hidraw node; ends when its input ends.
 * Built everywhere, run where the kernel has uhid.
 */
#include <fcntl.h>
#include <glob.h>
#include <linux/uhid.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/bus.h"
#include "sim/chip.h"

static const char name[] = "pawl.invalid pawl-watchdog, simulated";

/* The kernel is told the report descriptor that the device gives. */
static bool create(int uhid)
{
    static const uint8_t request[8] = {0x81, 6, 0, 0x22, 0, 0, 255, 0};
    struct uhid_event event = {.type = UHID_CREATE2};
    const int n = host_control_in(request, event.u.create2.rd_data);
    if (n <= 0)
        return false;
    memcpy(event.u.create2.name, name, sizeof name);
    event.u.create2.rd_size = (uint16_t)n;
    event.u.create2.bus = 3; /* USB */
    event.u.create2.vendor = 0x16c0;
    event.u.create2.product = 0x05df;
    return write(uhid, &event, sizeof event) == sizeof event;
}

/* Writes the node whose device has our name. */
static bool tell_node(void)
{
    glob_t found;
    bool told = false;
    if (glob("/sys/class/hidraw/*/device/uevent", 0, NULL, &found) != 0)
        return false;
    for (size_t i = 0; i < found.gl_pathc && !told; i++) {
        char text[1024] = "";
        FILE *file = fopen(found.gl_pathv[i], "r");
        if (file == NULL)
            continue;
        if (fread(text, 1, sizeof text - 1, file) != 0 && strstr(text, name) != NULL) {
            char *node = found.gl_pathv[i] + strlen("/sys/class/hidraw/");
            node[strcspn(node, "/")] = 0;
            printf("/dev/%s\n", node);
            fflush(stdout);
            told = true;
        }
        fclose(file);
    }
    globfree(&found);
    return told;
}

static void carry(int uhid)
{
    static const uint8_t set_report[8] = {0x21, 9, 0, 2, 0, 0, 8, 0};
    struct uhid_event event;
    uint8_t report[8];
    if (read(uhid, &event, sizeof event) > 0 && event.type == UHID_OUTPUT &&
        event.u.output.size >= 9) /* the first byte is the number of the report */
        host_control_out(set_report, event.u.output.data + 1);
    if (host_in1(report, 0) != 8)
        return;
    memset(&event, 0, sizeof event);
    event.type = UHID_INPUT2;
    event.u.input2.size = sizeof report;
    memcpy(event.u.input2.data, report, sizeof report);
    if (write(uhid, &event, sizeof event) < 0)
        perror("/dev/uhid");
}

int main(void)
{
    const int uhid = open("/dev/uhid", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    struct pollfd input = {.fd = 0, .events = POLLIN};
    bool told = false;
    if (uhid < 0) {
        perror("/dev/uhid");
        return 2;
    }
    chip_start(IMAGES "/watchdog-hid.elf", NULL);
    host_start();
    host_wait(60);
    if (!host_enumerate() || !create(uhid))
        return 2;
    while (poll(&input, 1, 0) == 0) {
        carry(uhid);
        host_wait(1);
        usleep(500);
        if (!told)
            told = tell_node();
    }
    return 0;
}
