/* SPDX-License-Identifier: MIT */
/* What a host asks a plug-in that carries the library (plugin.c). */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            const char *why = dlerror();                                                           \
            fprintf(stderr, "%s:%d: must(%s) %s\n", __FILE__, __LINE__, #condition,                \
                    why ? why : "");                                                               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

typedef const void *(*question)(void);
typedef int (*action)(void);

enum { COUNTERS = 6 };

struct plugin {
    void *handle;
    question process, thread_line, reads;
    action calls_back, synchronizes, counts, is_light, is_sequenced, strong;
    void *(*counters)(void); /* COUNTERS counters of this copy's, for any copy */
    void (*add)(void *counters);
    long long (*sum)(void *counters, unsigned which);
    void (*enter)(void), (*leave)(void);
    unsigned long (*start_poll)(void);
    int (*poll)(unsigned long cookie);
    /* A sleeping lock of the host's, of 32 bits. */
    void (*read)(void *lock), (*leave_read)(void *lock);
    int (*try_write)(void *lock); /* and drop */
};

/* ISO C knows no conversion from an object pointer to a function pointer. */
static inline void plugin_find(const struct plugin *plugin, const char *name, void *function)
{
    void *symbol = dlsym(plugin->handle, name);
    must(symbol != NULL);
    memcpy(function, &symbol, sizeof symbol);
}

#define FIND(name) plugin_find(&plugin, "plugin_" #name, &plugin.name)

static inline struct plugin plugin_load(const char *path)
{
    struct plugin plugin;
    plugin.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    must(plugin.handle != NULL);
    FIND(process);
    FIND(thread_line);
    FIND(reads);
    FIND(calls_back);
    FIND(synchronizes);
    FIND(counts);
    FIND(is_light);
    FIND(is_sequenced);
    FIND(strong);
    FIND(counters);
    FIND(add);
    FIND(sum);
    FIND(enter);
    FIND(leave);
    FIND(start_poll);
    FIND(poll);
    FIND(read);
    FIND(leave_read);
    FIND(try_write);
    return plugin;
}

#endif
