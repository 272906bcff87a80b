/* SPDX-License-Identifier: MIT */
/*
 * Windows: a program and a DLL that both carry the library are two worlds. Each has its registry of
 * threads; a thread has a line in each and gives both back; a DLL may come and go. And a program
 * that knows windows.h alone has three names from the DLL of src/win_names.c: it waits and wakes by
 * them as by the header's (wait/win_names.c).
 */
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0602
#endif
#define NAMES_OF_DLL
#include "test.h"

#include <pawl/thread.h>

#include "base/process.h"

#include <windows.h>

static HMODULE module;
static void *(*module_process)(void);
static void *(*module_line)(void);
static uint32_t (*module_owner_of)(const void *line);
static uint32_t (*module_count_up)(unsigned times);

static void (*find(const char *name))(void)
{
    void (*const found)(void) = (void (*)(void))GetProcAddress(module, name);
    must(found != NULL);
    return found;
}

static void load(void)
{
    module = LoadLibraryA("windows_module.dll");
    must(module != NULL);
    module_process = (void *(*)(void))find("module_process");
    module_line = (void *(*)(void))find("module_line");
    module_owner_of = (uint32_t (*)(const void *))find("module_owner_of");
    module_count_up = (uint32_t (*)(unsigned))find("module_count_up");
}

TEST_CASE(each_module_has_a_process_object_of_its_own)
{
    load();
    assert_non_null(module_process());
    assert_ptr_not_equal(module_process(), ipawl_process_());
    assert_ptr_equal(module_process(), module_process());
    assert_true(FreeLibrary(module));
}

struct lines {
    void *here, *there;
};

static void *ask_for_lines(void *place)
{
    struct lines *lines = (struct lines *)place;
    lines->here = ipawl_thread_line_();
    lines->there = module_line();
    must(lines->here != NULL && lines->there != NULL && lines->here != lines->there);
    must(module_owner_of(lines->there) == GetCurrentThreadId());
    return NULL;
}

TEST_CASE(a_thread_that_ends_gives_its_lines_of_all_modules_back)
{
    struct lines lines;
    load();
    test_elsewhere(ask_for_lines, &lines);
    assert_int_equal(((struct pawl_thread_line *)lines.here)->owner, 0);
    assert_int_equal(module_owner_of(lines.there), 0);
    assert_true(FreeLibrary(module));
}

static void use_the_module(void *unused, unsigned index)
{
    (void)module_line();
    for (unsigned i = 0; i < 1000; i++)
        (void)module_count_up(1);
}

TEST_CASE(a_module_may_come_and_go_while_threads_live)
{
    for (unsigned round = 0; round < 5; round++) {
        load();
        (void)module_line(); /* of this thread, which outlives the module */
        test_threads(8, use_the_module, NULL);
        assert_int_equal(module_count_up(0), 8000);
        assert_true(FreeLibrary(module));
    }
}

/* The program's imports, as the loader has found them. */
extern const FARPROC __imp_WaitOnAddress, __imp_WakeByAddressSingle, __imp_WakeByAddressAll;

TEST_CASE(the_names_are_those_of_the_dll)
{
    const HMODULE dll = GetModuleHandleA("pawl_win_names.dll");
    assert_non_null(dll);
    assert_ptr_equal(__imp_WaitOnAddress, GetProcAddress(dll, "WaitOnAddress"));
    assert_ptr_equal(__imp_WakeByAddressSingle, GetProcAddress(dll, "WakeByAddressSingle"));
    assert_ptr_equal(__imp_WakeByAddressAll, GetProcAddress(dll, "WakeByAddressAll"));
}

#include "../wait/win_names.c"
