// SPDX-License-Identifier: MIT
// The same cases as in refused_sizes.c, whose lines are read again here for the words to expect:
// expect: the lock must be an unsigned int, an unsigned long or a pointer
// expect: the lock must be an unsigned int, an unsigned long or a pointer
// expect: the lock must be an unsigned int, an unsigned long or a pointer
// expect: the lock must be an unsigned int, an unsigned long or a pointer
// expect: the word must have 1, 2 or 4 bytes, or 8 where long has 8
// expect: the checking variant does not know the join and claim states
// expect: (indirection|unary)
// expect: (invalid conversion|cannot convert|no matching function)
#include "refused_sizes.c"
