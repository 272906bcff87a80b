/* SPDX-License-Identifier: MIT */
/* The library's hazard pointers, as far as they have the interface of the RCU adapters. */
#pragma once

#include <cstddef>

#include <pawl/hazard.h>

namespace adapter {

struct pawl_hazard {
    static constexpr const char *name = "pawl_hazard";
    using head = ::pawl_hazard_head;
    struct thread {
        void quiescent() {}
        void rest() {}
        void resume() {}
    };

    static void barrier() { pawl_hazard_clean_up(); }
    template <void (*function)(head *)> static void call(head *h, std::size_t)
    {
        pawl_hazard_retire(h, h, [](void *object) { function(static_cast<head *>(object)); });
    }
};

} // namespace adapter
