/* SPDX-License-Identifier: MIT */
/*
 * A copy of the library in a plug-in, whose names the loader does not see, and the program's own
 * copy work on one lock. Where the two do not find each other:
 *
 * 1. Readers of the lock scale: its word has BIASED.
 * 2. The program takes R. One of its thread's entries gets the lock; the word has no R.
 * 3. The plug-in tries W. It looks at the entries that it knows, which are its own, and finds none.
 * 4. The writer is in beside the reader. Without entries it sleeps for R instead, in a table of
 *    wait lists that the program does not look at when it drops R.
 */
#include "package/plugins/pairs.c"
