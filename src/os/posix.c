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
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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
    uintptr_t address;
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
    place->address = address;
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

/* Addresses that one child is asked for. */
#define MOST_ASKED 8

/* The arguments of the tools; the first three are of one tool or another. */
struct question {
    const char *arguments[8 + MOST_ASKED + 1];
    char addresses[MOST_ASKED][2 + 2 * sizeof(uintptr_t) + 1];
};

static void os_become(const char *tool, const char *style, struct question *q)
{
    q->arguments[0] = tool;
    q->arguments[1] = style;
    (void)execvp(tool, (char *const *)(uintptr_t)q->arguments);
}

/* Between vfork and here the child shares the parent's memory: it only moves descriptors. */
static void os_become_symbolizer(int out, struct question *q)
{
    const int nowhere = open("/dev/null", O_RDWR);
    if (nowhere < 0 || dup2(nowhere, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(nowhere, STDERR_FILENO) < 0)
        _exit(127);
    os_become("addr2line", "-f", q);
    os_become("llvm-addr2line", "-f", q);
    os_become("llvm-symbolizer", "--output-style=GNU", q);
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

/* Asks for `count` places of one module. */
static bool os_ask_symbolizer(const struct place *places, unsigned count, char *text, size_t size,
                              uint64_t deadline)
{
    struct question q = {{NULL, NULL, "-f", "-i", "-C", "-a", "-e", places[0].module}, {{0}}};
    int ends[2];
    pid_t child;

    text[0] = 0;
    /* A program with more rights than its user runs no tool from the user's PATH. */
    if (getauxval(AT_SECURE) != 0 || pawl_os_now() >= deadline || pipe2(ends, O_CLOEXEC) != 0)
        return false;
    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(q.addresses[i], sizeof q.addresses[i], "%#lx",
                       (unsigned long)places[i].offset);
        q.arguments[8 + i] = q.addresses[i];
    }
    q.arguments[8 + count] = NULL;
    child = vfork(); /* not fork: its handlers may take locks that the caller holds */
    if (child == 0)
        os_become_symbolizer(ends[1], &q);
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

#define MOST_ASKED 8

/* Elsewhere the reports name the nearest exported symbol. */
static bool os_ask_symbolizer(const struct place *places, unsigned count, char *text, size_t size,
                              uint64_t deadline)
{
    (void)places;
    (void)count;
    (void)deadline;
    if (size > 0)
        text[0] = 0;
    return false;
}

#endif

/* ---- The names of calls ---------------------------------------------------------------------- */

/* Whether a file is one of the library's; its inline functions are between the lock and its
 * user, and its sources call the user's functions back. */
static bool os_is_our_file(const char *file)
{
    static const char *const ours[] = {
        "/pawl/detail/", "/pawl/compat/plock", "/pawl/spin.h",    "/pawl/lock.h",
        "/pawl/pshared", "/pawl/robust",       "/pawl/pawl.hpp",  "/pawl/guards.hpp",
        "/pawl/counter", "/pawl/bigref",       "/pawl/rcu",       "/pawl/seq",
        "/pawl/brlock",  "/pawl/sift",         "/pawl/idtable",   "/pawl/wait.h",
        "/pawl/bitlock", "/pawl/cond.h",       "/pawl/generic.h", "/pawl/tree",
        "/pawl/table",   "/pawl/cache",        "/pawl/hazard",    "/pawl/notice"};
    static const char here[] = __FILE__; /* this file, below the folder of the sources */
    const size_t folder = sizeof here - sizeof "os/posix.c";
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (strstr(file, ours[i]) != NULL)
            return true;
    return here[0] == '/' && strncmp(file, here, folder) == 0;
}

static bool os_is_our_name(const char *function)
{
    return strncmp(function, "pawl_", 5) == 0;
}

/* Functions below the program's first one, in every stack. */
static bool os_is_start(const struct place *place)
{
    static const char *const starts[] = {"libc.so",   "libc-",  "libpthread", "ld-",
                                         "libsystem", "libthr", "libdyld"};
    const char *base = strrchr(place->module, '/');
    base = base == NULL ? place->module : base + 1;
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (strncmp(base, starts[i], strlen(starts[i])) == 0)
            return true;
    return place->symbol != NULL && strcmp(place->symbol, "_start") == 0;
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

static void os_say(void (*say)(const char *text), const char *format, ...)
{
    static char text[2048];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    say(text);
}

/* The place without lines. A tool's guess at the function is not used: where the module has few
 * symbols, it names any function that stands before. */
static void os_say_place(const struct place *place, void (*say)(const char *text))
{
    const char *base = strrchr(place->module, '/');
    char function[256];
    base = base == NULL ? place->module : base + 1;
    pawl_os_name_function((ipawl_address_)place->address, function, sizeof function);
    if (os_is_our_name(function) || (place->symbol != NULL && os_is_our_name(place->symbol)))
        return;
    if (function[0] != 0)
        os_say(say, "%s (%s+%#lx)", function, base, (unsigned long)place->offset);
    else if (place->symbol != NULL)
        os_say(say, "%s+%#lx (%s+%#lx)", place->symbol, (unsigned long)place->symbol_offset, base,
               (unsigned long)place->offset);
    else
        os_say(say, "%s+%#lx", base, (unsigned long)place->offset);
}

/* The tool's answer about one place: two lines for each inlined function, innermost first, its name
 * and file:line. Returns what follows the answer. False in *goes_on: it was the program's main
 * function. */
static char *os_say_answer(const struct place *place, char *answer, void (*say)(const char *text),
                           bool *goes_on)
{
    const char *base = strrchr(place->module, '/');
    bool known = false;
    base = base == NULL ? place->module : base + 1;
    while (answer != NULL && *answer != 0 && strncmp(answer, "0x", 2) != 0) {
        char *const function = answer;
        char *const line = os_next_line(function);
        answer = line == NULL ? NULL : os_next_line(line);
        if (answer == NULL || strcmp(function, "??") == 0)
            continue;
        known = true;
        if (os_is_our_file(line))
            continue;
        if (line[0] == '?')
            os_say_place(place, say);
        else
            os_say(say, "%s at %s (%s+%#lx)", function, line, base, (unsigned long)place->offset);
        if (strcmp(function, "main") == 0)
            *goes_on = false;
    }
    if (!known)
        os_say_place(place, say);
    return answer;
}

/* Says places of one module. False: main was one of them. */
static bool os_say_places(const struct place *places, unsigned count, void (*say)(const char *text),
                          uint64_t deadline)
{
    static char answers[16384]; /* the caller admits one report at a time */
    char *answer = NULL;
    bool goes_on = true;
    if (os_ask_symbolizer(places, count, answers, sizeof answers, deadline))
        answer = answers;
    for (unsigned i = 0; i < count && goes_on; i++) {
        if (answer != NULL && strncmp(answer, "0x", 2) == 0 &&
            strtoul(answer, NULL, 16) == places[i].offset &&
            (answer = os_next_line(answer)) != NULL)
            answer = os_say_answer(&places[i], answer, say, &goes_on);
        else
            os_say_place(&places[i], say);
    }
    return goes_on;
}

void pawl_os_name_calls(const ipawl_address_ *sites, unsigned count, void (*say)(const char *text),
                        uint64_t deadline)
{
    static struct place places[MOST_ASKED];
    unsigned known = 0;
    unsigned end;

    if (count > MOST_ASKED)
        count = MOST_ASKED;
    /* A return address is behind the call, and may be another line's or another function's. */
    while (known < count && sites[known] != 0 &&
           os_find_place((uintptr_t)sites[known] - 1, &places[known]))
        known++;
    if (known == 0)
        os_say(say, "%#lx", (unsigned long)sites[0]);
    while (known > 1 && os_is_start(&places[known - 1]))
        known--;
    for (unsigned first = 0; first < known; first = end) {
        for (end = first + 1; end < known; end++)
            if (strcmp(places[end].module, places[first].module) != 0)
                break;
        if (!os_say_places(&places[first], end - first, say, deadline))
            return;
    }
}

#endif
