/* SPDX-License-Identifier: MIT */
/*
 * The part of reports of the checking variant that needs POSIX beside say.c: the name of a call's
 * place. File and line come from addr2line (or LLVM's tools) in a child process, as with the
 * sanitizers. So the library depends on no other library, and reads no debug information itself.
 * Without such a tool the report has the nearest exported symbol and the offset in the module. So
 * far that is the case on all systems except Linux.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if PAWL_CHECKED && !defined(_WIN32)

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#endif

/* ---- The module of an address ---------------------------------------------------------------- */

struct place {
    char module[1024];
    uintptr_t offset; /* as in the module's debug information */
    const char *symbol;
    uintptr_t symbol_offset;
};

static bool os_find_place(uintptr_t address, struct place *place)
{
    Dl_info info;
#ifdef __linux__
    Dl_info program;
    ssize_t length;
#endif

    memset(place, 0, sizeof *place);
    if (dladdr((const void *)address, &info) == 0 || info.dli_fname == NULL)
        return false;
    (void)snprintf(place->module, sizeof place->module, "%s", info.dli_fname);
#ifdef __linux__
    /* The program's own name is its argv[0], which need not be a path to it. */
    if (dladdr((const void *)getauxval(AT_PHDR), &program) != 0 &&
        program.dli_fbase == info.dli_fbase) {
        length = readlink("/proc/self/exe", place->module, sizeof place->module - 1);
        if (length > 0)
            place->module[length] = 0;
    }
    place->offset = address;
    if (((const ElfW(Ehdr) *)info.dli_fbase)->e_type != ET_EXEC)
        place->offset -= (uintptr_t)info.dli_fbase;
#else
    place->offset = address - (uintptr_t)info.dli_fbase;
#endif
    place->symbol = info.dli_sname;
    if (place->symbol != NULL)
        place->symbol_offset = address - (uintptr_t)info.dli_saddr;
    return true;
}

/* ---- The child that knows lines -------------------------------------------------------------- */

#ifdef __linux__

/* Between vfork and here the child shares the parent's memory: it only moves descriptors. */
static void os_become_symbolizer(int out, const char *module, const char *address)
{
    const int nowhere = open("/dev/null", O_RDWR);
    if (nowhere < 0 || dup2(nowhere, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(nowhere, STDERR_FILENO) < 0)
        _exit(127);
    (void)execlp("addr2line", "addr2line", "-f", "-i", "-C", "-e", module, address, (char *)NULL);
    (void)execlp("llvm-addr2line", "llvm-addr2line", "-f", "-i", "-C", "-e", module, address,
                 (char *)NULL);
    (void)execlp("llvm-symbolizer", "llvm-symbolizer", "--output-style=GNU", "-f", "-i", "-C", "-e",
                 module, address, (char *)NULL);
    _exit(127);
}

/* Reads until the end, the deadline or a full buffer. */
static void os_read_until(int in, char *text, size_t size, uint64_t deadline)
{
    size_t length = 0;
    for (;;) {
        struct pollfd ready = {in, POLLIN, 0};
        const uint64_t now = pawl_os_now();
        ssize_t got;
        if (now >= deadline || length + 1 >= size)
            break;
        if (poll(&ready, 1, (int)((deadline - now) / 1000000u) + 1) < 0 && errno != EINTR)
            break;
        if (ready.revents == 0)
            continue;
        got = read(in, text + length, size - 1 - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    text[length] = 0;
}

static bool os_ask_symbolizer(const struct place *place, char *text, size_t size, uint64_t deadline)
{
    char address[2 + 2 * sizeof place->offset + 1];
    int ends[2];
    pid_t child;

    text[0] = 0;
    /* A program with more rights than its user runs no tool from the user's PATH. */
    if (getauxval(AT_SECURE) != 0 || pawl_os_now() >= deadline || pipe2(ends, O_CLOEXEC) != 0)
        return false;
    (void)snprintf(address, sizeof address, "%#lx", (unsigned long)place->offset);
    child = vfork(); /* not fork: its handlers may take locks that the caller holds */
    if (child == 0)
        os_become_symbolizer(ends[1], place->module, address);
    (void)close(ends[1]);
    if (child > 0) {
        os_read_until(ends[0], text, size, deadline);
        (void)kill(child, SIGKILL); /* its answer is complete, or late */
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    (void)close(ends[0]);
    return text[0] != 0;
}

#else

/* Elsewhere the reports name the nearest exported symbol. */
static bool os_ask_symbolizer(const struct place *place, char *text, size_t size, uint64_t deadline)
{
    (void)place;
    (void)deadline;
    if (size > 0)
        text[0] = 0;
    return false;
}

#endif

/* ---- The name of a call site ----------------------------------------------------------------- */

/* Whether a file is one of the library's; its inline functions are between the lock and its
 * user. */
static bool os_is_our_header(const char *file)
{
    static const char *const ours[] = {
        "/pawl/detail/", "/pawl/compat/plock", "/pawl/spin.h",  "/pawl/lock.h",   "/pawl/pshared",
        "/pawl/robust",  "/pawl/pawl.hpp",     "/pawl/guards.hpp", "/pawl/counter", "/pawl/bigref",
        "/pawl/rcu",     "/pawl/seq",          "/pawl/brlock",  "/pawl/sift",     "/pawl/idtable",
        "/pawl/wait.h",  "/pawl/bitlock",      "/pawl/cond.h"};
    size_t i;
    for (i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (strstr(file, ours[i]) != NULL)
            return true;
    return false;
}

/* Cuts the line at `text` off and returns what follows it, NULL after the last. */
static char *os_next_line(char *text)
{
    char *end = strchr(text, '\n');
    if (end == NULL)
        return NULL;
    *end = 0;
    return end + 1;
}

/* The answer is two lines for each inlined function, innermost first: its name, and file:line. */
static bool os_choose_frame(char *answer, const char **function, const char **line)
{
    char *name = answer;
    *function = NULL;
    while (name != NULL && *name != 0) {
        char *file = os_next_line(name);
        char *more = file == NULL ? NULL : os_next_line(file);
        if (more == NULL)
            break;
        *function = name;
        *line = file;
        if (!os_is_our_header(file))
            break;
        name = more;
    }
    return *function != NULL && strcmp(*function, "??") != 0;
}

void pawl_os_name_site(pawl_address_ site, char *text, size_t size, uint64_t deadline)
{
    static char answer[4096]; /* the caller admits one report at a time */
    struct place place;
    const char *function;
    const char *line;
    const char *base;

    /* A return address is behind the call, and may be another line's or another function's. */
    if (site == 0 || !os_find_place((uintptr_t)site - 1, &place)) {
        (void)snprintf(text, size, "%#lx", (unsigned long)site);
        return;
    }
    base = strrchr(place.module, '/');
    base = base == NULL ? place.module : base + 1;
    if (os_ask_symbolizer(&place, answer, sizeof answer, deadline) &&
        os_choose_frame(answer, &function, &line)) {
        if (line[0] == '?')
            (void)snprintf(text, size, "%s (%s+%#lx)", function, base,
                           (unsigned long)place.offset);
        else
            (void)snprintf(text, size, "%s at %s (%s+%#lx)", function, line, base,
                           (unsigned long)place.offset);
    } else if (place.symbol != NULL) {
        (void)snprintf(text, size, "%s+%#lx (%s+%#lx)", place.symbol,
                       (unsigned long)place.symbol_offset, base, (unsigned long)place.offset);
    } else {
        (void)snprintf(text, size, "%s+%#lx", base, (unsigned long)place.offset);
    }
}

#endif
