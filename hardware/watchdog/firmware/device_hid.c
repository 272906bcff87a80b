/* SPDX-License-Identifier: MIT */
/*
 * The device as a HID of the vendor's own kind: no driver is needed, and no terminal is in between.
 * Reports have 8 bytes in both directions. The first is a header, up to 7 bytes of a line follow:
 *
 *   bit 7      this is the last part of the line; its line end is not sent
 *   bits 6..4  number of the part, from 0
 *   bits 3..0  bytes of text in this part, 0 to 7
 *
 * A part whose number is not the next one ends the line as a wrong one. In the compatible language
 * the bytes are commands, and a reply is one report.
 */
#include <string.h>

#include "usb.h"
#include "usb_ids.h"

enum { LAST = 0x80, REPORT = 8, TEXT = 7, GET_REPORT = 1, SET_REPORT = 9 };

static struct {
    uint8_t next; /* number of the part that must come */
    bool wrong;   /* a part was missing */
    uint8_t part; /* number of the part to be sent, times 16 */
    uint8_t report[REPORT];
} hid;

/* clang-format off */
const uint8_t device_descriptor[18] IN_GAP = {
    18, 1, 0x10, 0x01, 0, 0, 0, 8, USB_VENDOR_ID & 0xff, USB_VENDOR_ID >> 8, USB_PRODUCT_ID & 0xff,
    USB_PRODUCT_ID >> 8, USB_VERSION & 0xff, USB_VERSION >> 8, 1, 2, 0, 1};

static const uint8_t report_descriptor[] IN_GAP = {
    0x06, 0x00, 0xff, /* usage page: the vendor's own */
    0x09, 0x01,       /* usage 1 */
    0xa1, 0x01,       /* collection: application */
    0x15, 0x00,       /*   from 0 */
    0x26, 0xff, 0x00, /*   to 255 */
    0x75, 0x08,       /*   of 8 bits */
    0x95, 0x08,       /*   8 of them */
    0x09, 0x01, 0x81, 0x02, /* input */
    0x09, 0x01, 0x91, 0x02, /* output */
    0xc0};

#define HID_DESCRIPTOR 9, 0x21, 0x11, 0x01, 0, 1, 0x22, sizeof report_descriptor, 0

const uint8_t device_configuration[] IN_GAP = {
    9, 2, 34, 0, 1, 1, 0, 0x80, 50, /* powered by the bus, 100 mA */
    9, 4, 0, 0, 1, 3, 0, 0, 0,      /* HID, no boot protocol */
    HID_DESCRIPTOR,
    7, 5, 0x81, 3, 8, 0, 10}; /* endpoint 1, to the host, by interrupt, every 10 ms */
/* clang-format on */

bool device_special_descriptor(const struct usb_request *r)
{
    const uint8_t type = (uint8_t)(r->value >> 8);
    if (type == 0x21)
        usb_answer_flash(device_configuration + 18, 9);
    else if (type == 0x22)
        usb_answer_flash(report_descriptor, sizeof report_descriptor);
    return type == 0x21 || type == 0x22;
}

/* Idle rates are for keyboards: SET_IDLE may be refused (HID 1.11, 7.2.4). */
bool device_request(const struct usb_request *r)
{
    if (r->request == GET_REPORT) {
        usb_answer(hid.report, REPORT);
        return true;
    }
    return r->request == SET_REPORT && r->length == REPORT;
}

static void take_part(struct wd *wd, const uint8_t *data)
{
    const uint8_t header = data[0], length = header & 0x0f;
    uint8_t i;
    if ((header >> 4 & 7) == 0) { /* a new line begins */
        wd_forget(wd);
        hid.next = 0;
        hid.wrong = false;
    }
    if ((header >> 4 & 7) != hid.next || length > TEXT) {
        hid.wrong = true;
        wd_forget(wd);
        wd_byte(wd, '!');
    }
    hid.next = (uint8_t)((header >> 4 & 7) + 1);
    for (i = 0; i < length && !hid.wrong; i++)
        wd_byte(wd, data[1 + i]);
    if (header & LAST) {
        wd_byte(wd, '\n');
        hid.next = 0;
    }
}

void device_data(struct wd *wd, const uint8_t *data, uint8_t length)
{
    uint8_t i;
    if (length != REPORT)
        return;
    if (wd->config & WD_COMPATIBLE)
        for (i = 0; i < (data[0] & 0x07); i++)
            wd_byte(wd, data[1 + i]);
    else
        take_part(wd, data);
}

void device_out1(struct wd *wd, const uint8_t *data, uint8_t length)
{
    (void)wd, (void)data, (void)length; /* there is no such endpoint */
}

/* A reply stays in the core until its last part is sent; a new one begins anew with part 0. */
void device_poll(struct wd *wd)
{
    uint8_t length;
    if (wd->reply_length == 0 || !usb_free1())
        return;
    if (wd->reply_sent == 0)
        hid.part = 0;
    length = (uint8_t)(wd->reply_length - wd->reply_sent);
    if (!(wd->config & WD_COMPATIBLE))
        length--; /* without its line end */
    hid.report[0] = hid.part;
    hid.part += 0x10;
    memcpy(hid.report + 1, wd->reply + wd->reply_sent, TEXT);
    wd->reply_sent += TEXT;
    if (length <= TEXT) {
        hid.report[0] |= LAST;
        wd->reply_length = 0;
    } else {
        length = TEXT;
    }
    hid.report[0] |= length;
    usb_put1(hid.report, REPORT);
}

void device_reset(struct wd *wd)
{
    memset(&hid, 0, sizeof hid);
    wd->reply_length = 0;
    wd_forget(wd);
}
