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

static void a_program_without_memory_is_told_what_to_do(void **unused)
{
    static uint8_t word;
    char said[512];
    (void)unused;
    if (TEST_SANITIZED)
        skip(); /* its own memory needs the address space */
    must(test_in_child(wait_without_memory, &word, said, sizeof said) != 0);
    must(strstr(said, "pawl: the system gives no memory for what threads share: allow mmap") !=
         NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_without_memory_is_told_what_to_do),
    };
    return test_run(argc, argv, tests);
}
