/* SPDX-License-Identifier: MIT */
/*
 * libpawl-trace-waits.so: the waits for Pawl's own locks in programs that use the shared library.
 * It stands in front of the library's waiting halves, so neither the library nor the program has
 * any code for it. What these programs do inline is not seen: holds, and takes that do not wait.
 *
 * A program with the static library calls its halves directly, and defines PAWL_TRACED instead. So
 * does one that wants its holds recorded. A wait that it has reported is not counted twice
 * (ours.c).
 *
 * The halves are found when this library is loaded, before any thread may hold a lock that the
 * loader's user waits for. Where a plug-in brings the library later, out of sight of others, a half
 * is looked for at its first call, in what the caller sees.
 */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include <pawl/pawl.h>

#include <pawl/detail/traced.h>

#include "../../src/os/os.h"

#define HERE() ((uint64_t)(uintptr_t)__builtin_return_address(0))
#define TEXT_(token) #token
#define TEXT(token) TEXT_(token)

static PAWL_COLD void refuse(const char *name)
{
    static const char before[] = "libpawl-trace-waits: the program waits for a lock of Pawl, and "
                                 "the library's function ",
                      after[] = " is not found. Start it without the recorder, and report this.\n";
    pawl_os_complain(before, sizeof before - 1);
    pawl_os_complain(name, strlen(name));
    pawl_os_complain(after, sizeof after - 1);
    _exit(2);
}

static PAWL_COLD void *find(const char *name, uint64_t site)
{
    void *address = dlsym(RTLD_NEXT, name), *handle;
    Dl_info caller;
    if (address == NULL && dladdr((const void *)(uintptr_t)site, &caller) != 0 &&
        (handle = dlopen(caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) != NULL) {
        address = dlsym(handle, name);
        (void)dlclose(handle); /* the caller is still in it */
    }
    if (address == NULL)
        refuse(name);
    return address;
}

/* A function behind one of these. They lie side by side, and the linker names both ends. */
struct half {
    const char *name;
    uint64_t address; /* 0: not found yet */
};

#define IN_HALVES __attribute__((section("pawl_halves"), used, aligned(8)))
extern struct half __start_pawl_halves[] __attribute__((visibility("hidden")));
extern struct half __stop_pawl_halves[] __attribute__((visibility("hidden")));

static uint64_t next(struct half *half, uint64_t site)
{
    if (PAWL_UNLIKELY(pawl_load_relaxed64(&half->address) == 0))
        pawl_store_relaxed64(&half->address, (uint64_t)(uintptr_t)find(half->name, site));
    return pawl_load_relaxed64(&half->address);
}

__attribute__((constructor)) static void find_early(void)
{
    for (struct half *h = __start_pawl_halves; h < __stop_pawl_halves; h++)
        pawl_store_relaxed64(&h->address, (uint64_t)(uintptr_t)dlsym(RTLD_NEXT, h->name));
}

static void asks(const volatile void *lock, uint32_t what, uint64_t deadline, uint64_t site,
                 struct ipawl_trace_wait_ *wait)
{
    if (ipawl_trace_asks_at_)
        ipawl_trace_asks_at_(
            lock, what | PAWL_TRACED_NO_HOLD_ | (deadline == UINT64_MAX ? 0 : PAWL_TRACED_UNTIL_),
            site, wait);
}

static void got(struct ipawl_trace_wait_ *wait, bool moved)
{
    if (ipawl_trace_got_)
        ipawl_trace_got_(wait, moved);
}

/* Of each type of result: the call, whether it got the lock, the return. `bool` is a macro. */
#define CALL_void(call) (call)
#define CALL__Bool(call) const bool value = (call)
#define CALL_pawl_regained(call) const pawl_regained value = (call)
#define MOVED_void true
#define MOVED__Bool value
#define MOVED_pawl_regained (value != PAWL_REGAIN_TIMED_OUT)
#define RETURN_void (void)0
#define RETURN__Bool return value
#define RETURN_pawl_regained return value

#define HALF(...) HALF_(__VA_ARGS__)
#define HALF_(result, name, type, parameters, types, arguments, to, deadline_)                     \
    result name parameters                                                                         \
    {                                                                                              \
        static struct half half IN_HALVES = {TEXT(name), 0};                                       \
        const uint64_t site = HERE();                                                              \
        result(*const call) types = (result(*) types)(uintptr_t)next(&half, site);                 \
        struct ipawl_trace_wait_ told;                                                             \
        asks(l, PAWL_TRACED_WHAT_(type, U, to), deadline_, site, &told);                           \
        CALL_##result(call arguments);                                                             \
        got(&told, MOVED_##result);                                                                \
        RETURN_##result;                                                                           \
    }

#define PAWL_WORD_KIND PAWL_KIND_SPIN_
#define PAWL_WORD_BITS 16
#include "waits_word.inc.h"
#define PAWL_WORD_BITS 32
#include "waits_word.inc.h"
#define PAWL_WORD_BITS 64
#include "waits_word.inc.h"
#undef PAWL_WORD_KIND
#define PAWL_WORD_KIND PAWL_KIND_LOCK_
#define PAWL_WORD_BITS 32
#include "waits_word.inc.h"
#define PAWL_WORD_BITS 64
#include "waits_word.inc.h"
#undef PAWL_WORD_KIND
#define PAWL_WORD_KIND PAWL_KIND_PSHARED_
#define PAWL_WORD_BITS 32
#include "waits_word.inc.h"
#define PAWL_WORD_BITS 64
#include "waits_word.inc.h"
#undef PAWL_WORD_KIND

/* ---- Compiled operations that may get in at once: they are tried first -----------------------
 * Their halves are whole operations, of which only those that wait are of interest. */
#define WHOLE(...) WHOLE_(__VA_ARGS__)
#define WHOLE_(result, name, first, given, type, parameters, types, first_types, arguments,        \
               first_arguments, to, deadline_)                                                     \
    result name parameters                                                                         \
    {                                                                                              \
        static struct half half IN_HALVES = {TEXT(name), 0};                                       \
        static struct half first_half IN_HALVES = {TEXT(first), 0};                                \
        const uint64_t site = HERE();                                                              \
        result(*const call) types = (result(*) types)(uintptr_t)next(&half, site);                 \
        bool(*const try_it) first_types = (bool(*) first_types)(uintptr_t)next(&first_half, site); \
        struct ipawl_trace_wait_ told;                                                             \
        if (try_it first_arguments)                                                                \
            given;                                                                                 \
        asks(l, PAWL_TRACED_WHAT_(type, U, to), deadline_, site, &told);                           \
        {                                                                                          \
            CALL_##result(call arguments);                                                         \
            got(&told, MOVED_##result);                                                            \
            RETURN_##result;                                                                       \
        }                                                                                          \
    }

#define BRLOCK(name, first, to)                                                                    \
    WHOLE(void, name, first, return, PAWL_TRACED_BRLOCK, (pawl_brlock * l), (pawl_brlock *),       \
          (pawl_brlock *), (l), (l), to, UINT64_MAX)
#define BRLOCK_UNTIL(name, first, to)                                                              \
    WHOLE(bool, name, first, return true, PAWL_TRACED_BRLOCK, (pawl_brlock * l, uint64_t until),   \
          (pawl_brlock *, uint64_t), (pawl_brlock *), (l, until), (l), to, until)

BRLOCK(ipawl_brlock_take_read_call_, ipawl_brlock_try_read_call_, R)
BRLOCK(pawl_brlock_take_seek, pawl_brlock_try_seek, S)
BRLOCK(pawl_brlock_take_write, pawl_brlock_try_write, W)
BRLOCK(pawl_brlock_seek_to_write, pawl_brlock_try_seek_to_write, W)
BRLOCK_UNTIL(ipawl_brlock_take_read_until_call_, ipawl_brlock_try_read_call_, R)
BRLOCK_UNTIL(pawl_brlock_take_seek_until, pawl_brlock_try_seek, S)
BRLOCK_UNTIL(pawl_brlock_take_write_until, pawl_brlock_try_write, W)
BRLOCK_UNTIL(pawl_brlock_seek_to_write_until, pawl_brlock_try_seek_to_write, W)

WHOLE(bool, ipawl_sift_take_read_slow_, ipawl_sift_try_read_slow_, return true, PAWL_TRACED_SIFT,
      (pawl_sift * l, enum pawl_sift_context context, uint64_t until),
      (pawl_sift *, enum pawl_sift_context, uint64_t), (pawl_sift *, enum pawl_sift_context),
      (l, context, until), (l, context), R, until)
WHOLE(bool, ipawl_sift_take_write_slow_, ipawl_sift_try_write_slow_, return true, PAWL_TRACED_SIFT,
      (pawl_sift * l, uint64_t until), (pawl_sift *, uint64_t), (pawl_sift *), (l, until), (l), W,
      until)
