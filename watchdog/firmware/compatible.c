/* SPDX-License-Identifier: MIT */
/*
 * The published language: 0 disarms, 1..8 arm 2^N-1 seconds, ON OFF RST L0 L1 act, ? answers with
 * two bytes: '0' or '1' for the level, then the seconds left. An unknown byte resets the parser.
 *
 * Where the published text leaves a case open, this is decided:
 *   - a digit never switches power: after OFF it arms or disarms, and power stays off
 *   - a letter that breaks a command begins its own: OOFF is OFF, and ?? is answered twice
 *   - a digit that breaks a command is dropped with it: L5 does not arm
 */
#include "core.h"

enum prefix { NONE, SEEN_O, SEEN_OF, SEEN_R, SEEN_RS, SEEN_L };

static void answer(struct wd *wd)
{
    wd->reply[0] = wd->level ? '1' : '0';
    wd->reply[1] = (char)(wd->left > 255 ? 255 : wd->left);
    wd->reply_length = 2;
}

/* The byte goes on with what was read: true. */
static bool continues(struct wd *wd, uint8_t prefix, uint8_t byte)
{
    switch (prefix) {
    case SEEN_O:
        if (byte == 'N')
            wd_power_on(wd);
        else if (byte == 'F')
            wd->prefix = SEEN_OF;
        return byte == 'N' || byte == 'F';
    case SEEN_OF:
        if (byte == 'F')
            wd_power_off(wd);
        return byte == 'F';
    case SEEN_R:
        if (byte == 'S')
            wd->prefix = SEEN_RS;
        return byte == 'S';
    case SEEN_RS:
        if (byte == 'T')
            wd_reset(wd);
        return byte == 'T';
    case SEEN_L:
        if (byte == '0' || byte == '1')
            wd->led = byte == '1';
        return byte == '0' || byte == '1';
    default:
        return false;
    }
}

void wd_compatible_byte(struct wd *wd, uint8_t byte)
{
    const uint8_t prefix = wd->prefix;
    wd->prefix = NONE;
    if (continues(wd, prefix, byte))
        return;
    if (byte >= '0' && byte <= '8' && prefix == NONE)
        wd_arm(wd, (uint16_t)((1u << (byte - '0')) - 1));
    else if (byte == 'O')
        wd->prefix = SEEN_O;
    else if (byte == 'R')
        wd->prefix = SEEN_R;
    else if (byte == 'L')
        wd->prefix = SEEN_L;
    else if (byte == '?')
        answer(wd);
}
