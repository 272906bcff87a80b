/* SPDX-License-Identifier: MIT */
/* Which of the two languages a byte is of. */
#include "core.h"

void wd_byte(struct wd *wd, uint8_t byte)
{
    if (wd->config & WD_COMPATIBLE)
        wd_compatible_byte(wd, byte);
    else
        wd_strict_byte(wd, byte);
}
