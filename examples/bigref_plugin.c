/* SPDX-License-Identifier: MIT */
/*
 * A plug-in that every request passes through, and that is rarely unloaded. Requests take and drop
 * a reference without a shared write. After kill, the last drop unloads the plug-in.
 */
#include <pawl/bigref.h>

#include "example.h"

/* [quote begin] */
struct plugin {
    pawl_bigref users;
    long calls[16];
    int unloaded;
};

static void unload(pawl_bigref *users, void *arg) /* the thread that drops the last reference */
{
    struct plugin *p = (struct plugin *)arg;
    (void)users;
    p->unloaded++;
}

static struct plugin plugin = {PAWL_BIGREF_INIT(unload, &plugin), {0}, 0};

static bool call_plugin(int thread)
{
    if (!pawl_bigref_try_get(&plugin.users)) /* it is gone */
        return false;
    plugin.calls[thread]++;
    pawl_bigref_drop(&plugin.users);
    return true;
}

static void begin_unloading(void)
{
    pawl_bigref_kill(&plugin.users); /* from now on the last drop unloads */
    pawl_bigref_drop(&plugin.users); /* the reference of load time */
}
/* [quote end] */

enum { THREADS = 4, EACH = 100000 / EXAMPLE_LESS };

static void *work(void *number)
{
    const int thread = (int)(intptr_t)number;
    for (int i = 0; i < EACH && call_plugin(thread); i++)
        continue;
    if (thread == 0)
        begin_unloading();
    return NULL;
}

int main(void)
{
    static void *(*const all[THREADS])(void *) = {work, work, work, work};

    run_threads(THREADS, all);
    CHECK(plugin.unloaded == 1);
    CHECK(plugin.calls[0] == EACH);
    CHECK(!call_plugin(0));
    printf("unloaded once, after %ld calls\n",
           plugin.calls[0] + plugin.calls[1] + plugin.calls[2] + plugin.calls[3]);
    return 0;
}
