/* SPDX-License-Identifier: MIT */
/*
 * libpawl-preload-spin.so: pthread_spin_* on the library's 32-bit spinning lock, in the program's
 * own four bytes. A library of its own, because a program asks for it on purpose: four bytes
 * cannot tell a lock between processes, which a process without this library would read in glibc's
 * way. So where a process-shared spinlock is initialised, the program ends with a sentence.
 */
#include <errno.h>
#include <pthread.h>

#include <pawl/spin.h>

#include "export.h"
#include "mode.h"

_Static_assert(sizeof(pawl_spin32) == sizeof(pthread_spinlock_t), "the program's four bytes");

static pawl_spin32 *spin_of(pthread_spinlock_t *lock)
{
    return (pawl_spin32 *)(void *)(uintptr_t)lock;
}

int shim_spin_init(pthread_spinlock_t *lock, int shared)
{
    if (shared != PTHREAD_PROCESS_PRIVATE)
        shim_refuse("the program makes a spinlock for several processes, which has no room to say "
                    "so. Start it with its own spinlocks (pawl run --spin=libc)");
    pawl_spin32_init(spin_of(lock));
    return 0;
}

int shim_spin_destroy(pthread_spinlock_t *lock)
{
    (void)lock;
    return 0;
}

int shim_spin_lock(pthread_spinlock_t *lock)
{
    pawl_spin32_take_write(spin_of(lock));
    return 0;
}

int shim_spin_trylock(pthread_spinlock_t *lock)
{
    return pawl_spin32_try_write(spin_of(lock)) ? 0 : EBUSY;
}

int shim_spin_unlock(pthread_spinlock_t *lock)
{
    pawl_spin32_drop_write(spin_of(lock));
    return 0;
}

SHIM_BOTH(shim_spin_init, pthread_spin_init, SHIM_V_SPIN)
SHIM_BOTH(shim_spin_destroy, pthread_spin_destroy, SHIM_V_SPIN)
SHIM_BOTH(shim_spin_lock, pthread_spin_lock, SHIM_V_SPIN)
SHIM_BOTH(shim_spin_trylock, pthread_spin_trylock, SHIM_V_SPIN)
SHIM_BOTH(shim_spin_unlock, pthread_spin_unlock, SHIM_V_SPIN)
