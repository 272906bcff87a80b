/* SPDX-License-Identifier: MIT */
#include "chip.h"

#include <simavr/avr_eeprom.h>
#include <simavr/avr_ioport.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_interrupts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Places in the data memory of the ATtiny85. */
/* clang-format off */
enum { PINB = 0x36, DDRB = 0x37, PORTB = 0x38, OSCCAL = 0x51, GIFR = 0x5a, MCUSR = 0x54,
       RAM = 0x60, RAM_END = 0x25f, PCINT_VECTOR = 2, PCIF = 5, DM = 3, DP = 4, UNUSED = 0xc5 };
/* clang-format on */

static struct {
    avr_t *avr;
    struct chip_options options;
    char image[512];
    double now;   /* bits */
    double cycle; /* which cycle `now` is */
    enum line driven;
    bool pulled, pwr_ok;
    uint64_t pulled_at, released_at;
    unsigned pulls, starts, statics;
    bool hangs;
    uint8_t eeprom[512];
} chip;

static void no_sleep(avr_t *avr, avr_cycle_count_t cycles)
{
    (void)avr, (void)cycles;
}

static void quiet(avr_t *avr, const int level, const char *format, va_list list)
{
    (void)avr;
    if (level == LOG_ERROR)
        vfprintf(stderr, format, list);
}

/* A one clears the flag; the simulator has this for timers only. */
static void write_gifr(avr_t *avr, avr_io_addr_t address, uint8_t value, void *parameter)
{
    (void)address, (void)parameter;
    if (!(value & 1 << PCIF))
        return;
    for (int i = 0; i < avr->interrupts.vector_count; i++)
        if (avr->interrupts.vector[i]->vector == PCINT_VECTOR)
            avr_clear_interrupt(avr, avr->interrupts.vector[i]);
}

static void set_pin(int pin, bool high)
{
    avr_raise_irq(avr_io_getirq(chip.avr, AVR_IOCTL_IOPORT_GETIRQ('B'), pin), high);
}

void chip_drive(enum line line)
{
    chip.driven = line;
    if (chip_drives())
        return; /* the host does not: the pins are the device's */
    set_pin(DM, line == J || line == SE1);
    set_pin(DP, line == K || line == SE1);
}

bool chip_drives(void)
{
    return chip.avr->data[DDRB] & (1 << DM | 1 << DP);
}

enum line chip_line(void)
{
    const uint8_t port = chip.avr->data[PORTB];
    bool dm, dp;
    if (!chip_drives())
        return chip.driven;
    dm = port & 1 << DM;
    dp = port & 1 << DP;
    return dm ? (dp ? SE1 : J) : (dp ? K : SE0);
}

/* The chip's reset, of which the simulator forgets what comes from outside. */
static void begin(void)
{
    chip.starts++;
    chip.hangs = false;
    chip.avr->data[OSCCAL] = FACTORY_OSCCAL;
    for (int pin = 0; pin < 5; pin++) { /* only changes reach the port, which has forgotten all */
        set_pin(pin, true);
        set_pin(pin, false);
    }
    set_pin(2, !chip.options.jumper);
    chip_set_pwr_ok(chip.pwr_ok);
    chip_drive(chip.driven);
}

/*
 * What a boot loader such as micronucleus does. It has put a jump to itself in place of the image's
 * first instruction, and keeps the jump to the image. It forgets the cause of the reset, turns the
 * chip's watchdog off, tunes the clock, and waits for a host: here 200 ms, there some 5 s. On the
 * chip both jumps wrap around the end of the flash; the simulator cannot, so chip_step does them.
 */
enum { LOADER = 6016 };
static const uint16_t loader[] = {
    0xe000, /* ldi  r16, 0          */
    0xbf04, /* out  MCUSR, r16      */
    0x95a8, /* wdr                  */
    0xe108, /* ldi  r16, WDCE | WDE */
    0xbd01, /* out  WDTCR, r16      */
    0xe000, /* ldi  r16, 0          */
    0xbd01, /* out  WDTCR, r16      */
    0xe501, /* ldi  r16, 0x51       */
    0xbf01, /* out  OSCCAL, r16     */
    0xe080, /* ldi  r24, 0          */
    0xe090, /* ldi  r25, 0          */
    0xe0aa, /* ldi  r26, 10         */
    0x5081, /* subi r24, 1          */
    0x4090, /* sbci r25, 0          */
    0x40a0, /* sbci r26, 0          */
    0xf7e1, /* brne subi            */
};

static void jump_to_and_from_the_loader(void)
{
    const uint8_t *const flash = chip.avr->flash;
    if (chip.avr->pc == 0)
        chip.avr->pc = LOADER;
    else if (chip.avr->pc == LOADER + sizeof loader)
        chip.avr->pc = 2u + 2u * (flash[0] | (flash[1] & 0x0fu) << 8); /* an rjmp */
}

static void load(uint8_t cause)
{
    elf_firmware_t firmware;
    memset(&firmware, 0, sizeof firmware);
    if (elf_read_firmware(chip.image, &firmware) != 0) {
        fprintf(stderr, "cannot read %s\n", chip.image);
        exit(2);
    }
    chip.avr = avr_make_mcu_by_name("attiny85");
    avr_global_logger_set(quiet);
    avr_init(chip.avr);
    firmware.frequency = 16500000;
    avr_load_firmware(chip.avr, &firmware);
    if (chip.options.boot_loader)
        memcpy(chip.avr->flash + LOADER, loader, sizeof loader);
    chip.statics = firmware.bsssize + firmware.datasize;
    chip.avr->log = LOG_ERROR;
    chip.avr->sleep = no_sleep;
    chip.avr->frequency = 16500000;
    memset(chip.avr->data + RAM, UNUSED, RAM_END - RAM + 1);
    chip.avr->data[MCUSR] = cause;
    avr_register_io_write(chip.avr, GIFR, write_gifr, NULL);
    avr_eeprom_desc_t place = {.ee = chip.eeprom, .offset = 0, .size = sizeof chip.eeprom};
    avr_ioctl(chip.avr, AVR_IOCTL_EEPROM_SET, &place);
    chip.cycle = 0;
    chip.pulled = false;
    chip.hangs = false;
    chip.driven = J;
    chip.pwr_ok = true;
}

void chip_start(const char *image, const struct chip_options *options)
{
    memset(&chip, 0, sizeof chip);
    snprintf(chip.image, sizeof chip.image, "%s", image);
    if (options)
        chip.options = *options;
    memset(chip.eeprom, 0xff, sizeof chip.eeprom);
    if (chip.options.eeprom)
        memcpy(chip.eeprom, chip.options.eeprom, chip.options.eeprom_size);
    load(1); /* power-on */
}

void chip_stop(void)
{
    avr_terminate(chip.avr);
    free(chip.avr);
}

void chip_power_cycle(void)
{
    chip_eeprom(chip.eeprom, sizeof chip.eeprom);
    chip_stop();
    load(1);
}

static void look_at_pwr_ok(void)
{
    const bool pulled = chip_pwr_ok_is_pulled();
    if (pulled && !chip.pulled) {
        chip.pulled_at = chip.avr->cycle;
        chip.pulls++;
    } else if (!pulled && chip.pulled) {
        chip.released_at = chip.avr->cycle;
        chip_set_pwr_ok(chip.pwr_ok);
    }
    chip.pulled = pulled;
}

void chip_step(void)
{
    const bool drove = chip_drives();
    if (chip.hangs && chip.avr->pc != 0)
        chip.avr->pc = 0x1ffe; /* an instruction that jumps to itself */
    if (chip.avr->pc == 0)
        begin();
    if (chip.options.boot_loader)
        jump_to_and_from_the_loader();
    avr_run(chip.avr);
    if (chip.avr->state == cpu_Crashed || chip.avr->state == cpu_Done) {
        fprintf(stderr, "the chip stopped at %#x\n", chip.avr->pc);
        exit(2);
    }
    if (drove && !chip_drives())
        chip_drive(chip.driven); /* the pull-up of the line, or the host, has it again */
    look_at_pwr_ok();
}

double chip_cycles_per_bit(void)
{
    const int steps = chip.options.fixed_clock ? 0 : chip.avr->data[OSCCAL] - FACTORY_OSCCAL;
    return CYCLES_PER_BIT * (1 + chip.options.clock_error) * (1 + 0.006 * steps);
}

void chip_sync(void)
{
    chip.now = chip_now();
    chip.cycle = (double)chip.avr->cycle;
}

void chip_advance(double bits)
{
    /* Short pieces, so that a change of OSCCAL counts from then on. */
    while (bits > 0) {
        const double piece = bits < 50 ? bits : 50;
        chip.cycle += piece * chip_cycles_per_bit();
        chip.now += piece;
        bits -= piece;
        while ((double)chip.avr->cycle < chip.cycle)
            chip_step();
    }
}

double chip_now(void)
{
    return chip.now + ((double)chip.avr->cycle - chip.cycle) / chip_cycles_per_bit();
}

uint64_t chip_cycle(void)
{
    return chip.avr->cycle;
}

uint8_t chip_osccal(void)
{
    return chip.avr->data[OSCCAL];
}

bool chip_pwr_ok_is_pulled(void)
{
    return chip.avr->data[DDRB] & 1 && !(chip.avr->data[PORTB] & 1);
}

bool chip_pwr_ok_is_driven_high(void)
{
    return chip.avr->data[DDRB] & 1 && chip.avr->data[PORTB] & 1;
}

bool chip_led(void)
{
    return chip.avr->data[DDRB] & 2 && chip.avr->data[PORTB] & 2;
}

bool chip_ps_on_is_pulled(void)
{
    return chip.avr->data[DDRB] & 4 && !(chip.avr->data[PORTB] & 4);
}

void chip_set_pwr_ok(bool high)
{
    avr_ioport_external_t external = {
        .name = 'B', .mask = 1 << 2 | 1 << 0, .value = (chip.options.jumper ? 0 : 1 << 2) | high};
    chip.pwr_ok = high;
    avr_ioctl(chip.avr, AVR_IOCTL_IOPORT_SET_EXTERNAL('B'), &external);
    set_pin(0, high);
}

uint64_t chip_pulled_at(void)
{
    return chip.pulled_at;
}

uint64_t chip_released_at(void)
{
    return chip.released_at;
}

unsigned chip_pulls(void)
{
    return chip.pulls;
}

void chip_hang(void)
{
    chip.avr->flash[0x1ffe] = 0xff; /* rjmp to itself */
    chip.avr->flash[0x1fff] = 0xcf;
    chip.avr->data[0x5f] &= 0x7f; /* no interrupts either */
    chip.hangs = true;
}

unsigned chip_starts(void)
{
    return chip.starts;
}

bool chip_sleeps(void)
{
    return chip.avr->state == cpu_Sleeping;
}

unsigned chip_stack_used(void)
{
    int at = RAM + (int)chip.statics + 1;
    while (at <= RAM_END && chip.avr->data[at] == UNUSED)
        at++;
    return (unsigned)(RAM_END - at + 1);
}

unsigned chip_static_used(void)
{
    return chip.statics;
}

void chip_eeprom(uint8_t *bytes, unsigned size)
{
    uint8_t *found = NULL;
    avr_eeprom_desc_t place = {.ee = NULL, .offset = 0, .size = 512};
    avr_ioctl(chip.avr, AVR_IOCTL_EEPROM_GET, &place);
    found = place.ee;
    memmove(bytes, found, size);
}
