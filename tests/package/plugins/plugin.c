/* SPDX-License-Identifier: MIT */
/* A plug-in that carries the library: what its copy of it sees. */
#include <pawl/pawl.h>
#include <pawl/rcu.h>
#include <pawl/thread.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN const void *plugin_process(void);
SHOWN const void *plugin_thread_line(void);
SHOWN const void *plugin_reads(void);

const void *plugin_process(void)
{
    return pawl_process_();
}

const void *plugin_thread_line(void)
{
    return pawl_thread_line_();
}

/* What this copy knows of the calling thread's RCU sections, one of which is entered and left. */
const void *plugin_reads(void)
{
    pawl_rcu_read_lock();
    pawl_rcu_read_unlock();
    return pawl_rcu_mine_();
}
