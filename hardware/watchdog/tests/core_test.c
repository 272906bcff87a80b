/* SPDX-License-Identifier: MIT */
/* The core of the firmware, compiled for this machine. */
#include "test.h"

#include "firmware/core.h"
#include "firmware/storage.h"

static struct wd wd;

static void start(uint8_t bits)
{
    wd_init(&wd, bits, 60, false);
}

static void send(const char *text)
{
    while (*text)
        wd_byte(&wd, (uint8_t)*text++);
}

static void expect(const char *reply)
{
    assert_int_equal(wd.reply_length, strlen(reply));
    assert_memory_equal(wd.reply, reply, strlen(reply));
    wd.reply_length = 0;
}

static void ask(const char *line, const char *reply)
{
    send(line);
    expect(reply);
}

/* Ticks until the output is pulled. */
static uint32_t ticks_until_pulled(void)
{
    uint32_t n = 0;
    while (!wd_pulls(&wd) && n < 2000000) {
        wd_tick(&wd);
        n++;
    }
    return n;
}

/* The least number of whole ticks in so many real seconds: 16.5 million cycles each. */
static uint32_t ticks_of(uint32_t seconds)
{
    return (uint32_t)((UINT64_C(16500000) * seconds + 65535) / 65536);
}

TEST_CASE(nothing_is_pulled_and_nothing_counts_at_start)
{
    for (uint8_t bits = 0; bits <= WD_CONFIG_BITS; bits++) {
        start(bits);
        assert_false(wd_pulls(&wd) || wd_holds_on(&wd) || wd_led(&wd));
        assert_int_equal(wd.left, bits & WD_AUTOSTART ? 60 : 0);
    }
}

TEST_CASE(each_digit_resets_after_two_to_the_n_less_one_seconds)
{
    for (unsigned n = 1; n <= 8; n++) {
        const char digit[2] = {(char)('0' + n), 0};
        start(WD_COMPATIBLE);
        send(digit);
        /* The command may come at the end of a tick, so the first one counts nothing. */
        assert_int_equal(ticks_until_pulled() - 1, ticks_of((1u << n) - 1));
    }
}

TEST_CASE(the_strict_timeout_is_never_early_and_at_most_two_ticks_late)
{
    static const unsigned seconds[] = {1, 2, 9, 60, 255, 256, 3599, 3600};
    for (unsigned i = 0; i < sizeof seconds / sizeof seconds[0]; i++) {
        char line[16];
        snprintf(line, sizeof line, "A%u\n", seconds[i]);
        start(0);
        send(line);
        assert_int_equal(ticks_until_pulled() - 1, ticks_of(seconds[i]));
    }
}

TEST_CASE(a_pulse_lasts_one_second_and_returns_to_what_was_before)
{
    for (int off = 0; off < 2; off++) {
        start(0);
        send(off ? "OFF\nRST\n" : "RST\n");
        uint32_t ticks = 0;
        while (wd.power == WD_PULSE) {
            wd_tick(&wd);
            ticks++;
        }
        assert_int_equal(ticks - 1, ticks_of(1));
        assert_int_equal(wd.power, off ? WD_OFF : WD_FREE);
    }
}

TEST_CASE(commands_for_timer_or_output_cancel_a_pending_timer)
{
    static const char *const commands[] = {"0", "ON", "OFF", "RST"};
    for (int i = 0; i < 4; i++) {
        start(WD_COMPATIBLE);
        send("5");
        assert_int_equal(wd.left, 31);
        send(commands[i]);
        assert_int_equal(wd.left, 0);
        start(0);
        send("A31\n");
        send(i == 0 ? "D" : commands[i]);
        assert_int_equal(wd.left, 31);
        send("\n");
        assert_int_equal(wd.left, 0);
    }
}

TEST_CASE(the_led_and_questions_leave_the_timer_alone)
{
    start(WD_COMPATIBLE);
    send("5L1?L0x\r\n ");
    assert_int_equal(wd.left, 31);
    start(0);
    send("A31\nL1\n?\nV\nL0\nS9\nE0\nnonsense\n");
    assert_int_equal(wd.left, 31);
}

TEST_CASE(a_digit_after_off_gives_power_back)
{
    start(WD_COMPATIBLE);
    send("OFF3");
    assert_int_equal(wd.power, WD_FREE);
    assert_int_equal(wd.left, 7);
    send("OFF0");
    assert_int_equal(wd.power, WD_FREE);
    assert_int_equal(wd.left, 0);
    send("OFFRST0");
    assert_int_equal(wd.power, WD_PULSE); /* the pulse goes on, and then power is there */
    assert_int_equal(wd.after_pulse, WD_FREE);
    send("OFFL5");
    assert_int_equal(wd.power, WD_OFF);
}

TEST_CASE(a_letter_that_breaks_a_command_begins_its_own)
{
    start(WD_COMPATIBLE);
    send("OOFF");
    assert_int_equal(wd.power, WD_OFF);
    send("OFON");
    assert_int_equal(wd.power, WD_FREE);
    send("RRST");
    assert_int_equal(wd.power, WD_PULSE);
    send("ONLL1");
    assert_true(wd.led);
}

TEST_CASE(a_digit_that_breaks_a_command_does_not_arm)
{
    static const char *const broken[] = {"L5", "O5", "OF5", "R5", "RS5"};
    for (int i = 0; i < 5; i++) {
        start(WD_COMPATIBLE);
        send(broken[i]);
        assert_int_equal(wd.left, 0);
        send("5");
        assert_int_equal(wd.left, 31);
    }
}

TEST_CASE(each_question_mark_is_answered)
{
    start(WD_COMPATIBLE);
    for (int i = 0; i < 2; i++) {
        send("?");
        assert_int_equal(wd.reply_length, 2);
        assert_memory_equal(wd.reply, "0\0", 2);
        wd.reply_length = 0;
    }
    send("O?");
    assert_int_equal(wd.reply_length, 2);
    wd.reply_length = 0;
    wd.level = true;
    send("8");
    ask("?", "1\xff");
}

TEST_CASE(a_modem_prober_does_nothing_in_the_strict_language)
{
    start(0);
    send("ATE1\rAT+CGMI\rATZ\r\n+++ATH0\r\nAT&F1\rATI3\r~x00\r");
    assert_int_equal(wd.left, 0);
    assert_int_equal(wd.power, WD_FREE);
    assert_false(wd.led);
}

TEST_CASE(an_echo_of_every_reply_does_nothing)
{
    static const char *const lines[] = {"?\n", "V\n", "A9\n", "K\n", "D\n", "nonsense\n", "ON\n"};
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct wd before;
        start(0);
        send("A31\n");
        send(lines[i]);
        assert_true(wd.reply_length > 1 && wd.reply[0] == '=');
        assert_int_equal(wd.reply[wd.reply_length - 1], '\n');
        before = wd;
        wd.reply_length = 0;
        for (uint8_t c = 0; c < before.reply_length; c++)
            wd_byte(&wd, (uint8_t)before.reply[c]);
        assert_int_equal(wd.reply_length, 0);
        assert_int_equal(wd.left, before.left);
        assert_int_equal(wd.power, before.power);
    }
}

TEST_CASE(no_reply_holds_a_control_character_but_its_line_end)
{
    start(0);
    for (unsigned seconds = 1; seconds <= WD_MAX_SECONDS; seconds++) {
        char line[32];
        snprintf(line, sizeof line, "A%u\n?\n", seconds);
        send(line);
        for (int i = 0; i + 1 < wd.reply_length; i++)
            assert_true(wd.reply[i] >= ' ' && wd.reply[i] < 127);
    }
}

TEST_CASE(arming_needs_a_whole_line_with_a_number_in_range)
{
    static const char *const wrong[] = {"A\n",  "A0\n",  "A3601\n", "A99999\n", "A-1\n", "A1 \n",
                                        "a5\n", " A5\n", "A5x\n",   "A05000\n", "5\n",   "A5"};
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        start(0);
        send(wrong[i]);
        assert_int_equal(wd.left, 0);
    }
    start(0);
    ask("A5\r\n", "=ok 5\n");
    ask("A3600\n", "=ok 3600\n");
}

TEST_CASE(a_refresh_refreshes_but_never_arms)
{
    start(0);
    ask("K\n", "=no\n");
    assert_int_equal(wd.left, 0);
    send("A5\n");
    for (int i = 0; i < 1000; i++)
        wd_tick(&wd);
    assert_int_equal(wd.left, 2);
    ask("K\n", "=ok 5\n");
    assert_int_equal(ticks_until_pulled() - 1, ticks_of(5));
    assert_int_equal(wd.fired, 1);
    ask("K\n", "=no\n");
}

TEST_CASE(a_line_that_is_too_long_is_dropped_whole)
{
    start(0);
    ask("xxxxxxxxA5\n", "=err\n");
    ask("A5A5A5A5A5A5A5A5A5A5\n", "=err\n");
    assert_int_equal(wd.left, 0);
    ask("L1\n", "=ok\n");
}

TEST_CASE(a_zero_byte_belongs_to_no_command)
{
    start(0);
    for (const char *c = "OFF"; *c; c++)
        wd_byte(&wd, (uint8_t)*c);
    wd_byte(&wd, 0);
    ask("\n", "=err\n");
    assert_int_equal(wd.power, WD_FREE);
}

TEST_CASE(the_state_is_told_in_one_line)
{
    start(0);
    wd.level = true;
    wd.boot = 'p';
    wd.bad_packets = 3;
    ask("?\n", "=s 1 n 0 0 0 p 3\n");
    send("A300\n");
    wd.level = false;
    ask("?\n", "=s 0 n 300 300 0 p 3\n");
    send("OFF\n");
    ask("?\n", "=s 0 f 0 0 0 p 3\n");
    send("RST\n");
    ask("?\n", "=s 0 r 0 0 0 p 3\n");
    ask("V\n", "=pawl-wd 1\n");
}

TEST_CASE(the_longest_state_fits_a_reply)
{
    start(0);
    send("A3600\n");
    wd.bad_packets = 255;
    wd.fired = 255;
    ask("?\n", "=s 0 n 3600 3600 255 - 255\n");
}

TEST_CASE(the_jumper_chooses_what_the_configuration_gives_it)
{
    wd_init(&wd, 0, 60, true);
    assert_int_equal(wd.config, WD_COMPATIBLE);
    wd_init(&wd, WD_COMPATIBLE, 60, true);
    assert_int_equal(wd.config, 0);
    wd_init(&wd, WD_JUMPER_AUTOSTART, 7, true);
    assert_int_equal(wd.left, 7);
    wd_init(&wd, WD_JUMPER_AUTOSTART, 7, false);
    assert_int_equal(wd.left, 0);
    wd_init(&wd, WD_PS_ON, 7, true);
    assert_int_equal(wd.config, WD_PS_ON);
    assert_int_equal(wd.stored_bits, WD_PS_ON);
}

TEST_CASE(ps_on_is_held_only_after_on_and_not_in_a_pulse)
{
    start(WD_PS_ON);
    assert_false(wd_holds_on(&wd));
    send("ON\n");
    assert_true(wd_holds_on(&wd));
    send("RST\n");
    assert_false(wd_holds_on(&wd));
    while (wd.power == WD_PULSE)
        wd_tick(&wd);
    assert_true(wd_holds_on(&wd));
    send("OFF\n");
    assert_false(wd_holds_on(&wd));
}

TEST_CASE(the_led_shows_that_the_output_is_pulled)
{
    start(0);
    send("OFF\n");
    assert_true(wd_led(&wd));
    send("ON\n");
    assert_false(wd_led(&wd));
    send("L1\nOFF\nON\n");
    assert_true(wd_led(&wd));
}

TEST_CASE(storing_is_asked_for_only_by_values_in_range)
{
    start(0);
    ask("E32\n", "=err\n");
    ask("S0\n", "=err\n");
    ask("S256\n", "=err\n");
    assert_false(wd.store);
    ask("E5\n", "=ok\n");
    ask("S255\n", "=ok\n");
    assert_true(wd.store);
    assert_int_equal(wd.stored_bits, 5);
    assert_int_equal(wd.stored_seconds, 255);
    assert_int_equal(wd.config, 0);
}

/* ---- EEPROM ---------------------------------------------------------------------------------- */

enum { BYTES = STORAGE_PLACES * STORAGE_PLACE };

/* Writes as the firmware does, and loses power after `steps` writes; the byte that is being written
 * then holds `torn`. */
static void write_with_power_cut(uint8_t *bytes, struct storage *s, int steps, int torn)
{
    for (int step = 0; step < STORAGE_STEPS; step++) {
        uint8_t value;
        const uint8_t at = storage_step(s, (uint8_t)step, &value);
        if (step == steps) {
            if (torn >= 0)
                bytes[at] = (uint8_t)torn;
            return;
        }
        bytes[at] = value;
    }
    storage_written(s);
}

TEST_CASE(an_empty_eeprom_gives_the_default)
{
    struct storage s;
    uint8_t bytes[BYTES];
    for (unsigned fill = 0; fill < 256; fill++) {
        memset(bytes, (int)fill, BYTES);
        storage_read(&s, bytes);
        assert_int_equal(s.bits, 0);
        assert_int_equal(s.seconds, STORAGE_DEFAULT_SECONDS);
    }
}

TEST_CASE(a_written_configuration_is_read_again_many_times_over)
{
    struct storage s, found;
    uint8_t bytes[BYTES];
    memset(bytes, 0xff, BYTES);
    storage_read(&s, bytes);
    for (unsigned n = 0; n < 1000; n++) {
        s.bits = (uint8_t)(n & WD_CONFIG_BITS);
        s.seconds = (uint8_t)(1 + n % 255);
        write_with_power_cut(bytes, &s, -1, -1);
        storage_read(&found, bytes);
        assert_int_equal(found.bits, s.bits);
        assert_int_equal(found.seconds, s.seconds);
        assert_int_equal(found.place, s.place);
    }
}

TEST_CASE(a_power_cut_while_writing_leaves_the_old_or_the_new_configuration)
{
    for (unsigned old = 0; old <= WD_CONFIG_BITS; old++) {
        for (int cut = 0; cut <= STORAGE_STEPS; cut++) {
            for (int torn = -1; torn < 256; torn++) {
                struct storage s, found;
                uint8_t bytes[BYTES];
                memset(bytes, 0xff, BYTES);
                storage_read(&s, bytes);
                for (unsigned n = 0; n < 3; n++) {
                    s.bits = (uint8_t)old;
                    s.seconds = (uint8_t)(10 + n);
                    write_with_power_cut(bytes, &s, -1, -1);
                }
                s.bits = (uint8_t)(old ^ WD_AUTOSTART);
                s.seconds = 99;
                write_with_power_cut(bytes, &s, cut, torn);
                storage_read(&found, bytes);
                if (found.seconds == 99)
                    assert_int_equal(found.bits, old ^ WD_AUTOSTART);
                else
                    assert_true(found.bits == old && found.seconds == 12);
            }
        }
    }
}

TEST_MAIN()
