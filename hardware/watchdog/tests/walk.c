/* SPDX-License-Identifier: MIT */
/*
 * Walks through every state that the parser and the outputs can reach, with every byte in each, and
 * checks the invariants of firmware/core.h at every step. Armed states have two seconds left: what
 * matters is whether something counts.
 *
 * A strict line that no command begins with can only end in =err: one such line of each length
 * stands for all. Of the digits in a number 0, 1 and 9 are followed further.
 */
#include "test.h"

#include "firmware/core.h"

enum { MOST = 1 << 16, TABLE = 1 << 18 };

/* What of the state matters for what can follow; the rest (ticks, counters) is set the same. */
struct key {
    uint8_t power, after_pulse, held_on, led, armed, line_length;
    char line[WD_LINE];
};

static struct key *found;
static unsigned count;
static unsigned *table;

/* Whether a command can begin with these characters. */
static bool begins_command(const char *line, unsigned length)
{
    static const char *const words[] = {"ON", "OFF", "RST", "D", "K", "L0", "L1", "?", "V"};
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (length <= strlen(words[i]) && memcmp(words[i], line, length) == 0)
            return true;
    if (length > 5 || (length != 0 && strchr("AES", line[0]) == NULL))
        return false;
    for (unsigned i = 1; i < length; i++)
        if (line[i] < '0' || line[i] > '9')
            return false;
    return true;
}

static void key_of(const struct wd *wd, struct key *k)
{
    memset(k, 0, sizeof *k);
    k->power = wd->power;
    k->after_pulse = wd->power == WD_PULSE ? wd->after_pulse : WD_FREE;
    k->held_on = wd->held_on;
    k->led = wd->led;
    k->armed = wd->left != 0;
    k->line_length = wd->line_length;
    if (begins_command(wd->line, wd->line_length)) {
        memcpy(k->line, wd->line, wd->line_length);
    } else {
        memset(k->line, 'x', WD_LINE);
        if (wd->line[0] == '=')
            k->line[0] = '=';
    }
}

static void state_of(const struct key *k, uint8_t config, struct wd *wd)
{
    wd_init(wd, config, 60, false);
    wd_arm(wd, k->armed ? 2 : 0);
    wd->power = k->power;
    wd->after_pulse = k->after_pulse;
    wd->pulse_ticks = WD_PULSE_TICKS;
    wd->held_on = k->held_on;
    wd->led = k->led;
    wd->line_length = k->line_length;
    memcpy(wd->line, k->line, WD_LINE);
}

static void add(const struct key *k)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof *k; i++)
        hash = (hash ^ ((const uint8_t *)k)[i]) * UINT64_C(0x100000001b3);
    for (hash ^= hash >> 29;; hash++) {
        unsigned *slot = &table[hash % TABLE];
        if (*slot == 0) {
            must(count < MOST);
            found[count++] = *k;
            *slot = count;
            return;
        }
        if (memcmp(&found[*slot - 1], k, sizeof *k) == 0)
            return;
    }
}

static bool ends_line(uint8_t byte)
{
    return byte == '\n' || byte == '\r';
}

static bool line_arms(const struct wd *wd)
{
    char text[WD_LINE + 1] = "";
    int used = 0;
    unsigned seconds = 0;
    if (wd->line_length > WD_LINE)
        return false;
    memcpy(text, wd->line, wd->line_length);
    return strspn(text + 1, "0123456789") + 1 == wd->line_length && strlen(text) <= 5 &&
           sscanf(text, "A%4u%n", &seconds, &used) == 1 && used == wd->line_length &&
           seconds >= 1 && seconds <= WD_MAX_SECONDS;
}

static void check_step(const struct wd *was, const struct wd *is, uint8_t byte)
{
    const bool strict = !(was->config & WD_COMPATIBLE);
    const bool digit = !strict && was->line_length == 0 && byte >= '0' && byte <= '8';
    const bool arms = (digit && byte != '0') || (strict && ends_line(byte) && line_arms(was));
    if (is->left != 0)
        must(arms || was->left != 0); /* I1, I4 */
    if (!arms && is->left != 0)
        must(is->left >= was->left && is->ticks >= was->ticks); /* I2 */
    if (is->power != was->power || is->held_on != was->held_on)
        must(is->left == 0 || digit); /* I3: power changes cancel the timer */
    if (digit)
        must(is->power != WD_OFF && is->after_pulse == WD_FREE);
    if (strict && !ends_line(byte))
        must(is->power == was->power && is->left == was->left && is->led == was->led);
    if (is->power == WD_PULSE && was->power != WD_PULSE)
        must(strict ? memcmp(was->line, "RST", 3) == 0 : byte == 'T'); /* I5 */
    if (is->power == WD_OFF && was->power != WD_OFF)
        must(strict ? memcmp(was->line, "OFF", 3) == 0 : byte == 'F'); /* I5 */
    must(is->reply_length <= WD_REPLY);
    must(is->line_length <= WD_LINE + 1);
    if (strict && is->reply_length != 0)
        must(is->reply[0] == '=' && is->reply[is->reply_length - 1] == '\n');
}

/* Time alone: a pulse ends, a timer that counts fires, and nothing else happens. */
static void check_time(const struct wd *was)
{
    struct wd wd = *was;
    unsigned ticks = 0;
    while ((wd.left != 0 || wd.power == WD_PULSE) && ticks < 1500) {
        const struct wd before = wd;
        wd_tick(&wd);
        ticks++;
        if (before.power != WD_PULSE && wd.power == WD_PULSE)
            must(before.left == 1 && wd.left == 0);
    }
    must(wd.left == 0 && wd.power != WD_PULSE);
    must(wd.power == (was->power == WD_PULSE ? was->after_pulse : was->power));
}

/* The digits 2 to 8 do in a line what 1 does. */
static bool is_followed(const struct wd *wd, unsigned byte)
{
    return (wd->config & WD_COMPATIBLE) || byte < '2' || byte > '8';
}

static unsigned walk(uint8_t config)
{
    struct wd wd;
    struct key k;
    memset(table, 0, TABLE * sizeof *table);
    count = 0;
    wd_init(&wd, config, 60, false);
    key_of(&wd, &k);
    add(&k);
    for (unsigned i = 0; i < count; i++) {
        struct wd was;
        state_of(&found[i], config, &was);
        if (was.line_length == 0)
            check_time(&was);
        for (unsigned byte = 0; byte < 256; byte++) {
            wd = was;
            wd_byte(&wd, (uint8_t)byte);
            check_step(&was, &wd, (uint8_t)byte);
            key_of(&wd, &k);
            if (is_followed(&was, byte))
                add(&k);
        }
        if (was.left != 0) { /* the time-out, and the end of the pulse */
            wd = was;
            while (wd.left != 0)
                wd_tick(&wd);
            key_of(&wd, &k);
            add(&k);
        }
        if (was.power == WD_PULSE) {
            wd = was;
            while (wd.power == WD_PULSE)
                wd_tick(&wd);
            key_of(&wd, &k);
            add(&k);
        }
    }
    return count;
}

TEST_CASE(every_state_of_the_compatible_language_keeps_the_invariants)
{
    const unsigned states = walk(WD_COMPATIBLE);
    printf("%u states, 256 bytes in each\n", states);
    assert_true(states >= 6 * 3 * 2);
}

TEST_CASE(every_state_of_the_strict_language_keeps_the_invariants)
{
    const unsigned states = walk(0);
    printf("%u states, 256 bytes in each\n", states);
    assert_true(states > 1000);
}

int main(int argc, char **argv)
{
    found = (struct key *)malloc(MOST * sizeof *found);
    table = (unsigned *)calloc(TABLE, sizeof *table);
    must(found != NULL && table != NULL);
    return test_main(argc, argv);
}
