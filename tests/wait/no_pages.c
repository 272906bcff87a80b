/* SPDX-License-Identifier: MIT */
/*
 * What threads share is reserved at the first use. Where the system refuses the memory the program
 * ends with a sentence, and does not go on with a null pointer:
 *
 *   1. A program forbids itself memory.
 *   2. Its first waiter joins a list.
 */
#include "test.h"

#include <pawl/wait.h>

#include <string.h>
#include <sys/resource.h>

#include "os/os.h"

static void wait_without_memory(void *word)
{
    const struct rlimit none = {0, 0};
    pawl_os_remember_errors();
    must(setrlimit(RLIMIT_AS, &none) == 0);
    (void)pawl_wait8_until((const uint8_t *)word, 0, pawl_now() + 1000000);
}

TEST_CASE(a_program_without_memory_is_told_what_to_do)
{
    static uint8_t word;
    char said[512];
    if (TEST_SANITIZED)
        skip(); /* its own memory needs the address space */
    must(test_in_child(wait_without_memory, &word, said, sizeof said) != 0);
    must(strstr(said, "pawl: the system gives no memory for what threads share: allow mmap") !=
         NULL);
}

TEST_MAIN()
