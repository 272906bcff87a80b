/* SPDX-License-Identifier: MIT */
#include "checks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pawl_watch.h"

enum kind { PID, FRESH, BEAT, LOAD, MEMORY, COMMAND, KINDS };

static const struct {
    const char *name;
    bool has_text, has_number;
} kinds[KINDS] = {
    [PID] = {"pid:", true, false},       [FRESH] = {"file:", true, true},
    [BEAT] = {"beat:", true, true},      [LOAD] = {"load:", false, true},
    [MEMORY] = {"memory:", false, true}, [COMMAND] = {"command:", true, false},
};

bool check_parse(struct check *c, const char *text, char *why, size_t size)
{
    char *number, *end;
    memset(c, 0, sizeof *c);
    c->text = text;
    c->passed = true;
    while (c->kind < KINDS && strncmp(text, kinds[c->kind].name, strlen(kinds[c->kind].name)) != 0)
        c->kind++;
    if (c->kind == KINDS) {
        snprintf(why, size, "no check is called \"%s\"", text);
        return false;
    }
    c->argument = strdup(text + strlen(kinds[c->kind].name));
    number = c->argument;
    if (kinds[c->kind].has_text && kinds[c->kind].has_number) {
        number = strrchr(c->argument, ':');
        if (number != NULL)
            *number++ = 0;
    }
    if (number != NULL && kinds[c->kind].has_number) {
        c->number = strtod(number, &end);
        if (end == number || *end != 0 || !(c->number > 0))
            number = NULL;
    }
    if (number == NULL || (kinds[c->kind].has_text && *c->argument == 0)) {
        snprintf(why, size, "the check \"%s\" is not complete; see --help", text);
        return false;
    }
    return true;
}

static double age_of(struct timespec then, clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)(now.tv_sec - then.tv_sec) + (double)(now.tv_nsec - then.tv_nsec) * 1e-9;
}

static bool says(char *why, size_t size, const char *text)
{
    snprintf(why, size, "%s", text);
    return false;
}

/* The first number of a file, or behind a word in it. */
static bool number_in(const char *path, const char *word, double *number)
{
    char line[256];
    FILE *file = fopen(path, "r");
    bool found = false;
    if (file == NULL)
        return false;
    while (!found && fgets(line, sizeof line, file) != NULL)
        found = strncmp(line, word, strlen(word)) == 0 &&
                sscanf(line + strlen(word), "%lf", number) == 1;
    fclose(file);
    return found;
}

static bool process_lives(const struct check *c, char *why, size_t size)
{
    double pid;
    if (!number_in(c->argument, "", &pid) || pid < 1)
        return says(why, size, "there is no process number in the file");
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return says(why, size, "the process is gone");
    return true;
}

static bool is_fresh(const struct check *c, char *why, size_t size)
{
    struct stat s;
    if (stat(c->argument, &s) != 0)
        return says(why, size, "the file is not there");
    if (age_of(s.st_mtim, CLOCK_REALTIME) > c->number)
        return says(why, size, "the file is too old");
    return true;
}

static bool beats(const struct check *c, char *why, size_t size)
{
    struct pawl_watch_record record;
    struct timespec then;
    FILE *file = fopen(c->argument, "rb");
    const bool whole = file != NULL && fread(&record, sizeof record, 1, file) == 1;
    if (file != NULL)
        fclose(file);
    if (!whole || record.magic != PAWL_WATCH_MAGIC)
        return says(why, size, "no program has reported progress");
    if (record.stalls != 0)
        return says(why, size, "the program reported a stall");
    then.tv_sec = (time_t)(record.beat_ns / 1000000000u);
    then.tv_nsec = (long)(record.beat_ns % 1000000000u);
    if (age_of(then, CLOCK_MONOTONIC) > c->number)
        return says(why, size, "the program reports no progress");
    return true;
}

/* Looks at the command of the last time, then starts it anew. */
static bool command_succeeds(struct check *c, char *why, size_t size)
{
    int status;
    if (c->child > 0) {
        if (waitpid(c->child, &status, WNOHANG) == 0)
            return says(why, size, "the command has not ended");
        c->child = 0;
        c->passed = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    c->child = fork();
    if (c->child == 0) {
        execl("/bin/sh", "sh", "-c", c->argument, (char *)NULL);
        _exit(127);
    }
    if (c->child < 0)
        return says(why, size, "the command cannot be started");
    return c->passed || says(why, size, "the command failed");
}

bool check_passes(struct check *c, char *why, size_t size)
{
    double number;
    switch (c->kind) {
    case PID: return process_lives(c, why, size);
    case FRESH: return is_fresh(c, why, size);
    case BEAT: return beats(c, why, size);
    case LOAD:
        return (number_in("/proc/loadavg", "", &number) && number <= c->number) ||
               says(why, size, "the load is too high");
    case MEMORY:
        return (number_in("/proc/meminfo", "MemAvailable:", &number) &&
                number / 1024 >= c->number) ||
               says(why, size, "too little memory is available");
    default: return command_succeeds(c, why, size);
    }
}
