/* SPDX-License-Identifier: MIT */
/* No lock at all: the floor of every row of one thread. */
#pragma once

namespace adapter {

struct none {
    void take_read() {}
    void drop_read() {}
    void take_write() {}
    void drop_write() {}
};

} // namespace adapter
