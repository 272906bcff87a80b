// SPDX-License-Identifier: MIT
#include "counter.hpp"

void right()
{
    for (int i = 0; i < 10000; i++) {
        the_counter().add(1);
        the_counter().add_with_guards(1);
    }
}

take_function right_take()
{
    return pawl_spin32_take_read;
}
