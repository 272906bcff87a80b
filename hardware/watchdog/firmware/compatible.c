/* SPDX-License-Identifier: MIT */
/*
 * The published language: 0 disarms, 1..8 arm 2^N-1 seconds, ON OFF RST L0 L1 act, ? answers with
 * two bytes: '0' or '1' for the level, then the seconds left. An unknown byte resets the parser.
 *
 * Where the published text leaves a case open, this is decided:
 *   - a digit after OFF gives power back, as the published firmware does, and arms or disarms
 *   - a letter that breaks a command begins its own: OOFF is OFF, and ?? is answered twice
 *   - a digit that breaks a command is dropped with it: L5 does not arm
 */
#include "core.h"

static void answer(struct wd *wd)
{
    wd->reply[0] = wd->level ? '1' : '0';
    wd->reply[1] = (char)(wd->left > 255 ? 255 : wd->left);
    wd->reply_length = 2;
    wd->reply_sent = 0;
}

static void obey_digit(struct wd *wd, uint8_t digit)
{
    wd_arm(wd, (uint16_t)((1u << digit) - 1));
    wd->after_pulse = WD_FREE;
    if (wd->power == WD_OFF)
        wd->power = WD_FREE;
}

void wd_compatible_byte(struct wd *wd, uint8_t byte)
{
    const bool broken = wd->line_length != 0;
    uint8_t word;
    wd->line[wd->line_length++] = (char)byte;
    word = wd_word(wd);
    if (word == WD_NOTHING) { /* it does not go on with what was read: it begins anew */
        wd->line[0] = (char)byte;
        wd->line_length = 1;
        word = wd_word(wd);
        if (!broken && byte >= '0' && byte <= '8')
            obey_digit(wd, (uint8_t)(byte - '0'));
    }
    if (word == WD_BEGINS)
        return;
    wd->line_length = 0;
    if (word < WD_BOTH)
        wd_obey(wd, word);
    else if (word == WD_STATE)
        answer(wd);
}
