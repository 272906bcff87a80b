/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <util/delay.h>

#include "storage.h"

static struct storage storage;
static uint8_t storing; /* 0: nothing to write; else STORAGE_STEPS - storing is the next step */

static uint8_t eeprom_byte(uint8_t address)
{
    EEARL = address;
    EECR |= 1 << EERE;
    return EEDR;
}

/* A byte whenever the EEPROM is ready; it takes 3.4 ms. */
void settings_write(struct wd *wd)
{
    uint8_t value;
    if (wd->store && storing == 0) {
        wd->store = false;
        storage.bits = wd->stored_bits;
        storage.seconds = wd->stored_seconds;
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

void settings_begin(struct wd *wd)
{
    uint8_t bytes[STORAGE_PLACES * STORAGE_PLACE];
    for (uint8_t i = 0; i < sizeof bytes; i++)
        bytes[i] = eeprom_byte(i);
    storage_read(&storage, bytes);
    wd_init(wd, storage.bits, storage.seconds, jumper_is_closed());
}

bool settings_are_written(void)
{
    return storing != 0;
}
