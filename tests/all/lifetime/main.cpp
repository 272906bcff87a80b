// SPDX-License-Identifier: MIT
// Locks work before main, in constructors and destructors of static objects, in exit handlers and
// in the destructors of a thread's variables.
#include "lifetime.hpp"

#include <thread>

static user main_user;

// Destroyed after every static object of this program that is younger: the last word.
__attribute__((destructor(101))) static void after_all_destructors()
{
    use_all_states();
    // constructor(101), 2 static users made, 1 thread's user made and destroyed, exit handler,
    // 2 static users destroyed, main itself and we: 10 times 2 uses.
    if (early_uses != 20) {
        std::fprintf(stderr, "the locks were used %d times, not 20\n", early_uses);
        std::abort();
    }
    std::puts("every check held");
    std::fflush(stdout);
}

int main()
{
    use_all_states();
    std::atexit(use_all_states);
    std::thread([] {
        thread_local user of_the_thread;
        (void)&of_the_thread;
    }).join();
    return 0;
}
