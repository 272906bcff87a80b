/* SPDX-License-Identifier: MIT */
/*
 * The seam's functions, and the calls that the compiler puts before plain accesses (gcc's
 * -fsanitize=thread; the simulator takes the place of its run-time library). Outside a simulation
 * they act plainly: the library's constructors run before main.
 */
#include "engine/apply.hpp"
#include "engine/engine.hpp"

using sim::engine;

extern "C" {

uint64_t pawl_hook_atomic(const struct pawl_operation *operation)
{
    return engine::running != nullptr ? engine::running->access(*operation)
                                      : sim::apply(*operation);
}

uint64_t pawl_sim_atomic(void *address, unsigned width, pawl_kind kind, pawl_order order,
                         pawl_tag tag, uint64_t operand, uint64_t expected)
{
    pawl_operation operation = {};
    operation.address = address;
    operation.width = width;
    operation.kind = kind;
    operation.order = order;
    operation.tag = tag;
    operation.operand = operand;
    operation.expected = expected;
    return pawl_hook_atomic(&operation);
}

/* src/base/ahead.h */
void pawl_sim_ahead(const void *address);
void pawl_sim_ahead(const void *address)
{
    if (engine::running != nullptr)
        engine::running->ahead(address);
}

void pawl_hook_relax(void)
{
    if (engine::running != nullptr)
        engine::running->relax();
}

void pawl_hook_yield(void)
{
    if (engine::running != nullptr)
        engine::running->yield();
}

static sim::ps deadline_of(uint64_t deadline)
{
    return deadline >= static_cast<uint64_t>(INT64_MAX / 1000)
               ? sim::never
               : static_cast<sim::ps>(deadline) * sim::ns;
}

bool pawl_hook_wait_classes(const uint32_t *address, uint32_t expected, uint32_t classes,
                            uint64_t deadline)
{
    return engine::running == nullptr ||
           engine::running->sleep(address, expected, classes, deadline_of(deadline));
}

bool pawl_hook_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    return pawl_hook_wait_classes(address, expected, UINT32_MAX, deadline);
}

unsigned pawl_hook_wake_classes(const uint32_t *address, uint32_t classes, unsigned count)
{
    return engine::running != nullptr ? engine::running->wake(address, count, classes) : 0;
}

unsigned pawl_hook_wake(const uint32_t *address, unsigned count)
{
    return pawl_hook_wake_classes(address, UINT32_MAX, count);
}

uint64_t pawl_hook_now(void)
{
    return engine::running != nullptr ? static_cast<uint64_t>(engine::running->look_at_clock()) : 0;
}

uint32_t pawl_hook_thread_id(void)
{
    return engine::running != nullptr ? engine::running->self() + 1 : UINT32_MAX;
}

void *pawl_hook_pages(size_t size)
{
    return sim::arena_pages(size);
}

/* ---- Plain accesses -------------------------------------------------------------------------- */

#define PLAIN(name, size, writes)                                                                  \
    void name(void *address);                                                                      \
    void name(void *address)                                                                       \
    {                                                                                              \
        if (engine::running != nullptr)                                                            \
            engine::running->plain(address, size, writes);                                         \
    }
#define PLAIN_SIZES(size)                                                                          \
    PLAIN(__tsan_read##size, size, false)                                                          \
    PLAIN(__tsan_write##size, size, true)                                                          \
    PLAIN(__tsan_unaligned_read##size, size, false)                                                \
    PLAIN(__tsan_unaligned_write##size, size, true)

PLAIN_SIZES(1)
PLAIN_SIZES(2)
PLAIN_SIZES(4)
PLAIN_SIZES(8)
PLAIN_SIZES(16)

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_read_range(void *address, unsigned long size);
void __tsan_read_range(void *address, unsigned long size)
{
    if (engine::running != nullptr)
        engine::running->plain(address, size, false);
}

void __tsan_write_range(void *address, unsigned long size);
void __tsan_write_range(void *address, unsigned long size)
{
    if (engine::running != nullptr)
        engine::running->plain(address, size, true);
}

void __tsan_vptr_update(void **at, void *value);
void __tsan_vptr_update(void **at, void *value)
{
    (void)value;
    if (engine::running != nullptr)
        engine::running->plain(at, sizeof(void *), true);
}

void __tsan_vptr_read(void **at);
void __tsan_vptr_read(void **at)
{
    if (engine::running != nullptr)
        engine::running->plain(at, sizeof(void *), false);
}
}
