/* SPDX-License-Identifier: MIT */
/*
 * Windows: a program that knows windows.h alone has its three names from the DLL, and waits and
 * wakes by them as by the header's (wait/win_names.c).
 */
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0602
#endif
#define NAMES_OF_DLL
#include <windows.h>

#include "../wait/win_names.c"

/* What the loader has found for the program's imports. */
extern const FARPROC __imp_WaitOnAddress, __imp_WakeByAddressSingle, __imp_WakeByAddressAll;

TEST_CASE(the_names_are_those_of_the_dll)
{
    const HMODULE dll = GetModuleHandleA("pawl_win_names.dll");
    assert_non_null(dll);
    assert_ptr_equal(__imp_WaitOnAddress, GetProcAddress(dll, "WaitOnAddress"));
    assert_ptr_equal(__imp_WakeByAddressSingle, GetProcAddress(dll, "WakeByAddressSingle"));
    assert_ptr_equal(__imp_WakeByAddressAll, GetProcAddress(dll, "WakeByAddressAll"));
}
