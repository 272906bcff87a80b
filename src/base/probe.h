/* SPDX-License-Identifier: MIT */
/*
 * Static probes (USDT, provider "pawl") in cold paths: doc/probes.md names them and shows their use
 * with bpftrace. An unused probe is one no-operation instruction. Without systemtap's header there
 * is no instruction.
 */
#ifndef PAWL_PROBE_H
#define PAWL_PROBE_H

#if !PAWL_HOOKS && defined(__has_include)
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#endif
#endif

#ifdef STAP_PROBE1
/* The header's macros use an extension; clang's -Wpedantic warns of it at each use. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif
#define PAWL_PROBE1(name, a) STAP_PROBE1(pawl, name, a)
#define PAWL_PROBE2(name, a, b) STAP_PROBE2(pawl, name, a, b)
#define PAWL_PROBE3(name, a, b, c) STAP_PROBE3(pawl, name, a, b, c)
#else
#define PAWL_PROBE1(name, a) (void)(a)
#define PAWL_PROBE2(name, a, b) ((void)(a), (void)(b))
#define PAWL_PROBE3(name, a, b, c) ((void)(a), (void)(b), (void)(c))
#endif

#endif
