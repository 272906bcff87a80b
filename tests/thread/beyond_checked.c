/* SPDX-License-Identifier: MIT */
/* beyond.c under the checking variant, which keeps books for the threads of 1,024 lines. */
#include "thread/beyond.c"
