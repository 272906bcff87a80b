/* SPDX-License-Identifier: MIT */
/*
 * The low-speed bus, bit by bit: what usb_bus.S and usb.c share. A bit lasts 11 CPU cycles at
 * 16.5 MHz. The interrupt handler in usb_bus.S receives every packet, checks its CRC while it
 * receives, and answers tokens for our address within the time that USB 2.0 allows (7.1.18:
 * 2 to 6.5 bit times). Everything else is done by the main program, in usb.c.
 */
#pragma once

/* The pins, as boards with a plug have them. D+ and D- are on the same port. */
#define USB_DM 3
#define USB_DP 4
#define USB_MASK ((1 << USB_DM) | (1 << USB_DP))

/* Packet identifiers with their check bits (USB 2.0, 8.3.1). */
#define PID_OUT 0xe1
#define PID_IN 0x69
#define PID_SETUP 0x2d
#define PID_DATA0 0xc3
#define PID_DATA1 0x4b
#define PID_ACK 0xd2
#define PID_NAK 0x5a
#define PID_STALL 0x1e

/* What the last token announced; the handler keeps it in GPIOR0. */
#define NOW_NOTHING 0
#define NOW_SETUP 1
#define NOW_OUT0 2
#define NOW_OUT1 3
#define NOW_IN0 4
#define NOW_IN1 5

/* A receive buffer: a byte before the identifier, the packet, and room for one that is too long. */
#define USB_RX_SIZE 18
#define USB_TX_SIZE 11

#ifndef __ASSEMBLER__
#include <stdint.h>

/* The handler writes, the main program reads. */
extern volatile uint8_t usb_got;              /* NOW_SETUP, NOW_OUT0 or NOW_OUT1; the main program
                                           clears it when it has taken the data */
extern volatile uint8_t usb_got_length;       /* bytes of data */
extern volatile uint8_t *volatile usb_got_at; /* the buffer: data from byte 2 on */
extern volatile uint8_t usb_setups;           /* SETUP packets so far: one aborts what went on */
extern volatile uint8_t usb_packets;          /* packets of any kind so far */
extern volatile uint8_t usb_bad;              /* data packets for us whose CRC was wrong */

/* The main program writes, the handler reads. */
extern volatile uint8_t usb_token0[2], usb_token1[2], usb_token3[2]; /* what tokens for us hold */
extern volatile uint8_t usb_stall0; /* not 0: endpoint 0 answers STALL until the next SETUP */
extern volatile uint8_t usb_stall1; /* the same of endpoint 1, until the host clears it */
extern volatile uint8_t usb_expect0, usb_expect1; /* data identifier that OUT must have
                                                     next; 0: the answer is STALL */

/* To be sent to the host: identifier, data, CRC; length 0: nothing, the answer is NAK. The handler
 * sets the length to 0 when the host has acknowledged, and at a SETUP (endpoint 0). */
extern volatile uint8_t usb_send0[USB_TX_SIZE], usb_send0_length;
extern volatile uint8_t usb_send1[USB_TX_SIZE], usb_send1_length;

void usb_bus_start(void);
/* Counts of 8 cycles between two SE0; 0: the bus is quiet; 1: it is being reset. */
uint16_t usb_measure_frame(void);

/* The table of usb_bus.S: 256 low bytes, then 256 high ones. */
extern const uint8_t usb_crc_table[512];
#endif
