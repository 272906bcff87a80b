/* SPDX-License-Identifier: MIT */
/* For locks that keep something for each reader: how many threads there are, set before a lock is
 * made, and which of them this is. */
#pragma once

namespace adapter {

inline unsigned reader_count = 64;
inline thread_local unsigned reader_number = 0;

} // namespace adapter
