/* SPDX-License-Identifier: MIT */
/* The names that every kind of device has. Hosts choose a device by both of them in full. */
#include "usb.h"

#include "usb_ids.h"

#define UTF16_(text) u##text
#define UTF16(text) UTF16_(text)

/* The size of a literal of 16-bit characters counts the final zero, which the header replaces. */
#define STRING(name, literal)                                                                      \
    static const struct {                                                                          \
        uint8_t length, type;                                                                      \
        uint16_t text[sizeof(literal) - 1];                                                        \
    } name IN_GAP = {2 * sizeof(literal), 3, UTF16(literal)}

static const uint8_t languages[4] IN_GAP = {4, 3, 0x09, 0x04};
STRING(vendor, USB_VENDOR_NAME);
STRING(product, USB_PRODUCT_NAME);

bool usb_string(uint8_t number)
{
    const uint8_t *at = languages;
    if (number > 2)
        return false;
    if (number != 0)
        at = number == 1 ? (const uint8_t *)&vendor : (const uint8_t *)&product;
    usb_answer_flash(at, pgm_read_byte(at));
    return true;
}
