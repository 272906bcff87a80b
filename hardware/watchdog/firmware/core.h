/* SPDX-License-Identifier: MIT */
/*
 * The watchdog without its hardware: it reads commands byte by byte, counts seconds, and says what
 * the outputs must be. The firmware and the tests on a PC compile the same file.
 *
 * Two command languages; the configuration chooses one when the device starts:
 *   strict      (default) whole lines, answered by lines that begin with '='. See README.md.
 *   compatible  the published one-byte commands: 0..8 ON OFF RST L0 L1 ?
 *
 * Time is counted in ticks of 65536 CPU cycles at 16.5 MHz, 4 ms. A second is 515625/2048 ticks, so
 * seconds have 251 or 252 ticks, and on average exactly as many as a real one. A time-out is never
 * early, and at most two ticks late, because it may begin and end in the middle of one.
 *
 * Invariants, which tests/walk.c checks in every state that can be reached:
 *   I1  nothing is pulled and nothing counts until a command, or the configuration, asks for it
 *   I2  a byte never makes the remaining time shorter, except by a command to arm
 *   I3  every command that touches timer or output cancels a pending timer (a refresh and the LED
 *       do not touch them). A digit of the published language gives power back and may arm.
 *   I4  in the strict language only A<seconds>, ended by a line end, arms
 *   I5  only a time-out and RST begin a pulse, only OFF pulls for good; the pulse ends by itself
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    WD_TICKS = 251, /* a second: this many, and WD_PART / WD_PARTS of a tick */
    WD_PART = 1577,
    WD_PARTS = 2048,
    WD_PULSE_TICKS = WD_TICKS + 2, /* one second, begun in the middle of a tick */
    WD_MAX_SECONDS = 3600,
    WD_LINE = 8,   /* the longest command has this many characters */
    WD_REPLY = 32, /* the longest reply, its line end included */
    WD_VERSION = 1
};

/* Configuration bits, kept in the EEPROM. */
enum {
    WD_COMPATIBLE = 1,       /* the published one-byte commands */
    WD_AUTOSTART = 2,        /* arm at start, with the stored seconds */
    WD_RELAY = 4,            /* PB0 drives a relay: high cuts, low lets pass */
    WD_PS_ON = 8,            /* PB2 is an output that holds PS_ON# low after ON */
    WD_JUMPER_AUTOSTART = 16 /* the jumper on PB2 means autostart, not the other language */
};
enum { WD_CONFIG_BITS = 31, WD_AUTOSTART_SECONDS = 255 };

/* What the output does. */
enum wd_power { WD_FREE, WD_OFF, WD_PULSE };

struct wd {
    uint8_t config;      /* WD_... bits as they were at start */
    uint8_t power;       /* enum wd_power */
    uint8_t after_pulse; /* WD_FREE or WD_OFF: what the pulse returns to */
    bool held_on;        /* ON was the last power command: PS_ON# is held low */
    bool led;            /* L1 */
    bool level;          /* the caller sets it: PWR_OK is high */
    uint8_t boot;        /* the caller sets it: a letter for the cause of the start */
    uint8_t bad_packets; /* the caller counts: packets whose CRC was wrong, modulo 256 */
    uint8_t fired;       /* time-outs since the start, at most 255 */
    uint16_t timeout;    /* seconds that were armed; 0 while nothing counts */
    uint16_t left;       /* seconds left, rounded up; 0 while nothing counts */
    uint8_t ticks;       /* until `left` falls by one */
    uint16_t ahead;      /* by how many parts of a tick the end of this second will be late */
    uint8_t pulse_ticks; /* until the pulse ends */
    uint8_t stored_bits; /* what the EEPROM holds, or is to hold */
    uint8_t stored_seconds;
    bool store;          /* a command changed it: the caller writes it and clears this */
    uint8_t line_length; /* characters of a command so far; WD_LINE + 1: too many */
    char line[WD_LINE];
    uint8_t reply_length; /* 0: none; the caller sends it and clears this */
    uint8_t reply_sent;   /* the caller's: bytes sent so far; 0 when a reply is new */
    char reply[WD_REPLY];
};

/* Begins in the state of I1 with what is stored; arms if that, or the jumper, says autostart. The
 * closed jumper chooses the other language, or autostart (WD_JUMPER_AUTOSTART), or nothing
 * (WD_PS_ON: its pin is an output). */
void wd_init(struct wd *wd, uint8_t bits, uint8_t seconds, bool jumper);

/* Takes one received byte. A reply replaces one that has not been sent. */
void wd_byte(struct wd *wd, uint8_t byte);

/* What was read of a command so far is forgotten: the host has begun anew. */
void wd_forget(struct wd *wd);

/* Time passes by one tick. */
void wd_tick(struct wd *wd);

/* Whether PWR_OK is pulled low, or the relay is on. */
static inline bool wd_pulls(const struct wd *wd)
{
    return wd->power != WD_FREE;
}

/* Whether PS_ON# is held low (only with WD_PS_ON). */
static inline bool wd_holds_on(const struct wd *wd)
{
    return wd->held_on && wd->power == WD_FREE;
}

/* The LED shows that PWR_OK is pulled, and obeys L1. */
static inline bool wd_led(const struct wd *wd)
{
    return wd->led || wd_pulls(wd);
}

/* ---- Between core.c, input.c, strict.c and compatible.c -------------------------------------- */

/* Words that both languages know, and those of the strict one. */
/* clang-format off */
enum wd_word { WD_ON, WD_CUT, WD_RST, WD_LED_OFF, WD_LED_ON, WD_BOTH, /* these in both */
               WD_DISARM = WD_BOTH, WD_REFRESH, WD_STATE, WD_VERSION_OF, WD_WORDS,
               WD_BEGINS, WD_NOTHING };
/* clang-format on */

/* Which word the line is; WD_BEGINS if one begins with it, WD_NOTHING if none does. */
uint8_t wd_word(const struct wd *wd);
/* Does what the words below WD_REFRESH mean. */
void wd_obey(struct wd *wd, uint8_t word);

void wd_arm(struct wd *wd, uint16_t seconds); /* 0 disarms */
void wd_refresh(struct wd *wd);
void wd_reset(struct wd *wd);
void wd_strict_byte(struct wd *wd, uint8_t byte);
void wd_compatible_byte(struct wd *wd, uint8_t byte);
