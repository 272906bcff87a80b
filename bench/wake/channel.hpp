/* SPDX-License-Identifier: MIT */
/* The ways to sleep until another thread signals, all behind one interface. */
#pragma once

#include <cstdint>
#include <memory>

namespace bench {

/* For one waiter and one signaller; arm() comes before either, once for each wake. */
class channel {
  public:
    virtual ~channel() = default;
    virtual void arm() = 0;
    virtual void wait() = 0; /* returns after signal() and not before */
    virtual void signal() = 0;
};

/* C++20's, whose header the other files cannot read. */
std::unique_ptr<channel> make_std_atomic_channel();

} // namespace bench
