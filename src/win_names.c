/* SPDX-License-Identifier: MIT */
/*
 * A DLL of the names in pawl/compat/win_names.h, for programs that cannot be compiled again:
 * Windows 7 takes it for the API set that it lacks (doc/ports.md). win_names.def gives the functions
 * their names, because windows.h declares these.
 */
#include <pawl/compat/win_names.h>

BOOL WINAPI ipawl_dll_wait(volatile void *address, void *compare, SIZE_T size, DWORD milliseconds);
void WINAPI ipawl_dll_wake_one(void *address);
void WINAPI ipawl_dll_wake_all(void *address);

BOOL WINAPI ipawl_dll_wait(volatile void *address, void *compare, SIZE_T size, DWORD milliseconds)
{
    return WaitOnAddress(address, compare, size, milliseconds);
}

void WINAPI ipawl_dll_wake_one(void *address)
{
    WakeByAddressSingle(address);
}

void WINAPI ipawl_dll_wake_all(void *address)
{
    WakeByAddressAll(address);
}
