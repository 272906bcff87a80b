/* SPDX-License-Identifier: MIT */
/*
 * The hook backend of the seam: functions that a test or a model checker defines to control every
 * step of the library. Only the variants hook and sim declare and call them. The library
 * built that way leaves them undefined, so each harness links its own.
 *
 * Every function may switch to another simulated thread before it returns. None may call back into
 * a lock.
 */
#include <pawl/atomic.h> /* outside the guard: atomic.h includes this file where it needs it */

#ifndef PAWL_HOOK_H
#define PAWL_HOOK_H

/* The effect of an operation on its address. */
enum pawl_kind {
    PAWL_HOOK_LOAD,
    PAWL_HOOK_STORE,
    PAWL_HOOK_ADD,
    PAWL_HOOK_SUB,
    PAWL_HOOK_AND,
    PAWL_HOOK_OR,
    PAWL_HOOK_XOR,
    PAWL_HOOK_EXCHANGE,
    PAWL_HOOK_COMPARE_EXCHANGE,
    PAWL_HOOK_FENCE
};

/* The kind of a fence, in `operand`. A harness may treat all fences as full. In a native build a
 * light fence stops the compiler only, and a heavy one makes all running threads pass a full
 * fence. */
enum { PAWL_HOOK_FENCE_PLAIN, PAWL_HOOK_FENCE_LIGHT, PAWL_HOOK_FENCE_HEAVY };

enum pawl_order {
    PAWL_ORDER_RELAXED,
    PAWL_ORDER_ACQUIRE,
    PAWL_ORDER_RELEASE,
    PAWL_ORDER_ACQ_REL,
    PAWL_ORDER_SEQ_CST
};

/* One atomic operation. A compare-exchange that fails is relaxed, whatever its order. */
struct pawl_operation {
    void *address;  /* NULL for a fence */
    unsigned width; /* bytes: 1, 2, 4, 8; 0 for a fence */
    enum pawl_kind kind;
    enum pawl_order order;
    enum pawl_tag tag; /* PAWL_TAG_NONE_ exactly when the order is relaxed */
    uint64_t operand;  /* the value stored, added, exchanged; of a fence its kind */
    uint64_t expected; /* compare-exchange only */
};

PAWL_C_BEGIN

/* Carries the operation out and returns the value found before it (0 for a store or a fence). */
uint64_t pawl_hook_atomic(const struct pawl_operation *operation);

/* A wait loop is about to poll again: pawl_cpu_relax, and each pause of a back-off. */
void pawl_hook_relax(void);

/* The waiting thread offers its CPU to others (sched_yield). */
void pawl_hook_yield(void);

/* Sleeps while *address == expected, until woken or past `deadline` (ns of pawl_hook_now, or
 * UINT64_MAX for none). May return spuriously. False when the deadline has passed. */
bool pawl_hook_wait(const uint32_t *address, uint32_t expected, uint64_t deadline);

/* Wakes at most `count` threads that sleep on the address. Returns how many. */
unsigned pawl_hook_wake(const uint32_t *address, unsigned count);

/* Makes a descriptor readable (notice.h). */
void pawl_hook_tell(int descriptor);

/* The same between processes (pshared.h). A sleeper belongs to some classes, one bit each; a wake
 * ends the sleep of threads that share a class with it. A harness need not define these: without
 * them the library calls the two above and wakes all. */
bool pawl_hook_wait_classes(const uint32_t *address, uint32_t expected, uint32_t classes,
                            uint64_t deadline);
unsigned pawl_hook_wake_classes(const uint32_t *address, uint32_t classes, unsigned count);

/* pawl_hook_block blocks signals (bit n - 1 for signal n) in the calling thread and returns those
 * that were blocked before; pawl_hook_unblock unblocks them. pawl_hook_priority returns the
 * thread's real-time priority, 0 for none. A harness without signals and priorities need not define
 * these: pawl_hook_block and pawl_hook_priority then return 0, pawl_hook_unblock does nothing. */
uint64_t pawl_hook_block(uint64_t signals);
void pawl_hook_unblock(uint64_t signals);
uint32_t pawl_hook_priority(void);

/* The library wants a thread of its own (rcu_call.h). The harness runs the body on a simulated
 * thread, at any time from now. A harness need not define it: then no such thread starts, and
 * callers do its work. */
bool pawl_hook_start_thread(void (*body)(void *argument), void *argument);

/* How long such a thread rests, in ns, after it has taken the queued callbacks. A harness need not
 * define it: the thread then does not rest. */
uint64_t pawl_hook_rest(void);

/* A harness runs the set-up of the process by ipawl_set_up_ (thread.h). The set-up asks for notice
 * of forks, and of the ends of threads that have armed the key. A harness need not define these:
 * the first then returns false, and the others do nothing. */
bool pawl_hook_watch_threads(uint32_t *key, void (*at_exit)(void *value));
void pawl_hook_watch_this_thread(uint32_t key, void *value);
void pawl_hook_watch_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));

/* The library reads or writes an object here that is not atomic, or that no other thread touches at
 * that time (src/base/plain.h). `what` names the object. A harness need not define it. */
void pawl_hook_plain(const void *address, const char *what, bool writes);

/* Zeroed memory for the rest of the execution, aligned to a cache line, or NULL. A harness without
 * such memory need not define it. */
void *pawl_hook_pages(size_t size);

/* Mutexes that outlive their holders (robust.h), in 48 bytes each, as the C library and the system
 * make them. A simulated thread may end at any of its accesses; the mutexes that it holds are then
 * marked. A harness need not define these; no such mutex can then be made. */
enum pawl_hook_robust {
    PAWL_HOOK_ROBUST_GOT,
    PAWL_HOOK_ROBUST_GOT_DEAD, /* got, and its last holder died with it */
    PAWL_HOOK_ROBUST_BUSY,
    PAWL_HOOK_ROBUST_LATE,
    PAWL_HOOK_ROBUST_BROKEN,
    PAWL_HOOK_ROBUST_FREE /* of a look: nobody has it */
};
bool pawl_hook_robust_make(void *mutex); /* one of its bytes is not zero, and stays as it is */
enum pawl_hook_robust pawl_hook_robust_lock(void *mutex, uint64_t deadline);
enum pawl_hook_robust pawl_hook_robust_try(void *mutex);
/* A relaxed look: it is free, another has it, or a dead thread left it. */
enum pawl_hook_robust pawl_hook_robust_look(const void *mutex);
void pawl_hook_robust_owe_wake(void *mutex);
bool pawl_hook_robust_heal(void *mutex);
bool pawl_hook_robust_unlock(void *mutex);

/* Nanoseconds of a clock that never goes back. Tests return a virtual one. */
uint64_t pawl_hook_now(void);

/* A number other than 0 that names the calling (simulated) thread while it lives. */
uint32_t pawl_hook_thread_id(void);

/* The caller's slot for its thread line, zeroed at the start of each execution. */
struct pawl_thread_line **pawl_hook_thread_slot(void);

/* The library is about to use an object that is one per process, where it lies. A harness need not
 * define it. ipawl_forget_ (thread.h) zeroes all of them for the next execution. */
void *pawl_hook_shared(void *object);

PAWL_C_END

PAWL_C_BEGIN
/* As pawl_hook_atomic (PAWL_SIM): the simulator must not take what describes an operation for the
 * program's own memory. */
uint64_t pawl_sim_atomic(void *address, unsigned width, enum pawl_kind kind, enum pawl_order order,
                         enum pawl_tag tag, uint64_t operand, uint64_t expected);
PAWL_C_END

PAWL_INLINE_BEGIN

/* Inlined always: the address that a call returns to tells the harness where it is made. */
#ifdef PAWL_SIM
PAWL_INLINE PAWL_ALWAYS_INLINE_ uint64_t ipawl_hook_call_(const void *address, unsigned width,
                                                          enum pawl_kind kind,
                                                          enum pawl_order order, enum pawl_tag tag,
                                                          uint64_t operand, uint64_t expected)
{
    return pawl_sim_atomic((void *)(uintptr_t)address, width, kind, order, tag, operand, expected);
}
#else
PAWL_INLINE PAWL_ALWAYS_INLINE_ uint64_t ipawl_hook_call_(const void *address, unsigned width,
                                                          enum pawl_kind kind,
                                                          enum pawl_order order, enum pawl_tag tag,
                                                          uint64_t operand, uint64_t expected)
{
    struct pawl_operation operation;
    operation.address = (void *)(uintptr_t)address;
    operation.width = width;
    operation.kind = kind;
    operation.order = order;
    operation.tag = tag;
    operation.operand = operand;
    operation.expected = expected;
    return pawl_hook_atomic(&operation);
}
#endif

PAWL_INLINE_END

#endif
