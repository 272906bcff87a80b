/* SPDX-License-Identifier: MIT */
/*
 * Names of locks, for reports. The checking variant (doc/checking.md) prints them beside type and
 * address, so that a reader need not find out which lock lay where:
 *
 *   pawl_init(&cache->lock);
 *   pawl_name_lock(&cache->lock, "cache.map");
 *
 * A lock that is a global variable has the name of its symbol without this. In the other variants
 * the functions do nothing, unless the program runs under `pawl trace` (doc/trace.md): then its
 * recorder gets the name. So programs need no #if around them.
 *
 * The name belongs to the address of the object: any lock, sequence lock, counter, domain or word.
 * pawl_init and pawl_destroy of spin.h and lock.h end it, as does pawl_unname_lock. Without one of
 * these, memory that is used again keeps the name. So name a lock after its init, and call
 * pawl_destroy or pawl_unname_lock before its memory goes.
 *
 * Any thread may call these at any time, also before main. They take an internal lock for a moment,
 * so they are not for signal handlers, and not for real-time threads. The child of a fork has the
 * names of its parent.
 */
#ifndef PAWL_NAME_H
#define PAWL_NAME_H

#include <pawl/atomic.h>

#include <stddef.h>

/* Bytes of a name that are kept; what follows is cut off. */
#define PAWL_NAME_LENGTH 47

#if PAWL_CHECKED

PAWL_C_BEGIN

/* Gives the object a name, or another one. The library copies the name. Beyond 4096 names at a time
 * further ones are ignored. */
PAWL_API void PAWL_SYMBOL_(pawl_name_lock)(const void *object, const char *name);

/* Takes the name away; nothing where there is none. */
PAWL_API void PAWL_SYMBOL_(pawl_unname_lock)(const void *object);

PAWL_C_END

#define pawl_name_lock PAWL_SYMBOL_(pawl_name_lock)
#define pawl_unname_lock PAWL_SYMBOL_(pawl_unname_lock)

#else

#if defined(__linux__) && defined(__ELF__)
PAWL_C_BEGIN
/* Of the recorder; where there is none, the loader leaves its address NULL. */
__attribute__((__weak__)) void ipawl_trace_name_(const void *object, const char *name);
PAWL_C_END
#define PAWL_TRACE_NAME_(object, name)                                                             \
    do {                                                                                           \
        if (ipawl_trace_name_)                                                                     \
            ipawl_trace_name_(object, name);                                                       \
    } while (0)
#else
#define PAWL_TRACE_NAME_(object, name) ((void)(object), (void)(name))
#endif

PAWL_INLINE_BEGIN

/* Gives the object a name, or another one, which the checking variant and the recorder copy. Beyond
 * 4096 names at a time, with the recorder 1024, further ones are ignored. */
PAWL_INLINE void pawl_name_lock(const void *object, const char *name)
{
    PAWL_TRACE_NAME_(object, name);
}

/* Takes the name away; nothing where there is none. */
PAWL_INLINE void pawl_unname_lock(const void *object)
{
    PAWL_TRACE_NAME_(object, NULL);
}

PAWL_INLINE_END

#endif

#endif
