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
#include "settings.h"
#include "usb.h"
#include "usb_bus.h"

enum { PWR_OK = 0, LED = 1 };

/* PLL clock, brown-out at 2.7 V, EEPROM kept when the chip is erased. */
FUSES = {
    .low = 0xe1,
    .high = (uint8_t)(FUSE_SPIEN & FUSE_EESAVE & FUSE_BODLEVEL1),
    .extended = EFUSE_DEFAULT,
};

/* Unused pins read as 0 while their input buffer is off: the bus handler compares whole ports. */
enum { INPUTS_OFF = 1 << AIN0D | 1 << AIN1D | 1 << ADC1D | 1 << ADC0D };

static struct wd wd;

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
    if (!usb_suspended() || wd.left != 0 || wd.power == WD_PULSE || settings_are_written())
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
    settings_begin(&wd);
    DIDR0 = INPUTS_OFF;
    ACSR = 1 << ACD;
    DDRB |= 1 << LED;
    TCCR0B = 1 << CS02; /* 256 cycles a count, 65536 a tick */
    usb_start();        /* takes 20 ms, of which the core is to know nothing */
    TIFR = 1 << TOV0;
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
        settings_write(&wd);
        sleep_while_suspended();
    }
}
