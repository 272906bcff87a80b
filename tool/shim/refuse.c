/* SPDX-License-Identifier: MIT */
/* What both preload libraries say. Without stdio: the program may have replaced malloc, or closed
 * its streams. */
#include "mode.h"

#include <string.h>
#include <unistd.h>

#include "../../src/os/os.h"

void shim_complain(const char *text)
{
    pawl_os_complain(text, strlen(text));
}

void shim_refuse(const char *sentence)
{
    shim_complain("libpawl-preload: ");
    shim_complain(sentence);
    shim_complain(".\n");
    _exit(2);
}
