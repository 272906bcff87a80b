// SPDX-License-Identifier: MIT
// The smallest harness of the hook variant: one thread, each operation carried out at once.
#pragma once

#include <pawl/detail/hook.h>
#include <pawl/thread.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

static unsigned long hook_operations = 0; // how often the lock code has called out

static std::uint64_t hook_result(const pawl_operation *operation, std::uint64_t old)
{
    switch (operation->kind) {
    case PAWL_HOOK_STORE:
    case PAWL_HOOK_EXCHANGE: return operation->operand;
    case PAWL_HOOK_ADD: return old + operation->operand;
    case PAWL_HOOK_SUB: return old - operation->operand;
    case PAWL_HOOK_AND: return old & operation->operand;
    case PAWL_HOOK_OR: return old | operation->operand;
    case PAWL_HOOK_XOR: return old ^ operation->operand;
    case PAWL_HOOK_COMPARE_EXCHANGE: return old == operation->expected ? operation->operand : old;
    case PAWL_HOOK_LOAD:
    case PAWL_HOOK_FENCE: break;
    }
    return old;
}

template <class Word> std::uint64_t hook_carry_out(const pawl_operation *operation)
{
    Word old;
    std::memcpy(&old, operation->address, sizeof(old));
    const Word result = static_cast<Word>(hook_result(operation, old));
    std::memcpy(operation->address, &result, sizeof(result));
    return operation->kind == PAWL_HOOK_STORE ? 0 : old;
}

extern "C" {

std::uint64_t pawl_hook_atomic(const pawl_operation *operation)
{
    hook_operations++;
    switch (operation->width) {
    case 1: return hook_carry_out<std::uint8_t>(operation);
    case 2: return hook_carry_out<std::uint16_t>(operation);
    case 4: return hook_carry_out<std::uint32_t>(operation);
    case 8: return hook_carry_out<std::uint64_t>(operation);
    default: return 0;
    }
}

// Alone, a lock that waits would wait for ever.
void pawl_hook_relax(void)
{
    std::abort();
}
void pawl_hook_yield(void)
{
    std::abort();
}
bool pawl_hook_wait(const std::uint32_t *, std::uint32_t, std::uint64_t)
{
    std::abort();
}
unsigned pawl_hook_wake(const std::uint32_t *, unsigned)
{
    return 0;
}
std::uint64_t pawl_hook_now(void)
{
    return 1;
}
std::uint32_t pawl_hook_thread_id(void)
{
    return 1;
}

pawl_thread_line **pawl_hook_thread_slot(void)
{
    static pawl_thread_line *slot;
    return &slot;
}
}
