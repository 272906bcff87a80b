/* SPDX-License-Identifier: MIT */
/*
 * What fuzz targets share. A target is one function, LLVMFuzzerTestOneInput, which reads its input
 * as choices and ends the program by must() when a promise is broken. libFuzzer calls it, or
 * driver.c. An input that has ended answers 0, so every input is a valid one.
 */
#pragma once

#include "test.h"

struct fuzz {
    const uint8_t *at, *end;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whether the library is to be taken for one that makes this mistake (PAWL_FUZZ_MISTAKE=name): each
 * target has some, and must find them (tests/fuzz/finds). */
static inline bool fuzz_mistake(const char *name)
{
    static const char *asked;
    if (asked == NULL)
        asked = getenv("PAWL_FUZZ_MISTAKE");
    if (asked == NULL)
        asked = "";
    return strcmp(asked, name) == 0;
}

static inline struct fuzz fuzz_begin(const uint8_t *data, size_t size)
{
    struct fuzz f;
    f.at = data;
    f.end = data + size;
    return f;
}

static inline bool fuzz_more(const struct fuzz *f)
{
    return f->at < f->end;
}

static inline unsigned fuzz_byte(struct fuzz *f)
{
    return fuzz_more(f) ? *f->at++ : 0;
}

/* A number below `bound`, which is at most 256. */
static inline unsigned fuzz_below(struct fuzz *f, unsigned bound)
{
    return fuzz_byte(f) % bound;
}

/* A number of up to 64 bits, small ones, powers of two and their neighbours oftener than others. */
static inline uint64_t fuzz_number(struct fuzz *f)
{
    const unsigned shape = fuzz_byte(f);
    uint64_t number = 0;
    if (shape < 128)
        return shape;
    if (shape < 192)
        return UINT64_C(1) << (shape & 63);
    if (shape < 254)
        return (UINT64_C(1) << (shape & 63)) - 1;
    for (unsigned i = 0; i < 8; i++)
        number = number << 8 | fuzz_byte(f);
    return number;
}
