/* SPDX-License-Identifier: MIT */
/* A library with a search path of its own, which loads another one by that. */
#include <dlfcn.h>

__attribute__((visibility("default"))) void *plugin_load_deep(const char *name);

static void *volatile loaded;

void *plugin_load_deep(const char *name)
{
    loaded = dlopen(name, RTLD_NOW | RTLD_DEEPBIND); /* not the last call: who called counts */
    return loaded;
}
