/* SPDX-License-Identifier: MIT */
/* nsync's mutex, which has a shared mode. */
#pragma once

#include <nsync.h>

namespace adapter {

struct nsync_mu {
    ::nsync::nsync_mu lock = NSYNC_MU_INIT;
    void take_read() { nsync_mu_rlock(&lock); }
    void drop_read() { nsync_mu_runlock(&lock); }
    void take_write() { nsync_mu_lock(&lock); }
    void drop_write() { nsync_mu_unlock(&lock); }
};

} // namespace adapter
