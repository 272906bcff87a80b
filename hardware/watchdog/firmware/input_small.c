/* SPDX-License-Identifier: MIT */
/* The small image has one language. */
#include "core.h"

void wd_byte(struct wd *wd, uint8_t byte)
{
    wd_compatible_byte(wd, byte);
}
