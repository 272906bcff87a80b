/* SPDX-License-Identifier: MIT */
/* All of Pawl, a line per primitive. */
#ifndef PAWL_PAWL_H
#define PAWL_PAWL_H

#include <pawl/bigref.h>  /* big reference count: local until a thread asks for zero */
#include <pawl/bitlock.h> /* any bit of any word as a lock that sleeps */
#include <pawl/brlock.h>  /* big-reader lock: each reader on a cache line of its own */
#include <pawl/cache.h>   /* caches: hits write nothing shared, loads once */
#include <pawl/cond.h>    /* condition variable for these locks, event count */
#include <pawl/counter.h> /* counters: statistics, exact, with a limit; which one: doc/counter.md */
#include <pawl/fences.h>  /* for programs that forbid themselves membarrier (a sandbox) */
#include <pawl/hazard.h>  /* hazard pointers: a reader may sleep with one object */
#include <pawl/idtable.h> /* objects by ID: lookups under RCU that return them locked */
#include <pawl/lock.h>    /* progressive lock that sleeps, with deadlines */
#include <pawl/name.h>    /* names of locks, for the reports of the checking variant */
#include <pawl/notice.h>  /* waits of event loops: a wake makes an eventfd readable */
#include <pawl/rcu.h>     /* read-copy-update: readers without a lock, a fence, a registration */
#include <pawl/rcu_call.h> /* RCU: callbacks and deferred free, after the readers have left */
#include <pawl/rcu_list.h> /* RCU: lists and hash chains */
#include <pawl/robust.h>   /* progressive lock for processes that may be killed */
#include <pawl/seq.h>      /* sequence lock and latch: a small value that readers copy */
#include <pawl/pshared.h>  /* progressive lock for memory that processes share */
#include <pawl/sift.h>     /* reader-writer lock whose readers are threads and signal handlers */
#include <pawl/spin.h>     /* progressive spinlock: read, seek, write, atomic in one word */
#include <pawl/table.h>    /* hash tables: look-ups without a lock, growth without a pause */
#include <pawl/tree.h>    /* ordered trees: look-ups under a lock or none, changes beside readers */
#include <pawl/version.h> /* which Pawl this is */
#include <pawl/wait.h>    /* wait and wake on any address, 8 to 64 bits */

#endif
