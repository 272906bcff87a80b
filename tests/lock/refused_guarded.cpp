// SPDX-License-Identifier: MIT
// pawl::guarded must refuse these at compile time. Case 0 is right; CheckRefusal.cmake.
#include <pawl/guarded.hpp>

#include <utility>

void published_ways(pawl::guarded<int> &number)
{
    auto seek = number.upgrade();
    const auto write = std::move(seek).to_write();
    *write = 1;
}

[[maybe_unused]] static void refused(pawl::guarded<int> &number)
{
    auto read = number.read();
    auto seek = number.upgrade();
    (void)read, (void)seek;
#if CASE == 1
    int &changes = *read; // expect: qualifier
    changes = 1;
#elif CASE == 2
    int &changes = *seek; // expect: qualifier
    changes = 1;
#elif CASE == 3
    int &outlives = *number.write(); // expect: deleted
    outlives = 1;
#elif CASE == 4
    number.value_ = 1; // expect: private
#elif CASE == 5
    (void)std::move(read).to_write(); // expect: no member named .to_write
#elif CASE == 6
    auto copy = read; // expect: deleted
#elif CASE == 7
    const pawl::guarded<int> &constant = number;
    auto write = constant.read().try_to_write();
    **write = 1; // expect: read-only|const value
#endif
}

int main()
{
    pawl::guarded<int> number(0);
    published_ways(number);
    refused(number);
}
