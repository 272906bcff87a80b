/* SPDX-License-Identifier: MIT */
/* Signals go to the main thread, whose sleep they must end. */
#pragma once

#include <csignal>

namespace bench {

/* While it exists the calling thread blocks all signals. A thread that it starts inherits that
 * for good. */
class blocked_signals {
  public:
    blocked_signals()
    {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~blocked_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    blocked_signals(const blocked_signals &) = delete;
    blocked_signals &operator=(const blocked_signals &) = delete;

  private:
    sigset_t before_;
};

} // namespace bench
