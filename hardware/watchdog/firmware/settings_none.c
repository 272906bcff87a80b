/* SPDX-License-Identifier: MIT */
/* The small image: the published language from the start, nothing to remember, no jumper. */
#include "settings.h"

void settings_begin(struct wd *wd)
{
    wd_init(wd, WD_COMPATIBLE, 0, false);
}

void settings_write(struct wd *wd)
{
    (void)wd;
}

bool settings_are_written(void)
{
    return false;
}
