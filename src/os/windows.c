/* SPDX-License-Identifier: MIT */
/* Windows: threads, time and memory. os/windows_wait.c has the sleep of threads. */
#include "os.h"

#if !PAWL_HOOKS && defined(_WIN32)

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#undef TEXT /* a name in other files of the library */

#define NS_PER_S 1000000000u
#define NS_PER_MS 1000000u

/* ---- Functions that not every Windows has -------------------------------------------------------
 * The library looks them up by name, because a program does not start if it imports a function that
 * its system lacks. It looks up all of them before main, because this needs the loader's lock. A
 * thread that ends may hold that lock while it waits for a lock of this library. */

enum late_function {
    WAIT_ON_ADDRESS,
    WAKE_ONE_BY_ADDRESS,
    WAKE_ALL_BY_ADDRESS,
    ENTER_SRW_LOCK,
    LEAVE_SRW_LOCK,
    SLEEP_CONDITION,
    WAKE_CONDITION,
    PROCESS_OF_THREAD,
    FLS_ALLOC,
    FLS_SET_VALUE,
    FLS_FREE,
    LATE_FUNCTIONS
};

typedef void (*any_function)(void);

static any_function os_look_up(enum late_function which)
{
    static const char *const names[] = {"WaitOnAddress",
                                        "WakeByAddressSingle",
                                        "WakeByAddressAll",
                                        "AcquireSRWLockExclusive",
                                        "ReleaseSRWLockExclusive",
                                        "SleepConditionVariableSRW",
                                        "WakeConditionVariable",
                                        "GetProcessIdOfThread",
                                        "FlsAlloc",
                                        "FlsSetValue",
                                        "FlsFree"};
    /* Not the API set of the waits: on Windows 7 that may be this module itself (win_names.c). */
    static const char *const modules[] = {"kernelbase.dll", "kernel32.dll"};
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        const HMODULE module = GetModuleHandleA(modules[i]);
        const FARPROC found = module == NULL ? NULL : GetProcAddress(module, names[which]);
        if (found != NULL)
            return (any_function)found;
    }
    return NULL;
}

/* NULL when the system does not have it. Each thread may find it anew: all find the same. */
static any_function os_late(enum late_function which)
{
    enum { ABSENT = 1 };
    static ipawl_address_ found[LATE_FUNCTIONS];
    ipawl_address_ address = PAWL_ADDRESS_(pawl_load_relaxed)(&found[which]);
    if (PAWL_UNLIKELY(address == 0)) {
        address = (ipawl_address_)(uintptr_t)os_look_up(which);
        if (address == 0)
            address = ABSENT;
        PAWL_ADDRESS_(pawl_store_relaxed)(&found[which], address);
    }
    return address == ABSENT ? NULL : (any_function)(uintptr_t)address;
}

static void os_find_functions(void)
{
    for (unsigned which = 0; which < LATE_FUNCTIONS; which++)
        (void)os_late((enum late_function)which);
}

/* ---- The thread's slot --------------------------------------------------------------------------
 * A module of Windows binds its names to itself. So each EXE and DLL that carries the library has
 * process objects of its own: its own registry of threads and its own wait lists. Only one module
 * may use a lock, unless the library is in a DLL that all its users import. */

struct os_own {
    struct pawl_thread_line *line;
    void *at_exit;              /* the argument of the function at exit; NULL: not armed */
    struct os_event_box *event; /* os/windows_wait.c */
};

#if defined(__clang__)

static _Thread_local struct os_own own_of_thread;

static struct os_own *os_own(void)
{
    return &own_of_thread;
}

#else

/* gcc emulates _Thread_local here. Its emulation allocates when a thread first touches the
 * variable, and registration must not allocate. So this file does by hand the work of code from
 * other compilers. The loader copies the section .tls for each thread, and
 * TEB.ThreadLocalStoragePointer[_tls_index] points to the copy. The three names below are the C
 * runtime's (mingw-w64, tlssup.c). */
extern char *_tls_start;
extern ULONG _tls_index;
static struct os_own own_template __attribute__((section(".tls$PAWL"), used));

static struct os_own *os_own(void)
{
    char *const *modules;
#if defined(__x86_64__)
    __asm__("movq %%gs:0x58, %0" : "=r"(modules));
#elif defined(__i386__)
    __asm__("movl %%fs:0x2c, %0" : "=r"(modules));
#else
#error "gcc for Windows on this processor: where is its TEB? clang knows."
#endif
    return (struct os_own *)(void *)(modules[_tls_index] +
                                     ((uintptr_t)&own_template - (uintptr_t)&_tls_start));
}

#endif

struct pawl_thread_line **pawl_os_thread_slot(void)
{
    return &os_own()->line;
}

/* ---- The end of a thread ------------------------------------------------------------------------
 * The library learns of it in two ways. The values of fibre-local storage have a function that the
 * system calls before it takes the loader's lock. It calls the callbacks of .tls under that lock; a
 * thread that they wait for must not wait for the loader. So the library uses the first way where
 * there is one (Windows Vista). The second way also tells of the end of the module; after that, the
 * function of the first way must not be called. */

typedef DWORD(WINAPI *fls_alloc)(void(WINAPI *)(void *));
typedef BOOL(WINAPI *fls_set_value)(DWORD, void *);
typedef BOOL(WINAPI *fls_free)(DWORD);

static void (*at_thread_end)(void *);
static fls_set_value os_fls_set_value; /* NULL: there is no such storage. Set before main. */
static DWORD os_fls_index;
static bool os_module_ends;

static void os_give_event_back(struct os_event_box *box);

/* How often the function may arm itself again, as POSIX has it for keys. */
#define ROUNDS_AT_THREAD_END 4

static void os_thread_ends(void)
{
    struct os_own *mine = os_own();
    for (unsigned round = 0; round < ROUNDS_AT_THREAD_END && mine->at_exit != NULL; round++) {
        void *value = mine->at_exit;
        mine->at_exit = NULL;
        at_thread_end(value);
    }
    mine->at_exit = NULL;
    if (mine->event != NULL)
        os_give_event_back(mine->event);
    mine->event = NULL;
}

static void WINAPI os_on_fibre_end(void *value)
{
    if (value != NULL && !os_module_ends)
        os_thread_ends();
}

/* The loader calls it in each thread that ends by itself or by ExitThread, before the thread's copy
 * of .tls is gone. It also calls it when the module ends. A thread that TerminateThread ends leaves
 * its line behind. At the end of the process (`at_process_end`) there is nothing to do. */
static void NTAPI os_on_loader_event(PVOID module, DWORD reason, PVOID at_process_end)
{
    (void)module;
    if (reason == DLL_THREAD_DETACH)
        os_thread_ends();
    if (reason == DLL_PROCESS_DETACH && at_process_end == NULL && os_fls_set_value != NULL) {
        os_module_ends = true; /* FlsFree calls the function for the values of all threads */
        (void)((fls_free)os_late(FLS_FREE))(os_fls_index);
    }
}

/* The loader goes through .CRT$XLA to .CRT$XLZ in the order of the names. The C runtime's own
 * callbacks have earlier names; they run destructors that may still use locks. */
extern PIMAGE_TLS_CALLBACK PAWL_SYMBOL_(pawl_on_loader_event);
PIMAGE_TLS_CALLBACK PAWL_SYMBOL_(pawl_on_loader_event)
    __attribute__((section(".CRT$XLY"), used)) = os_on_loader_event;

bool pawl_os_watch_threads(uint32_t *key, void (*at_exit)(void *))
{
    os_find_functions();
    at_thread_end = at_exit;
    if (os_late(FLS_ALLOC) != NULL && os_late(FLS_SET_VALUE) != NULL && os_late(FLS_FREE) != NULL) {
        os_fls_index = ((fls_alloc)os_late(FLS_ALLOC))(os_on_fibre_end);
        if (os_fls_index != FLS_OUT_OF_INDEXES)
            os_fls_set_value = (fls_set_value)os_late(FLS_SET_VALUE);
    }
    *key = 0;
    return true;
}

/* The system may take room for the thread's first such value from its own heap, not from malloc. */
void pawl_os_watch_this_thread(uint32_t key, void *value)
{
    const DWORD saved = GetLastError();
    (void)key;
    os_own()->at_exit = value;
    if (os_fls_set_value != NULL)
        (void)os_fls_set_value(os_fls_index, value);
    SetLastError(saved);
}

/* ---- Time, threads, memory ------------------------------------------------------------------- */

/* The frequency is fixed when the system starts. Whole seconds first: the product of all ticks with
 * 10^9 would overflow within half an hour. */
uint64_t pawl_os_now(void)
{
    static uint64_t frequency __attribute__((aligned(8)));
    uint64_t per_second = pawl_load_relaxed64(&frequency);
    LARGE_INTEGER ticks;
    uint64_t count;

    if (per_second == 0) {
        QueryPerformanceFrequency(&ticks);
        per_second = (uint64_t)ticks.QuadPart;
        pawl_store_relaxed64(&frequency, per_second);
    }
    QueryPerformanceCounter(&ticks);
    count = (uint64_t)ticks.QuadPart;
    return count / per_second * NS_PER_S + count % per_second * NS_PER_S / per_second;
}

void pawl_os_yield(void)
{
    (void)SwitchToThread();
}

uint32_t pawl_os_thread_id(void)
{
    return GetCurrentThreadId();
}

typedef DWORD(WINAPI *process_of_thread)(HANDLE); /* Windows XP cannot tell the thread's process */

/* In doubt it lives: a line that is never taken back costs less than a line with two owners. */
static bool os_handle_lives_here(HANDLE thread)
{
    const process_of_thread ask = (process_of_thread)os_late(PROCESS_OF_THREAD);
    if (ask != NULL) {
        const DWORD process = ask(thread);
        if (process != 0 && process != GetCurrentProcessId())
            return false;
    }
    return WaitForSingleObject(thread, 0) != WAIT_OBJECT_0; /* signalled once it has ended */
}

bool pawl_os_thread_lives(uint32_t id)
{
    const DWORD saved = GetLastError();
    const HANDLE thread = OpenThread(SYNCHRONIZE | THREAD_QUERY_INFORMATION, FALSE, id);
    bool lives = GetLastError() != ERROR_INVALID_PARAMETER; /* which says: no such thread */

    if (thread != NULL) {
        lives = os_handle_lives_here(thread);
        CloseHandle(thread);
    }
    SetLastError(saved);
    return lives;
}

/* Asked once. A program that later moves itself to one CPU loses only some time. */
bool pawl_os_one_cpu(void)
{
    static uint32_t known; /* 1: one CPU, 2: several */
    uint32_t answer = pawl_load_relaxed32(&known);
    if (answer == 0) {
        DWORD_PTR process = 0, machine;
        (void)GetProcessAffinityMask(GetCurrentProcess(), &process, &machine);
        /* 0: it has threads in several groups of processors */
        answer = process != 0 && (process & (process - 1)) == 0 ? 1 : 2;
        pawl_store_relaxed32(&known, answer);
    }
    return answer == 1;
}

void *pawl_os_pages(size_t size)
{
    const DWORD saved = GetLastError();
    void *pages = VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    SetLastError(saved);
    return pages;
}

void pawl_os_give_up_pages(void *pages, size_t size)
{
    const DWORD saved = GetLastError();
    (void)size;
    (void)VirtualFree(pages, 0, MEM_RELEASE);
    SetLastError(saved);
}

/* To take the memory away and to have it again are two steps here, and the second may fail. */
bool pawl_os_return_pages(void *pages, size_t size)
{
    (void)pages;
    (void)size;
    return false;
}

#if PAWL_CHECKED

#include <stdio.h>
#include <string.h>

/* The module and the offset in it, which a debugger or addr2line turns into a line. */
static void os_say_call(ipawl_address_ site, void (*say)(const char *text))
{
    char text[1100];
    char path[1024];
    MEMORY_BASIC_INFORMATION region;
    DWORD length = 0;
    const char *base;

    memset(&region, 0, sizeof region);
    if (VirtualQuery((const void *)(uintptr_t)site, &region, sizeof region) != 0 &&
        region.AllocationBase != NULL)
        length = GetModuleFileNameA((HMODULE)region.AllocationBase, path, sizeof path);
    if (length == 0 || length >= sizeof path) {
        (void)snprintf(text, sizeof text, "%#llx", (unsigned long long)site);
        say(text);
        return;
    }
    base = strrchr(path, '\\');
    base = base == NULL ? path : base + 1;
    (void)snprintf(text, sizeof text, "%s+%#llx", base,
                   (unsigned long long)site - 1 -
                       (unsigned long long)(uintptr_t)region.AllocationBase);
    say(text);
}

void pawl_os_name_calls(const ipawl_address_ *sites, unsigned count, void (*say)(const char *text),
                        uint64_t deadline)
{
    (void)deadline;
    for (unsigned i = 0; i < count && (i == 0 || sites[i] != 0); i++)
        os_say_call(sites[i], say);
}

#endif

#endif
