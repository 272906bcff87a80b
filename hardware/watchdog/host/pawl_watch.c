/* SPDX-License-Identifier: MIT */
#include "pawl_watch.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static struct pawl_watch_record *shared;

bool pawl_watch_open(const char *path)
{
    struct pawl_watch_record *record;
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0)
        return false;
    if (ftruncate(file, sizeof *record) != 0) {
        close(file);
        return false;
    }
    record = (struct pawl_watch_record *)mmap(NULL, sizeof *record, PROT_READ | PROT_WRITE,
                                              MAP_SHARED, file, 0);
    close(file);
    if (record == MAP_FAILED)
        return false;
    record->stalls = 0;
    __atomic_store_n(&shared, record, __ATOMIC_RELEASE);
    pawl_watch_beat();
    __atomic_store_n(&record->magic, PAWL_WATCH_MAGIC, __ATOMIC_RELEASE);
    return true;
}

void pawl_watch_beat(void)
{
    struct pawl_watch_record *record = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
    struct timespec now;
    if (record == NULL)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    __atomic_store_n(&record->beat_ns, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
                     __ATOMIC_RELAXED);
}

void pawl_watch_stalled(void)
{
    struct pawl_watch_record *record = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
    if (record != NULL)
        __atomic_fetch_add(&record->stalls, 1, __ATOMIC_RELAXED);
}

void pawl_watch_on_rcu_stall(const struct pawl_rcu_stall *stall, void *argument)
{
    (void)stall, (void)argument;
    pawl_watch_stalled();
}
