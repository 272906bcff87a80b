/* SPDX-License-Identifier: MIT */
/* Timer and outputs. The two languages are in strict.c and compatible.c. */
#include "core.h"

#include <string.h>

static uint8_t with_jumper(uint8_t bits)
{
    if (bits & WD_PS_ON)
        return bits;
    return bits & WD_JUMPER_AUTOSTART ? bits | WD_AUTOSTART : bits ^ WD_COMPATIBLE;
}

void wd_init(struct wd *wd, uint8_t bits, uint8_t seconds, bool jumper)
{
    memset(wd, 0, sizeof *wd);
    wd->config = jumper ? with_jumper(bits) : bits;
    wd->stored_bits = bits;
    wd->stored_seconds = seconds;
    if (wd->config & WD_AUTOSTART)
        wd_arm(wd, seconds);
}

void wd_byte(struct wd *wd, uint8_t byte)
{
    if (wd->config & WD_COMPATIBLE)
        wd_compatible_byte(wd, byte);
    else
        wd_strict_byte(wd, byte);
}

void wd_forget(struct wd *wd)
{
    wd->line_length = 0;
    wd->prefix = 0;
}

/* The tick that is under way may end at once, so it does not count. */
void wd_refresh(struct wd *wd)
{
    wd->left = wd->timeout;
    wd->units = WD_UNITS_PER_SECOND + WD_UNITS_PER_TICK;
}

void wd_arm(struct wd *wd, uint16_t seconds)
{
    wd->timeout = seconds;
    wd_refresh(wd);
}

void wd_power_on(struct wd *wd)
{
    wd_arm(wd, 0);
    wd->power = WD_FREE;
    wd->held_on = true;
}

void wd_power_off(struct wd *wd)
{
    wd_arm(wd, 0);
    wd->power = WD_OFF;
    wd->held_on = false;
}

/* A pulse inside a pulse begins it anew. */
void wd_reset(struct wd *wd)
{
    wd_arm(wd, 0);
    if (wd->power != WD_PULSE)
        wd->after_pulse = wd->power;
    wd->power = WD_PULSE;
    wd->pulse_units = WD_PULSE_SECONDS * WD_UNITS_PER_SECOND + WD_UNITS_PER_TICK;
}

static void count_pulse(struct wd *wd)
{
    if (wd->power != WD_PULSE)
        return;
    if (wd->pulse_units > WD_UNITS_PER_TICK)
        wd->pulse_units -= WD_UNITS_PER_TICK;
    else
        wd->power = wd->after_pulse;
}

/* What a second has too many is taken from the next one, so that errors do not add up. */
void wd_tick(struct wd *wd)
{
    count_pulse(wd);
    if (wd->left == 0)
        return;
    if (wd->units > WD_UNITS_PER_TICK) {
        wd->units -= WD_UNITS_PER_TICK;
        return;
    }
    wd->units += WD_UNITS_PER_SECOND - WD_UNITS_PER_TICK;
    if (--wd->left == 0) {
        if (wd->fired < 255)
            wd->fired++;
        wd_reset(wd);
    }
}
