/* SPDX-License-Identifier: MIT */
/* What the program says of its locks: where it initialised them, and what they are called. */
#include "record.h"

/* Where two locks fall on one place, the later one has it. */
void trace_initialised(const void *lock, uint64_t site)
{
    const uint64_t address = (uint64_t)(uintptr_t)lock & TRACE_ADDRESS;
    trace_lock_ends(lock);
    if (!enter())
        return;
    struct trace_init *init = &trace_control->inits[mixed(address, 0, 0) % TRACE_INITS];
    if (init->site != site) /* else they are those of the lock before, most likely */
        trace_callers(site, init->callers);
    init->lock = address;
    init->site = site;
    init->size = 0;
    trace_find_block(init);
    trace_know(site, init->callers[0] != 0 ? init->callers[0] : site);
    leave();
}

__attribute__((visibility("default"))) void ipawl_trace_name_(const void *lock, const char *name);

/* NULL takes the name away. */
void ipawl_trace_name_(const void *lock, const char *name)
{
    const uint64_t address = (uint64_t)(uintptr_t)lock & TRACE_ADDRESS;
    struct trace_name *found = NULL, *n;
    size_t length = name == NULL ? 0 : strlen(name);
    if (!enter())
        return;
    if (trace_tables_try()) {
        for (n = trace_control->names; n < trace_control->names + TRACE_NAMES; n++) {
            if (n->lock == address)
                found = n;
            if (n->lock == address || n->lock == 0)
                break;
        }
        if (found == NULL && n < trace_control->names + TRACE_NAMES && name != NULL)
            found = n;
        if (found == NULL && name != NULL)
            trace_control->lost_names++;
        if (found != NULL) {
            length = length < TRACE_NAME_LENGTH ? length : TRACE_NAME_LENGTH - 1;
            if (name != NULL)
                memcpy(found->name, name, length);
            found->name[length] = 0;
            found->lock = address;
        }
        trace_tables_done();
    }
    leave();
}
