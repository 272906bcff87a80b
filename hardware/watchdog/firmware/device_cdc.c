/* SPDX-License-Identifier: MIT */
/*
 * The device as a serial port (CDC ACM). Bulk endpoints are not allowed at low speed; Linux takes
 * them for interrupt endpoints and serves them. Other systems may refuse the device.
 */
#include <string.h>

#include "usb.h"
#include "usb_ids.h"

enum { SET_LINE_CODING = 0x20, GET_LINE_CODING = 0x21, SET_CONTROL_LINE_STATE = 0x22 };

static struct {
    uint8_t coding[7]; /* kept for the host; nothing depends on it */
    bool end;          /* a full packet was the last: an empty one must follow */
} cdc;

/* clang-format off */
const uint8_t device_descriptor[18] IN_GAP = {
    18, 1, 0x10, 0x01, 2, 0, 0, 8, USB_VENDOR_ID & 0xff, USB_VENDOR_ID >> 8, USB_PRODUCT_ID & 0xff,
    USB_PRODUCT_ID >> 8, USB_VERSION & 0xff, USB_VERSION >> 8, 1, 2, 0, 1};

const uint8_t device_configuration[] IN_GAP = {
    9, 2, 67, 0, 2, 1, 0, 0x80, 50, /* powered by the bus, 100 mA */
    9, 4, 0, 0, 1, 2, 2, 0, 0,      /* communication, abstract control model, no AT commands */
    5, 0x24, 0, 0x10, 0x01,         /* CDC 1.1 */
    5, 0x24, 1, 0, 1,               /* no call management */
    4, 0x24, 2, 2,                  /* line coding and line state */
    5, 0x24, 6, 0, 1,               /* interface 0 controls interface 1 */
    7, 5, 0x83, 3, 8, 0, 255,       /* endpoint 3: notifications, of which there are none */
    9, 4, 1, 0, 2, 10, 0, 0, 0,     /* data */
    7, 5, 0x01, 2, 8, 0, 0,         /* endpoint 1, from the host */
    7, 5, 0x81, 2, 8, 0, 0};        /* endpoint 1, to the host */
/* clang-format on */

bool device_special_descriptor(const struct usb_request *r)
{
    (void)r;
    return false;
}

bool device_request(const struct usb_request *r)
{
    switch (r->request) {
    case GET_LINE_CODING: usb_answer(cdc.coding, sizeof cdc.coding); return true;
    case SET_CONTROL_LINE_STATE: return true;
    default: return r->request == SET_LINE_CODING && r->length == sizeof cdc.coding;
    }
}

void device_data(struct wd *wd, const uint8_t *data, uint8_t length)
{
    (void)wd;
    if (length == sizeof cdc.coding)
        memcpy(cdc.coding, data, sizeof cdc.coding);
}

void device_out1(struct wd *wd, const uint8_t *data, uint8_t length)
{
    while (length-- != 0)
        wd_byte(wd, *data++);
}

/* A new reply takes the place of what was not sent; the host sees where it begins by its '='. */
void device_poll(struct wd *wd)
{
    uint8_t length = 0;
    if (!usb_free1() || (wd->reply_length == 0 && !cdc.end))
        return;
    if (wd->reply_length != 0) {
        length = (uint8_t)(wd->reply_length - wd->reply_sent);
        if (length > 8)
            length = 8;
    }
    usb_put1((const uint8_t *)wd->reply + wd->reply_sent, length);
    wd->reply_sent = (uint8_t)(wd->reply_sent + length);
    cdc.end = length == 8 && wd->reply_sent == wd->reply_length;
    if (wd->reply_sent == wd->reply_length)
        wd->reply_length = 0;
}

void device_reset(struct wd *wd)
{
    memset(&cdc, 0, sizeof cdc);
    wd->reply_length = 0;
    wd_forget(wd);
}
