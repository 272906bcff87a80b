/* SPDX-License-Identifier: MIT */
/* Timer and outputs. input.c chooses between the two languages, strict.c and compatible.c. */
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
    wd->boot = '-';
    wd->stored_bits = bits;
    wd->stored_seconds = seconds;
    if (wd->config & WD_AUTOSTART)
        wd_arm(wd, seconds);
}

void wd_forget(struct wd *wd)
{
    wd->line_length = 0;
}

/* The tick that is under way may end at once, so it does not count. */
void wd_refresh(struct wd *wd)
{
    wd->left = wd->timeout;
    wd->ticks = WD_TICKS + 2;
    wd->ahead = WD_PARTS - WD_PART;
}

void wd_arm(struct wd *wd, uint16_t seconds)
{
    wd->timeout = seconds;
    wd_refresh(wd);
}

/* A pulse inside a pulse begins it anew. */
void wd_reset(struct wd *wd)
{
    wd_arm(wd, 0);
    if (wd->power != WD_PULSE)
        wd->after_pulse = wd->power;
    wd->power = WD_PULSE;
    wd->pulse_ticks = WD_PULSE_TICKS;
}

static void set_power(struct wd *wd, bool on)
{
    wd_arm(wd, 0);
    wd->power = on ? WD_FREE : WD_OFF;
    wd->held_on = on;
}

void wd_obey(struct wd *wd, uint8_t word)
{
    if (word == WD_RST)
        wd_reset(wd);
    else if (word == WD_DISARM)
        wd_arm(wd, 0);
    else if (word <= WD_CUT)
        set_power(wd, word == WD_ON);
    else
        wd->led = word == WD_LED_ON;
}

/* What a second has too many is taken from a later one, so that errors do not add up. */
static void next_second(struct wd *wd)
{
    if (wd->ahead >= WD_PART) {
        wd->ahead -= WD_PART;
        wd->ticks = WD_TICKS;
    } else {
        wd->ahead += WD_PARTS - WD_PART;
        wd->ticks = WD_TICKS + 1;
    }
}

void wd_tick(struct wd *wd)
{
    if (wd->power == WD_PULSE && --wd->pulse_ticks == 0)
        wd->power = wd->after_pulse;
    if (wd->left == 0 || --wd->ticks != 0)
        return;
    next_second(wd);
    if (--wd->left == 0) {
        if (wd->fired < 255)
            wd->fired++;
        wd_reset(wd);
    }
}
