/* SPDX-License-Identifier: MIT */
/* Linux: the system calls of the library. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if !PAWL_CALLS_OUT_

#ifndef __linux__
#error "src/os has files for Linux, Windows, macOS and FreeBSD; this is none of them."
#endif

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pages.h"

/* musl unloads nothing. dlsym is weak: a statically linked program need not have it, and loads no
 * copies. The linker warns of each reference to dlopen in such a program, so dlsym looks it up. */
#ifdef __GLIBC__

extern int dladdr(const void *, Dl_info *) __attribute__((weak));
extern void *dlsym(void *, const char *) __attribute__((weak));

static bool os_pin_this_object(void)
{
    void *(*load)(const char *, int);
    void *const found = dlsym(RTLD_DEFAULT, "dlopen");
    Dl_info info;
    *(void **)(void *)&load = found; /* POSIX: an object pointer can be a function's */
    return found != NULL && dladdr((const void *)(uintptr_t)pawl_os_pin, &info) != 0 &&
           info.dli_fname != NULL && load(info.dli_fname, RTLD_LAZY | RTLD_NODELETE) != NULL;
}

bool pawl_os_pin(void)
{
    static uint32_t pinned;
    int saved;
    if (pawl_os_in_program() || dlsym == NULL || dladdr == NULL)
        return true;
    saved = errno;
    if (pawl_load_relaxed32(&pinned) == 0 && os_pin_this_object())
        pawl_store_relaxed32(&pinned, 1);
    errno = saved;
    return pawl_load_relaxed32(&pinned) != 0;
}

#else

bool pawl_os_pin(void)
{
    return true;
}

#endif

/* glibc keeps the values of the first 32 keys (PTHREAD_KEY_2NDLEVEL_SIZE) in the thread itself and
 * allocates for the others. */
#define KEYS_WITHOUT_ALLOCATION 32

bool pawl_os_watch_threads(uint32_t *key, void (*at_exit)(void *))
{
    pthread_key_t made;
    if (pthread_key_create(&made, at_exit) != 0)
        return false;
    *key = (uint32_t)made;
    return true;
}

void pawl_os_watch_this_thread(uint32_t key, void *value)
{
#ifdef __GLIBC__
    if (key >= KEYS_WITHOUT_ALLOCATION)
        return;
#endif
    (void)pthread_setspecific((pthread_key_t)key, value);
}

/* ---- Threads --------------------------------------------------------------------------------- */

uint32_t pawl_os_thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

bool pawl_os_thread_lives(uint32_t id)
{
    const int saved = errno;
    const bool lives = syscall(SYS_tgkill, getpid(), (long)id, 0) == 0 || errno != ESRCH;
    errno = saved;
    return lives;
}

#endif
