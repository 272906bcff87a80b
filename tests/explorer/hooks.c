/* SPDX-License-Identifier: MIT */
/* The explorer's side of the library's hooks: each is a point at which another thread may go on. */
#include "explorer/internal.h"

/* ---- Accesses -------------------------------------------------------------------------------- */

/* Loads with the object's width: AddressSanitizer and UBSan check these accesses too. */
static uint64_t load(const void *p, unsigned width)
{
    switch (width) {
    case 1: return *(const uint8_t *)p;
    case 2: return *(const uint16_t *)p;
    case 4: return *(const uint32_t *)p;
    default: return *(const uint64_t *)p;
    }
}

static void store(void *p, unsigned width, uint64_t value)
{
    switch (width) {
    case 1: *(uint8_t *)p = (uint8_t)value; break;
    case 2: *(uint16_t *)p = (uint16_t)value; break;
    case 4: *(uint32_t *)p = (uint32_t)value; break;
    default: *(uint64_t *)p = value; break;
    }
}

static uint64_t result_of(const struct pawl_operation *o, uint64_t found)
{
    const uint64_t mask = o->width < 8 ? (UINT64_C(1) << (8 * o->width)) - 1 : UINT64_MAX;
    switch (o->kind) {
    case PAWL_HOOK_STORE:
    case PAWL_HOOK_EXCHANGE: return o->operand & mask;
    case PAWL_HOOK_ADD: return (found + o->operand) & mask;
    case PAWL_HOOK_SUB: return (found - o->operand) & mask;
    case PAWL_HOOK_AND: return found & o->operand;
    case PAWL_HOOK_OR: return (found | o->operand) & mask;
    case PAWL_HOOK_XOR: return (found ^ o->operand) & mask;
    case PAWL_HOOK_COMPARE_EXCHANGE: return found == o->expected ? o->operand & mask : found;
    default: return found;
    }
}

static const void *watched_word; /* of sched_drop_begins */

static void print_step(const struct pawl_operation *o, uint64_t found, uint64_t made)
{
    static const char *const kinds[] = {
        "load", "store", "add", "sub", "and", "or", "xor", "exchange", "compare-exchange", "fence"};
    static const char *const tags[] = {
#define PAWL_TAG(name, order, partners, what) #name,
#include <pawl/detail/tags.def>
#undef PAWL_TAG
    };
    const bool tagged =
        o->order != PAWL_ORDER_RELAXED && (size_t)o->tag < sizeof tags / sizeof tags[0];
    fprintf(stderr, "  thread %u: %s of %u bytes at %p: %#" PRIx64 " -> %#" PRIx64 " %s\n",
            sched.current, kinds[o->kind], o->width, o->address, found, made,
            tagged ? tags[o->tag] : "");
}

uint64_t sched_make(const struct pawl_operation *o)
{
    if (o->kind == PAWL_HOOK_FENCE)
        return 0;
    uint64_t found = load(o->address, o->width);
    uint64_t made = result_of(o, found);
    if (sched.running && sched_prints())
        print_step(o, found, made);
    if (made == found)
        return found;
    store(o->address, o->width, made);
    if (sched.running) {
        struct sched_thread *self = &sched_threads[sched.current];
        sched_somebody_wrote();
        if (self->dropping && ((o->address == watched_word && (made ^ found) >> 2 != 0) ||
                               o->tag == PAWL_ENTRY_DROP)) /* a reader that scales */
            self->gave = true;
    }
    return found;
}

/* The lock and the words beside it count, not the wait lists of the table. */
static void note_if_late(const void *address)
{
    if (sched_threads[sched.current].gave && (uintptr_t)address - (uintptr_t)watched_word < 16)
        sched.touched_late++;
}

uint64_t pawl_hook_atomic(const struct pawl_operation *operation)
{
    if (sim_is_on())
        return sim_access(operation);
    if (!sched.running)
        return sched_make(operation);
    sched_pass();
    note_if_late(operation->address);
    uint64_t found = sched.fault ? sched.fault(operation, sched_make) : sched_make(operation);
    if (states_are_kept()) /* what it was stays on the caller's stack, and is no part of a state */
        memset((void *)(uintptr_t)operation, 0, sizeof *operation);
    return found;
}

void sched_drop_begins(const void *word)
{
    watched_word = word;
    sched_threads[sched.current].dropping = true;
}

void sched_drop_ends(void)
{
    sched_threads[sched.current].dropping = sched_threads[sched.current].gave = false;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

void pawl_hook_relax(void)
{
    if (sim_is_on()) {
        sim_relaxed();
    } else if (sched.running) {
        sched_threads[sched.current].state = SCHED_POLLS;
        sched_pass();
    }
}

void pawl_hook_yield(void)
{
    if (!sim_is_on())
        pawl_hook_relax();
}

static bool sleep_on(const uint32_t *address, uint32_t classes, uint64_t deadline)
{
    static unsigned sleeps;
    struct sched_thread *self = &sched_threads[sched.current];
    self->address = address;
    self->classes = classes;
    self->deadline = deadline;
    self->asleep_since = sleeps++;
    self->timed_out = false;
    self->state = SCHED_SLEEPS;
    sched.slept++;
    sched_pass();
    return !self->timed_out;
}

bool pawl_hook_wait_classes(const uint32_t *address, uint32_t expected, uint32_t classes,
                            uint64_t deadline)
{
    must(!sim_is_on() || !sim_may_not_sleep());
    must(deadline == UINT64_MAX || !sched.deadlines_forbidden);
    if (!sched.running) { /* the test itself, which no thread wakes */
        must(deadline != UINT64_MAX || *address != expected);
        return *address != expected;
    }
    sched_pass();
    if (*address != expected)
        return true;
    if (sched.clock >= deadline && !sched.loose)
        return false;
    return sleep_on(address, classes, deadline);
}

unsigned pawl_hook_wake_classes(const uint32_t *address, uint32_t classes, unsigned count)
{
    unsigned woken;
    if (sim_is_on())
        return 0;
    sched.system_wakes++;
    if (!sched.running)
        return 0;
    sched_pass();
    note_if_late(address); /* the system finds the sleepers by a page, which may be gone */
    for (woken = 0; woken < count && !sched.deaf; woken++) {
        struct sched_thread *oldest = NULL;
        for (unsigned i = 0; i < sched.count; i++) {
            struct sched_thread *t = &sched_threads[i];
            if (t->state == SCHED_SLEEPS && t->address == address && (t->classes & classes) &&
                (!oldest || t->asleep_since < oldest->asleep_since))
                oldest = t;
        }
        if (!oldest)
            break;
        oldest->state = SCHED_RUNS;
        sched_somebody_woke();
    }
    sched.woken += woken;
    return woken;
}

bool pawl_hook_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    return pawl_hook_wait_classes(address, expected, UINT32_MAX, deadline);
}

unsigned pawl_hook_wake(const uint32_t *address, unsigned count)
{
    return pawl_hook_wake_classes(address, UINT32_MAX, count);
}

/* ---- Time, threads, the process -------------------------------------------------------------- */

uint64_t pawl_hook_now(void)
{
    if (sched.loose || sim_is_on()) /* the clock never stands still, and nothing depends on it */
        sched.clock++;
    return sched.clock;
}

static struct pawl_thread_line *slots[SCHED_THREADS], *own_slot;

uint32_t pawl_hook_thread_id(void)
{
    if (sim_is_on())
        return sim_thread_id();
    return sched.running ? sched.current + 2 : 1;
}

struct pawl_thread_line **sched_slot_of(unsigned thread)
{
    return &slots[thread];
}

struct pawl_thread_line **pawl_hook_thread_slot(void)
{
    if (sim_is_on())
        return sim_thread_slot();
    return sched.running ? &slots[sched.current] : &own_slot;
}

void *pawl_hook_shared(void *object)
{
    if (sim_is_on())
        must(sim_shares); /* a spinlock needs nothing that is process-wide */
    return object;
}

void sched_new_threads(void)
{
    memset(slots, 0, sizeof slots);
}

void sched_new_process(void)
{
    ipawl_forget_();
    sched_new_threads();
    own_slot = NULL;
}
