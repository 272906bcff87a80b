/* SPDX-License-Identifier: MIT */
/*
 * Named points at which a test may delay the passing thread. Only libraries that the tests build
 * with PAWL_TEST_POINTS have them.
 */
#ifndef PAWL_POINT_H
#define PAWL_POINT_H

#ifdef PAWL_TEST_POINTS
extern void (*ipawl_test_point_)(const char *name);
#define TEST_POINT(name)                                                                           \
    do {                                                                                           \
        if (ipawl_test_point_ != NULL)                                                             \
            ipawl_test_point_(name);                                                               \
    } while (0)
#else
#define TEST_POINT(name) ((void)0)
#endif

#endif
