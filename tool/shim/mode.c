/* SPDX-License-Identifier: MIT */
/*
 * The environment of libpawl-preload.so:
 *
 *   PAWL_PRELOAD_RWLOCK=pawl            the default: newcomers wait behind a waiting writer, and
 *                                       readers use lines of their own where locks are mostly read
 *   PAWL_PRELOAD_RWLOCK=shared-word     all readers of a lock write its word
 *   PAWL_PRELOAD_RWLOCK=prefer-readers  the same, and newcomers do not wait behind a waiting
 *                                       writer, as with the C library's default kind
 *   PAWL_PRELOAD_RWLOCK=scale-readers   an older name of the default
 *   PAWL_PRELOAD_STATS=1                counts go to standard error when the program exits
 *   PAWL_PRELOAD_STATS=FILE             they are appended to the file
 *
 * An empty value is none. Any other value ends the program before main, with a sentence: a service
 * that ran on for weeks with a misspelt setting would have measured nothing.
 */
#include "mode.h"

#include <pawl/wait.h>

#include "place.h"
#include "price.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pawl/thread.h>

bool shim_prefers_readers;
bool shim_readers_scale;
bool shim_counts_calls;
uint32_t shim_special;
uint64_t shim_counted[SHIM_COUNT_ALL];

static char stats_file[4096]; /* "": standard error */
static uint64_t line_ns;      /* for which a line moves; 0: not known */
static pid_t set_up_in;       /* a child of vfork or clone counts into its parent's memory */

static const char *setting(const char *name)
{
    const char *value = secure_getenv(name);
    return value == NULL || value[0] == 0 ? NULL : value;
}

static int open_stats_file(void)
{
    return open(stats_file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

static bool write_stats_file(const char *text)
{
    const size_t length = strlen(text);
    const int file = open_stats_file();
    const bool written = file >= 0 && write(file, text, length) == (ssize_t)length;
    if (file >= 0)
        (void)close(file);
    return written;
}

/* A folder that is not there is a mistake in the setting. For other reasons, as a child that runs
 * as another user, the program goes on, and its end says that the counts are lost. */
static void make_stats_file(void)
{
    const int saved = errno, file = open_stats_file();
    if (file < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EISDIR))
        shim_refuse("PAWL_PRELOAD_STATS names a file that cannot be made; name one in a folder "
                    "that is there, or unset it");
    if (file >= 0)
        (void)close(file);
    errno = saved;
}

__attribute__((constructor(101))) static void read_environment(void)
{
    const char *kind = setting("PAWL_PRELOAD_RWLOCK");
    const char *stats = setting("PAWL_PRELOAD_STATS");
    place_start();
    if (kind == NULL || strcmp(kind, "pawl") == 0 || strcmp(kind, "scale-readers") == 0)
        shim_readers_scale = true;
    else if (strcmp(kind, "prefer-readers") == 0)
        shim_prefers_readers = true;
    else if (strcmp(kind, "shared-word") != 0)
        shim_refuse("PAWL_PRELOAD_RWLOCK has an unknown value; say pawl, shared-word or "
                    "prefer-readers, or unset it");
    if (stats == NULL || strcmp(stats, "0") == 0)
        return;
    if (strcmp(stats, "1") != 0) {
        if (stats[0] != '/' || strlen(stats) >= sizeof stats_file)
            shim_refuse("PAWL_PRELOAD_STATS is neither 1 nor the full path of a file; say one of "
                        "them, or unset it");
        memcpy(stats_file, stats, strlen(stats) + 1);
        make_stats_file();
    }
    set_up_in = getpid();
    line_ns = shim_line_ns();
    shim_counts_calls = true;
    shim_special = 1;
}

/* ---- Locks whose readers scale --------------------------------------------------------------- */

/* The first so many such locks. A lock at the address of an earlier one goes on with its count. */
#define SCALED ((size_t)1024)
#define SCALED_TOLD 8u

static struct scaled {
    ipawl_address_ lock, caller; /* the first caller that was seen */
    uint64_t reads __attribute__((aligned(8)));
} scaled[SCALED];

void shim_count_entry(const void *lock, const void *caller)
{
    const ipawl_address_ own = (ipawl_address_)(uintptr_t)lock;
    size_t i;
    if (!shim_counts_calls)
        return;
    SHIM_COUNT(entries);
    for (i = 0; i < SCALED; i++) {
        struct scaled *const at = &scaled[((own >> 3) + i) % SCALED];
        ipawl_address_ found = PAWL_ADDRESS_(pawl_load_relaxed)(&at->lock);
        if (found == 0 && PAWL_ADDRESS_(pawl_cas_relaxed)(&at->lock, &found, own)) {
            PAWL_ADDRESS_(pawl_store_relaxed)(&at->caller, (ipawl_address_)(uintptr_t)caller);
            found = own;
        }
        if (found == own) {
            (void)pawl_fetch_add_relaxed64(&at->reads, 1);
            return;
        }
    }
}

static struct scaled *most_read(void)
{
    struct scaled *most = &scaled[0];
    size_t i;
    for (i = 1; i < SCALED; i++)
        if (scaled[i].reads > most->reads)
            most = &scaled[i];
    return most;
}

/* A read that keeps off the word moves its line neither at the lock nor at the unlock. Where the
 * line would have stayed, that spared nothing: so it is a bound. */
static const char *say_worth(char text[64], uint64_t reads)
{
    text[0] = 0;
    if (line_ns != 0)
        (void)snprintf(text, 64, "; spared at most %.3g ms", (double)(reads * 2 * line_ns) / 1e6);
    return text;
}

/* Those that are read most, with the code that reads them. The program ends: what they say is told
 * once. */
static void say_scaled(char *text, size_t size)
{
    size_t length = 0, count = 0, i;
    char worth[64];
    for (i = 0; i < SCALED; i++)
        count += scaled[i].lock != 0;
    if (count == 0)
        return;
    length =
        (size_t)snprintf(text, size, "    readers of %zu locks scaled; those read most:\n", count);
    for (i = 0; i < count && i < SCALED_TOLD; i++) {
        struct scaled *const at = most_read();
        Dl_info from = {NULL, NULL, NULL, NULL};
        (void)dladdr((void *)(uintptr_t)at->caller, &from);
        length += (size_t)snprintf(
            text + length, size - length,
            "%14" PRIu64 "  kept off lock %#" PRIxPTR ", by %.60s of %.100s%s\n", at->reads,
            (uintptr_t)at->lock, from.dli_sname != NULL ? from.dli_sname : "code",
            from.dli_fname != NULL ? from.dli_fname : "an unknown file",
            say_worth(worth, at->reads));
        at->reads = 0;
    }
    if (line_ns != 0)
        (void)snprintf(text + length, size - length,
                       "    spared: two moves of a line a read, %" PRIu64
                       " ns each here; a bound, as not each would have moved\n",
                       line_ns);
}

/* ---- Counts ---------------------------------------------------------------------------------- */

/* A child of fork counts for itself. */
static void count_anew(void)
{
    size_t i;
    for (i = 0; i < SHIM_COUNT_ALL; i++)
        pawl_store_relaxed64(&shim_counted[i], 0);
    memset(scaled, 0, sizeof scaled);
    set_up_in = getpid();
}

/* Before a filter of the program's may forbid it: the wait lists get their memory at the first call
 * that looks at them, and a wait that finds none ends the program. */
__attribute__((constructor(101))) static void reserve_wait_lists(void)
{
    (void)pawl_wake_one(shim_counted);
}

__attribute__((constructor)) static void watch_forks(void)
{
    if (shim_counts_calls)
        (void)pthread_atfork(NULL, NULL, count_anew);
}

/* At exit, one text with one write, so that those of several processes do not mix. */
__attribute__((destructor)) static void say_counts(void)
{
    static const char *const texts[] = {
#define X(name, text) text,
        SHIM_COUNTS(X)
#undef X
    };
    static char text[4096];
    const int saved = errno;
    size_t length, i;

    if (!shim_counts_calls || getpid() != set_up_in)
        return;
    length = (size_t)snprintf(text, sizeof text,
                              "libpawl-preload.so in %.200s (process %ld): rwlocks are Pawl's%s\n",
                              program_invocation_short_name, (long)set_up_in,
                              shim_prefers_readers ? ", readers preferred"
                              : shim_readers_scale ? ", readers scale where locks are mostly read"
                                                   : ", readers share the word");
    for (i = 0; i < SHIM_COUNT_ALL; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%14" PRIu64 "  %s\n",
                                   pawl_load_relaxed64(&shim_counted[i]), texts[i]);
    say_scaled(text + length, sizeof text - length);
    if (stats_file[0] == 0)
        shim_complain(text);
    else if (!write_stats_file(text))
        shim_complain("libpawl-preload: the counts could not be written to the file that "
                      "PAWL_PRELOAD_STATS names.\n");
    errno = saved;
}
