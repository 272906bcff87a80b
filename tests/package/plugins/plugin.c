/* SPDX-License-Identifier: MIT */
/* A plug-in that carries the library: what its copy of it sees. */
#include <pawl/pawl.h>
#include <pawl/thread.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN const void *plugin_process(void);
SHOWN const void *plugin_thread_line(void);

const void *plugin_process(void)
{
    return pawl_process_();
}

const void *plugin_thread_line(void)
{
    return pawl_thread_line_();
}
