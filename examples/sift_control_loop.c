/* SPDX-License-Identifier: MIT */
/*
 * A control loop in a SCHED_FIFO thread reads its configuration in each period, while ordinary
 * threads change it and look at it slowly. If the loop has to wait for a writer, the writer runs at
 * the loop's priority until it is done, so no third thread comes in between. Without the right to
 * real-time scheduling the loop runs as an ordinary thread, and the program says so.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pawl/sift.h>

#include "example.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

enum { PERIODS = 500 / EXAMPLE_LESS + 50, PERIOD_NS = 200000, PRIORITY = 10 };

/* [quote begin] */
static struct settings {
    pawl_sift lock;
    double gain, limit; /* always limit == 2 * gain */
    int version;
} settings;

/* Real-time readers need no right of ours: they lend their priority to the writer that they
 * await. */
static int make_settings(void)
{
    pawl_sift_use use;
    memset(&use, 0, sizeof use);
    use.readers = PAWL_SIFT_READS(PAWL_SIFT_THREAD) | PAWL_SIFT_READS(PAWL_SIFT_REALTIME);
    return pawl_sift_init(&settings.lock, &use);
}

static double control(double error)
{
    pawl_sift_take_read(&settings.lock, PAWL_SIFT_REALTIME); /* waits for no slow reader */
    double output = error * settings.gain;
    if (output > settings.limit)
        output = settings.limit;
    pawl_sift_drop_read(&settings.lock, PAWL_SIFT_REALTIME);
    return output;
}

static void configure(double gain)
{
    pawl_sift_take_write(&settings.lock);
    settings.gain = gain;
    settings.limit = 2 * gain;
    settings.version++;
    pawl_sift_drop_write(&settings.lock);
}
/* [quote end] */

static uint32_t stop;

static void *run_loop(void *unused)
{
    const struct timespec period = {0, PERIOD_NS};
    struct sched_param param;
    (void)unused;
    memset(&param, 0, sizeof param);
    param.sched_priority = PRIORITY;
    int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
    if (error != 0)
        printf("no right to real-time scheduling (%s): an ordinary thread controls\n",
               strerror(error));
    for (int i = 0; i < PERIODS; i++) {
        /* An error of 3 would ask for three times the gain, so the result is the limit. */
        const double output = control(3);
        CHECK(output == (double)(int)output && (int)output % 2 == 0);
        (void)nanosleep(&period, NULL);
    }
    pawl_store_relaxed32(&stop, 1);
    return NULL;
}

static void *change(void *unused)
{
    const struct timespec rest = {0, PERIOD_NS / 2};
    int gain = 1;
    (void)unused;
    while (pawl_load_relaxed32(&stop) == 0) {
        configure(gain);
        gain = gain % 100 + 1;
        (void)nanosleep(&rest, NULL);
    }
    return NULL;
}

static void *watch(void *unused)
{
    const struct timespec slowly = {0, 1000000};
    int last = 0;
    (void)unused;
    while (pawl_load_relaxed32(&stop) == 0) {
        pawl_sift_take_read(&settings.lock, PAWL_SIFT_THREAD);
        (void)nanosleep(&slowly, NULL); /* writers wait for this; the loop does not */
        CHECK(settings.limit == 2 * settings.gain && settings.version >= last);
        last = settings.version;
        pawl_sift_drop_read(&settings.lock, PAWL_SIFT_THREAD);
    }
    return NULL;
}

int main(void)
{
    static void *(*const work[])(void *) = {run_loop, change, watch};
    const int error = make_settings();

    if (error == ENOTSUP) {
        printf("this system lends no priorities\n");
        return 0;
    }
    CHECK(error == 0);
    configure(1);
    run_threads(3, work);
    pawl_sift_destroy(&settings.lock);
    printf("%d periods, %d configurations, each seen whole\n", (int)PERIODS, settings.version);
    return 0;
}
