/* SPDX-License-Identifier: MIT */
/* The simulated memory, and the states of its lines. */
#include "engine/arena.hpp"

#include "engine/machine.hpp"

#include <sys/mman.h>

#include <cstdlib>

extern "C" char __data_start, _end; /* of the linker */

namespace sim {

namespace {

constexpr std::uintptr_t arena_base = UINT64_C(0x200000000000);
constexpr std::size_t stack_size = std::size_t(64) << 10;
constexpr std::size_t stacks = stack_size * most_threads;
constexpr std::size_t work = std::size_t(2) << 30;
constexpr std::size_t pages = std::size_t(1) << 30; /* of the library; kept from run to run */
constexpr std::size_t arena_size = stacks + work + pages;
constexpr std::size_t arena_lines = arena_size / 64;

line *lines;
std::size_t line_count, taken, paged;

std::uintptr_t data_begin()
{
    return reinterpret_cast<std::uintptr_t>(&__data_start) & ~std::uintptr_t(63);
}

std::uintptr_t data_end()
{
    return reinterpret_cast<std::uintptr_t>(&_end);
}

void *map(void *at, std::size_t size, int more)
{
    void *got = mmap(at, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | more, -1, 0);
    if (got == MAP_FAILED)
        throw bad_input("The system refuses the simulator's memory: free some address space.");
    return got;
}

} // namespace

void arena_begin()
{
    void *const base = reinterpret_cast<void *>(arena_base); // NOLINT
    line_count = arena_lines + (data_end() - data_begin()) / 64 + 1;
    if (lines != nullptr) {
        munmap(base, stacks + work);
        munmap(lines, line_count * sizeof(line));
    }
    map(base, stacks + work, MAP_FIXED_NOREPLACE);
    lines = static_cast<line *>(map(nullptr, line_count * sizeof(line), 0));
    taken = stacks;
}

void *arena_take(std::size_t size, std::size_t alignment)
{
    taken = (taken + alignment - 1) / alignment * alignment;
    if (size > stacks + work - taken)
        throw bad_input("The workload needs more than the simulator's 2 GiB of memory.");
    void *const at = reinterpret_cast<void *>(arena_base + taken); // NOLINT
    taken += size;
    return at;
}

/* The library asks from its constructors on, before any engine is there. */
void *arena_pages(std::size_t size)
{
    size = (size + 4095) / 4096 * 4096;
    if (size > pages - paged)
        return nullptr;
    void *const at = reinterpret_cast<void *>(arena_base + stacks + work + paged); // NOLINT
    paged += size;
    return map(at, size, MAP_FIXED_NOREPLACE);
}

void *arena_stack(unsigned number, std::size_t &size)
{
    size = stack_size;
    return reinterpret_cast<void *>(arena_base + number * stack_size); // NOLINT
}

std::size_t line_of(const void *address)
{
    const auto a = reinterpret_cast<std::uintptr_t>(address);
    if (a - arena_base < arena_size)
        return (a - arena_base) / 64;
    if (a - data_begin() < data_end() - data_begin())
        return arena_lines + (a - data_begin()) / 64;
    return no_line;
}

line &line_at(std::size_t number)
{
    return lines[number];
}

bool is_stack(std::size_t number)
{
    return number < stacks / 64;
}

} // namespace sim
