// SPDX-License-Identifier: MIT
//
// What tests/tool/test_trace_ours.py records of allocated locks: one from each function that
// allocates. Each lock is taken where it was made, so the name says which function that was.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <malloc.h>
#include <mutex>
#include <new>
#include <pthread.h>
#include <unistd.h>

#include "../support/program.h"

namespace {

struct node {
    char name[24];
    pthread_mutex_t mutex;
};

struct alignas(256) apart {
    std::mutex mutex;
};

void use(pthread_mutex_t *m)
{
    must(pthread_mutex_lock(m) == 0 && pthread_mutex_unlock(m) == 0);
}

[[gnu::noinline]] node *by_malloc()
{
    auto *n = static_cast<node *>(std::malloc(sizeof(node)));
    must(n != nullptr && pthread_mutex_init(&n->mutex, nullptr) == 0);
    use(&n->mutex);
    return n;
}

// Zero bytes are a mutex, so nothing initialises it.
[[gnu::noinline]] node *by_calloc()
{
    auto *n = static_cast<node *>(std::calloc(1, sizeof(node)));
    must(n != nullptr);
    use(&n->mutex);
    return n;
}

[[gnu::noinline]] node *by_realloc()
{
    auto *n = static_cast<node *>(std::realloc(std::malloc(8), 2 * sizeof(node)));
    must(n != nullptr && pthread_mutex_init(&n[1].mutex, nullptr) == 0);
    use(&n[1].mutex);
    return n;
}

[[gnu::noinline]] node *by_reallocarray()
{
    auto *n = static_cast<node *>(reallocarray(nullptr, 1, sizeof(node)));
    must(n != nullptr && pthread_mutex_init(&n->mutex, nullptr) == 0);
    use(&n->mutex);
    return n;
}

[[gnu::noinline]] node *by_posix_memalign()
{
    void *memory = nullptr;
    must(posix_memalign(&memory, 128, sizeof(node)) == 0);
    auto *n = static_cast<node *>(memory);
    must(pthread_mutex_init(&n->mutex, nullptr) == 0);
    use(&n->mutex);
    return n;
}

[[gnu::noinline]] node *by_aligned_alloc()
{
    auto *n = static_cast<node *>(aligned_alloc(64, 128));
    must(n != nullptr && pthread_mutex_init(&n->mutex, nullptr) == 0);
    use(&n->mutex);
    return n;
}

[[gnu::noinline]] node *by_memalign()
{
    auto *n = static_cast<node *>(memalign(64, sizeof(node)));
    must(n != nullptr && pthread_mutex_init(&n->mutex, nullptr) == 0);
    use(&n->mutex);
    return n;
}

// As many programs do: an allocator of their own, and a function that makes locks.
[[gnu::noinline]] void *allocate_zeros(std::size_t size)
{
    void *memory = std::calloc(1, size);
    must(memory != nullptr);
    return memory;
}

[[gnu::noinline]] void make_lock(pthread_mutex_t *m)
{
    must(pthread_mutex_init(m, nullptr) == 0);
}

[[gnu::noinline]] node *by_wrapper()
{
    auto *n = static_cast<node *>(allocate_zeros(sizeof(node)));
    make_lock(&n->mutex);
    use(&n->mutex);
    return n;
}

[[gnu::noinline]] node *by_wrapper_too()
{
    auto *n = static_cast<node *>(allocate_zeros(sizeof(node)));
    make_lock(&n->mutex);
    use(&n->mutex);
    return n;
}

[[gnu::noinline]] std::mutex *by_new()
{
    auto *m = new std::mutex;
    use(m->native_handle());
    return m;
}

[[gnu::noinline]] apart *by_aligned_new()
{
    auto *a = new apart;
    use(a->mutex.native_handle());
    return a;
}

// An array that is longer than a page.
[[gnu::noinline]] std::mutex *by_new_array()
{
    auto *many = new (std::nothrow) std::mutex[1000];
    must(many != nullptr);
    use(many[700].native_handle());
    return many;
}

// The memory of another lock, freed and allocated elsewhere: the name must not be the old one.
[[gnu::noinline]] node *again()
{
    auto *n = static_cast<node *>(std::malloc(sizeof(node)));
    must(n != nullptr && pthread_mutex_init(&n->mutex, nullptr) == 0);
    use(&n->mutex);
    return n;
}

std::size_t endless = std::numeric_limits<std::ptrdiff_t>::max();

bool fails_as_it_should()
{
    try {
        char *volatile nothing = new char[endless];
        delete[] nothing;
    } catch (const std::bad_alloc &) {
        return std::malloc(endless) == nullptr && reallocarray(nullptr, endless, 4) == nullptr;
    }
    return false;
}

} // namespace

int main(int count, char **words)
{
    if (count > 1 && std::strcmp(words[1], "again") == 0) {
        node *first = by_malloc(), *second;
        const auto place = reinterpret_cast<std::uintptr_t>(first);
        std::free(first);
        second = again();
        must(reinterpret_cast<std::uintptr_t>(second) == place);
        std::free(second);
        return 0;
    }
    must(fails_as_it_should());
    void *const blocks[] = {by_malloc(),       by_calloc(),         by_realloc(),
                            by_reallocarray(), by_posix_memalign(), by_aligned_alloc(),
                            by_memalign(),     by_wrapper(),        by_wrapper_too()};
    std::mutex *const one = by_new(), *const many = by_new_array();
    apart *const wide = by_aligned_new();
    delete one;
    delete[] many;
    delete wide;
    for (void *block : blocks)
        std::free(block);
    return 0;
}
