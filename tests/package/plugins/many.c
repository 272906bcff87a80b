/* SPDX-License-Identifier: MIT */
/* Loads the plug-ins that it is given, each with a copy of the library, and has a thread use all:
 * many PLUG-IN... Says how many were loaded before the loader had no room for their thread data. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const void *(*uses[128])(void);
static int count;

static void *use_all(void *failed)
{
    for (int i = 0; i < count; i++)
        if (uses[i]() != uses[0]())
            *(int *)failed = 1;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int failed = 0;
    for (; count + 1 < argc && count < 128; count++) {
        void *const plugin = dlopen(argv[count + 1], RTLD_NOW | RTLD_LOCAL);
        if (plugin == NULL)
            break;
        void *found = dlsym(plugin, "plugin_reads");
        memcpy(&uses[count], &found, sizeof found);
    }
    if (pthread_create(&thread, NULL, use_all, &failed) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    printf("%d\n", count);
    return failed;
}
