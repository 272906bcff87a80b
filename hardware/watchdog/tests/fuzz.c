/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes and any passing of time, in both languages, against a second, simpler
 * description of what may be armed or pulled. The first byte chooses the language; a byte of 0xfe
 * or 0xff lets time pass instead of being sent.
 */
#include "fuzz/fuzz.h"

#include "firmware/core.h"
#include "firmware/storage.h"

struct model {
    char line[64];
    size_t length;
};

/* What a whole line of the strict language may begin. */
static bool may_arm(const struct model *m)
{
    return m->length >= 2 && m->length <= 5 && m->line[0] == 'A' && atoi(m->line + 1) >= 1 &&
           strspn(m->line + 1, "0123456789") == m->length - 1;
}

static void send(struct wd *wd, struct model *m, uint8_t byte)
{
    const struct wd was = *wd;
    const bool end = byte == '\r' || byte == '\n';
    const bool strict = !(wd->config & WD_COMPATIBLE);
    wd_byte(wd, byte);
    if (fuzz_mistake("arm_by_a_stray_digit") && strict && byte == '7')
        wd_arm(wd, 127);
    if (fuzz_mistake("pull_by_a_question") && byte == '?')
        wd->power = WD_PULSE;
    m->line[m->length] = 0;
    if (wd->left > was.left || (wd->left != 0 && wd->timeout != was.timeout))
        must(!strict || (end && (may_arm(m) || strcmp(m->line, "K") == 0)));
    if (wd->power == WD_PULSE && was.power != WD_PULSE)
        must(strict ? end && strcmp(m->line, "RST") == 0 : byte == 'T');
    if (wd->power == WD_OFF && was.power != WD_OFF)
        must(strict ? end && strcmp(m->line, "OFF") == 0 : byte == 'F');
    if (wd->store)
        must(strict && wd->stored_bits <= WD_CONFIG_BITS && wd->stored_seconds != 0);
    must(wd->reply_length <= WD_REPLY && wd->line_length <= WD_LINE + 1);
    if (end)
        m->length = 0;
    else if (m->length + 2 < sizeof m->line)
        m->line[m->length++] = (char)byte;
    if (byte == 0 && !end)
        m->line[m->length - 1] = 'x'; /* a zero byte belongs to no command */
}

static void pass_time(struct wd *wd, unsigned ticks)
{
    while (ticks-- != 0) {
        const struct wd was = *wd;
        wd_tick(wd);
        if (wd->power == WD_PULSE && was.power != WD_PULSE)
            must(was.left == 1);
        must(wd->left <= was.left);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = fuzz_begin(data, size);
    struct wd wd;
    struct model m = {"", 0};
    struct storage s;
    uint8_t bytes[STORAGE_PLACES * STORAGE_PLACE];
    wd_init(&wd, (uint8_t)(fuzz_byte(&f) & 13), 60, false); /* anything but autostart */
    while (fuzz_more(&f)) {
        const unsigned byte = fuzz_byte(&f);
        if (byte >= 0xfe)
            pass_time(&wd, 1 + fuzz_byte(&f) * (byte == 0xff ? 4u : 1u));
        else
            send(&wd, &m, (uint8_t)byte);
    }
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = size > i ? data[i] : 0xff;
    storage_read(&s, bytes);
    must(s.bits <= WD_CONFIG_BITS && s.seconds != 0 && s.place < STORAGE_PLACES);
    return 0;
}
