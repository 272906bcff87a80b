/* SPDX-License-Identifier: MIT */
/*
 * Windows: three ways to sleep while a 32-bit word keeps its value. The library chooses at run time
 * among those that the system has, so one program runs on all systems:
 *
 *   address    WaitOnAddress                          Windows 8 and later
 *   condition  lists; SRW lock, condition variable    Windows 7 and Vista
 *   event      lists; own latch, auto-reset events    older
 *
 * PAWL_WINDOWS_WAIT=condition or =event in the environment of the process asks for an older way
 * than the system's best; the tests use it.
 *
 * Source: "Implementing atomic wait and notify".
 */
#include "os.h"

#if !PAWL_HOOKS && defined(_WIN32)

#include <limits.h>
#include <string.h>

typedef BOOL(WINAPI *wait_on_address)(const volatile void *, void *, SIZE_T, DWORD);
typedef void(WINAPI *on_pointer)(void *); /* four of them take an address and nothing else */
typedef BOOL(WINAPI *sleep_condition)(void *, void *, DWORD, ULONG);

/* ---- The choice ------------------------------------------------------------------------------ */

enum way { WAY_NOT_CHOSEN, WAY_ADDRESS, WAY_CONDITION, WAY_EVENT };

static PAWL_COLD enum way os_choose_way(uint32_t *place)
{
    const bool address = os_late(WAIT_ON_ADDRESS) != NULL && os_late(WAKE_ONE_BY_ADDRESS) != NULL &&
                         os_late(WAKE_ALL_BY_ADDRESS) != NULL;
    const bool condition = os_late(ENTER_SRW_LOCK) != NULL && os_late(LEAVE_SRW_LOCK) != NULL &&
                           os_late(SLEEP_CONDITION) != NULL && os_late(WAKE_CONDITION) != NULL;
    uint32_t way = address ? WAY_ADDRESS : condition ? WAY_CONDITION : WAY_EVENT;
    uint32_t first = WAY_NOT_CHOSEN;
    char asked[16];
    const DWORD length = GetEnvironmentVariableA("PAWL_WINDOWS_WAIT", asked, sizeof asked);

    if (length > 0 && length < sizeof asked) {
        if (condition && strcmp(asked, "condition") == 0)
            way = WAY_CONDITION;
        if (strcmp(asked, "event") == 0)
            way = WAY_EVENT;
    }
    /* Threads that choose at once must agree: the environment may change meanwhile. */
    return pawl_cas_relaxed32(place, &first, way) ? (enum way)way : (enum way)first;
}

static enum way os_the_way(void)
{
    static uint32_t chosen;
    const uint32_t way = pawl_load_relaxed32(&chosen);
    return PAWL_LIKELY(way != WAY_NOT_CHOSEN) ? (enum way)way : os_choose_way(&chosen);
}

/* For the tests: the name of the way that is in use. */
const char *PAWL_SYMBOL_(pawl_windows_way)(void);
const char *PAWL_SYMBOL_(pawl_windows_way)(void)
{
    static const char *const names[] = {"", "address", "condition", "event"};
    return names[os_the_way()];
}

/* Milliseconds, the unit of Windows, rounded up. A long sleep is done in parts. */
static DWORD os_milliseconds_until(uint64_t deadline)
{
    const uint64_t now = deadline == PAWL_NO_DEADLINE ? 0 : pawl_os_now();
    const uint64_t longest = 0x7fffffff;
    uint64_t ms;
    if (deadline == PAWL_NO_DEADLINE)
        return INFINITE;
    if (now >= deadline)
        return 0;
    ms = (deadline - now - 1) / NS_PER_MS + 1;
    return (DWORD)(ms < longest ? ms : longest);
}

static bool os_has_passed(uint64_t deadline)
{
    return deadline != PAWL_NO_DEADLINE && pawl_os_now() >= deadline;
}

/* ---- Way 1: by address ----------------------------------------------------------------------- */

static bool os_address_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    const wait_on_address wait = (wait_on_address)os_late(WAIT_ON_ADDRESS);
    /* Its clock is coarser than pawl_os_now, and it may time out a little before the deadline. */
    while (!wait(address, &expected, sizeof expected, os_milliseconds_until(deadline)))
        if (os_has_passed(deadline))
            return false;
    return true;
}

/* A process has fewer threads than this, so more requests than this wake no other thread. */
#define MORE_THAN_ALL 65536u

/* The system does not tell the number of woken threads; see pawl_os_wake in os.h. */
static unsigned os_address_wake(const uint32_t *address, unsigned count)
{
    void *place = (void *)(uintptr_t)address;
    if (count >= MORE_THAN_ALL)
        ((on_pointer)os_late(WAKE_ALL_BY_ADDRESS))(place);
    else
        for (unsigned i = 0; i < count; i++)
            ((on_pointer)os_late(WAKE_ONE_BY_ADDRESS))(place);
    return 0;
}

/* ---- Events: a thread keeps its event; when it ends, another thread gets it. Events are never
 * closed. A waker may set one after its sleeper has gone. The program may already have another
 * object with the number of a closed handle. If a late waker has set a sleeper's event, the sleeper
 * looks again, and sleeps on. ------------------------------------------------------------------ */

struct os_event_box {
    struct os_event_box *next;
    HANDLE event;
};

/* On a system of one CPU a thread of higher priority would spin for ever: it sleeps. */
static void os_latch_rest(unsigned tries)
{
    if (tries < 64)
        pawl_cpu_relax();
    else
        Sleep(tries < 1024 ? 0 : 1);
}

#define OS_LATCH_REST os_latch_rest
#include "latch.h"

static struct {
    struct os_latch latch;
    struct os_event_box *spare;
    struct os_event_box *fresh, *fresh_end; /* room for boxes that have no event yet */
} os_events;

#define BOXES_AT_ONCE 256

static void os_give_event_back(struct os_event_box *box)
{
    os_latch_enter(&os_events.latch);
    box->next = os_events.spare;
    os_events.spare = box;
    os_latch_leave(&os_events.latch);
}

static struct os_event_box *os_new_box(void)
{
    const HANDLE event = CreateEventA(NULL, FALSE, FALSE, NULL);
    struct os_event_box *box = NULL;
    if (event == NULL)
        return NULL;
    os_latch_enter(&os_events.latch);
    if (os_events.fresh == os_events.fresh_end) {
        os_events.fresh = (struct os_event_box *)pawl_os_pages(BOXES_AT_ONCE * sizeof *box);
        os_events.fresh_end = os_events.fresh == NULL ? NULL : os_events.fresh + BOXES_AT_ONCE;
    }
    if (os_events.fresh != NULL) {
        box = os_events.fresh++;
        box->event = event;
    }
    os_latch_leave(&os_events.latch);
    if (box == NULL)
        CloseHandle(event); /* no other thread has seen it */
    return box;
}

/* NULL when the system has no more memory or handles. */
static struct os_event_box *os_event_of_thread(void)
{
    struct os_own *mine = os_own();
    if (mine->event == NULL) {
        os_latch_enter(&os_events.latch);
        mine->event = os_events.spare;
        if (mine->event != NULL)
            os_events.spare = mine->event->next;
        os_latch_leave(&os_events.latch);
    }
    if (mine->event == NULL)
        mine->event = os_new_box();
    return mine->event;
}

/* ---- Ways 2 and 3: lists --------------------------------------------------------------------- */

struct os_list_lock {
    void *srw;             /* condition: an SRWLOCK, whose initial value is zero */
    struct os_latch latch; /* event */
};

struct os_bed {
    void *condition;            /* a CONDITION_VARIABLE, whose initial value is zero */
    struct os_event_box *event; /* NULL: the system had none, the sleeper polls */
};

struct os_bell {
    unsigned count;
    HANDLE events[64];
};

static void os_list_enter(struct os_list_lock *lock)
{
    if (os_the_way() == WAY_CONDITION)
        ((on_pointer)os_late(ENTER_SRW_LOCK))(&lock->srw);
    else
        os_latch_enter(&lock->latch);
}

static void os_list_leave(struct os_list_lock *lock)
{
    if (os_the_way() == WAY_CONDITION)
        ((on_pointer)os_late(LEAVE_SRW_LOCK))(&lock->srw);
    else
        os_latch_leave(&lock->latch);
}

static void os_bed_make(struct os_bed *bed)
{
    if (os_the_way() == WAY_EVENT)
        bed->event = os_event_of_thread();
}

static void os_bed_unmake(struct os_bed *bed)
{
    (void)bed;
}

static bool os_bed_sleep(struct os_bed *bed, struct os_list_lock *lock, uint64_t deadline)
{
    const DWORD ms = os_milliseconds_until(deadline);
    if (ms == 0)
        return false;
    if (os_the_way() == WAY_CONDITION) {
        (void)((sleep_condition)os_late(SLEEP_CONDITION))(&bed->condition, &lock->srw, ms, 0);
    } else {
        os_list_leave(lock);
        if (bed->event == NULL)
            Sleep(1);
        else
            (void)WaitForSingleObject(bed->event->event, ms);
        os_list_enter(lock);
    }
    return !os_has_passed(deadline);
}

/* A condition variable lies on its sleeper's stack, so the waker wakes it while the lock keeps that
 * stack there. An event stays for ever, so the waker sets it when the lock is free again. */
static bool os_bell_add(struct os_bell *bell, struct os_bed *bed)
{
    if (os_the_way() == WAY_CONDITION) {
        ((on_pointer)os_late(WAKE_CONDITION))(&bed->condition);
    } else if (bed->event != NULL) {
        if (bell->count == sizeof bell->events / sizeof bell->events[0])
            return false;
        bell->events[bell->count++] = bed->event->event;
    }
    return true;
}

static void os_bell_ring(struct os_bell *bell)
{
    while (bell->count > 0)
        (void)SetEvent(bell->events[--bell->count]);
}

#include "lists.h"

/* ---- The interface --------------------------------------------------------------------------- */

bool pawl_os_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    const DWORD saved = GetLastError();
    const bool in_time = os_the_way() == WAY_ADDRESS ? os_address_wait(address, expected, deadline)
                                                     : os_lists_wait(address, expected, deadline);
    SetLastError(saved);
    return in_time;
}

unsigned pawl_os_wake(const uint32_t *address, unsigned count)
{
    const DWORD saved = GetLastError();
    const unsigned woken = os_the_way() == WAY_ADDRESS ? os_address_wake(address, count)
                                                       : os_lists_wake(address, count);
    SetLastError(saved);
    return woken;
}

/* No thread can wait on a word that two processes share: Windows waits only within the process. So
 * the waiter looks again from time to time, and a wake does nothing. */
bool pawl_os_wait_classes(const uint32_t *address, uint32_t expected, uint32_t classes,
                          uint64_t deadline)
{
    const DWORD saved = GetLastError();
    (void)classes;
    if (pawl_load_relaxed32(address) != expected)
        return true;
    if (!os_has_passed(deadline))
        Sleep(1);
    SetLastError(saved);
    return !os_has_passed(deadline);
}

unsigned pawl_os_wake_classes(const uint32_t *address, uint32_t classes, unsigned count)
{
    (void)address;
    (void)classes;
    (void)count;
    return 0;
}

/* The system cannot move sleepers. */
unsigned pawl_os_requeue(const uint32_t *from, const uint32_t *to, unsigned wake, unsigned move)
{
    (void)to;
    return pawl_os_wake(from, wake > UINT_MAX - move ? UINT_MAX : wake + move);
}

#endif
