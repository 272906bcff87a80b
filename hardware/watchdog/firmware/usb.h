/* SPDX-License-Identifier: MIT */
/*
 * The USB device (USB 2.0, chapter 9) between usb_bus.S and what kind of device this is:
 * device_hid.c or device_cdc.c, of which one is built in.
 */
#pragma once

#include <avr/pgmspace.h>
#include <stdbool.h>
#include <stdint.h>

#include "core.h"

/* Constants that the linker may put before the CRC table, whose place is a multiple of 256. */
#define IN_GAP __attribute__((progmem, section(".progmem.gcc_usb")))

/* A request as it comes over the bus. */
struct usb_request {
    uint8_t type, request;
    uint16_t value, index, length;
};
enum { USB_FROM_DEVICE = 0x80, USB_KIND = 0x60, USB_CLASS = 0x20, USB_ENDPOINT = 0x02 };

void usb_start(void);
void usb_poll(struct wd *wd);
/* Every 4 ms: tunes the oscillator to the frames, finds out whether the bus is suspended. */
void usb_tick(void);
bool usb_suspended(void);

/* Sends up to 8 bytes by endpoint 1 when the host asks; only when usb_free1(). */
bool usb_free1(void);
void usb_put1(const uint8_t *data, uint8_t length);

/* Answers a control request with bytes in RAM, which stay, or in flash. */
void usb_answer(const uint8_t *data, uint8_t length);
void usb_answer_flash(const uint8_t *data, uint8_t length);

/* Answers with a name of the device (usb_strings.c), or false. */
bool usb_string(uint8_t number);

/* ---- What device_hid.c and device_cdc.c provide -------------------------------------------- */

extern const uint8_t device_descriptor[18] IN_GAP;
extern const uint8_t device_configuration[] IN_GAP;

/* A descriptor that only this kind of device has: answers it, or false. */
bool device_special_descriptor(const struct usb_request *request);
/* A request of the class: answers it (usb_answer, or nothing for an empty answer), or false. */
bool device_request(const struct usb_request *request);
/* Data of such a request. */
void device_data(struct wd *wd, const uint8_t *data, uint8_t length);
/* Data that came in by endpoint 1. */
void device_out1(struct wd *wd, const uint8_t *data, uint8_t length);
/* Sends what the core has to say. */
void device_poll(struct wd *wd);
/* The host has begun anew. */
void device_reset(struct wd *wd);
