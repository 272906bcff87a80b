/* SPDX-License-Identifier: MIT */
/*
 * The firmware: pins, clock, EEPROM and the chip's own watchdog around the core.
 *
 *   PB0  PWR_OK: pulled low, or left alone as an input (a relay: driven high, or left alone)
 *   PB1  LED
 *   PB2  jumper to ground, read once at the start; or PS_ON#: pulled low, or left alone
 *   PB3  D-     PB4  D+     PB5  reset of the chip
 *
 * When the firmware hangs, the chip's watchdog starts it anew after half a second. A start leaves
 * all outputs alone and arms nothing, so a hang of the firmware never resets the PC.
 */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <avr/wdt.h>
#include <util/delay.h>

#include "core.h"
#include "storage.h"
#include "usb.h"
#include "usb_bus.h"

enum { PWR_OK = 0, LED = 1, JUMPER = 2 };

/* PLL clock, brown-out at 2.7 V, EEPROM kept when the chip is erased. */
FUSES = {
    .low = 0xe1,
    .high = (uint8_t)(FUSE_SPIEN & FUSE_EESAVE & FUSE_BODLEVEL1),
    .extended = EFUSE_DEFAULT,
};

/* Unused pins read as 0 while their input buffer is off: the bus handler compares whole ports. */
enum { INPUTS_OFF = 1 << AIN0D | 1 << AIN1D | 1 << ADC1D | 1 << ADC0D };

static struct wd wd;
static struct storage storage;
static uint8_t storing; /* 0: nothing to write; else STORAGE_STEPS - storing is the next step */

/* Survives the start; the watchdog must be off before anything takes its time. */
static uint8_t cause __attribute__((section(".noinit")));
void early(void) __attribute__((naked, used, section(".init3")));
void early(void)
{
    cause = MCUSR;
    MCUSR = 0;
    wdt_disable();
}

static uint8_t boot_letter(void)
{
    if (cause & 1 << WDRF)
        return 'w';
    if (cause & 1 << PORF)
        return 'p';
    if (cause & 1 << BORF)
        return 'b';
    return cause & 1 << EXTRF ? 'e' : '-';
}

static uint8_t eeprom_byte(uint8_t address)
{
    EEARL = address;
    EECR |= 1 << EERE;
    return EEDR;
}

static void read_storage(void)
{
    uint8_t bytes[STORAGE_PLACES * STORAGE_PLACE];
    for (uint8_t i = 0; i < sizeof bytes; i++)
        bytes[i] = eeprom_byte(i);
    storage_read(&storage, bytes);
}

/* A byte whenever the EEPROM is ready; it takes 3.4 ms. */
static void write_storage(void)
{
    uint8_t value;
    if (wd.store && storing == 0) {
        wd.store = false;
        storage.bits = wd.stored_bits;
        storage.seconds = wd.stored_seconds;
        storing = STORAGE_STEPS;
    }
    if (storing == 0 || EECR & 1 << EEPE)
        return;
    EEARL = storage_step(&storage, (uint8_t)(STORAGE_STEPS - storing), &value);
    EEDR = value;
    cli();
    EECR |= 1 << EEMPE;
    EECR |= 1 << EEPE;
    sei();
    if (--storing == 0)
        storage_written(&storage);
}

static bool jumper_is_closed(void)
{
    bool closed;
    if (storage.bits & WD_PS_ON)
        return false; /* an output: its level says nothing */
    PORTB |= 1 << JUMPER;
    _delay_us(50);
    closed = !(PINB & 1 << JUMPER);
    PORTB &= (uint8_t)~(1 << JUMPER);
    return closed;
}

/* PB0 floats behind the transistor while PWR_OK is high, so its pull-up is on while it is read: for
 * 5 us at most 0.25 mA flow into a PWR_OK that is low. */
static bool level(void)
{
    bool high;
    if (wd_pulls(&wd))
        return wd.config & WD_RELAY;
    PORTB |= 1 << PWR_OK;
    DIDR0 = INPUTS_OFF & ~(1 << AIN0D);
    _delay_us(5);
    high = PINB & 1 << PWR_OK;
    DIDR0 = INPUTS_OFF;
    PORTB &= (uint8_t)~(1 << PWR_OK);
    return high;
}

/* Each line is one instruction that sets or clears one bit, so the bus handler may come between. */
static void set_outputs(void)
{
    if (wd_pulls(&wd)) {
        if (wd.config & WD_RELAY)
            PORTB |= 1 << PWR_OK;
        DDRB |= 1 << PWR_OK;
    } else {
        DDRB &= (uint8_t)~(1 << PWR_OK);
        PORTB &= (uint8_t)~(1 << PWR_OK);
    }
    if (wd.config & WD_PS_ON && wd_holds_on(&wd))
        DDRB |= 1 << JUMPER;
    else
        DDRB &= (uint8_t)~(1 << JUMPER);
    if (wd_led(&wd))
        PORTB |= 1 << LED;
    else
        PORTB &= (uint8_t)~(1 << LED);
}

/* Nothing counts and the bus sleeps: so does the chip, until either line changes. */
static void sleep_while_suspended(void)
{
    if (!usb_suspended() || wd.left != 0 || wd.power == WD_PULSE || storing != 0)
        return;
    cli();
    PCMSK = 1 << USB_DP | 1 << USB_DM;
    if (PINB & 1 << USB_DM) {
        wdt_disable();
        set_sleep_mode(SLEEP_MODE_PWR_DOWN);
        sleep_enable();
        sei();
        sleep_cpu();
        sleep_disable();
        wdt_enable(WDTO_500MS);
    }
    PCMSK = 1 << USB_DP;
    sei();
}

int main(void) __attribute__((OS_main));

int main(void)
{
    wdt_enable(WDTO_500MS);
    read_storage();
    const bool jumper = jumper_is_closed();
    DIDR0 = INPUTS_OFF;
    ACSR = 1 << ACD;
    DDRB |= 1 << LED;
    TCCR0B = 1 << CS02; /* 256 cycles a count, 65536 a tick */
    usb_start();        /* takes 20 ms, of which the core is to know nothing */
    wd_init(&wd, storage.bits, storage.seconds, jumper);
    wd.boot = boot_letter();
    for (;;) {
        wdt_reset();
        if (TIFR & 1 << TOV0) {
            TIFR = 1 << TOV0;
            wd_tick(&wd);
            set_outputs();
            usb_tick();
            wd.level = level();
        }
        usb_poll(&wd);
        device_poll(&wd);
        set_outputs();
        write_storage();
        sleep_while_suspended();
    }
}
