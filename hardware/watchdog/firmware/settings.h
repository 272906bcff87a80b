/* SPDX-License-Identifier: MIT */
/* What the device remembers, and the jumper on PB2: settings.c, or settings_none.c in the small
 * image, which has neither. */
#pragma once

#include <stdbool.h>

#include "core.h"

enum { JUMPER = 2 }; /* the pin */

void settings_begin(struct wd *wd); /* wd_init; first, while the pins are as they were */
void settings_write(struct wd *wd); /* goes on with what a command changed */
bool settings_are_written(void);    /* a write has not ended yet */
