/* SPDX-License-Identifier: MIT */
/*
 * The library's inline operations as plain functions, its tables as data, and the memory that the
 * library is given, for the models in Rust. The operations and tags come from transitions.def and
 * tags.def; there is no lock logic here.
 */
#include <pawl/lock.h>
#include <pawl/pshared.h>
#include <pawl/spin.h>
#include <pawl/thread.h>

#include "../../src/base/base.h"
#include "../../src/lock/entries.h"

#include <stddef.h>
#include <string.h>

#include "scenes/robust_mutex.h"
#include "scenes/scenes.h"

#define CALL_void(call) ((call), true)
#define CALL_bool(call) (call)
#define CALL_pawl_regained(call) ((call) == PAWL_REGAIN_KEPT)

#define OPERATION(call, type, lock, name)                                                          \
    bool m_##type##_##name(void *l);                                                               \
    bool m_##type##_##name(void *l)                                                                \
    {                                                                                              \
        return call(pawl_##lock##_##name((pawl_##lock *)l));                                       \
    }
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    OPERATION(CALL_##result, spin16, spin16, name)                                                 \
    OPERATION(CALL_##result, spin32, spin32, name)                                                 \
    OPERATION(CALL_##result, spin64, spin64, name)                                                 \
    OPERATION(CALL_##result, lock32, lock32, name)                                                 \
    OPERATION(CALL_##result, lock64, lock64, name)                                                 \
    OPERATION(CALL_##result, shared32, pshared_lock32, name)                                       \
    OPERATION(CALL_##result, shared64, pshared_lock64, name)
#include <pawl/detail/transitions.def>

/* Those with a deadline, which passes when the model says so (m_pass_time), or never. */
#define UNTIL(type, lock, name)                                                                    \
    bool m_##type##_##name##_until(void *l);                                                       \
    bool m_##type##_##name##_until(void *l)                                                        \
    {                                                                                              \
        return pawl_##lock##_##name##_until((pawl_##lock *)l, M_DEADLINE);                         \
    }
#define PAWL_UNTIL(name, from, to)                                                                 \
    UNTIL(lock32, lock32, name)                                                                    \
    UNTIL(lock64, lock64, name)                                                                    \
    UNTIL(shared32, pshared_lock32, name)                                                          \
    UNTIL(shared64, pshared_lock64, name)
#include <pawl/detail/until.def>

#define REGAINS(type, lock)                                                                        \
    bool m_##type##_atomic_to_read_until(void *l);                                                 \
    bool m_##type##_atomic_to_read_until(void *l)                                                  \
    {                                                                                              \
        return pawl_##lock##_atomic_to_read_until((pawl_##lock *)l, M_DEADLINE) !=                 \
               PAWL_REGAIN_TIMED_OUT;                                                              \
    }
REGAINS(lock32, lock32)
REGAINS(lock64, lock64)
REGAINS(shared32, pshared_lock32)
REGAINS(shared64, pshared_lock64)

struct m_op {
    const char *name; /* NULL ends the table */
    const char *kind;
    char from, to, otherwise;   /* U R S W A; the last when it fails */
    bool (*run[7])(void *lock); /* spinning: 16, 32, 64 bits; sleeping, in shared memory: 32, 64 */
};

extern const struct m_op m_ops[];
/* clang-format off */
const struct m_op m_ops[] = {
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    {#name, #kind, #from[0], #to[0], #from[0],                                                     \
     {m_spin16_##name, m_spin32_##name, m_spin64_##name, m_lock32_##name, m_lock64_##name,         \
      m_shared32_##name, m_shared64_##name}},
#include <pawl/detail/transitions.def>
#define TIMED(name, from, to, otherwise)                                                           \
    {#name "_until", "until", from, to, otherwise,                                                 \
     {NULL, NULL, NULL, m_lock32_##name##_until, m_lock64_##name##_until,                          \
      m_shared32_##name##_until, m_shared64_##name##_until}},
#define PAWL_UNTIL(name, from, to) TIMED(name, #from[0], #to[0], #from[0])
#include <pawl/detail/until.def>
    TIMED(atomic_to_read, 'A', 'R', 'U')
    {NULL, NULL, 0, 0, 0, {NULL, NULL, NULL, NULL, NULL, NULL, NULL}},
};
/* clang-format on */

struct m_tag {
    const char *name, *order; /* NULL ends the table; the first stands for PAWL_TAG_NONE_ */
};

extern const struct m_tag m_tags[];
const struct m_tag m_tags[] = {
    {"-", "relaxed"},
#define PAWL_TAG(name, order, partners, what) {#name, #order},
#include <pawl/detail/tags.def>

#undef PAWL_TAG
    {NULL, NULL},
};

/* The hook, told from which place in the code it was called. */
uint64_t m_hook_atomic(const struct pawl_operation *operation, void *site);

static struct {
    uint32_t tag;
    void (*run)(void);
} handlers[M_THREADS];

void m_handle(uint32_t tag, void (*handler)(void))
{
    handlers[m_me()].tag = tag;
    handlers[m_me()].run = handler;
}

uint64_t pawl_hook_atomic(const struct pawl_operation *operation)
{
    const uint32_t me = m_me();
    void (*handler)(void);
    m_live_or_die();
    m_end_with_the_child();
    uint64_t found = m_hook_atomic(operation, __builtin_return_address(0));
    handler = handlers[me].run;
    if (handler != NULL && handlers[me].tag == (uint32_t)operation->tag) {
        handlers[me].run = NULL;
        handler();
    }
    return found;
}

/* ---- Memory of an execution, at fixed addresses ---------------------------------------------- */

static struct pawl_thread_line *slots[M_THREADS];

uint64_t m_word[2];
union m_memory m_memory;

struct pawl_thread_line **pawl_hook_thread_slot(void)
{
    return &slots[m_me()];
}

uint32_t pawl_hook_thread_id(void)
{
    return m_me() + 1;
}

void m_reset(void);
void m_reset(void)
{
    ipawl_forget_();
    ipawl_entries_mode_(ENTRIES_OFF);
    memset(slots, 0, sizeof slots);
    memset(handlers, 0, sizeof handlers);
    memset(&m_memory, 0, sizeof m_memory);
}

/* Whether this is the address of the slot of a thread that is not the caller (src/fault.rs). */
bool m_is_slot_of_another(uint64_t address);
bool m_is_slot_of_another(uint64_t address)
{
    const uint64_t from = (uint64_t)(uintptr_t)slots;
    return address - from < sizeof slots && address != (uint64_t)(uintptr_t)&slots[m_me()];
}

/* The threads have their lines already: how they get them is the affair of other scenes. */
void m_register_threads(uint32_t threads)
{
    for (uint32_t i = 0; i < threads; i++) {
        process_here()->lines[i].owner = i + 1;
        slots[i] = &process_here()->lines[i];
    }
    process_here()->lines_used = threads;
}

/* ---- Readers that scale ---------------------------------------------------------------------- */

extern const uint32_t m_biased;
const uint32_t m_biased = PAWL_LOCK_BIASED;

/* Where all have lines from the start, no drop sets BIASED (eager): it is set already. */
void m_readers_scale(uint32_t threads, bool from_the_first_drop)
{
    m_register_threads(threads);
    ipawl_entries_mode_(ENTRIES_ON);
    if (from_the_first_drop)
        return;
    for (uint32_t i = 0; i < threads; i++)
        entries_all()->lines[i].joined = 1;
    entries_all()->joined[0] = (UINT32_C(1) << threads) - 1;
    entries_all()->used = threads;
}

/* Whether it is an entry of the first line (src/fault.rs). */
bool m_is_of_first_line(uint64_t address);
bool m_is_of_first_line(uint64_t address)
{
    return address - (uint64_t)(uintptr_t)&entries_all()->lines[0] < sizeof(struct pawl_entries);
}

bool m_entries_are_free(void)
{
    for (uint32_t i = 0; i < M_THREADS; i++) {
        const struct pawl_entries *line = &entries_all()->lines[i];
        for (uint32_t j = 0; j < PAWL_ENTRIES; j++)
            if (line->locks[j] != 0)
                return false;
        if (line->waiters != 0 || line->hidden != 0)
            return false;
    }
    return true;
}

/* ---- The application's bits ------------------------------------------------------------------ */

#define BITS(N)                                                                                    \
    uint64_t m_spin##N##_bits(void *l);                                                            \
    uint64_t m_spin##N##_set_bits(void *l, uint64_t bits);                                         \
    uint64_t m_spin##N##_clear_bits(void *l, uint64_t bits);                                       \
    uint64_t m_spin##N##_bits(void *l)                                                             \
    {                                                                                              \
        return pawl_spin##N##_bits((pawl_spin##N *)l);                                             \
    }                                                                                              \
    uint64_t m_spin##N##_set_bits(void *l, uint64_t bits)                                          \
    {                                                                                              \
        return pawl_spin##N##_set_bits((pawl_spin##N *)l, (uint##N##_t)bits);                      \
    }                                                                                              \
    uint64_t m_spin##N##_clear_bits(void *l, uint64_t bits)                                        \
    {                                                                                              \
        return pawl_spin##N##_clear_bits((pawl_spin##N *)l, (uint##N##_t)bits);                    \
    }

BITS(16)
BITS(32)
BITS(64)

struct m_bits {
    uint64_t (*bits)(void *lock);
    uint64_t (*set)(void *lock, uint64_t bits);
    uint64_t (*clear)(void *lock, uint64_t bits);
};

extern const struct m_bits m_bits[3];
const struct m_bits m_bits[3] = {
    {m_spin16_bits, m_spin16_set_bits, m_spin16_clear_bits},
    {m_spin32_bits, m_spin32_set_bits, m_spin32_clear_bits},
    {m_spin64_bits, m_spin64_set_bits, m_spin64_clear_bits},
};
