/* SPDX-License-Identifier: MIT */
/* What is no lock of plock's does not compile, and the compiler says why. */
#if CASE == 6 /* the checking variant's configuration */
#define PAWL_CONFIG_H
#define PAWL_CHECKED 1
#define PAWL_HOOKS 0
#define PAWL_VALGRIND 0
#define PAWL_VARIANT checked
#endif
#include <pawl/compat/plock.h>

unsigned int word;
unsigned char byte;
unsigned short half;
struct {
    char bytes[3];
} odd;
struct {
    long words[2];
} wide;

void use(void);
void use(void)
{
    pl_take_r(&word);
    pl_drop_r(&word);
    pl_inc_noret(&byte);
#if CASE == 1
    pl_take_r(&byte);
    // expect: the lock must be an unsigned int, an unsigned long or a pointer
#elif CASE == 2
    pl_drop_w(&half);
    // expect: the lock must be an unsigned int, an unsigned long or a pointer
#elif CASE == 3
    if (pl_try_rtos(&wide))
        return;
    // expect: the lock must be an unsigned int, an unsigned long or a pointer
#elif CASE == 4
    pl_take_j(&byte);
    // expect: the lock must be an unsigned int, an unsigned long or a pointer
#elif CASE == 5
    pl_add_noret(&odd, 1);
    // expect: the word must have 1, 2 or 4 bytes, or 8 where long has 8
#elif CASE == 6
    pl_rtoj(&word);
    // expect: the checking variant does not know the join and claim states
#elif CASE == 7
    pl_take_r(word);
    // expect: (indirection|unary)
#elif CASE == 8
    pl_lorw_rdlock(&word);
    // expect: (incompatible pointer type|invalid conversion|cannot convert|no matching function)
#endif
}
