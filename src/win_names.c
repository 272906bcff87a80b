/* SPDX-License-Identifier: MIT */
/*
 * A DLL of the names in pawl/compat/win_names.h, for programs that cannot be compiled again:
 * Windows 7 takes it for the API set that it lacks (doc/ports.md). windows.h declares these names,
 * so only the assembler reads them here.
 */
#include <pawl/compat/win_names.h>

#define EXPORT __declspec(dllexport)

EXPORT BOOL WINAPI ipawl_dll_wait(volatile void *address, void *compare, SIZE_T size,
                                  DWORD milliseconds) __asm__("WaitOnAddress");
EXPORT void WINAPI ipawl_dll_wake_one(void *address) __asm__("WakeByAddressSingle");
EXPORT void WINAPI ipawl_dll_wake_all(void *address) __asm__("WakeByAddressAll");

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
