/* SPDX-License-Identifier: MIT */
/*
 * A scene is a small program of two to four threads over one primitive. It calls the library as a
 * user would, keeps what the primitive protects in cells, and says what must hold; every execution
 * is explored by loom, which reports two accesses to a cell of which neither comes first.
 *
 * Everything shared lives in m_memory, or in the process object: zero at the start of an execution.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define M_THREADS 5
#define M_CELLS 4
#define M_DEADLINE 1000000 /* nanoseconds; nobody looks at the clock so often */

union m_memory {
    uint64_t word;
    char bytes[8192] __attribute__((aligned(128)));
};
extern union m_memory m_memory;
extern uint64_t m_word[2];

struct m_scene {
    const char *name;     /* NULL ends a table */
    void (*set_up)(void); /* before the threads run; or NULL */
    void (*threads[M_THREADS - 1])(void);
    void (*finish)(void); /* when all have ended; or NULL */
    const char *options;  /* bounds, as behind the name of a model */
};

/* The scene's memory as its own type. */
#define M_SCENE(type) ((type *)(void *)&m_memory)

/* Gives the first threads their lines (thread.h), before they run. */
void m_register_threads(uint32_t threads);

/* Right after its next access of that tag (enum pawl_tag) the calling thread is interrupted by a
 * signal handler, once. */
void m_handle(uint32_t tag, void (*handler)(void));

/* Those threads have lines of entries (PAWL_ENTRIES), or get them by their first drop of R, which
 * then sets BIASED, too. */
void m_readers_scale(uint32_t threads, bool from_the_first_drop);

/* No entry has a lock, and no line has a waiter or is hidden. */
bool m_entries_are_free(void);

/* ---- What the harness offers (src/scene.rs) -------------------------------------------------- */

uint32_t m_me(void); /* 0 to M_THREADS - 1 */

/* Data that is protected by the primitive. A read and a write, or two writes, of which neither is
 * ordered before the other end the model as a data race. */
void m_write(uint32_t cell, uint64_t value);
uint64_t m_read(uint32_t cell);

/* Ends the model unless `holds`; `property` is one of those in README.md. */
void m_demand(bool holds, const char *property, const char *what);

/* The calling thread is about to do this, for the schedule; and it is done, stack and all. */
void m_begin(const char *what);
void m_end(void);

/* The clock goes on, and those whose time is over wake up. */
void m_pass_time(uint64_t nanoseconds);

/* In set_up: who goes to sleep until a deadline sleeps until then, and nobody comes before. */
void m_time_flies(void);

/* In set_up: the library can start no thread of its own (src/threads.rs); what follows is done as
 * this thread, so that a scene can begin with thread n inside something. (And where a scene has one
 * thread, which plays all parts.) */
void m_refuse_threads(void);
void m_become(uint32_t thread);

/* The caller has stored plainly in these bytes, which nobody else touches then: from here on
 * others may meet them as atomics again. */
void m_renew(void *from, size_t bytes);

/* The bytes are no longer mapped in the process of `thread`, or that process has ended: each later
 * access of the thread there, and each wake, ends the model. */
void m_unmap(uint32_t thread, void *from, size_t bytes);

/* The system as the library has asked to be told by it, when ipawl_set_up_ has run: nothing is
 * asked for yet; the calling thread ends; a fork, from the parent's side (thread.c). */
void m_begin_system(void);
void m_thread_ends(void);
void m_before_fork(void);
void m_after_fork(void);

/* Instead of m_after_fork: the calling thread is that of the child (src/fork.rs), until it ends the
 * child. From then on each other thread ends at its next access (m_end_with_the_child), and so the
 * execution does. A child's memory is looked at before its end. */
void m_goes_on_as_child(void);
void m_child_begins(void);
void m_child_ends(void);
bool m_child_is_over(void);
bool m_child_goes_on(void);
void m_end_with_the_child(void);
/* Around what such a thread does. */
void m_lives_in_the_parent(void (*life)(void));

#define M_EXCLUSION "exclusion"
#define M_VISIBILITY "visibility"
#define M_RESTORED "word as found"
#define M_PROGRESS "progress"

/* One step of a thread: a call into the library. */
#define M_STEP(call)                                                                               \
    do {                                                                                           \
        m_begin(#call);                                                                            \
        (void)(call);                                                                              \
        m_end();                                                                                   \
    } while (0)

/* The same with its result: a declaration, an assignment, a demand. Two more statements stand
 * around it, so it needs braces after an if. */
#define M_DO(...)                                                                                  \
    m_begin(#__VA_ARGS__);                                                                         \
    __VA_ARGS__;                                                                                   \
    m_end()
