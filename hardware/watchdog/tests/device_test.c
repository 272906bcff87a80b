/* SPDX-License-Identifier: MIT */
/* The compiled firmware on the simulated chip: what its outputs do, and when. */
#include "sim/device.h"
#include "test.h"

static const struct chip_options no_options;
static const double TICK = 65536 / 16500.0; /* milliseconds */

TEST_CASE(nothing_is_pulled_or_driven_at_start)
{
    for (int kind = HID; kind <= CDC; kind++) {
        device_power_on((enum device_kind)kind, &no_options);
        for (int i = 0; i < 300; i++) {
            assert_false(chip_pwr_ok_is_driven_high() || chip_ps_on_is_pulled() || chip_led());
            host_wait(1);
        }
        assert_int_equal(chip_pulls(), 0);
        chip_stop();
    }
}

TEST_CASE(the_led_obeys)
{
    for (int kind = HID; kind <= CDC; kind++) {
        device_start((enum device_kind)kind, &no_options);
        assert_string_equal(device_ask("L1"), "=ok");
        assert_true(chip_led());
        assert_string_equal(device_ask("L0"), "=ok");
        assert_false(chip_led());
        chip_stop();
    }
}

TEST_CASE(a_reset_is_a_pulse_of_one_second)
{
    device_start(HID, &no_options);
    assert_string_equal(device_ask("RST"), "=ok");
    assert_true(chip_pwr_ok_is_pulled());
    assert_true(chip_led());
    host_wait(1100);
    assert_false(chip_pwr_ok_is_pulled());
    const double ms = (double)(chip_released_at() - chip_pulled_at()) / 16500;
    printf("the pulse lasted %.2f ms\n", ms);
    assert_true(ms >= 1000 - 0.5 && ms <= 1000 + 2 * TICK + 0.5);
}

TEST_CASE(off_stays_off_until_on)
{
    device_start(CDC, &no_options);
    assert_string_equal(device_ask("OFF"), "=ok");
    host_wait(1500);
    assert_true(chip_pwr_ok_is_pulled());
    assert_string_equal(device_ask("ON"), "=ok");
    assert_false(chip_pwr_ok_is_pulled());
}

/* The clock of the chip is tuned to within 0.4 %; here it is exact, so a time-out is too. */
TEST_CASE(a_timeout_comes_in_time_to_two_ticks)
{
    for (int seconds = 1; seconds <= 4; seconds++) {
        char line[8];
        snprintf(line, sizeof line, "A%d", seconds);
        device_start(HID, &no_options);
        assert_true(device_send(line));
        const uint64_t begin = chip_cycle(); /* the status stage has ended: it is armed already */
        device_wait_for_pull(seconds * 1000 + 100);
        const double ms = (double)(chip_pulled_at() - begin) / 16500;
        printf("%d s: pulled after %.2f ms\n", seconds, ms);
        /* The line is obeyed when its report is in, up to a frame before the transfer ends. */
        assert_true(ms >= seconds * 1000 - 2 && ms <= seconds * 1000 + 2 * TICK + 1);
        assert_int_equal(chip_pulls(), 1);
        chip_stop();
    }
}

TEST_CASE(a_refreshed_timer_never_fires)
{
    device_start(HID, &no_options);
    assert_string_equal(device_ask("A1"), "=ok 1");
    for (int i = 0; i < 6; i++) {
        host_wait(900);
        assert_string_equal(device_ask("K"), "=ok 1");
    }
    assert_int_equal(chip_pulls(), 0);
    assert_in_range((uint64_t)device_wait_for_pull(2000), 985, 1012);
    host_wait(1100);
    assert_string_equal(device_ask("?"), "=s 1 n 0 0 1 p 0");
}

TEST_CASE(a_disarmed_timer_never_fires)
{
    device_start(CDC, &no_options);
    assert_string_equal(device_ask("A1"), "=ok 1");
    host_wait(500);
    assert_string_equal(device_ask("D"), "=ok");
    host_wait(2000);
    assert_int_equal(chip_pulls(), 0);
}

TEST_CASE(the_level_of_the_supply_is_told)
{
    device_start(HID, &no_options);
    chip_set_pwr_ok(false);
    host_wait(6);
    assert_string_equal(device_ask("?"), "=s 0 n 0 0 0 p 0");
    chip_set_pwr_ok(true);
    host_wait(6);
    assert_string_equal(device_ask("?"), "=s 1 n 0 0 0 p 0");
}

TEST_CASE(parts_out_of_order_make_a_wrong_line)
{
    static const uint8_t orphan[8] = {0x92, '0', '0'}, first[8] = {0x02, 'A', '9'},
                         third[8] = {0xa1, '9'}, second[8] = {0x91, '9'};
    device_start(HID, &no_options);
    assert_int_equal(device_report(orphan), 8);
    assert_string_equal(device_reply(50), "=err");
    assert_int_equal(device_report(first), 8);
    assert_int_equal(device_report(third), 8);
    assert_string_equal(device_reply(50), "=err");
    assert_int_equal(device_report(first), 8);
    assert_int_equal(device_report(second), 8);
    assert_string_equal(device_reply(50), "=ok 99");
}

TEST_CASE(noise_at_the_serial_port_does_nothing)
{
    uint64_t random = test_seed();
    device_start(CDC, &no_options);
    for (int i = 0; i < 200; i++) {
        uint8_t data[8];
        for (int k = 0; k < 8; k++)
            data[k] = (uint8_t)test_random(&random);
        host_out1(data, 8, 50);
        host_in1(data, 1);
    }
    static const char prober[] = "\nATE1\rAT+CGMI\rATZ\r\nAT\r+++ATH0\rAT+GCAP\r";
    for (size_t at = 0; at < sizeof prober - 1; at += 7)
        host_out1((const uint8_t *)prober + at,
                  (unsigned)(sizeof prober - 1 - at < 7 ? sizeof prober - 1 - at : 7), 50);
    host_wait(50);
    assert_int_equal(chip_pulls(), 0);
    while (*device_reply(20) != 0)
        ;
    assert_string_equal(device_ask("?"), "=s 1 n 0 0 0 p 0");
}

TEST_CASE(a_terminal_that_echoes_does_nothing)
{
    device_start(CDC, &no_options);
    assert_true(device_send("?"));
    int packets = 0;
    for (uint8_t data[8]; packets < 20; packets++) {
        const int n = host_in1(data, 30);
        if (n < 0)
            break;
        if (n > 0)
            host_out1(data, (unsigned)n, 50);
    }
    assert_true(packets < 6); /* no reply to a reply */
    assert_string_equal(device_ask("?"), "=s 1 n 0 0 0 p 0");
}

TEST_CASE(a_hang_of_the_firmware_never_resets_the_pc)
{
    device_start(HID, &no_options);
    assert_string_equal(device_ask("A2"), "=ok 2");
    chip_hang();
    host_wait(5000);
    assert_int_equal(chip_pulls(), 0);
    assert_true(chip_starts() >= 2);
    must(host_enumerate());
    assert_string_equal(device_ask("?"), "=s 1 n 0 0 0 w 0");
}

TEST_CASE(a_hang_while_power_is_off_lets_it_go)
{
    device_start(HID, &no_options);
    assert_string_equal(device_ask("OFF"), "=ok");
    chip_hang();
    host_wait(800);
    assert_false(chip_pwr_ok_is_pulled());
}

TEST_CASE(autostart_arms_when_it_is_stored)
{
    device_start(HID, &no_options);
    assert_string_equal(device_ask("S1"), "=ok");
    assert_string_equal(device_ask("E2"), "=ok");
    host_wait(100);
    assert_int_equal(chip_pulls(), 0);
    chip_power_cycle();
    host_start();
    const double ms = device_wait_for_pull(2000);
    assert_in_range((uint64_t)ms, 1015, 1035); /* 20 ms of them for the start */
}

TEST_CASE(power_lost_while_storing_leaves_the_old_configuration_or_the_new)
{
    for (int wait = 0; wait <= 40; wait += 2) {
        device_start(HID, &no_options);
        assert_string_equal(device_ask("E16"), "=ok");
        host_wait(60);
        assert_true(device_send("E8"));
        host_wait(wait * 0.5);
        chip_power_cycle();
        host_start();
        host_wait(60);
        must(host_enumerate());
        assert_string_equal(device_ask("?"), "=s 1 n 0 0 0 p 0");
        uint8_t bytes[10];
        chip_eeprom(bytes, 10);
        const bool is_new = bytes[5] == 0xa5 && bytes[7] == 8;
        assert_true(is_new || (bytes[0] == 0xa5 && bytes[2] == 16));
        chip_stop();
    }
}

static void compatible(const char *bytes)
{
    for (; *bytes; bytes++)
        must(host_out1((const uint8_t *)bytes, 1, 50) == 1);
}

TEST_CASE(the_jumper_chooses_the_published_commands)
{
    const struct chip_options options = {.jumper = true};
    uint8_t data[8];
    device_start(CDC, &options);
    compatible("L1");
    host_wait(5);
    assert_true(chip_led());
    compatible("L0?");
    assert_int_equal(host_in1(data, 50), 2);
    assert_memory_equal(data, "1\0", 2);
    compatible("OFF");
    host_wait(5);
    assert_true(chip_pwr_ok_is_pulled());
    compatible("?");
    assert_int_equal(host_in1(data, 50), 2);
    assert_memory_equal(data, "0\0", 2);
    compatible("ON");
    host_wait(5);
    assert_false(chip_pwr_ok_is_pulled());
    compatible("1");
    assert_in_range((uint64_t)device_wait_for_pull(2000), 985, 1012);
    host_wait(1100);
    compatible("5?");
    assert_int_equal(host_in1(data, 50), 2);
    assert_memory_equal(data, "1\x1f", 2);
    compatible("2");
    assert_in_range((uint64_t)device_wait_for_pull(4000), 2985, 3012);
}

TEST_CASE(the_published_commands_work_over_hid)
{
    const struct chip_options options = {.jumper = true};
    static const uint8_t on_ask[8] = {0x03, 'L', '1', '?'};
    uint8_t data[8];
    device_start(HID, &options);
    assert_int_equal(device_report(on_ask), 8);
    assert_true(chip_led());
    assert_int_equal(host_in1(data, 50), 8);
    assert_memory_equal(data,
                        "\x82"
                        "1\0",
                        3);
}

static const uint8_t *stored(uint8_t bits)
{
    static uint8_t bytes[5];
    bytes[0] = 0xa5;
    bytes[1] = 1;
    bytes[2] = bits;
    bytes[3] = 1;
    bytes[4] = (uint8_t)(0x5a ^ 1 ^ bits << 3 ^ 1);
    return bytes;
}

TEST_CASE(a_relay_is_driven_high_to_cut_and_left_alone_else)
{
    const struct chip_options options = {.eeprom = stored(4), .eeprom_size = 5};
    device_start(HID, &options);
    assert_false(chip_pwr_ok_is_driven_high());
    assert_string_equal(device_ask("OFF"), "=ok");
    assert_true(chip_pwr_ok_is_driven_high());
    assert_string_equal(device_ask("ON"), "=ok");
    assert_false(chip_pwr_ok_is_driven_high());
    assert_int_equal(chip_pulls(), 0);
}

TEST_CASE(ps_on_is_held_low_after_on_only)
{
    const struct chip_options options = {.eeprom = stored(8), .eeprom_size = 5};
    device_start(HID, &options);
    assert_false(chip_ps_on_is_pulled());
    assert_string_equal(device_ask("ON"), "=ok");
    assert_true(chip_ps_on_is_pulled());
    assert_string_equal(device_ask("OFF"), "=ok");
    assert_false(chip_ps_on_is_pulled());
}

TEST_CASE(the_jumper_can_mean_autostart)
{
    const struct chip_options closed = {.jumper = true, .eeprom = stored(16), .eeprom_size = 5};
    const struct chip_options open = {.eeprom = stored(16), .eeprom_size = 5};
    device_power_on(HID, &closed);
    assert_in_range((uint64_t)device_wait_for_pull(2000), 950, 980);
    chip_stop();
    device_power_on(HID, &open);
    assert_true(device_wait_for_pull(1500) >= 1500);
}

/* The loader has forgotten why the chip started, and has changed its clock. */
TEST_CASE(the_images_start_under_a_boot_loader)
{
    const struct chip_options options = {.boot_loader = true};
    for (int kind = HID; kind <= CDC; kind++) {
        device_power_on((enum device_kind)kind, &options);
        assert_int_equal(chip_pulls(), 0);
        host_wait(200); /* in the loader */
        assert_true(host_enumerate());
        assert_string_equal(device_ask("?"), "=s 1 n 0 0 0 - 0");
        chip_hang();
        host_wait(900); /* half a second of hanging, and the loader again */
        host_start();
        host_wait(60);
        assert_true(host_enumerate());
        assert_string_equal(device_ask("A1"), "=ok 1");
        assert_in_range((uint64_t)device_wait_for_pull(2000), 985, 1012);
        assert_int_equal(chip_pulls(), 1);
        chip_stop();
    }
}

TEST_CASE(the_small_image_has_the_published_commands)
{
    static const struct chip_options loaders[] = {{0}, {.boot_loader = true}};
    for (int i = 0; i < 2; i++) {
        uint8_t data[8];
        device_power_on(SMALL, &loaders[i]);
        host_wait(200);
        assert_true(host_enumerate());
        compatible("OFF");
        host_wait(5);
        assert_true(chip_pwr_ok_is_pulled());
        compatible("5?");
        assert_int_equal(host_in1(data, 50), 2);
        assert_memory_equal(data + 1, "\x1f", 1);
        host_wait(5);
        assert_false(chip_pwr_ok_is_pulled());
        compatible("1");
        assert_in_range((uint64_t)device_wait_for_pull(2000), 985, 1012);
        chip_stop();
    }
}

TEST_MAIN()
