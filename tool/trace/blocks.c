/* SPDX-License-Identifier: MIT */
/*
 * libpawl-trace-blocks.so: where memory was allocated, so that the recorder can name the locks in
 * it. It stands in front of malloc and of C++'s operator new. Each call costs a few stores; the
 * blocks are noted in tables of fixed size, by address, and a later block takes the place of an
 * earlier one. The recorder asks when a lock is initialised or first used, which is soon after.
 *
 * Threads store without agreement: what is found is evidence, never a decision.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <pawl/atomic.h>

#define EXPORTED __attribute__((visibility("default")))
#define HERE() ((uint64_t)(uintptr_t)__builtin_return_address(0))

enum {
    SMALL_BLOCKS = 1 << 16,
    LARGE_BLOCKS = 256,
    SMALL = 4096,      /* bytes; larger blocks are in the second table, which is searched through */
    STEP = 8,          /* between addresses of blocks */
    EARLY_BYTES = 8192 /* before malloc is found */
};

struct block {
    uint64_t from, size, site;
};

static struct block small_blocks[SMALL_BLOCKS], large_blocks[LARGE_BLOCKS];

static struct block *place_of(uint64_t address, bool large)
{
    const uint64_t hash = (address / STEP * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
    return large ? &large_blocks[hash % LARGE_BLOCKS] : &small_blocks[hash % SMALL_BLOCKS];
}

static void *note(void *memory, size_t size, uint64_t site)
{
    const uint64_t from = (uint64_t)(uintptr_t)memory;
    struct block *const b = place_of(from, size > SMALL);
    if (memory == NULL)
        return NULL;
    pawl_store_relaxed64(&b->size, 0); /* so that no reader takes half of each */
    pawl_store_relaxed64(&b->from, from);
    pawl_store_relaxed64(&b->site, site);
    pawl_store_relaxed64(&b->size, size);
    return memory;
}

static void forget_in(uint64_t from, bool large)
{
    struct block *const b = place_of(from, large);
    if (pawl_load_relaxed64(&b->from) == from)
        pawl_store_relaxed64(&b->size, 0);
}

static void forget(const void *memory)
{
    forget_in((uint64_t)(uintptr_t)memory, false);
    forget_in((uint64_t)(uintptr_t)memory, true);
}

static bool lies_in(const struct block *b, uint64_t address, uint64_t found[3])
{
    const uint64_t from = pawl_load_relaxed64(&b->from), size = pawl_load_relaxed64(&b->size);
    if (address < from || address - from >= size)
        return false;
    found[0] = address - from;
    found[1] = size;
    found[2] = pawl_load_relaxed64(&b->site);
    return true;
}

EXPORTED bool ipawl_trace_block_(uint64_t address, uint64_t found[3]);

bool ipawl_trace_block_(uint64_t address, uint64_t found[3])
{
    const uint64_t last = address / STEP * STEP;
    for (uint64_t at = last; at + SMALL > last && at != 0; at -= STEP) {
        const struct block *const b = place_of(at, false);
        if (pawl_load_relaxed64(&b->from) == at && lies_in(b, address, found))
            return true;
    }
    for (uint64_t at = 0; at < LARGE_BLOCKS; at++)
        if (lies_in(&large_blocks[at], address, found))
            return true;
    return false;
}

/* ---- The next definitions -------------------------------------------------------------------- */

#define FUNCTIONS(X)                                                                               \
    X(malloc, void *, (size_t))                                                                    \
    X(calloc, void *, (size_t, size_t))                                                            \
    X(realloc, void *, (void *, size_t))                                                           \
    X(reallocarray, void *, (void *, size_t, size_t))                                              \
    X(memalign, void *, (size_t, size_t))                                                          \
    X(aligned_alloc, void *, (size_t, size_t))                                                     \
    X(posix_memalign, int, (void **, size_t, size_t))                                              \
    X(free, void, (void *))

/* C++'s operator new, new[], both with nothrow, and all four with an alignment. */
#define NEWS(X)                                                                                    \
    X(_Znwm, (size_t size), (size_t), (size))                                                      \
    X(_Znam, (size_t size), (size_t), (size))                                                      \
    X(_ZnwmRKSt9nothrow_t, (size_t size, const void *how), (size_t, const void *), (size, how))    \
    X(_ZnamRKSt9nothrow_t, (size_t size, const void *how), (size_t, const void *), (size, how))    \
    X(_ZnwmSt11align_val_t, (size_t size, size_t to), (size_t, size_t), (size, to))                \
    X(_ZnamSt11align_val_t, (size_t size, size_t to), (size_t, size_t), (size, to))                \
    X(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t to, const void *how),               \
      (size_t, size_t, const void *), (size, to, how))                                             \
    X(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t to, const void *how),               \
      (size_t, size_t, const void *), (size, to, how))

/* Addresses; 0: not looked for yet. A thread that finds 0 looks itself, so no order is needed. */
static struct {
#define X(name, result, types) uint64_t name;
    FUNCTIONS(X)
#undef X
} next;

#define X(name, result, types) typedef result(*next_##name) types;
FUNCTIONS(X)
#undef X

#define NEXT(name) ((next_##name)(uintptr_t)pawl_load_relaxed64(&next.name))

static _Thread_local bool finding __attribute__((tls_model("initial-exec")));

/* dlsym itself may allocate. These bytes are never given back. */
static char early[EARLY_BYTES] __attribute__((aligned(16)));
static uint32_t early_used;

static void *take_early(size_t size)
{
    const uint32_t room = (uint32_t)((size + 15) / 16 * 16);
    if (size > EARLY_BYTES) {
        errno = ENOMEM;
        return NULL;
    }
    uint32_t at = pawl_fetch_add_relaxed32(&early_used, room);
    if (at + room <= EARLY_BYTES)
        return early + at;
    errno = ENOMEM;
    return NULL;
}

static bool is_early(const void *memory)
{
    return (const char *)memory >= early && (const char *)memory < early + EARLY_BYTES;
}

static PAWL_COLD void find_all(void)
{
    finding = true;
#define X(name, result, types)                                                                     \
    pawl_store_relaxed64(&next.name, (uint64_t)(uintptr_t)dlsym(RTLD_NEXT, #name));
    FUNCTIONS(X)
#undef X
    finding = false;
}

static bool is_known(const uint64_t *address)
{
    if (PAWL_UNLIKELY(finding))
        return false;
    if (PAWL_UNLIKELY(pawl_load_relaxed64(address) == 0))
        find_all();
    return true;
}

#define IS_READY(name) PAWL_LIKELY(is_known(&next.name))

__attribute__((constructor(101))) static void find_early(void)
{
    (void)is_known(&next.malloc);
}

/* ---- malloc ---------------------------------------------------------------------------------- */

EXPORTED void *malloc(size_t size)
{
    const uint64_t site = HERE();
    return IS_READY(malloc) ? note(NEXT(malloc)(size), size, site) : take_early(size);
}

EXPORTED void *calloc(size_t count, size_t size)
{
    const uint64_t site = HERE();
    if (IS_READY(calloc))
        return note(NEXT(calloc)(count, size), count * size, site);
    return size != 0 && count > EARLY_BYTES / size ? NULL : take_early(count * size);
}

static void *moved_early(const void *memory, size_t size, uint64_t site)
{
    const size_t room = (size_t)(early + EARLY_BYTES - (const char *)memory);
    void *const made = IS_READY(malloc) ? note(NEXT(malloc)(size), size, site) : take_early(size);
    if (made != NULL)
        memcpy(made, memory, size < room ? size : room);
    return made;
}

EXPORTED void *realloc(void *memory, size_t size)
{
    const uint64_t site = HERE();
    if (PAWL_UNLIKELY(is_early(memory)))
        return moved_early(memory, size, site);
    if (!IS_READY(realloc))
        return take_early(size);
    forget(memory); /* first: another thread may have it next */
    return note(NEXT(realloc)(memory, size), size, site);
}

EXPORTED void *reallocarray(void *memory, size_t count, size_t size)
{
    const uint64_t site = HERE();
    size_t bytes;
    if (PAWL_UNLIKELY(__builtin_mul_overflow(count, size, &bytes))) {
        errno = ENOMEM;
        return NULL;
    }
    if (PAWL_UNLIKELY(is_early(memory)))
        return moved_early(memory, bytes, site);
    if (!IS_READY(reallocarray))
        return take_early(bytes);
    forget(memory);
    return note(NEXT(reallocarray)(memory, count, size), bytes, site);
}

EXPORTED void *memalign(size_t to, size_t size)
{
    const uint64_t site = HERE();
    return IS_READY(memalign) ? note(NEXT(memalign)(to, size), size, site) : NULL;
}

EXPORTED void *aligned_alloc(size_t to, size_t size)
{
    const uint64_t site = HERE();
    return IS_READY(aligned_alloc) ? note(NEXT(aligned_alloc)(to, size), size, site) : NULL;
}

EXPORTED int posix_memalign(void **memory, size_t to, size_t size)
{
    const uint64_t site = HERE();
    if (!IS_READY(posix_memalign))
        return ENOMEM;
    int error = NEXT(posix_memalign)(memory, to, size);
    if (error == 0)
        (void)note(*memory, size, site);
    return error;
}

EXPORTED void free(void *memory)
{
    if (PAWL_UNLIKELY(memory == NULL || is_early(memory) || !IS_READY(free)))
        return;
    forget(memory);
    NEXT(free)(memory);
}

/* ---- operator new: the site is its caller's, not its own ------------------------------------- */

/* The standard library's own calls malloc, whose note the second one replaces. A program without
 * C++ never comes here. */
#define X(name, parameters, types, arguments)                                                      \
    EXPORTED void *name parameters;                                                                \
    void *name parameters                                                                          \
    {                                                                                              \
        static uint64_t known;                                                                     \
        const uint64_t site = HERE();                                                              \
        if (PAWL_UNLIKELY(pawl_load_relaxed64(&known) == 0))                                       \
            pawl_store_relaxed64(&known, (uint64_t)(uintptr_t)dlsym(RTLD_NEXT, #name));            \
        return note(((void *(*)types)(uintptr_t)pawl_load_relaxed64(&known))arguments, size,       \
                    site);                                                                         \
    }
NEWS(X)
#undef X
