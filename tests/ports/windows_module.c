/* SPDX-License-Identifier: MIT */
/* A DLL that carries the library in itself, for windows_modules.c. */
#include <pawl/spin.h>
#include <pawl/thread.h>

#include "base/process.h"

#define EXPORT __declspec(dllexport)

EXPORT void *module_process(void);
EXPORT void *module_line(void);
EXPORT uint32_t module_owner_of(const void *line);
EXPORT uint32_t module_count_up(unsigned times);

EXPORT void *module_process(void)
{
    return ipawl_process_();
}

EXPORT void *module_line(void)
{
    return ipawl_thread_line_();
}

EXPORT uint32_t module_owner_of(const void *line)
{
    return pawl_load_relaxed32(&((const struct pawl_thread_line *)line)->owner);
}

/* Under a lock of the module's own; returns what the count was. */
EXPORT uint32_t module_count_up(unsigned times)
{
    static pawl_spin32 lock = PAWL_SPIN32_INIT;
    static uint32_t count;
    pawl_take_write(&lock);
    uint32_t seen = count;
    while (times-- > 0)
        count++;
    pawl_drop_write(&lock);
    return seen;
}
