/* SPDX-License-Identifier: MIT */
/*
 * A program that reports progress: beating FILE TIMES how. It beats every 100 ms, so many times;
 * then it
 *   hangs   does not beat any more
 *   reader  beats on, while a reader of RCU stays in its section
 *   lock    beats on, while a writer keeps a lock
 */
#include <pawl/lock.h>
#include <pawl/rcu.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/pawl_watch.h"

#define MS UINT64_C(1000000)

static pawl_lock64 lock;

static void *read_for_ever(void *unused)
{
    pawl_rcu_read_lock();
    for (;;)
        pause();
    return unused;
}

static void *wait_for_readers(void *unused)
{
    pawl_rcu_domain_stall(pawl_rcu_default(), 100 * MS, pawl_watch_on_rcu_stall, NULL);
    pawl_rcu_synchronize();
    return unused;
}

static void *write_for_ever(void *unused)
{
    pawl_take_write(&lock);
    for (;;)
        pause();
    return unused;
}

static void start(void *(*body)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, NULL) != 0)
        exit(3);
}

int main(int argc, char **argv)
{
    const char *how = argc == 4 ? argv[3] : "";
    if (argc != 4 || !pawl_watch_open(argv[1]))
        return 2;
    for (int i = 0; i < atoi(argv[2]); i++) {
        pawl_watch_beat();
        if (!pawl_watch_lock(&lock, 60000 * MS)) /* nobody holds it yet: no stall */
            return 4;
        usleep(100000);
    }
    if (strcmp(how, "reader") == 0) {
        start(read_for_ever);
        usleep(100000);
        start(wait_for_readers);
    }
    if (strcmp(how, "lock") == 0)
        start(write_for_ever);
    for (;;) {
        if (strcmp(how, "hangs") != 0)
            pawl_watch_beat(); /* it still beats: the report is what counts */
        if (strcmp(how, "lock") == 0)
            (void)pawl_watch_lock(&lock, 200 * MS);
        usleep(100000);
    }
}
