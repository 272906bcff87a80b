/* SPDX-License-Identifier: MIT */
/* Every C++ header of Pawl begins with this: below C++17 one error, and nothing else of it. */
#ifndef PAWL_CXX17_H
#define PAWL_CXX17_H

#if !defined(__cplusplus)
#define PAWL_CXX17_ 0
#error "Pawl's .hpp headers are for C++17 and later; C programs include the .h headers."
#elif __cplusplus < 201703L
#define PAWL_CXX17_ 0
#error "Pawl's C++ interface needs C++17 or later: compile with -std=c++17."
#else
#define PAWL_CXX17_ 1
#endif

#endif
