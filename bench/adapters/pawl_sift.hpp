/* SPDX-License-Identifier: MIT */
/* The library's priority-sifting lock as threads alone use it. */
#pragma once

#include <pawl/sift.h>

namespace adapter {

struct pawl_sift {
    ::pawl_sift lock{};
    pawl_sift() = default;
    pawl_sift(const pawl_sift &) = delete;
    ~pawl_sift() { pawl_sift_destroy(&lock); }
    void take_read() { pawl_sift_take_read(&lock, PAWL_SIFT_THREAD); }
    void drop_read() { pawl_sift_drop_read(&lock, PAWL_SIFT_THREAD); }
    void take_write() { pawl_sift_take_write(&lock); }
    void drop_write() { pawl_sift_drop_write(&lock); }
};

} // namespace adapter
