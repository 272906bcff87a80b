/* SPDX-License-Identifier: MIT */
/*
 * The strict language: a command is a whole line, ended by CR or LF; every reply is one line that
 * begins with '=' and ends in LF. Lines that begin with '=' are ignored, so an echo of our own
 * replies does nothing, and two devices cannot talk each other into anything.
 *
 *   A<seconds>  arm, 1..3600           =ok <seconds>
 *   K           refresh                =ok <seconds>, or =no if nothing is armed: it does not arm
 *   D           disarm                 =ok
 *   ON OFF RST  power                  =ok
 *   L0 L1       LED                    =ok
 *   ?           state                  =s <level> <power> <timeout> <left> <fired> <boot> <bad>
 *   V           version                =pawl-wd <protocol>
 *   E<bits>     store configuration    =ok    it counts from the next start on
 *   S<seconds>  store autostart time   =ok    1..255
 *   anything else                      =err
 */
#include "core.h"

#ifdef __AVR__
#include <avr/pgmspace.h>
#else /* a machine whose constants need no memory of their own */
#define PROGMEM
#define pgm_read_byte(at) (*(at))
#endif

/* What follows the first letter: a number of 1 to 4 digits, or 0 for anything else. */
static uint16_t number_of(const struct wd *wd)
{
    uint16_t number = 0;
    uint8_t i;
    if (wd->line_length > 5)
        return 0;
    for (i = 1; i < wd->line_length; i++) {
        const uint8_t digit = (uint8_t)(wd->line[i] - '0');
        if (digit > 9)
            return 0;
        number = (uint16_t)(((uint16_t)(number << 2) + number) << 1);
        number = (uint16_t)(number + digit); /* ten times and this: the chip cannot multiply */
    }
    return number;
}

static void put(struct wd *wd, uint8_t c)
{
    wd->reply[wd->reply_length++] = (char)c;
}

/* Up to 9999, by subtraction: the chip cannot divide. */
static void put_number(struct wd *wd, uint16_t number)
{
    uint16_t power = 1000;
    bool begun = false;
    put(wd, ' ');
    for (;;) {
        uint8_t digit = '0';
        while (number >= power) {
            number -= power;
            digit++;
            begun = true;
        }
        if (begun || power == 1)
            put(wd, digit);
        if (power == 1)
            return;
        power = power == 1000 ? 100 : power == 100 ? 10 : 1;
    }
}

static void put_letter(struct wd *wd, uint8_t letter)
{
    put(wd, ' ');
    put(wd, letter);
}

static void say_state(struct wd *wd)
{
    put(wd, 's');
    put_number(wd, wd->level);
    put_letter(wd, wd->power == WD_FREE ? 'n' : wd->power == WD_OFF ? 'f' : 'r');
    put_number(wd, wd->timeout);
    put_number(wd, wd->left);
    put_number(wd, wd->fired);
    put_letter(wd, wd->boot);
    put_number(wd, wd->bad_packets);
}

static void say_ok(struct wd *wd)
{
    put(wd, 'o');
    put(wd, 'k');
}

static void say_version(struct wd *wd)
{
    static const char name[] PROGMEM = "pawl-wd";
    uint8_t i;
    for (i = 0; i < sizeof name - 1; i++)
        put(wd, (uint8_t)pgm_read_byte(name + i));
    put_number(wd, WD_VERSION);
}

static void refresh(struct wd *wd)
{
    if (wd->left == 0) {
        put(wd, 'n');
        put(wd, 'o');
        return;
    }
    wd_refresh(wd);
    say_ok(wd);
    put_number(wd, wd->left);
}

/* A letter with a number: true if it is one of them, and in range. */
static bool obey_number(struct wd *wd)
{
    const uint16_t number = number_of(wd);
    if (wd->line[0] == 'A' && number >= 1 && number <= WD_MAX_SECONDS) {
        wd_arm(wd, number);
        say_ok(wd);
        put_number(wd, number);
        return true;
    }
    if (wd->line[0] == 'E' && number <= WD_CONFIG_BITS &&
        (number != 0 || (wd->line_length == 2 && wd->line[1] == '0')))
        wd->stored_bits = (uint8_t)number;
    else if (wd->line[0] == 'S' && number >= 1 && number <= WD_AUTOSTART_SECONDS)
        wd->stored_seconds = (uint8_t)number;
    else
        return false;
    wd->store = true;
    say_ok(wd);
    return true;
}

static void obey(struct wd *wd)
{
    const uint8_t word = wd_word(wd);
    wd->reply_length = 0;
    wd->reply_sent = 0;
    put(wd, '=');
    if (word == WD_STATE) {
        say_state(wd);
    } else if (word == WD_VERSION_OF) {
        say_version(wd);
    } else if (word == WD_REFRESH) {
        refresh(wd);
    } else if (word < WD_WORDS) {
        wd_obey(wd, word);
        say_ok(wd);
    } else if (!obey_number(wd)) {
        put(wd, 'e');
        put(wd, 'r');
        put(wd, 'r');
    }
    put(wd, '\n');
}

void wd_strict_byte(struct wd *wd, uint8_t byte)
{
    if (byte == '\r' || byte == '\n') {
        if (wd->line_length != 0 && wd->line[0] != '=')
            obey(wd);
        wd->line_length = 0;
    } else if (wd->line_length < WD_LINE) {
        wd->line[wd->line_length++] = (char)byte;
    } else {
        wd->line_length = WD_LINE + 1; /* too long: the line is dropped at its end */
    }
}
