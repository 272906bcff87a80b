/* SPDX-License-Identifier: MIT */
/* Packets: bits on the wire, and back. */
#include "bus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chip.h"

enum { MOST_BITS = 400 };

static uint16_t crc16(const uint8_t *data, unsigned length)
{
    uint16_t crc = 0xffff;
    for (unsigned i = 0; i < length * 8; i++) {
        const bool bit = data[i / 8] >> i % 8 & 1;
        const bool differ = bit != (crc & 1);
        crc = (uint16_t)(crc >> 1 ^ (differ ? 0xa001 : 0));
    }
    return (uint16_t)~crc;
}

unsigned bus_token(uint8_t *packet, uint8_t pid, uint8_t address, uint8_t endpoint)
{
    const unsigned bits = (unsigned)(address | endpoint << 7);
    unsigned crc = 0x1f;
    for (unsigned i = 0; i < 11; i++) {
        const bool differ = (bits >> i & 1) != (crc & 1);
        crc = crc >> 1 ^ (differ ? 0x14 : 0);
    }
    crc ^= 0x1f;
    packet[0] = pid;
    packet[1] = (uint8_t)bits;
    packet[2] = (uint8_t)(bits >> 8 | crc << 3);
    return 3;
}

unsigned bus_data(uint8_t *packet, uint8_t pid, const uint8_t *data, unsigned length)
{
    const uint16_t crc = crc16(data, length);
    packet[0] = pid;
    memcpy(packet + 1, data, length);
    packet[length + 1] = (uint8_t)crc;
    packet[length + 2] = (uint8_t)(crc >> 8);
    return length + 3;
}

/* The bits as they are on the wire before NRZI: sync pattern, stuffed packet. */
static unsigned bits_of(const uint8_t *packet, unsigned length, bool *bits)
{
    unsigned n = 0, ones = 0;
    for (unsigned i = 0; i < 8 * (length + 1); i++) {
        const bool bit = i < 8 ? i == 7 : packet[i / 8 - 1] >> i % 8 & 1;
        bits[n++] = bit;
        ones = bit ? ones + 1 : 0;
        if (ones == 6) {
            bits[n++] = false;
            ones = 0;
        }
    }
    return n;
}

void bus_send_wrong(const uint8_t *packet, unsigned length, int flip, int stop)
{
    bool bits[MOST_BITS];
    const unsigned n = bits_of(packet, length, bits);
    enum line line = J;
    if (flip >= 0)
        bits[(unsigned)flip % n] = !bits[(unsigned)flip % n];
    for (unsigned i = 0; i < n && (stop < 0 || i < (unsigned)stop); i++) {
        if (!bits[i])
            line = line == J ? K : J;
        chip_drive(line);
        chip_advance(1);
    }
    if (stop >= 0)
        return;
    chip_drive(SE0);
    chip_advance(2);
    chip_drive(J);
}

void bus_send(const uint8_t *packet, unsigned length)
{
    bus_send_wrong(packet, length, -1, -1);
}

/* Edges of what the device sends: the state from this cycle on. */
struct edge {
    double cycle;
    enum line line;
};

/* Waits for the first K for 18 bits, then collects edges until the device lets the bus go. */
static unsigned collect(struct edge *edges, double *turn)
{
    const double begin = (double)chip_cycle(), bit = chip_cycles_per_bit();
    enum line line = J;
    unsigned n = 0;
    for (;;) {
        const double cycle = (double)chip_cycle();
        const enum line now = chip_line();
        if (now != line && n < MOST_BITS) {
            edges[n].cycle = cycle;
            edges[n++].line = now;
            line = now;
        }
        if (n == 0 && cycle > begin + 18 * bit)
            break;
        if (n != 0 && !chip_drives())
            break;
        if (n != 0 && cycle > begin + MOST_BITS * bit)
            break; /* it never ends: a babbling device */
        chip_step();
    }
    chip_sync();
    *turn = n != 0 ? edges[0].cycle - begin : 0;
    return n;
}

static unsigned decode(const struct edge *edges, unsigned n, uint8_t *packet)
{
    const double bit = chip_cycles_per_bit();
    unsigned ones = 0, count = 0;
    uint8_t bytes[MOST_BITS / 8] = {0};
    for (unsigned i = 0; i + 1 < n; i++) {
        const double length = (edges[i + 1].cycle - edges[i].cycle) / bit;
        const int whole = (int)(length + 0.5);
        const double away = fabs(length - whole);
        if (edges[i].line == SE0) {
            if (whole != 2 || count % 8 != 0)
                return 0;
            if (bytes[0] != 0x80)
                return 0;
            memcpy(packet, bytes + 1, count / 8 - 1);
            return count / 8 - 1;
        }
        if (away > host.seen.worst_jitter)
            host.seen.worst_jitter = away;
        /* An edge is a zero, unless it is stuffed; each further bit is a one. */
        if (ones != 6)
            count++;
        ones = 0;
        for (int k = 1; k < whole && count < MOST_BITS - 8; k++) {
            bytes[count / 8] |= (uint8_t)(1 << count % 8);
            count++;
            if (++ones > 6)
                return 0;
        }
    }
    return 0;
}

unsigned bus_receive(uint8_t *packet)
{
    struct edge edges[MOST_BITS];
    double turn = 0;
    const unsigned n = collect(edges, &turn);
    unsigned length;
    if (n == 0) {
        host.seen.timeouts++;
        return 0;
    }
    if (host.seen.packets == 0 || turn < host.seen.least_turn)
        host.seen.least_turn = turn;
    if (turn > host.seen.most_turn)
        host.seen.most_turn = turn;
    host.seen.packets++;
    length = decode(edges, n, packet);
    if (length == 0)
        host.seen.bad++;
    return length;
}
