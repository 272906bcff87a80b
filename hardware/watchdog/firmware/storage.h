/* SPDX-License-Identifier: MIT */
/*
 * The configuration in the EEPROM: two places of five bytes, written in turn. A place counts only
 * if its mark and check byte fit, and of two that count the newer. A power cut during a write
 * therefore leaves the older configuration. An empty EEPROM gives the default: strict, nothing
 * starts by itself.
 *
 *   byte 0  mark: the place is whole        byte 3  seconds for autostart
 *   byte 1  sequence number, modulo 256     byte 4  check byte over the three before it
 *   byte 2  configuration bits
 *
 * Bytes are written in this order: the mark as STORAGE_BEGUN, bytes 1 to 4, the mark again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    STORAGE_PLACE = 5,
    STORAGE_PLACES = 2,
    STORAGE_STEPS = STORAGE_PLACE + 1,
    STORAGE_DEFAULT_SECONDS = 60,
    STORAGE_WHOLE = 0xa5,
    STORAGE_BEGUN = 0x00
};

struct storage {
    uint8_t bits, seconds;
    uint8_t place;    /* where the next one goes */
    uint8_t sequence; /* of the last one */
};

/* `bytes` is what the EEPROM holds, both places. */
void storage_read(struct storage *s, const uint8_t bytes[STORAGE_PLACES * STORAGE_PLACE]);

/* The write number `step`, 0 .. STORAGE_STEPS - 1, that makes the present bits and seconds last:
 * gives its address, and the byte in *value. After the last one the caller calls
 * storage_written. */
uint8_t storage_step(const struct storage *s, uint8_t step, uint8_t *value);
void storage_written(struct storage *s);
