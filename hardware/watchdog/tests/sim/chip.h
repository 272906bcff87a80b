/* SPDX-License-Identifier: MIT */
/*
 * The compiled image on a simulated ATtiny85, with its pins. Time is told in bits of the bus (1500
 * are a millisecond); how many CPU cycles a bit lasts follows from the chip's clock error and from
 * OSCCAL, of which a step changes the clock by 0.6 %.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { FRAME = 1500, CYCLES_PER_BIT = 11, FACTORY_OSCCAL = 0x50 };

/* States of the bus. At low speed J has D- high. */
enum line { SE0, J, K, SE1 };

struct chip_options {
    double clock_error; /* 0.015: the chip is 1.5 % too fast with its factory OSCCAL */
    bool fixed_clock;   /* OSCCAL changes nothing */
    bool jumper;        /* PB2 is connected to ground */
    bool boot_loader;   /* each start begins in one: see chip.c */
    const uint8_t *eeprom;
    unsigned eeprom_size;
};

void chip_start(const char *image, const struct chip_options *options);
/* Power off and on: the EEPROM stays. */
void chip_power_cycle(void);
void chip_stop(void);

void chip_drive(enum line line); /* what the host drives, or its idle state */
enum line chip_line(void);       /* what is on the bus: the device wins while it drives */
bool chip_drives(void);

void chip_step(void); /* one instruction; chip_sync() afterwards makes it count */
void chip_sync(void);
void chip_advance(double bits); /* bus time passes */
double chip_now(void);          /* bits since the start */
uint64_t chip_cycle(void);
double chip_cycles_per_bit(void);
uint8_t chip_osccal(void);

/* The outputs, as what is connected sees them. */
bool chip_pwr_ok_is_pulled(void);
bool chip_pwr_ok_is_driven_high(void);
bool chip_led(void);
bool chip_ps_on_is_pulled(void);
void chip_set_pwr_ok(bool high); /* what the power supply does to the line */
/* Cycles at which PWR_OK began, and ceased, to be pulled last. */
uint64_t chip_pulled_at(void);
uint64_t chip_released_at(void);
unsigned chip_pulls(void); /* how often it began */

void chip_hang(void);       /* the firmware runs in a loop that does nothing from now on */
unsigned chip_starts(void); /* how often the firmware began at its reset vector */
bool chip_sleeps(void);
unsigned chip_stack_used(void); /* bytes, the most so far */
unsigned chip_static_used(void);
void chip_eeprom(uint8_t *bytes, unsigned size);
