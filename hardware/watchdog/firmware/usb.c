/* SPDX-License-Identifier: MIT */
/* Control transfers, bus reset, suspend, and tuning of the oscillator. */
#include "usb.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/wdt.h>
#include <string.h>
#include <util/delay.h>

#include "usb_bus.h"

/* clang-format off */
enum { GET_STATUS = 0, CLEAR_FEATURE = 1, SET_FEATURE = 3, SET_ADDRESS = 5, GET_DESCRIPTOR = 6,
       GET_CONFIGURATION = 8, SET_CONFIGURATION = 9 };
/* clang-format on */

/* A frame lasts 1 ms: its SE0, and 2059 counts of 8 cycles. A step of OSCCAL changes the clock by
 * about 0.6 %, 12 counts; 16 are taken for one, so that no step is too large. */
enum { FRAME_COUNTS = 2059, STEP_SHIFT = 4, NEAR_COUNTS = 8, MOST_COUNTS = 127 };

static struct state {
    uint8_t setups;     /* the request that is being answered: usb_setups at its time */
    bool data_expected; /* the request sends data to us */
    bool answering;     /* there is more to send */
    bool from_flash;
    uint8_t pid;     /* of the next packet */
    uint8_t left;    /* bytes of the answer to be sent */
    bool ends_short; /* the answer ends in a packet of less than 8 bytes */
    const uint8_t *at;
    uint8_t new_address; /* 0x80 + address: from the end of this request on */
    uint8_t configuration;
    uint8_t pid1;    /* of the next packet of endpoint 1 */
    uint8_t packets; /* usb_packets at the last tick */
    uint8_t listens; /* ticks until the next look at the frames while packets come */
    bool suspended;
} usb;

/* Through a pointer each access is two bytes shorter than by its address. */
static struct state *hidden(void)
{
    struct state *u = &usb;
    __asm__("" : "+r"(u));
    return u;
}

/* ---- Packets --------------------------------------------------------------------------------- */

static void set_token(volatile uint8_t *token, uint8_t address, uint8_t endpoint)
{
    uint16_t bits = (uint16_t)(address | endpoint << 7);
    uint8_t crc = 0x1f, i;
    token[0] = (uint8_t)bits;
    for (i = 0; i < 11; i++) {
        const bool differ = (bits ^ crc) & 1;
        crc >>= 1;
        if (differ)
            crc ^= 0x14;
        bits >>= 1;
    }
    token[1] = (uint8_t)(endpoint >> 1 | (crc ^ 0x1f) << 3);
}

static void set_address(uint8_t address)
{
    set_token(usb_token0, address, 0);
    set_token(usb_token1, address, 1);
    set_token(usb_token3, address, 3);
}

/* Fills a buffer of the handler and returns its length. */
static uint8_t fill(volatile uint8_t *buffer, uint8_t pid, const uint8_t *data, uint8_t length,
                    bool from_flash)
{
    uint8_t low = 0xff, high = 0xff, i;
    buffer[0] = pid;
    for (i = 1; i <= length; i++) {
        const uint8_t byte = from_flash ? pgm_read_byte(data) : *data;
        const uint8_t index = low ^ byte;
        data++;
        buffer[i] = byte;
        low = high ^ pgm_read_byte(&usb_crc_table[index]);
        high = pgm_read_byte(&usb_crc_table[256 + index]);
    }
    buffer[i] = (uint8_t)~low;
    buffer[i + 1] = (uint8_t)~high;
    return (uint8_t)(length + 3);
}

static void send0(struct state *u, uint8_t length)
{
    const uint8_t all = fill(usb_send0, u->pid, u->at, length, u->from_flash);
    cli();
    if (usb_setups == u->setups) /* else the host has given this request up */
        usb_send0_length = all;
    sei();
    u->pid ^= PID_DATA0 ^ PID_DATA1;
}

bool usb_free1(void)
{
    return usb_send1_length == 0 && !usb_stall1 && usb.configuration != 0;
}

void usb_put1(const uint8_t *data, uint8_t length)
{
    const uint8_t all = fill(usb_send1, usb.pid1, data, length, false);
    usb.pid1 ^= PID_DATA0 ^ PID_DATA1;
    usb_send1_length = all;
}

/* ---- Control requests ------------------------------------------------------------------------ */

void usb_answer(const uint8_t *data, uint8_t length)
{
    usb.at = data;
    usb.left = length;
    usb.from_flash = false;
}

void usb_answer_flash(const uint8_t *data, uint8_t length)
{
    usb_answer(data, length);
    usb.from_flash = true;
}

static bool descriptor(const struct usb_request *r)
{
    switch (r->value >> 8) {
    case 1: usb_answer_flash(device_descriptor, sizeof device_descriptor); return true;
    case 2:
        usb_answer_flash(device_configuration, pgm_read_byte(device_configuration + 2));
        return (uint8_t)r->value == 0;
    case 3: return usb_string((uint8_t)r->value);
    default: return device_special_descriptor(r);
    }
}

static void configure(uint8_t value)
{
    usb.configuration = value;
    usb.pid1 = PID_DATA0;
    usb_send1_length = 0;
    usb_expect1 = PID_DATA0;
    usb_stall1 = 0;
}

/* Halt of endpoint 1, the only feature there is. */
static bool feature(const struct usb_request *r)
{
    if (r->type != USB_ENDPOINT || r->value != 0 || (r->index & 0x7f) != 1)
        return false;
    if (r->request == CLEAR_FEATURE)
        configure(usb.configuration);
    else
        usb_stall1 = 1, usb_expect1 = 0;
    return true;
}

static bool standard(struct state *u, const struct usb_request *r)
{
    static uint8_t two[2];
    two[0] = two[1] = 0;
    switch (r->request) {
    case GET_STATUS:
        if (r->type == (USB_FROM_DEVICE | USB_ENDPOINT) && (r->index & 0x7f) == 1)
            two[0] = usb_stall1;
        usb_answer(two, 2);
        return true;
    case CLEAR_FEATURE:
    case SET_FEATURE: return feature(r);
    case SET_ADDRESS: u->new_address = (uint8_t)(0x80 | r->value); return r->value < 128;
    case GET_DESCRIPTOR: return descriptor(r);
    case GET_CONFIGURATION: usb_answer(&u->configuration, 1); return true;
    case SET_CONFIGURATION:
        if (r->value > 1)
            return false;
        configure((uint8_t)r->value);
        return true;
    default: /* an interface has one setting, so it may refuse to name or set it (9.4.4, 9.4.10) */
        return false;
    }
}

static void begin_request(struct state *u, const struct usb_request *r)
{
    usb_answer(NULL, 0);
    u->pid = PID_DATA1;
    u->new_address = 0;
    u->answering = false;
    u->data_expected = false;
    if (!((r->type & USB_KIND) == 0 ? standard(u, r)
                                    : (r->type & USB_KIND) == USB_CLASS && device_request(r))) {
        usb_stall0 = 1;
        usb_expect0 = 0;
        return;
    }
    if (!(r->type & USB_FROM_DEVICE) && r->length != 0) {
        u->data_expected = true;
        return;
    }
    u->ends_short = u->left < r->length || r->length == 0;
    if (r->type & USB_FROM_DEVICE && u->left > r->length)
        u->left = (uint8_t)r->length;
    u->answering = true;
}

/* The next packet of an answer; one of less than 8 bytes ends it. */
static void go_on_answering(struct state *u)
{
    const uint8_t length = u->left < 8 ? u->left : 8;
    if (!u->answering || usb_send0_length != 0)
        return;
    send0(u, length);
    u->at += length;
    u->left = (uint8_t)(u->left - length);
    if (length < 8 || (u->left == 0 && !u->ends_short))
        u->answering = false;
}

static void take_packet(struct state *u, struct wd *wd)
{
    static uint8_t data[8];
    uint8_t length, got;
    do { /* a SETUP may replace what is being read */
        u->setups = usb_setups;
        got = usb_got;
        length = usb_got_length;
        if (length > sizeof data)
            length = sizeof data;
        for (uint8_t i = 0; i < length; i++)
            data[i] = usb_got_at[2 + i];
    } while (u->setups != usb_setups);
    cli();
    if (u->setups == usb_setups)
        usb_got = NOW_NOTHING;
    sei();
    if (got == NOW_SETUP) {
        begin_request(u, (const struct usb_request *)data);
    } else if (got == NOW_OUT1) {
        device_out1(wd, data, length);
    } else if (u->data_expected) {
        device_data(wd, data, length);
        u->left = 0;
        u->ends_short = true;
        u->pid = PID_DATA1;
        u->answering = true;
        u->data_expected = false;
    }
}

/* ---- The bus --------------------------------------------------------------------------------- */

static bool is_se0(void)
{
    return (PINB & USB_MASK) == 0;
}

static void bus_reset(struct state *u, struct wd *wd)
{
    set_address(0);
    configure(0);
    cli();
    usb_send0_length = 0;
    usb_stall0 = 0;
    usb_got = NOW_NOTHING;
    sei();
    u->answering = false;
    u->new_address = 0;
    u->packets = usb_packets - 1; /* the frames after it are looked at when they come */
    device_reset(wd);
}

/* SE0 for more than 2.5 us is a reset (USB 2.0, 7.1.7.5); the end of a packet lasts 1.3 us. */
static void look_for_reset(struct state *u, struct wd *wd)
{
    for (uint8_t i = 0; i < 40; i++)
        if (!is_se0())
            return;
    if (u->configuration != 0 || usb_token0[0] != 0 || u->answering)
        bus_reset(u, wd);
}

static void tune(uint16_t counts)
{
    const int16_t error = (int16_t)(counts - FRAME_COUNTS);
    uint8_t value = OSCCAL & 0x7f; /* the two halves overlap; ours is never left */
    if ((error < NEAR_COUNTS && error > -NEAR_COUNTS) || error > MOST_COUNTS ||
        error < -MOST_COUNTS)
        return;
    value = (uint8_t)(value - ((int8_t)error >> STEP_SHIFT) - (error > 0)); /* at least one */
    if (value < 0x80)
        OSCCAL = (OSCCAL & 0x80) | value;
}

/* While packets come the frames are looked at now and then only; a look ends when one comes. */
void usb_tick(void)
{
    struct state *const u = hidden();
    const uint8_t packets = usb_packets;
    uint16_t counts;
    const bool quiet = packets == u->packets;
    u->packets = packets;
    if (!quiet) {
        u->suspended = false;
        if (u->listens != 0) {
            u->listens--;
            return;
        }
    }
    u->listens = 32;
    if (is_se0())
        return;
    counts = usb_measure_frame();
    u->suspended = counts == 0 && packets == usb_packets;
    if (packets == usb_packets)
        tune(counts);
}

bool usb_suspended(void)
{
    return usb.suspended;
}

void usb_poll(struct wd *wd)
{
    struct state *const u = hidden();
    if (is_se0())
        look_for_reset(u, wd);
    if (usb_got != NOW_NOTHING)
        take_packet(u, wd);
    if (u->new_address != 0 && !u->answering && usb_send0_length == 0) {
        set_address(u->new_address & 0x7f); /* the host has acknowledged the end */
        u->new_address = 0;
    }
    go_on_answering(u);
    wd->bad_packets = usb_bad;
}

/* Pulls D- low for 20 ms, so that the host sees a new device whatever was before. */
void usb_start(void)
{
    usb_bus_start();
    DDRB |= 1 << USB_DM;
    for (uint8_t i = 0; i < 20; i++) {
        wdt_reset();
        _delay_ms(1);
    }
    DDRB &= (uint8_t)~(1 << USB_DM);
    set_address(0);
    configure(0);
    PCMSK = 1 << USB_DP;
    GIFR = 1 << PCIF;
    GIMSK = 1 << PCIE;
    sei();
}
