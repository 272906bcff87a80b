/* SPDX-License-Identifier: MIT */
/* Waiting on an address and waking it: what each call does, alone and with one partner. */
#include "test.h"

#include <pawl/wait.h>

#include <sys/mman.h>

/* One word that is all four widths at once (little endian, as all targets that tests run on). */
static uint64_t word __attribute__((aligned(8)));

#define WORD8 ((uint8_t *)(void *)&word)
#define WORD16 ((uint16_t *)(void *)&word)
#define WORD32 ((uint32_t *)(void *)&word)

static const unsigned widths[] = {8, 16, 32, 64};

static enum pawl_waited wait_until(unsigned bits, uint64_t value, uint64_t deadline)
{
    switch (bits) {
    case 8: return pawl_wait8_until(WORD8, (uint8_t)value, deadline);
    case 16: return pawl_wait16_until(WORD16, (uint16_t)value, deadline);
    case 32: return pawl_wait32_until(WORD32, (uint32_t)value, deadline);
    default: return pawl_wait64_until(&word, value, deadline);
    }
}

static enum pawl_waited wait_masked_until(unsigned bits, uint64_t mask, uint64_t value,
                                          uint64_t deadline)
{
    switch (bits) {
    case 8: return pawl_wait8_masked_until(WORD8, (uint8_t)mask, (uint8_t)value, deadline);
    case 16: return pawl_wait16_masked_until(WORD16, (uint16_t)mask, (uint16_t)value, deadline);
    case 32: return pawl_wait32_masked_until(WORD32, (uint32_t)mask, (uint32_t)value, deadline);
    default: return pawl_wait64_masked_until(&word, mask, value, deadline);
    }
}

/* ---- Alone ----------------------------------------------------------------------------------- */

TEST_CASE(a_wait_returns_at_once_when_the_value_differs)
{
    word = 0x7777777777777777;
    assert_int_equal(pawl_wait8(WORD8, 0x78), PAWL_WAIT_DIFFERS);
    assert_int_equal(pawl_wait16(WORD16, 0x7778), PAWL_WAIT_DIFFERS);
    assert_int_equal(pawl_wait32(WORD32, 0x77777778), PAWL_WAIT_DIFFERS);
    assert_int_equal(pawl_wait64(&word, 0x8777777777777777), PAWL_WAIT_DIFFERS);
    assert_int_equal(pawl_wait64_until(&word, 0, 0), PAWL_WAIT_DIFFERS);
}

TEST_CASE(a_masked_wait_looks_at_its_bits_only)
{
    word = 0x15;
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(wait_masked_until(widths[i], 0xf, 0x5, 0), PAWL_WAIT_EXPIRED);
        assert_int_equal(wait_masked_until(widths[i], 0xf, 0x4, 0), PAWL_WAIT_DIFFERS);
        assert_int_equal(wait_masked_until(widths[i], 0xff, 0x5, 0), PAWL_WAIT_DIFFERS);
    }
    assert_int_equal(pawl_wait8_masked(WORD8, 1, 0), PAWL_WAIT_DIFFERS);
    assert_int_equal(pawl_wait16_masked(WORD16, 1, 0), PAWL_WAIT_DIFFERS);
    assert_int_equal(pawl_wait32_masked(WORD32, 1, 0), PAWL_WAIT_DIFFERS);
    assert_int_equal(pawl_wait64_masked(&word, 1, 0), PAWL_WAIT_DIFFERS);
}

TEST_CASE(a_value_outside_the_mask_never_holds)
{
    word = 0x15;
    assert_int_equal(pawl_wait32_masked(WORD32, 0xf, 0x15), PAWL_WAIT_DIFFERS);
}

TEST_CASE(a_deadline_in_the_past_expires_at_once)
{
    word = 1;
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(wait_until(widths[i], 1, 0), PAWL_WAIT_EXPIRED);
        assert_int_equal(wait_until(widths[i], 1, pawl_now() - 1), PAWL_WAIT_EXPIRED);
    }
}

TEST_CASE(a_wait_expires_only_after_its_deadline)
{
    word = 1;
    for (unsigned i = 0; i < 4; i++) {
        const uint64_t deadline = pawl_now() + 2000000;
        while (wait_until(widths[i], 1, deadline) != PAWL_WAIT_EXPIRED)
            continue;
        assert_true(pawl_now() >= deadline);
    }
}

TEST_CASE(null_and_misaligned_addresses_are_refused)
{
    static uint64_t room[2];
    char *at = (char *)room;
    struct pawl_watch watch = {NULL, 0, UINT64_MAX, 8};
    uint32_t which;
    assert_int_equal(pawl_wait8(NULL, 0), PAWL_WAIT_REFUSED);
    assert_int_equal(pawl_wait64_until(NULL, 0, 0), PAWL_WAIT_REFUSED);
    assert_int_equal(pawl_wait16((uint16_t *)(void *)(at + 1), 0), PAWL_WAIT_REFUSED);
    assert_int_equal(pawl_wait32((uint32_t *)(void *)(at + 2), 0), PAWL_WAIT_REFUSED);
    assert_int_equal(pawl_wait64((uint64_t *)(void *)(at + 4), 0), PAWL_WAIT_REFUSED);
    assert_int_equal(pawl_wait32_shared(NULL, 0), PAWL_WAIT_REFUSED);
    assert_int_equal(pawl_wait32_shared((uint32_t *)(void *)(at + 1), 0), PAWL_WAIT_REFUSED);
    assert_int_equal(pawl_wait_any(&watch, 1, &which), PAWL_WAIT_REFUSED);
    watch.address = at;
    watch.bits = 24;
    assert_int_equal(pawl_wait_any(&watch, 1, &which), PAWL_WAIT_REFUSED);
    assert_int_equal(pawl_wait_any(&watch, 0, &which), PAWL_WAIT_REFUSED);
    assert_int_equal(pawl_wait_any(NULL, 1, &which), PAWL_WAIT_REFUSED);
}

TEST_CASE(waking_nobody_wakes_nobody)
{
    uint32_t other;
    assert_int_equal(pawl_wake_one(&word), 0);
    assert_int_equal(pawl_wake_n(&word, 0), 0);
    assert_int_equal(pawl_wake_all(WORD8 + 1), 0); /* at odd addresses too */
    assert_int_equal(pawl_wake_bits(&word, 0, 1), 0);
    assert_int_equal(pawl_requeue(&word, &other, 1, 1), 0);
    assert_int_equal(pawl_wake_one(NULL), 0);
    assert_int_equal(pawl_requeue(NULL, &word, 1, 1), 0);
    assert_int_equal(pawl_requeue(&word, NULL, 1, 1), 0);
    assert_int_equal(pawl_requeue(&word, &word, 1, 1), 0);
    assert_int_equal(pawl_wake_one_shared(&other), 0);
    assert_int_equal(pawl_wake_all_shared(NULL), 0);
}

TEST_CASE(memory_may_be_gone_when_it_is_woken)
{
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *gone =
        (char *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(gone != MAP_FAILED);
    assert_int_equal(munmap(gone, size), 0);
    assert_int_equal(pawl_wake_all(gone), 0);
    assert_int_equal(pawl_wake_n_shared((uint32_t *)(void *)gone, 3), 0);
    assert_int_equal(pawl_requeue(gone, &word, 1, UINT_MAX), 0);
    assert_int_equal(pawl_wake_one((void *)(uintptr_t)0xdeadbee0), 0);
}

TEST_CASE(errno_is_left_alone)
{
    word = 1;
    errno = 4711;
    (void)wait_until(8, 1, pawl_now() + 1000);
    (void)wait_until(32, 1, pawl_now() + 1000);
    (void)pawl_wait32_shared_until(WORD32, 1, 0);
    (void)pawl_wake_all(&word);
    (void)pawl_wake_all_shared(WORD32);
    (void)pawl_requeue(&word, WORD8 + 4, 1, 1);
    assert_int_equal(errno, 4711);
}

/* ---- With a partner -------------------------------------------------------------------------- */

struct sleeper {
    unsigned bits;
    uint64_t mask; /* 0: none */
    uint64_t deadline;
    enum pawl_waited how;
    pthread_t thread;
};

static void *sleep_until_woken(void *opaque)
{
    struct sleeper *s = (struct sleeper *)opaque;
    do
        s->how = s->mask != 0 ? wait_masked_until(s->bits, s->mask, 1 & s->mask, s->deadline)
                              : wait_until(s->bits, 1, s->deadline);
    while (s->how == PAWL_WAIT_DIFFERS);
    return NULL;
}

static void start(struct sleeper *s, unsigned bits, uint64_t mask, uint64_t deadline)
{
    s->bits = bits;
    s->mask = mask;
    s->deadline = deadline;
    s->thread = test_start(sleep_until_woken, s);
}

static void end(struct sleeper *s)
{
    test_join(s->thread);
    assert_int_equal(s->how, PAWL_WAIT_WOKEN);
}

/* The word holds 1 and never changes, so nothing but a wake ends a sleep. */
TEST_CASE(wake_one_wakes_a_sleeper_of_each_width_and_counts_it)
{
    struct sleeper s;
    word = 1;
    for (unsigned i = 0; i < 4; i++) {
        start(&s, widths[i], 0, PAWL_WAIT_FOREVER);
        while (pawl_wake_one(&word) == 0) {
            assert_int_equal(pawl_wake_one(WORD8 + 1), 0);
            sched_yield();
        }
        end(&s);
    }
}

TEST_CASE(an_absurd_deadline_never_passes)
{
    static const uint64_t absurd[] = {UINT64_MAX - 1, UINT64_MAX / 2,
                                      UINT64_C(4000000000) * 1000000000};
    struct sleeper s;
    word = 1;
    for (unsigned i = 0; i < 6; i++) {
        start(&s, i % 2 ? 16 : 32, 0, absurd[i / 2]);
        test_await(pawl_wake_one(&word) != 0);
        end(&s);
    }
}

TEST_CASE(wake_n_wakes_no_more_than_asked)
{
    struct sleeper sleepers[6];
    unsigned woken = 0;
    word = 1;
    for (unsigned i = 0; i < 6; i++)
        start(&sleepers[i], widths[i % 4], 0, PAWL_WAIT_FOREVER);
    while (woken < 6) {
        const unsigned now = pawl_wake_n(&word, 2);
        assert_true(now <= 2);
        woken += now;
    }
    assert_int_equal(woken, 6);
    for (unsigned i = 0; i < 6; i++)
        end(&sleepers[i]);
}

TEST_CASE(wake_all_wakes_all_widths_at_one_address)
{
    struct sleeper sleepers[8];
    unsigned woken = 0;
    word = 1;
    for (unsigned i = 0; i < 8; i++)
        start(&sleepers[i], widths[i % 4], i < 4 ? 0 : 1, PAWL_WAIT_FOREVER);
    while (woken < 8)
        woken += pawl_wake_all(&word);
    assert_int_equal(woken, 8);
    for (unsigned i = 0; i < 8; i++)
        end(&sleepers[i]);
}

TEST_CASE(wake_bits_wakes_who_waits_for_one_of_the_bits)
{
    struct sleeper low, high, all;
    word = 1;
    start(&low, 64, 0x1, PAWL_WAIT_FOREVER);
    start(&high, 64, UINT64_C(0x8000000000000000), PAWL_WAIT_FOREVER);
    test_await(pawl_wake_bits(&word, UINT64_C(0xc000000000000000), 9) != 0);
    end(&high);
    while (pawl_wake_bits(&word, 0x3, 9) == 0)
        assert_int_equal(pawl_wake_bits(&word, ~UINT64_C(1), 9), 0);
    end(&low);
    start(&all, 8, 0, PAWL_WAIT_FOREVER);
    while (pawl_wake_bits(&word, 0x80, 1) == 0)
        assert_int_equal(pawl_wake_bits(&word, 0x100, 1), 0); /* not a bit of that width */
    end(&all);
}

static void *watch_the_order(void *order)
{
    (void)wait_until(16, 1, PAWL_WAIT_FOREVER);
    __atomic_fetch_add((unsigned *)order, 1, __ATOMIC_RELAXED);
    return NULL;
}

TEST_CASE(the_oldest_is_woken_first)
{
    unsigned orders[4] = {0, 0, 0, 0};
    pthread_t threads[4];
    word = 1;
    for (unsigned i = 0; i < 4; i++) {
        threads[i] = test_start(watch_the_order, &orders[i]);
        /* Behind those who wait already: requeue to itself only counts nobody, so ask by moving. */
        test_await(pawl_requeue(&word, WORD8 + 2, 0, 1) != 0);
    }
    /* All four are at WORD8 + 2 now, in the order of their moves. */
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pawl_wake_one(WORD8 + 2), 1);
        test_join(threads[i]);
        for (unsigned k = 0; k < 4; k++)
            assert_int_equal(__atomic_load_n(&orders[k], __ATOMIC_RELAXED), k <= i);
    }
}

TEST_CASE(requeue_moves_sleepers_of_any_width_to_another_address)
{
    static uint64_t elsewhere;
    struct sleeper sleepers[8];
    unsigned moved = 0, woken = 0;
    word = 1;
    for (unsigned i = 0; i < 8; i++)
        start(&sleepers[i], widths[i % 4], 0, PAWL_WAIT_FOREVER);
    while (moved < 8)
        moved += pawl_requeue(&word, &elsewhere, 0, 1);
    assert_int_equal(moved, 8);
    assert_int_equal(pawl_wake_all(&word), 0);
    while (woken < 8)
        woken += pawl_wake_n(&elsewhere, 3);
    for (unsigned i = 0; i < 8; i++)
        end(&sleepers[i]);
    assert_int_equal(pawl_wake_all(&elsewhere), 0);
}

TEST_CASE(requeue_wakes_some_and_moves_some)
{
    static uint64_t elsewhere;
    struct sleeper sleepers[5];
    word = 1;
    for (unsigned i = 0; i < 5; i++) {
        start(&sleepers[i], 8, 0, PAWL_WAIT_FOREVER);
        test_await(pawl_requeue(&word, WORD8 + 4, 0, 1) != 0);
    }
    assert_int_equal(pawl_requeue(WORD8 + 4, &elsewhere, 2, 2), 4);
    assert_int_equal(pawl_wake_all(&elsewhere), 2);
    assert_int_equal(pawl_wake_all(WORD8 + 4), 1);
    for (unsigned i = 0; i < 5; i++)
        end(&sleepers[i]);
}

/* ---- Between processes ----------------------------------------------------------------------- */

TEST_CASE(a_shared_wait_is_woken_by_another_process)
{
    uint32_t *shared =
        (uint32_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != (uint32_t *)MAP_FAILED);
    fflush(NULL);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        while (__atomic_load_n(shared, __ATOMIC_ACQUIRE) == 0)
            (void)pawl_wait32_shared(shared, 0);
        _exit(7);
    }
    while (pawl_wake_one_shared(shared) == 0) /* the child sleeps; the wake is in vain */
        sched_yield();
    __atomic_store_n(shared, 1, __ATOMIC_RELEASE);
    (void)pawl_wake_all_shared(shared);
    const int status = test_wait(child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    assert_int_equal(pawl_wait32_shared(shared, 0), PAWL_WAIT_DIFFERS);
    assert_int_equal(pawl_wait32_shared_until(shared, 1, pawl_now() + 1000), PAWL_WAIT_EXPIRED);
    munmap(shared, 4096);
}

/* ---- Shared wakes and the page --------------------------------------------------------------- */

enum { BUSY, LEAVING, FREE };

/* Sleeps while the word is BUSY, as wait.h says: it does not wait at LEAVING. */
static pid_t sleep_while_busy(uint32_t *shared)
{
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        uint32_t seen;
        alarm(TEST_HANGS);
        while ((seen = __atomic_load_n(shared, __ATOMIC_ACQUIRE)) != FREE) {
            if (seen == LEAVING)
                sched_yield();
            else
                (void)pawl_wait32_shared(shared, BUSY);
        }
        _exit(0);
    }
    while (pawl_wake_one_shared(shared) == 0) /* the child sleeps; the wake is in vain */
        sched_yield();
    return child;
}

/* A waker stores and then wakes; between the two the page is unmapped in its process. The wake
 * reaches nobody. */
TEST_CASE(a_shared_wake_needs_the_page)
{
#ifndef __linux__
    printf("skipped: asks Linux for anonymous files\n");
    skip();
#else
    const int file = memfd_create("pawl", 0);
    uint32_t *here, *elsewhere;
    must(file >= 0 && ftruncate(file, 4096) == 0);
    here = (uint32_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    elsewhere = (uint32_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    must(here != MAP_FAILED && elsewhere != MAP_FAILED);
    pid_t child = sleep_while_busy(elsewhere);
    __atomic_store_n(here, FREE, __ATOMIC_RELEASE);
    must(munmap(here, 4096) == 0);
    assert_int_equal(pawl_wake_all_shared(here), 0);
    (void)pawl_wake_all_shared(elsewhere);
    assert_int_equal(test_wait(child), 0);
    munmap(elsewhere, 4096), close(file);
#endif
}

/* The same, with a value at which nobody sleeps: wake, then store, and unmap at once. */
TEST_CASE(the_last_store_may_come_after_the_shared_wake)
{
    uint32_t *shared =
        (uint32_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(shared != (uint32_t *)MAP_FAILED);
    pid_t child = sleep_while_busy(shared);
    __atomic_store_n(shared, LEAVING, __ATOMIC_RELEASE);
    (void)pawl_wake_all_shared(shared);
    __atomic_store_n(shared, FREE, __ATOMIC_RELEASE);
    must(munmap(shared, 4096) == 0);
    assert_int_equal(test_wait(child), 0);
}

TEST_MAIN()
