/* SPDX-License-Identifier: MIT */
/* Atomic operations for the models of other libraries' locks: they go through the seam, like those
 * of the library. native/words.hpp has the same on the host. */
#pragma once

#include "engine/engine.hpp"

namespace sim {

template <class Word>
Word word_op(const Word *p, pawl_kind kind, std::uint64_t operand = 0, std::uint64_t expected = 0)
{
    return static_cast<Word>(ipawl_hook_call_(p, sizeof(Word), kind, PAWL_ORDER_ACQ_REL,
                                              PAWL_TAG_NONE_, operand, expected));
}

template <class Word> Word load(const Word *p)
{
    return word_op(p, PAWL_HOOK_LOAD);
}

template <class Word> void store(Word *p, Word value)
{
    (void)word_op(p, PAWL_HOOK_STORE, static_cast<std::uint64_t>(value));
}

/* These return the value before. */
template <class Word> Word add(Word *p, Word n)
{
    return word_op(p, PAWL_HOOK_ADD, static_cast<std::uint64_t>(n));
}

template <class Word> Word set_bits(Word *p, Word bits)
{
    return word_op(p, PAWL_HOOK_OR, static_cast<std::uint64_t>(bits));
}

template <class Word> Word clear_bits(Word *p, Word bits)
{
    return word_op(p, PAWL_HOOK_AND, static_cast<std::uint64_t>(static_cast<Word>(~bits)));
}

template <class Word> Word exchange(Word *p, Word value)
{
    return word_op(p, PAWL_HOOK_EXCHANGE, static_cast<std::uint64_t>(value));
}

template <class Word> Word cas(Word *p, Word expected, Word value)
{
    return word_op(p, PAWL_HOOK_COMPARE_EXCHANGE, static_cast<std::uint64_t>(value),
                   static_cast<std::uint64_t>(expected));
}

inline void full_fence()
{
    (void)ipawl_hook_call_(nullptr, 0, PAWL_HOOK_FENCE, PAWL_ORDER_SEQ_CST, PAWL_TAG_NONE_,
                           PAWL_HOOK_FENCE_PLAIN, 0);
}

/* Reads until accept(value), with `relaxes` hints between two reads. */
template <class Word, class Accept> Word poll(const Word *p, unsigned relaxes, Accept accept)
{
    return engine::running->poll(p, relaxes, accept);
}

inline void relax(unsigned hints)
{
    while (hints-- > 0)
        pawl_hook_relax();
}

inline void yield()
{
    pawl_hook_yield();
}

inline void sleep_while(const std::uint32_t *p, std::uint32_t value)
{
    (void)pawl_hook_wait(p, value, UINT64_MAX);
}

inline void wake(const std::uint32_t *p, unsigned count)
{
    (void)pawl_hook_wake(p, count);
}

inline std::uint64_t clock_now()
{
    return pawl_hook_now();
}

} // namespace sim
