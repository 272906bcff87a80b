/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target without libFuzzer: with gcc, for 32 bits, under ThreadSanitizer, for AFL++.
 *
 *   fuzz_NAME [FILE...]         each file is an input; of a .txt file each line is one, in
 *                               hexadecimal, up to a '#'
 *   fuzz_NAME --random FILE...  then inputs made up from a seed, for PAWL_FUZZ_SECONDS (1)
 *
 * An input that ends the program is left in find-input in the current folder.
 */
#include "fuzz/fuzz.h"

#include <fcntl.h>

enum { LONGEST = 4096 };

static uint8_t input[LONGEST];
static size_t length;
static unsigned long inputs;

/* must() aborts. */
static void keep_what_was_found(int number)
{
    static const char said[] = "the input is in find-input\n";
    const int file = open("find-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file >= 0 && write(file, input, length) == (ssize_t)length)
        (void)!write(STDERR_FILENO, said, sizeof said - 1);
    signal(number, SIG_DFL);
    raise(number);
}

static void run_input(void)
{
    /* A copy of the right size, so that a sanitizer sees who reads beyond it. */
    uint8_t *copy = (uint8_t *)malloc(length ? length : 1);
    must(copy != NULL);
    memcpy(copy, input, length);
    inputs++;
    must(LLVMFuzzerTestOneInput(copy, length) == 0);
    free(copy);
}

static void read_line(char *text)
{
    char *at = text;
    length = 0;
    text[strcspn(text, "#\n")] = 0;
    for (;;) {
        unsigned byte;
        int used = 0;
        if (sscanf(at, " %2x%n", &byte, &used) != 1)
            break;
        must(length < LONGEST);
        input[length++] = (uint8_t)byte;
        at += used;
    }
    must(at[strspn(at, " ")] == 0);
}

static void run_file(const char *name)
{
    const size_t letters = strlen(name);
    FILE *file = fopen(name, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s: %s\n", name, strerror(errno));
        exit(2);
    }
    if (letters > 4 && strcmp(name + letters - 4, ".txt") == 0) {
        static char text[4 * LONGEST];
        while (fgets(text, sizeof text, file) != NULL) {
            read_line(text);
            if (length > 0)
                run_input();
        }
    } else {
        length = fread(input, 1, LONGEST, file);
        run_input();
    }
    must(fclose(file) == 0);
}

/* Most operations are to be found in short inputs; long ones go deep. */
static void run_random(uint64_t seed)
{
    const char *text = getenv("PAWL_FUZZ_SECONDS");
    const double end = test_now() + (text ? strtod(text, NULL) : 1);
    while (test_now() < end) {
        length = 1 + test_random_below(&seed, 1u << (3 + test_random_below(&seed, 8)));
        for (size_t i = 0; i < length; i++)
            input[i] = (uint8_t)test_random(&seed);
        run_input();
    }
}

int main(int argc, char **argv)
{
    bool random = false;
    signal(SIGABRT, keep_what_was_found);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--random") == 0)
            random = true;
        else
            run_file(argv[i]);
    }
    if (random) {
        const char *text = getenv("PAWL_SEED");
        const uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)(test_now() * 1e9);
        printf("seed %" PRIu64 "\n", seed);
        fflush(stdout);
        run_random(seed);
    }
    printf("%lu inputs\n", inputs);
    return 0;
}
