/* SPDX-License-Identifier: MIT */
/* WebAssembly: what wasm.mjs calls in workers that share the memory. */
#include <pawl/lock.h>
#include <pawl/wait.h>

#define EXPORT(name) __attribute__((export_name(#name))) name

enum { ROUNDS = 10000, MS = 1000000 };

/* Never written. */
static uint8_t word8;
static uint16_t word16;
static uint32_t word32;
static uint64_t word64;

static pawl_lock64 lock = PAWL_LOCK64_INIT;
static int counted;

int EXPORT(sleep_at)(int width);
int EXPORT(sleep_at)(int width)
{
    switch (width) {
    case 8: return (int)pawl_wait8(&word8, 0);
    case 16: return (int)pawl_wait16(&word16, 0);
    case 32: return (int)pawl_wait32(&word32, 0);
    default: return (int)pawl_wait64(&word64, 0);
    }
}

unsigned EXPORT(wake_at)(int width, unsigned count);
unsigned EXPORT(wake_at)(int width, unsigned count)
{
    const void *const word = width == 8    ? (const void *)&word8
                             : width == 16 ? (const void *)&word16
                             : width == 32 ? (const void *)&word32
                                           : (const void *)&word64;
    return pawl_wake_n(word, count);
}

int EXPORT(sleep_for_a_while)(void);
int EXPORT(sleep_for_a_while)(void)
{
    const uint64_t deadline = pawl_now() + MS;
    const enum pawl_waited how = pawl_wait64_until(&word64, 0, deadline);
    return pawl_now() >= deadline ? (int)how : -1;
}

int EXPORT(wait_for_another_value)(void);
int EXPORT(wait_for_another_value)(void)
{
    return (int)pawl_wait16(&word16, 1);
}

/* Returns what the count was seen to be at the end. */
int EXPORT(count_up)(void);
int EXPORT(count_up)(void)
{
    int i, seen;
    for (i = 0; i < ROUNDS; i++) {
        pawl_take_write(&lock);
        counted++;
        pawl_drop_write(&lock);
    }
    pawl_take_read(&lock);
    seen = counted;
    pawl_drop_read(&lock);
    return seen;
}

/* While this thread holds the lock, the others sleep for it. */
void EXPORT(hold)(void);
void EXPORT(hold)(void)
{
    pawl_take_write(&lock);
}

void EXPORT(drop)(void);
void EXPORT(drop)(void)
{
    pawl_drop_write(&lock);
}
