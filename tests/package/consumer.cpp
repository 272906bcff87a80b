// SPDX-License-Identifier: MIT
// A user's program in C++, through the C functions and the generic names.
#include <pawl/pawl.h>

#include <cstdio>
#include <thread>
#include <vector>

static pawl_spin64 guard = PAWL_SPIN64_INIT;
static int counter;

int main()
{
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; t++)
        threads.emplace_back([] {
            for (int i = 0; i < 20000; i++) {
                pawl_take_write(&guard);
                counter++;
                pawl_drop_write(&guard);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    std::printf("%d additions\n", counter);
    return counter == 60000 && pawl_spin64_is_free(&guard) ? 0 : 1;
}
