/* SPDX-License-Identifier: MIT */
/*
 * A low-speed USB host that drives the simulated chip's pins: packets with NRZI, stuffing, CRC5 and
 * CRC16, keep-alives in every frame, transactions with retries, control transfers, enumeration.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
enum pid { OUT = 0xe1, IN = 0x69, SETUP = 0x2d, DATA0 = 0xc3, DATA1 = 0x4b, ACK = 0xd2, NAK = 0x5a,
           STALL = 0x1e };
/* clang-format on */

/* What is to go wrong with the packets of the host; all zero: nothing. */
struct faults {
    unsigned flip_percent;  /* data packets with one wrong bit */
    unsigned token_percent; /* tokens with one wrong bit */
    unsigned lose_percent;  /* handshakes of the host that are not sent */
    unsigned deaf_percent;  /* packets of the device that the host does not hear */
    int flip_bit;           /* 1 + the bit of the next data packet that is wrong, once */
    int stop_after;         /* 1 + bits of the next data packet after which the host resets */
};

/* What was seen of the device's packets; the limits are those of USB 2.0. */
struct seen {
    double least_turn, most_turn; /* cycles from the end of a packet to the answer's first edge */
    double worst_jitter;          /* bits that an edge was away from where it must be */
    unsigned packets, timeouts, naks, stalls, bad;
};

struct host {
    uint8_t address;
    uint8_t toggle_out, toggle_in; /* data identifiers of endpoint 1 */
    uint64_t random;
    double frame_end; /* when the next keep-alive is due */
    bool suspended;   /* no keep-alives */
    double gap;       /* bits between two packets of the host: 2 at least */
    struct faults faults;
    struct seen seen;
};

extern struct host host;

void host_start(void);
void host_wait(double milliseconds); /* frames pass */
void host_reset_bus(void);
void host_suspend(void);
void host_resume(void);

/* Results of a transfer: bytes, or one of these. */
enum { FAILED = -1, STALLED = -2, REFUSED = -3 };

/* `request`: type, request, value, index, length, as 8 bytes on the bus. */
int host_control_in(const uint8_t request[8], uint8_t *answer);
int host_control_out(const uint8_t request[8], const uint8_t *data);
/* One packet of endpoint 1; REFUSED when the device says NAK for so many milliseconds. */
int host_in1(uint8_t *data, int milliseconds);
int host_out1(const uint8_t *data, unsigned length, int milliseconds);
/* Gives the device an address, reads its descriptors, configures it; false if it cannot. */
bool host_enumerate(void);

/* ---- Single packets, for tests of the bus itself --------------------------------------------- */

unsigned bus_token(uint8_t *packet, uint8_t pid, uint8_t address, uint8_t endpoint);
unsigned bus_data(uint8_t *packet, uint8_t pid, const uint8_t *data, unsigned length);
void bus_send(const uint8_t *packet, unsigned length);
/* The bits after which something is wrong: a flipped bit counts stuffed bits too; -1: none. */
void bus_send_wrong(const uint8_t *packet, unsigned length, int flip, int stop);
/* The device's answer, length 0 if none comes in 18 bit times. */
unsigned bus_receive(uint8_t *packet);
