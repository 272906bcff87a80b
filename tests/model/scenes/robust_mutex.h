/* SPDX-License-Identifier: MIT */
/* Threads that end at any access, and the mutexes that outlive them (robust_mutex.c). */
#pragma once

#include "scenes.h"

/* Before the threads run: nobody holds a mutex. */
void m_robust_begin(void);

/* And some of the threads will be mortal. `dies` is what one does when it is killed, before anybody
 * can learn of it. */
void m_robust_mortals(void (*dies)(void));

/* The calling thread, which is not the first one, ends at some access of `life`, or does not. True
 * if it lived to the end; else what it held has been marked. */
bool m_mortal(void (*life)(void));

/* The calling thread, if it is mortal, ends here or does not. Each access of the library calls
 * it. */
void m_live_or_die(void);
