/* SPDX-License-Identifier: MIT */
/* The words of the two languages. */
#include "core.h"

#ifdef __AVR__
#include <avr/pgmspace.h>
#else /* a machine whose constants need no memory of their own */
#define PROGMEM
#define pgm_read_byte(at) (*(at))
#endif

enum { LONGEST = 3 };

/* Filled up with zeros, which no command holds. */
static const char words[WD_WORDS][LONGEST] PROGMEM = {
    [WD_ON] = "ON",      [WD_CUT] = "OFF",   [WD_RST] = "RST",
    [WD_LED_OFF] = "L0", [WD_LED_ON] = "L1", [WD_DISARM] = "D",
    [WD_REFRESH] = "K",  [WD_STATE] = "?",   [WD_VERSION_OF] = "V",
};

uint8_t wd_word(const struct wd *wd)
{
    const char *at = words[0];
    uint8_t word, i, found = WD_NOTHING;
    for (word = 0; word < WD_WORDS; word++, at += LONGEST) {
        for (i = 0; i < wd->line_length && i < LONGEST; i++)
            if (wd->line[i] == 0 || (char)pgm_read_byte(at + i) != wd->line[i])
                break;
        if (i != wd->line_length)
            continue;
        if (i == LONGEST || pgm_read_byte(at + i) == 0)
            return word;
        found = WD_BEGINS;
    }
    return found;
}
