// SPDX-License-Identifier: MIT
// Two translation units that include the same inline members link, and agree: in C++ the library's
// inline functions are one entity of the program, not one for each file.
#include "counter.hpp"

#include <cstdio>
#include <thread>

int main()
{
    std::thread one(left), two(right);
    one.join();
    two.join();
    if (the_counter().value() != 40000) {
        std::fprintf(stderr, "additions were lost: %ld\n", the_counter().value());
        return 1;
    }
    if (left_take() != right_take()) {
        std::fprintf(stderr, "two files see two functions\n");
        return 1;
    }
    std::puts("every check held");
    return 0;
}
