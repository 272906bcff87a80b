/* SPDX-License-Identifier: MIT */
/* The compiled firmware on the simulated chip, at a simulated host: what the bus must be like. */
#include "sim/device.h"
#include "test.h"

/* Cycles that the answer may begin after the end of a packet: 2 to 6.5 bits (USB 2.0, 7.1.18). */
static const double LEAST_TURN = 2.0 * CYCLES_PER_BIT, MOST_TURN = 6.5 * CYCLES_PER_BIT;

static const struct chip_options no_options;

TEST_CASE(the_host_enumerates_both_kinds)
{
    device_start(HID, &no_options);
    assert_int_equal(host.seen.bad + host.seen.timeouts + host.seen.stalls, 0);
    chip_stop();
    device_start(CDC, &no_options);
    assert_int_equal(host.seen.bad + host.seen.timeouts + host.seen.stalls, 0);
}

static void name_is(uint8_t number, const char *name)
{
    const uint8_t request[8] = {0x80, 6, number, 3, 9, 4, 255, 0};
    uint8_t answer[256];
    const int n = host_control_in(request, answer);
    assert_int_equal(n, 2 + 2 * (int)strlen(name));
    assert_int_equal(answer[0], n);
    for (size_t i = 0; name[i]; i++)
        assert_int_equal(answer[2 + 2 * i], name[i]);
}

TEST_CASE(descriptors_say_who_the_device_is)
{
    for (int kind = HID; kind <= CDC; kind++) {
        const uint8_t device[8] = {0x80, 6, 0, 1, 0, 0, 18, 0};
        const uint8_t configuration[8] = {0x80, 6, 0, 2, 0, 0, 255, 0};
        uint8_t answer[256];
        int at = 0;
        device_start((enum device_kind)kind, &no_options);
        assert_int_equal(host_control_in(device, answer), 18);
        assert_int_equal(answer[8] | answer[9] << 8, 0x16c0);
        assert_int_equal(answer[10] | answer[11] << 8, kind == HID ? 0x05df : 0x05e1);
        name_is(1, "pawl.invalid");
        name_is(2, "pawl-watchdog");
        const int n = host_control_in(configuration, answer);
        assert_int_equal(answer[2] | answer[3] << 8, n);
        while (at < n) {
            assert_true(answer[at] >= 2);
            at += answer[at];
        }
        assert_int_equal(at, n);
        chip_stop();
    }
}

TEST_CASE(an_answer_is_cut_to_what_was_asked_for)
{
    uint8_t answer[64];
    device_start(HID, &no_options);
    for (uint8_t length = 1; length <= 18; length++) {
        const uint8_t device[8] = {0x80, 6, 0, 1, 0, 0, length, 0};
        assert_int_equal(host_control_in(device, answer), length);
    }
}

TEST_CASE(requests_that_make_no_sense_are_refused)
{
    static const uint8_t wrong[][8] = {
        {0x80, 6, 0, 9, 0, 0, 9, 0},  {0x80, 6, 7, 3, 0, 0, 9, 0}, {0xc0, 1, 0, 0, 0, 0, 4, 0},
        {0x80, 77, 0, 0, 0, 0, 4, 0}, {0x80, 6, 1, 2, 0, 0, 9, 0},
    };
    uint8_t answer[256];
    device_start(HID, &no_options);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(host_control_in(wrong[i], answer), STALLED);
    const uint8_t configure2[8] = {0, 9, 2, 0, 0, 0, 0, 0};
    assert_int_equal(host_control_out(configure2, NULL), STALLED);
    const uint8_t report9[8] = {0x21, 9, 0, 2, 0, 0, 9, 0};
    assert_int_equal(host_control_out(report9, (const uint8_t *)"123456789"), STALLED);
    assert_string_equal(device_ask("L1"), "=ok");
}

TEST_CASE(a_halted_endpoint_is_cleared_by_the_host)
{
    const uint8_t halt[8] = {2, 3, 0, 0, 0x81, 0, 0, 0}, clear[8] = {2, 1, 0, 0, 0x81, 0, 0, 0};
    const uint8_t status[8] = {0x82, 0, 0, 0, 0x81, 0, 2, 0};
    uint8_t answer[8];
    device_start(CDC, &no_options);
    assert_int_equal(host_control_out(halt, NULL), 0);
    assert_int_equal(host_in1(answer, 5), STALLED);
    assert_int_equal(host_out1(answer, 1, 5), STALLED);
    assert_int_equal(host_control_in(status, answer), 2);
    assert_int_equal(answer[0], 1);
    assert_int_equal(host_control_out(clear, NULL), 0);
    host.toggle_in = host.toggle_out = DATA0;
    assert_string_equal(device_ask("V"), "=pawl-wd 1");
}

TEST_CASE(answers_begin_within_the_limits_of_the_specification)
{
    for (int kind = HID; kind <= CDC; kind++) {
        for (int gap = 2; gap <= 12; gap++) {
            device_start((enum device_kind)kind, &no_options);
            host.gap = gap;
            for (int i = 0; i < 10; i++)
                assert_string_equal(device_ask("?"), "=s 1 n 0 0 0 p 0");
            assert_true(host.seen.least_turn >= LEAST_TURN);
            assert_true(host.seen.most_turn <= MOST_TURN);
            assert_true(host.seen.worst_jitter < 0.02);
            if (gap == 2)
                printf("%s: answers begin after %.0f to %.0f cycles; allowed are %.0f to %.1f\n",
                       kind == HID ? "HID" : "CDC", host.seen.least_turn, host.seen.most_turn,
                       LEAST_TURN, MOST_TURN);
            chip_stop();
        }
    }
}

TEST_CASE(tokens_for_other_devices_are_left_alone)
{
    uint8_t packet[16];
    device_start(HID, &no_options);
    for (uint8_t address = 0; address < 128; address++) {
        static const uint8_t pids[] = {IN, OUT, SETUP};
        if (address == 9)
            continue;
        for (int i = 0; i < 3; i++) {
            host_wait(0.2);
            bus_send(packet, bus_token(packet, pids[i], address, 0));
            assert_int_equal(bus_receive(packet), 0);
        }
    }
    assert_string_equal(device_ask("?"), "=s 1 n 0 0 0 p 0");
}

TEST_CASE(data_with_any_wrong_bit_is_dropped_and_its_repeat_taken)
{
    unsigned bad = 0;
    device_start(HID, &no_options);
    /* Sync pattern, identifier, 8 bytes, CRC, stuffed bits. */
    for (int bit = 0; bit < 96; bit++) {
        static const uint8_t on[8] = {0x82, 'L', '1'}, off[8] = {0x82, 'L', '0'};
        assert_int_equal(device_report(off), 8);
        host.faults.flip_bit = 1 + bit; /* of the SETUP packet */
        assert_int_equal(device_report(on), 8);
        assert_true(chip_led());
        device_reply(50);
    }
    while (*device_reply(20) != 0)
        ;
    const char *reply = device_ask("?");
    must(sscanf(reply, "=s 1 n 0 0 0 p %u", &bad) == 1);
    printf("%u of 96 were counted as wrong by their CRC\n", bad);
    assert_true(bad >= 80);
}

TEST_CASE(commands_arrive_once_over_a_bad_cable)
{
    device_start(CDC, &no_options);
    host.faults = (struct faults){
        .flip_percent = 15, .token_percent = 10, .lose_percent = 15, .deaf_percent = 10};
    for (int i = 1; i <= 60; i++) {
        char line[16], reply[32];
        snprintf(line, sizeof line, "A%d", 1000 + i);
        snprintf(reply, sizeof reply, "=ok %d", 1000 + i);
        assert_string_equal(device_ask(line), reply);
    }
    assert_int_equal(chip_pulls(), 0);
}

TEST_CASE(control_transfers_survive_a_bad_cable)
{
    const uint8_t device[8] = {0x80, 6, 0, 1, 0, 0, 18, 0};
    uint8_t answer[64], first[64];
    device_start(HID, &no_options);
    assert_int_equal(host_control_in(device, first), 18);
    host.faults = (struct faults){
        .flip_percent = 15, .token_percent = 10, .lose_percent = 15, .deaf_percent = 10};
    int whole = 0;
    for (int i = 0; i < 40; i++)
        if (host_control_in(device, answer) == 18 && memcmp(answer, first, 18) == 0)
            whole++;
    assert_true(whole >= 38); /* a lost end of a transfer is the host's to notice */
}

TEST_CASE(a_reset_in_the_middle_of_a_packet_leaves_a_working_device)
{
    static const uint8_t reset_now[8] = {0x83, 'R', 'S', 'T'};
    device_start(HID, &no_options);
    for (int bits = 0; bits < 96; bits += 5) {
        host.faults.stop_after = 1 + bits;
        device_report(reset_now);
        assert_int_equal(chip_pulls(), 0);
        must(host_enumerate());
        assert_string_equal(device_ask("V"), "=pawl-wd 1");
    }
}

TEST_CASE(a_bus_reset_leaves_the_timer_counting)
{
    device_start(HID, &no_options);
    assert_string_equal(device_ask("A1"), "=ok 1");
    const double begin = chip_now();
    host_reset_bus();
    while (chip_pulls() == 0 && chip_now() - begin < 3 * 1000.0 * FRAME)
        host_wait(1);
    assert_in_range((uint64_t)((chip_now() - begin) / FRAME), 990, 1015);
}

TEST_CASE(a_half_line_is_forgotten_at_a_bus_reset)
{
    device_start(CDC, &no_options);
    assert_int_equal(host_out1((const uint8_t *)"A60", 3, 50), 3);
    must(host_enumerate());
    assert_int_equal(host_out1((const uint8_t *)"0\n", 2, 50), 2);
    assert_string_equal(device_reply(50), "=err");
    assert_string_equal(device_ask("?"), "=s 1 n 0 0 0 p 0");
}

TEST_CASE(the_chip_sleeps_while_suspended_and_wakes)
{
    device_start(HID, &no_options);
    host_suspend();
    host_wait(30);
    assert_true(chip_sleeps());
    host_wait(700); /* longer than the chip's watchdog waits */
    assert_int_equal(chip_starts(), 1);
    host_resume();
    assert_false(chip_sleeps());
    assert_string_equal(device_ask("?"), "=s 1 n 0 0 0 p 0");
}

TEST_CASE(a_reset_wakes_it_too)
{
    device_start(HID, &no_options);
    host_suspend();
    host_wait(30);
    assert_true(chip_sleeps());
    must(host_enumerate());
    assert_string_equal(device_ask("V"), "=pawl-wd 1");
}

TEST_CASE(an_armed_device_counts_on_while_suspended)
{
    device_start(HID, &no_options);
    assert_string_equal(device_ask("A1"), "=ok 1");
    host_suspend();
    const double waited = device_wait_for_pull(3000);
    assert_in_range((uint64_t)waited, 980, 1015);
    host_wait(1100);
    assert_false(chip_pwr_ok_is_pulled());
    host_wait(30);
    assert_true(chip_sleeps());
}

TEST_CASE(the_clock_is_tuned_to_the_bus)
{
    static const double errors[] = {-0.06, -0.03, -0.015, 0.015, 0.03, 0.06};
    for (int i = 0; i < 6; i++) {
        const struct chip_options options = {.clock_error = errors[i]};
        device_start(HID, &options);
        host_wait(200);
        const double off = chip_cycles_per_bit() / CYCLES_PER_BIT - 1;
        printf("%+.1f %%: tuned to %+.2f %%, OSCCAL %+d\n", 100 * errors[i], 100 * off,
               chip_osccal() - FACTORY_OSCCAL);
        assert_true(off < 0.005 && off > -0.005);
        assert_string_equal(device_ask("A3600"), "=ok 3600");
        assert_int_equal(host.seen.bad, 0);
        chip_stop();
    }
}

TEST_CASE(packets_are_understood_with_a_clock_that_cannot_be_tuned)
{
    static const double errors[] = {-0.009, -0.006, -0.003, 0.003, 0.006, 0.009};
    for (int i = 0; i < 6; i++) {
        const struct chip_options options = {.clock_error = errors[i], .fixed_clock = true};
        const uint8_t device[8] = {0x80, 6, 0, 1, 0, 0, 18, 0};
        uint8_t answer[64];
        device_power_on(HID, &options);
        for (int k = 0; k < 20; k++)
            assert_int_equal(host_control_in(device, answer), 18);
        printf("%+.1f %% off: %u packets not answered, %u not understood\n", 100 * errors[i],
               host.seen.timeouts, host.seen.bad);
        assert_int_equal(host.seen.timeouts, 0);
        chip_stop();
    }
}

TEST_CASE(a_host_that_polls_slowly_gets_the_newest_reply_whole)
{
    device_start(HID, &no_options);
    for (int i = 1; i <= 20; i++) {
        char line[16];
        snprintf(line, sizeof line, "A%d", 3000 + i);
        assert_true(device_send(line));
        host_wait(40);
    }
    const char *reply = device_reply(50); /* the first was waiting in the endpoint's buffer */
    if (strcmp(reply, "=ok 3020") != 0)
        reply = device_reply(50);
    assert_string_equal(reply, "=ok 3020");
    assert_string_equal(device_reply(20), "");
}

TEST_CASE(a_host_that_never_reads_can_still_refresh)
{
    device_start(HID, &no_options);
    assert_true(device_send("A1"));
    for (int i = 0; i < 20; i++) {
        host_wait(100);
        assert_true(device_send("K"));
    }
    assert_int_equal(chip_pulls(), 0);
}

TEST_CASE(memory_is_kept_below_the_limit)
{
    device_start(HID, &no_options);
    assert_string_equal(device_ask("E2"), "=ok");
    host_wait(100);
    host.faults = (struct faults){.flip_percent = 20, .lose_percent = 20};
    for (int i = 0; i < 10; i++)
        device_ask("?");
    const unsigned all = chip_static_used() + chip_stack_used();
    printf("RAM: %u static and %u of stack, %u of 256 bytes; %u to spare\n", chip_static_used(),
           chip_stack_used(), all, 256 - all);
    assert_true(all <= 256);
}

TEST_MAIN()
