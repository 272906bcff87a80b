/* SPDX-License-Identifier: MIT */
/*
 * The memory of simulated programs. It lies at fixed addresses, so whatever depends on an address
 * repeats. The program's own variables (the library's tables) count as shared memory too: the
 * simulator is linked at fixed addresses.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace sim {

/* The state of one line of 64 bytes. */
struct line {
    std::uint64_t sharers[4]; /* a bit a core */
    std::int64_t busy;        /* it moves until then */
    std::uint32_t waiting;    /* requests in its queue */
    std::int16_t owner;       /* a core + 1, which has it alone; 0: none */
    std::uint8_t listed;      /* an event for its queue is due */
    std::uint8_t polled;      /* some fiber polls it */
    std::int64_t kept;        /* its core keeps it until then, though others wait */
    std::uint64_t changes;    /* writes so far */
};
static_assert(sizeof(line) == 64, "one line of the host each");

constexpr std::size_t no_line = SIZE_MAX;

/* Maps the arena; again: forgets all that was in it. */
void arena_begin();

/* Memory that no other call gets, aligned to `alignment`, zero. */
void *arena_take(std::size_t size, std::size_t alignment = 64);

/* Pages for the library, zero, or NULL when there are no more. */
void *arena_pages(std::size_t size);

/* The stack of a fiber; its first touch costs nothing. */
void *arena_stack(unsigned number, std::size_t &size);

/* The line of the address, or no_line: not simulated memory. */
std::size_t line_of(const void *address);
line &line_at(std::size_t number);
bool is_stack(std::size_t number);

} // namespace sim
