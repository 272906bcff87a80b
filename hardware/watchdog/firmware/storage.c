/* SPDX-License-Identifier: MIT */
#include "storage.h"

#include "core.h"

/* The marks tell of writes that a power cut ended; this of bytes that changed by themselves. */
static uint8_t check(const uint8_t *bytes)
{
    return (uint8_t)(0x5a ^ bytes[1] ^ (bytes[2] << 3) ^ bytes[3]);
}

static bool counts(const uint8_t *bytes)
{
    return bytes[0] == STORAGE_WHOLE && bytes[4] == check(bytes) && bytes[2] <= WD_CONFIG_BITS &&
           bytes[3] != 0;
}

void storage_read(struct storage *s, const uint8_t bytes[STORAGE_PLACES * STORAGE_PLACE])
{
    const bool first = counts(bytes), second = counts(bytes + STORAGE_PLACE);
    const bool second_is_newer = (uint8_t)(bytes[STORAGE_PLACE + 1] - bytes[1]) == 1;
    const uint8_t place = second && (!first || second_is_newer);
    const uint8_t *found = place ? bytes + STORAGE_PLACE : bytes;
    s->bits = 0;
    s->seconds = STORAGE_DEFAULT_SECONDS;
    s->place = 0;
    s->sequence = 0;
    if (first || second) {
        s->sequence = found[1];
        s->bits = found[2];
        s->seconds = found[3];
        s->place = !place;
    }
}

uint8_t storage_step(const struct storage *s, uint8_t step, uint8_t *value)
{
    uint8_t image[STORAGE_PLACE];
    const uint8_t at = step == STORAGE_PLACE ? 0 : step; /* the mark comes again */
    image[0] = step == 0 ? STORAGE_BEGUN : STORAGE_WHOLE;
    image[1] = (uint8_t)(s->sequence + 1);
    image[2] = s->bits;
    image[3] = s->seconds;
    image[4] = check(image);
    *value = image[at];
    return (uint8_t)(s->place ? STORAGE_PLACE + at : at);
}

void storage_written(struct storage *s)
{
    s->sequence++;
    s->place = !s->place;
}
