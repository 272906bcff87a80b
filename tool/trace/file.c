/* SPDX-License-Identifier: MIT */
/*
 * The file is mapped whole and sparse; what is touched has been allocated before, so a full disk is
 * an error of a call here and never a signal. No descriptor stays open: a program may close them
 * all.
 */
#include "file.h"
#include "unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../src/os/os.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define PAGES(bytes) (((size_t)(bytes) + 4095) / 4096 * 4096)
#define CONTROL_BYTES PAGES(sizeof(struct trace_control))
#define SMALL_BYTES ((size_t)TRACE_SMALL_LANES * TRACE_SMALL_BYTES)
#define STACKS_AT (CONTROL_BYTES + SMALL_BYTES + (size_t)TRACE_LARGE_LANES * TRACE_LARGE_BYTES)
#define WHOLE_BYTES (STACKS_AT + PAGES(sizeof(struct trace_stacks)))

_Static_assert(WHOLE_BYTES <= (size_t)150 << 20, "as the sentence about ulimit -f says");

static char folder[3072]; /* "": nothing is recorded */
static char path[4096];
static bool without_stacks;
static uint32_t
    stack_every; /* takes without a wait, of which one has its stack; 0: the first, then fewer */
static uint32_t opening; /* 1: some thread makes the file; 2: it failed */

/* The program goes on without a recording. */
static bool fails(const char *what, int error)
{
    char text[512];
    const int length =
        snprintf(text, sizeof text, "libpawl-trace: process %ld is not recorded: %s (error %d).\n",
                 (long)getpid(), what, error);
    if (length > 0)
        pawl_os_complain(text, (size_t)length);
    return false;
}

/* PAWL_TRACE_STACKS: "no", or of how many takes without a wait one has its stack; without it
 * some of each thread have, the more seldom the later. */
static void read_stacks_wanted(void)
{
    static const char not_a_number[] = "libpawl-trace: PAWL_TRACE_STACKS is neither `no` nor a "
                                       "number below 4294967296; it is left out.\n";
    const char *const value = secure_getenv("PAWL_TRACE_STACKS");
    uint64_t number = 0;
    const char *at;
    if (value == NULL)
        return;
    without_stacks = strcmp(value, "no") == 0;
    for (at = value; *at >= '0' && *at <= '9' && number < UINT32_MAX; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    if (without_stacks || (*at == 0 && number <= UINT32_MAX))
        stack_every = (uint32_t)number;
    else
        pawl_os_complain(not_a_number, sizeof not_a_number - 1);
}

bool trace_file_is_wanted(void)
{
    const char *const value = secure_getenv("PAWL_TRACE_DIR");
    if (value == NULL || value[0] == 0)
        return false;
    if (value[0] != '/' || strlen(value) >= sizeof folder)
        return fails("PAWL_TRACE_DIR is not the full path of a folder", ENOENT);
    memcpy(folder, value, strlen(value) + 1);
    read_stacks_wanted();
    return true;
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* The two clocks at one moment; of several readings the one that took the shortest. */
static void look(uint64_t *ticks, uint64_t *ns)
{
    uint64_t best = UINT64_MAX;
    for (uint32_t i = 0; i < 4; i++) {
        const uint64_t before = trace_ticks(), at = trace_ns(), after = trace_ticks();
        if (after - before < best) {
            best = after - before;
            *ticks = before + best / 2;
            *ns = at;
        }
    }
}

void trace_file_look_at_clock(void)
{
    look(&trace_control->ticks_seen, &trace_control->ns_seen);
}

static void set_clock(struct trace_control *c)
{
    struct timespec real;
    trace_tsc = trace_tsc_is_steady();
    c->is_tsc = trace_tsc;
    look(&c->ticks_begun, &c->ns_begun);
    do /* so that even a process that is killed at once knows its ticks within 0.5 % */
        look(&c->ticks_seen, &c->ns_seen);
    while (c->ns_seen - c->ns_begun < 20000);
    (void)clock_gettime(CLOCK_REALTIME, &real);
    c->realtime_begun = (uint64_t)real.tv_sec * UINT64_C(1000000000) + (uint64_t)real.tv_nsec;
    trace_window = (c->ticks_seen - c->ticks_begun) * 1000000 / (c->ns_seen - c->ns_begun);
}

/* ---- The file -------------------------------------------------------------------------------- */

static void name_program(struct trace_control *c)
{
    ssize_t length = readlink("/proc/self/exe", c->program, sizeof c->program - 1);
    if (length < 0)
        length = 0;
    c->program[length] = 0;
}

static bool has_room_to_map(void)
{
    struct rlimit limit;
    /* Beyond the limit of file sizes the kernel would end the program by a signal. */
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= WHOLE_BYTES;
}

static struct trace_control *map_file(int file)
{
    if (ftruncate(file, (off_t)WHOLE_BYTES) != 0) {
        (void)fails("its raw file cannot be made longer", errno);
        return NULL;
    }
    if (posix_fallocate(file, 0, (off_t)CONTROL_BYTES) != 0) {
        (void)fails("there is no room for its raw file; free some space or set TMPDIR", ENOSPC);
        return NULL;
    }
    struct trace_control *c = mmap(NULL, WHOLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (c == MAP_FAILED) {
        (void)fails("its raw file cannot be mapped", errno);
        return NULL;
    }
    (void)madvise(c, WHOLE_BYTES, MADV_DONTDUMP);
    return c;
}

/* The mode of seccomp. */
static uint32_t seccomp(void)
{
    const int saved = errno;
    const long mode = next()->syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0);
    errno = saved;
    return mode < 0 ? 0 : (uint32_t)mode;
}

static void fill_in(struct trace_control *c)
{
    set_clock(c);
    c->format = TRACE_FORMAT;
    c->control_bytes = (uint32_t)CONTROL_BYTES;
    c->lane_bytes = sizeof(struct trace_lane);
    c->record_bytes = sizeof(struct trace_record);
    c->pid = (uint32_t)getpid();
    c->parent = (uint32_t)getppid();
    c->stacks = without_stacks               ? TRACE_STACKS_UNWANTED
                : trace_unwind_is_possible() ? TRACE_STACKS_NOT_YET
                                             : TRACE_STACKS_NO_LIBRARY;
    c->stack_every = stack_every;
    c->seccomp = seccomp();
    name_program(c);
    /* pawl trace has put a file "stopped" there while the recording is to be stopped. */
    c->enabled = 1;
    {
        char stopped[sizeof folder + 16];
        (void)snprintf(stopped, sizeof stopped, "%s/stopped", folder);
        if (access(stopped, F_OK) == 0)
            c->enabled = 0;
    }
    c->magic = TRACE_MAGIC;
}

static bool open_file(void)
{
    if (!has_room_to_map())
        return fails("the limit of file sizes (ulimit -f) is below 150 MiB; raise it", EFBIG);
    /* exec keeps the number of the process, so the name has the time, too. */
    (void)snprintf(path, sizeof path, "%s/%ld.%016llx.raw", folder, (long)getpid(),
                   (unsigned long long)trace_ns());
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 && errno == ENOENT && secure_getenv("PAWL_TRACE_SECCOMP") != NULL)
        return false; /* `pawl trace` was killed: nobody waits for a recording */
    if (file < 0)
        return fails("its raw file cannot be made", errno);
    struct trace_control *c = map_file(file);
    (void)close(file);
    if (c == NULL) {
        (void)unlink(path);
        return false;
    }
    fill_in(c);
    trace_control = c;
    return true;
}

/* PAWL_TRACE_SECCOMP: the mode of `pawl trace` itself. A process with another one has a sandbox,
 * which its parent made. */
bool trace_file_came_sandboxed(void)
{
    const char *const value = secure_getenv("PAWL_TRACE_SECCOMP");
    return value != NULL && trace_control->seccomp != (uint32_t)(*value - '0');
}

bool trace_file_open(void)
{
    const int saved = errno;
    int cancel;
    uint32_t found = 0;
    if (folder[0] == 0 || !pawl_cas_relaxed32(&opening, &found, 1))
        return false;
    trace_self.inside = 1;
    TRACE_HANDLERS_SEE_THIS_ORDER();
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    bool done = trace_may_call();
    if (done) {
        done = open_file();
        trace_has_called();
    }
    if (done)
        trace_know(0, 0);
    (void)pthread_setcancelstate(cancel, NULL);
    leave();
    pawl_store_relaxed32(&opening, done ? 0 : 2);
    errno = saved;
    return done;
}

void trace_file_forget(bool sandboxed)
{
    if (trace_control != NULL && sandboxed)
        (void)pawl_fetch_add_relaxed32(&trace_control->sandboxed, 1);
    else if (trace_control != NULL)
        (void)munmap(trace_control, WHOLE_BYTES);
    trace_control = NULL;
    if (opening == 1)
        opening = 0;
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

static size_t offset_of(uint32_t index)
{
    return index < TRACE_SMALL_LANES ? CONTROL_BYTES + (size_t)index * TRACE_SMALL_BYTES
                                     : CONTROL_BYTES + SMALL_BYTES +
                                           (size_t)(index - TRACE_SMALL_LANES) * TRACE_LARGE_BYTES;
}

struct trace_lane *trace_file_at(uint32_t index)
{
    return (struct trace_lane *)(void *)((char *)trace_control + offset_of(index));
}

uint32_t trace_file_index(const struct trace_lane *lane)
{
    const size_t at = (size_t)((const char *)lane - (const char *)trace_control) - CONTROL_BYTES;
    return at < SMALL_BYTES
               ? (uint32_t)(at / TRACE_SMALL_BYTES)
               : TRACE_SMALL_LANES + (uint32_t)((at - SMALL_BYTES) / TRACE_LARGE_BYTES);
}

static bool allocate(size_t at, size_t bytes)
{
    const int file = open(path, O_RDWR | O_CLOEXEC);
    int error;
    if (file >= 0) {
        error = posix_fallocate(file, (off_t)at, (off_t)bytes);
        (void)close(file);
    } else {
        /* The program has become another user since, or has another root. The kernel can allocate
         * by the mapping (Linux 5.14). */
        char *const from = (char *)trace_control + at;
        error = madvise(from, bytes, MADV_POPULATE_WRITE) == 0 ? 0 : errno;
    }
    return error == 0;
}

struct trace_lane *trace_file_lane(uint32_t index)
{
    const size_t bytes = index < TRACE_SMALL_LANES ? TRACE_SMALL_BYTES : TRACE_LARGE_BYTES;
    if (!allocate(offset_of(index), bytes)) {
        (void)pawl_fetch_add_relaxed32(&trace_control->no_room, 1);
        return NULL;
    }
    return trace_file_at(index);
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

/* One thread does it, and others have no stacks meanwhile. All pages are made now: on a disk the
 * first store into a page may wait for the disk, and the thread may hold a lock by then. */
static PAWL_COLD void make_stacks(void)
{
    const int saved = errno;
    uint32_t found = TRACE_STACKS_NOT_YET;
    int cancel;
    if (!trace_may_call())
        return;
    if (!pawl_cas_relaxed32(&trace_control->stacks, &found, TRACE_STACKS_COME)) {
        trace_has_called();
        return;
    }
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    bool done = allocate(STACKS_AT, sizeof(struct trace_stacks));
    if (done) /* Linux 5.14; before it the pages come one by one */
        (void)madvise((char *)trace_control + STACKS_AT, sizeof(struct trace_stacks),
                      MADV_POPULATE_WRITE);
    trace_has_called();
    pawl_store_relaxed32(&trace_control->stacks, done ? TRACE_STACKS_THERE : TRACE_STACKS_NO_ROOM);
    (void)pthread_setcancelstate(cancel, NULL);
    errno = saved;
}

struct trace_stacks *trace_file_stacks(void)
{
    if (PAWL_UNLIKELY(pawl_load_relaxed32(&trace_control->stacks) == TRACE_STACKS_NOT_YET))
        make_stacks();
    if (pawl_load_relaxed32(&trace_control->stacks) != TRACE_STACKS_THERE)
        return NULL;
    return (struct trace_stacks *)(void *)((char *)trace_control + STACKS_AT);
}
