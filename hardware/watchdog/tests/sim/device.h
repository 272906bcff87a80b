/* SPDX-License-Identifier: MIT */
/* The device as a test uses it: a fresh chip with an image, enumerated, and lines to and fro. */
#pragma once

#include "sim/bus.h"
#include "sim/chip.h"

enum device_kind { HID, CDC, SMALL }; /* the small image has the published language only */

/* Starts the chip with the image of this kind and enumerates it; ends the test if it cannot. */
void device_start(enum device_kind kind, const struct chip_options *options);
/* The chip alone, and 60 ms for its start. */
void device_power_on(enum device_kind kind, const struct chip_options *options);

/* One report of HID, as it is; the result of the control transfer. */
int device_report(const uint8_t report[8]);
/* Sends a line without its end, in as many reports or packets as it takes: false if that fails. */
bool device_send(const char *line);
/* The next reply, without its line end; "" if none comes within so many milliseconds. */
const char *device_reply(int milliseconds);
/* device_send, then device_reply. */
const char *device_ask(const char *line);

/* Frames pass until PWR_OK is pulled, for at most so many milliseconds: how many passed. */
double device_wait_for_pull(double milliseconds);
