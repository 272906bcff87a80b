// SPDX-License-Identifier: MIT
// What sequence locks must refuse at compile time. Case 0 is right; CheckRefusal.cmake.
#include <pawl/pawl.hpp>

#include <string>

struct plain {
    int a, b;
};

void right(pawl::seqlock<plain> &lock, pawl::seqlatch<plain> &latch)
{
    lock.store(latch.load());
    (void)lock.load_or_lock(3);
}

[[maybe_unused]] static void refused(pawl::seqlatch<plain> &latch)
{
#if CASE == 1
    pawl::seqlock<std::string> text; // expect: trivially copyable
#elif CASE == 2
    (void)latch.load_or_lock(3); // expect: no member named .load_or_lock
#elif CASE == 3
    pawl_seq_reader reader = PAWL_SEQ_READER(3);
    pawl_seq_begin_or_lock(latch.native_handle(), &reader); // expect: pawl_seq_latch
#elif CASE == 4
    const pawl::seqlock<int> fixed(3);
    const_cast<const pawl::seqlock<int> &>(fixed).store(4); // expect: const
#endif
}
