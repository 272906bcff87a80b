/* SPDX-License-Identifier: MIT */
/* fork.c in the checking variant: what the child does is right there too. */
#include "all/fork.c"
