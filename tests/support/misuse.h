/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the checking variant share: bodies that run in a child process and must be
 * reported, or stay silent, and all operations of transitions.def as tables.
 */
#pragma once

#include <pawl/pawl.h>

#include "test.h"

static char misuse_said[65536];

/* body(argument) must abort, having written all texts (the last is NULL) in this order. */
static inline void assert_reports(void (*body)(void *), void *argument, ...)
{
    const int status = test_in_child(body, argument, misuse_said, sizeof misuse_said);
    const char *from = misuse_said;
    const char *text;
    va_list texts;
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
        fail_msg("did not abort (status %#x); wrote:\n%s", (unsigned)status, misuse_said);
    va_start(texts, argument);
    while ((text = va_arg(texts, const char *)) != NULL) {
        from = strstr(from, text);
        if (from == NULL)
            fail_msg("did not say \"%s\" in its place; wrote:\n%s", text, misuse_said);
        from += strlen(text);
    }
    va_end(texts);
}

/* body(argument) must return, having written `expected` and no more. */
static inline void assert_says_only(void (*body)(void *), void *argument, const char *expected)
{
    const int status = test_in_child(body, argument, misuse_said, sizeof misuse_said);
    if (status != 0)
        fail_msg("ended with status %#x; wrote:\n%s", (unsigned)status, misuse_said);
    assert_string_equal(misuse_said, expected);
}

static inline void assert_silent(void (*body)(void *), void *argument)
{
    assert_says_only(body, argument, "");
}

/* A case whose body runs in a child, and has to be silent, or reported with these texts. */
#define CHILD_CASE_(name, ...)                                                                     \
    static void name##_in_child(void *unused);                                                     \
    TEST_CASE(name)                                                                                \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    static void name##_in_child(void *unused __attribute__((unused)))
#define SILENT_CASE(name) CHILD_CASE_(name, assert_silent(name##_in_child, NULL))
#define REPORTED_CASE(name, ...)                                                                   \
    CHILD_CASE_(name, assert_reports(name##_in_child, NULL, __VA_ARGS__, NULL))

/* Reports of many children need no file and line, which take most of the time. */
static inline void misuse_without_lines(void)
{
    must(setenv("PATH", "/nonexistent", 1) == 0);
}

/* Runs body(argument) in another thread to its end. */
struct misuse_job {
    void (*body)(void *);
    void *argument;
};

static inline void *misuse_job_main(void *opaque)
{
    struct misuse_job *job = (struct misuse_job *)opaque;
    job->body(job->argument);
    return NULL;
}

static inline void in_another_thread(void (*body)(void *), void *argument)
{
    struct misuse_job job = {body, argument};
    test_elsewhere(misuse_job_main, &job);
}

/* ---- All operations, as tables --------------------------------------------------------------- */

enum misuse_kind { KIND_take, KIND_try, KIND_claim, KIND_drop, KIND_move, KIND_tells };

struct operation {
    const char *name;
    bool (*run)(void *lock); /* true for those that return nothing */
    enum misuse_kind kind;
    enum pawl_state from, to;
};

#define WRAP_void(N, name)                                                                         \
    static bool run##N##_##name(void *lock)                                                        \
    {                                                                                              \
        pawl_spin##N##_##name((pawl_spin##N *)lock);                                               \
        return true;                                                                               \
    }
#define WRAP_bool(N, name)                                                                         \
    static bool run##N##_##name(void *lock)                                                        \
    {                                                                                              \
        return pawl_spin##N##_##name((pawl_spin##N *)lock);                                        \
    }
#define WRAP_pawl_regained(N, name)                                                                \
    static bool run##N##_##name(void *lock)                                                        \
    {                                                                                              \
        return pawl_spin##N##_##name((pawl_spin##N *)lock) == PAWL_REGAIN_KEPT;                    \
    }
#define PAWL_OP(result, name, kind, from, to, cost) WRAP_##result(16, name)
#include <pawl/detail/transitions.def>
#define PAWL_OP(result, name, kind, from, to, cost) WRAP_##result(32, name)
#include <pawl/detail/transitions.def>
#define PAWL_OP(result, name, kind, from, to, cost) WRAP_##result(64, name)
#include <pawl/detail/transitions.def>

#define ROW(N, name, kind, from, to)                                                               \
    {#name, run##N##_##name, KIND_##kind, PAWL_STATE_##from, PAWL_STATE_##to},
static const struct operation operations16[] = {
#define PAWL_OP(result, name, kind, from, to, cost) ROW(16, name, kind, from, to)
#include <pawl/detail/transitions.def>
};
static const struct operation operations32[] = {
#define PAWL_OP(result, name, kind, from, to, cost) ROW(32, name, kind, from, to)
#include <pawl/detail/transitions.def>
};
static const struct operation operations64[] = {
#define PAWL_OP(result, name, kind, from, to, cost) ROW(64, name, kind, from, to)
#include <pawl/detail/transitions.def>
};
enum { OPERATIONS = sizeof operations16 / sizeof operations16[0], WIDTHS = 3 };

static const struct operation *const operations_of[WIDTHS] = {operations16, operations32,
                                                              operations64};

/* The operation of that kind from one state to another. */
static inline const struct operation *find_operation(unsigned width, enum misuse_kind kind,
                                                     enum pawl_state from, enum pawl_state to)
{
    for (unsigned i = 0; i < OPERATIONS; i++) {
        const struct operation *o = &operations_of[width][i];
        if (o->kind == kind && o->from == from && o->to == to)
            return o;
    }
    must(false); /* there is no such operation */
    return NULL;
}

static inline void reach(unsigned width, void *lock, enum pawl_state state)
{
    if (state != PAWL_STATE_U)
        must(find_operation(width, KIND_take, PAWL_STATE_U, state)->run(lock));
}

static inline void leave(unsigned width, void *lock, enum pawl_state state)
{
    if (state != PAWL_STATE_U)
        must(find_operation(width, KIND_drop, state, PAWL_STATE_U)->run(lock));
}
