/* SPDX-License-Identifier: MIT */
/* Transactions, transfers, enumeration. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus.h"
#include "chip.h"

struct host host;

enum { TRIES = 3 };

static unsigned chance(void)
{
    host.random = host.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(host.random >> 33);
}

static bool happens(unsigned percent)
{
    return percent != 0 && chance() % 100 < percent;
}

void host_start(void)
{
    const uint64_t random = host.random;
    memset(&host, 0, sizeof host);
    host.random = random;
    host.gap = 3;
    host.frame_end = chip_now() + FRAME;
}

/* The bus idles until the next frame begins, with its keep-alive. */
static void next_frame(void)
{
    const double rest = host.frame_end - chip_now();
    if (rest > 0)
        chip_advance(rest);
    host.frame_end = chip_now() + FRAME;
    if (!host.suspended) {
        chip_drive(SE0);
        chip_advance(2);
        chip_drive(J);
    }
    chip_advance(20);
}

void host_wait(double milliseconds)
{
    const double end = chip_now() + milliseconds * FRAME;
    while (host.frame_end <= end)
        next_frame();
    if (end > chip_now())
        chip_advance(end - chip_now());
}

void host_reset_bus(void)
{
    chip_drive(SE0);
    chip_advance(12 * FRAME);
    chip_drive(J);
    host.address = 0;
    host.suspended = false;
    host.frame_end = chip_now();
    host_wait(12);
}

void host_suspend(void)
{
    host.suspended = true;
}

/* K for 20 ms, then the end that a packet has. */
void host_resume(void)
{
    chip_drive(K);
    chip_advance(20 * FRAME);
    chip_drive(SE0);
    chip_advance(2);
    chip_drive(J);
    host.suspended = false;
    host.frame_end = chip_now() + FRAME;
    host_wait(10);
}

/* A transaction must end within the frame: the longest takes about 300 bits. */
static void make_room(void)
{
    if (host.frame_end - chip_now() < 500)
        next_frame();
}

static void send_token(uint8_t pid, uint8_t endpoint)
{
    uint8_t packet[16];
    const unsigned n = bus_token(packet, pid, host.address, endpoint);
    make_room();
    chip_advance(host.gap);
    bus_send_wrong(packet, n, happens(host.faults.token_percent) ? (int)(8 + chance() % 24) : -1,
                   -1);
}

/* False if the host reset the bus instead of ending the packet. */
static bool send_data(uint8_t pid, const uint8_t *data, unsigned length)
{
    uint8_t packet[16];
    const unsigned n = bus_data(packet, pid, data, length);
    int flip = happens(host.faults.flip_percent) ? (int)(8 + chance() % (8 * n)) : -1;
    const int stop = host.faults.stop_after - 1;
    if (host.faults.flip_bit != 0)
        flip = host.faults.flip_bit - 1;
    host.faults.flip_bit = 0;
    host.faults.stop_after = 0;
    chip_advance(host.gap);
    bus_send_wrong(packet, n, flip, stop);
    if (stop >= 0)
        host_reset_bus();
    return stop < 0;
}

/* What the device says; 0 if nothing, or nothing that the host heard. */
static unsigned hear(uint8_t *packet)
{
    const unsigned n = bus_receive(packet);
    chip_advance(host.gap);
    if (n != 0 && packet[0] == NAK)
        host.seen.naks++;
    if (n != 0 && packet[0] == STALL)
        host.seen.stalls++;
    return happens(host.faults.deaf_percent) ? 0 : n;
}

/* SETUP or OUT with its data: until ACK or STALL; NAK waits for the next frame. */
static int send_until_heard(uint8_t token, uint8_t endpoint, uint8_t pid, const uint8_t *data,
                            unsigned length, int milliseconds)
{
    uint8_t answer[64];
    int tries = TRIES;
    while (tries > 0 && milliseconds >= 0) {
        unsigned n;
        send_token(token, endpoint);
        if (!send_data(pid, data, length))
            return FAILED;
        n = hear(answer);
        if (n == 1 && answer[0] == ACK)
            return (int)length;
        if (n == 1 && answer[0] == STALL)
            return STALLED;
        if (n == 1 && answer[0] == NAK) {
            next_frame();
            milliseconds--;
            tries = TRIES;
        } else {
            tries--;
            if (host.faults.flip_percent + host.faults.token_percent + host.faults.deaf_percent)
                tries = TRIES, milliseconds--;
        }
    }
    return milliseconds < 0 ? REFUSED : FAILED;
}

static bool is_whole(const uint8_t *packet, unsigned n)
{
    uint8_t again[16];
    return n >= 3 && n <= 11 && bus_data(again, packet[0], packet + 1, n - 3) == n &&
           memcmp(again, packet, n) == 0;
}

/* IN: data of the expected identifier; others are acknowledged and dropped. */
static int receive(uint8_t endpoint, uint8_t *expected, uint8_t *data, int milliseconds)
{
    uint8_t packet[64];
    int tries = TRIES;
    while (tries > 0 && milliseconds >= 0) {
        unsigned n;
        const uint8_t ack = ACK;
        send_token(IN, endpoint);
        n = hear(packet);
        if (n == 1 && packet[0] == STALL)
            return STALLED;
        if (n == 1 && packet[0] == NAK) {
            next_frame();
            milliseconds--;
            tries = TRIES;
            continue;
        }
        if (!is_whole(packet, n)) {
            tries--;
            if (host.faults.token_percent + host.faults.deaf_percent + host.faults.flip_percent)
                tries = TRIES, milliseconds--;
            continue;
        }
        if (!happens(host.faults.lose_percent))
            bus_send(&ack, 1);
        else
            chip_advance(18);
        chip_advance(host.gap);
        if (packet[0] != *expected)
            continue;
        *expected ^= DATA0 ^ DATA1;
        memcpy(data, packet + 1, n - 3);
        return (int)n - 3;
    }
    return milliseconds < 0 ? REFUSED : FAILED;
}

int host_control_in(const uint8_t request[8], uint8_t *answer)
{
    const int wanted = request[6] | request[7] << 8;
    uint8_t toggle = DATA1;
    int got = 0, n = send_until_heard(SETUP, 0, DATA0, request, 8, 50);
    if (n < 0)
        return n;
    do {
        n = receive(0, &toggle, answer + got, 500);
        if (n < 0)
            return n;
        got += n;
    } while (n == 8 && got < wanted);
    n = send_until_heard(OUT, 0, DATA1, NULL, 0, 500);
    return n < 0 ? n : got;
}

int host_control_out(const uint8_t request[8], const uint8_t *data)
{
    const int length = request[6] | request[7] << 8;
    uint8_t toggle = DATA1, none[8];
    int sent = 0, n = send_until_heard(SETUP, 0, DATA0, request, 8, 50);
    while (n >= 0 && sent < length) {
        const int piece = length - sent < 8 ? length - sent : 8;
        n = send_until_heard(OUT, 0, toggle, data + sent, (unsigned)piece, 500);
        toggle ^= DATA0 ^ DATA1;
        sent += piece;
    }
    if (n < 0)
        return n;
    toggle = DATA1;
    n = receive(0, &toggle, none, 500);
    return n == 0 ? length : n < 0 ? n : FAILED;
}

int host_in1(uint8_t *data, int milliseconds)
{
    return receive(1, &host.toggle_in, data, milliseconds);
}

int host_out1(const uint8_t *data, unsigned length, int milliseconds)
{
    const int n = send_until_heard(OUT, 1, host.toggle_out, data, length, milliseconds);
    if (n >= 0)
        host.toggle_out ^= DATA0 ^ DATA1;
    return n;
}

bool host_enumerate(void)
{
    static const uint8_t begin[8] = {0x80, 6, 0, 1, 0, 0, 64, 0};
    static const uint8_t address[8] = {0, 5, 9, 0, 0, 0, 0, 0};
    static const uint8_t device[8] = {0x80, 6, 0, 1, 0, 0, 18, 0};
    static const uint8_t configuration[8] = {0x80, 6, 0, 2, 0, 0, 255, 0};
    static const uint8_t configure[8] = {0, 9, 1, 0, 0, 0, 0, 0};
    uint8_t answer[256];
    host_reset_bus();
    for (int tries = 0; host_control_in(begin, answer) < 8; tries++) {
        if (tries == 3) /* as many as Linux tries */
            return false;
        host_reset_bus();
    }
    host_reset_bus();
    if (host_control_out(address, NULL) != 0)
        return false;
    host_wait(2);
    host.address = 9;
    host.toggle_in = host.toggle_out = DATA0;
    return host_control_in(device, answer) == 18 && host_control_in(configuration, answer) > 9 &&
           host_control_out(configure, NULL) == 0;
}
