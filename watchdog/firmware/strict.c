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

static void put(struct wd *wd, char c)
{
    if (wd->reply_length < WD_REPLY)
        wd->reply[wd->reply_length++] = c;
}

static void put_text(struct wd *wd, const char *text)
{
    while (*text)
        put(wd, *text++);
}

static void put_number(struct wd *wd, uint16_t number)
{
    char digits[5];
    uint8_t n = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    put(wd, ' ');
    while (n != 0)
        put(wd, digits[--n]);
}

static void say(struct wd *wd, const char *text)
{
    wd->reply_length = 0;
    put(wd, '=');
    put_text(wd, text);
}

static void say_state(struct wd *wd)
{
    static const char names[] = {'n', 'f', 'r'};
    say(wd, "s");
    put_number(wd, wd->level);
    put(wd, ' ');
    put(wd, names[wd->power]);
    put_number(wd, wd->timeout);
    put_number(wd, wd->left);
    put_number(wd, wd->fired);
    put(wd, ' ');
    put(wd, (char)(wd->boot ? wd->boot : '-'));
    put_number(wd, wd->bad_packets);
}

/* Reads what follows the first letter: true if it is a number of 1 to 4 digits and nothing else. */
static bool number_of(const struct wd *wd, uint16_t *number)
{
    uint8_t i;
    *number = 0;
    if (wd->line_length > 5)
        return false;
    for (i = 1; i < wd->line_length; i++) {
        const uint8_t digit = (uint8_t)(wd->line[i] - '0');
        if (digit > 9)
            return false;
        *number = (uint16_t)(*number * 10 + digit);
    }
    return i >= 2;
}

static bool is(const struct wd *wd, const char *text)
{
    uint8_t i = 0;
    while (i < wd->line_length && text[i] != 0 && text[i] == wd->line[i])
        i++;
    return i == wd->line_length && text[i] == 0;
}

static bool obey_word(struct wd *wd)
{
    if (is(wd, "ON"))
        wd_power_on(wd);
    else if (is(wd, "OFF"))
        wd_power_off(wd);
    else if (is(wd, "RST"))
        wd_reset(wd);
    else if (is(wd, "D"))
        wd_arm(wd, 0);
    else if (is(wd, "L0") || is(wd, "L1"))
        wd->led = wd->line[1] == '1';
    else
        return false;
    return true;
}

static bool store(struct wd *wd, uint16_t number)
{
    if (wd->line[0] == 'E' && number <= WD_CONFIG_BITS)
        wd->stored_bits = (uint8_t)number;
    else if (wd->line[0] == 'S' && number >= 1 && number <= WD_AUTOSTART_SECONDS)
        wd->stored_seconds = (uint8_t)number;
    else
        return false;
    wd->store = true;
    return true;
}

/* Commands that answer with more than =ok. */
static bool obey_question(struct wd *wd)
{
    if (is(wd, "?")) {
        say_state(wd);
    } else if (is(wd, "V")) {
        say(wd, "pawl-wd");
        put_number(wd, WD_VERSION);
    } else if (is(wd, "K") && wd->left == 0) {
        say(wd, "no");
    } else if (is(wd, "K")) {
        wd_refresh(wd);
        say(wd, "ok");
        put_number(wd, wd->left);
    } else {
        return false;
    }
    return true;
}

static void obey(struct wd *wd)
{
    uint16_t number;
    const bool numbered = number_of(wd, &number);
    if (wd->line_length > WD_LINE) {
        say(wd, "err"); /* what was too long was not kept */
    } else if (obey_question(wd)) {
        /* It has answered. */
    } else if (numbered && wd->line[0] == 'A' && number >= 1 && number <= WD_MAX_SECONDS) {
        wd_arm(wd, number);
        say(wd, "ok");
        put_number(wd, number);
    } else if (obey_word(wd) || (numbered && store(wd, number))) {
        say(wd, "ok");
    } else {
        say(wd, "err");
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
