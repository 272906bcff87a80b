/* SPDX-License-Identifier: MIT */
/* Carries an operation of the seam out in the host's memory, and returns the value found. */
#pragma once

#include <cstdint>

#include <pawl/detail/hook.h>

namespace sim {

template <class Word> std::uint64_t apply_to(Word *p, const pawl_operation &op)
{
    const Word old = *p;
    const auto with = static_cast<Word>(op.operand);
    switch (op.kind) {
    case PAWL_HOOK_LOAD:
    case PAWL_HOOK_FENCE: return old;
    case PAWL_HOOK_STORE: *p = with; return 0;
    case PAWL_HOOK_ADD: *p = static_cast<Word>(old + with); return old;
    case PAWL_HOOK_SUB: *p = static_cast<Word>(old - with); return old;
    case PAWL_HOOK_AND: *p = static_cast<Word>(old & with); return old;
    case PAWL_HOOK_OR: *p = static_cast<Word>(old | with); return old;
    case PAWL_HOOK_XOR: *p = static_cast<Word>(old ^ with); return old;
    case PAWL_HOOK_EXCHANGE: *p = with; return old;
    case PAWL_HOOK_COMPARE_EXCHANGE:
        if (old == static_cast<Word>(op.expected))
            *p = with;
        return old;
    }
    return old;
}

inline std::uint64_t apply(const pawl_operation &op)
{
    switch (op.width) {
    case 1: return apply_to(static_cast<std::uint8_t *>(op.address), op);
    case 2: return apply_to(static_cast<std::uint16_t *>(op.address), op);
    case 4: return apply_to(static_cast<std::uint32_t *>(op.address), op);
    case 8: return apply_to(static_cast<std::uint64_t *>(op.address), op);
    default: return 0; /* a fence */
    }
}

} // namespace sim
