// SPDX-License-Identifier: MIT
// Waits on atomic objects must refuse these at compile time. Case 0 is right; CheckRefusal.cmake.
#include <pawl/wait.hpp>

struct padded {
    int number;
    char letter;
};
struct large {
    long first, second;
};

void right(std::atomic<int> &word)
{
    pawl::atomic_wait(&word, 0);
    pawl::atomic_notify_all(&word);
}

[[maybe_unused]] static void refused(std::atomic<padded> &gap, std::atomic<large> &two,
                                     std::atomic<int> &word)
{
    (void)gap, (void)two, (void)word;
#if CASE == 1
    pawl::atomic_wait(&gap, padded{1, 'a'}); // expect: must have no padding
#elif CASE == 2
    pawl::atomic_wait(&two, large{1, 2}); // expect: 1, 2, 4 or 8 bytes
#elif CASE == 3
    pawl::atomic_wait(word, 1); // expect: no matching function
#endif
}
