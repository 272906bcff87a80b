/* SPDX-License-Identifier: MIT */
/*
 * The raw file of a traced process. The recorder maps it shared and writes it while the program
 * runs, so it is complete when the process is killed. `pawl trace` reads it afterwards, makes the
 * trace of it (doc/trace.md) and deletes it. tool/pawl/trace/raw.py has the same layout; the header
 * carries the sizes, so that two that differ are found out.
 *
 *   control   one a process: clock, losses, modules, names, who holds which lock
 *   lanes     one a thread, 68 KiB; one that outgrows it moves to a lane of 1.25 MiB. The next
 *             thread goes on in the lane of one that ended, so lanes outlive threads.
 *   stacks    one a process, allocated when the second thread comes or one waits: stacks of calls,
 *             and for each lock, mode and stack how long it was waited for
 *
 * Only the thread that has a lane writes it. The stacks are all threads', by atomic operations.
 * Times are ticks (clock.h).
 *
 * Memory: all is one sparse file. At most 1024 small and 64 large lanes exist: 148 MiB. A lane is
 * allocated when a thread takes it; where the disk is full the thread is not recorded, and counted.
 */
#pragma once

#include <stdint.h>

#define TRACE_MAGIC UINT64_C(0x3152544c57415021) /* !PAWLTR1 */
#define TRACE_FORMAT 9

enum {
    TRACE_BUCKETS = 168,
    TRACE_HOLDS = 64,
    TRACE_UPGRADES = 16,
    TRACE_WAYS = 4,
    TRACE_SLOTS = 4096,
    TRACE_INITS = 4096,
    TRACE_NAMES = 1024,
    TRACE_NAME_LENGTH = 48,
    TRACE_MODULES = 256,
    TRACE_PATHS = 32768,
    TRACE_SMALL_LANES = 1024,
    TRACE_LARGE_LANES = 64,
    TRACE_SMALL_BYTES = 68 << 10,
    TRACE_LARGE_BYTES = 1280 << 10,
    TRACE_SMALL_SETS = 4,
    TRACE_LARGE_SETS = 64,
    TRACE_SMALL_TABLE = 32, /* edges, blames */
    TRACE_LARGE_TABLE = 512,
    TRACE_LARGE_EDGES = 4096,
    TRACE_SMALL_RING = 64, /* and events of each window */
    TRACE_LARGE_RING = 4096,
    TRACE_FIRST_LOOK = 16, /* take of a thread that has its stack */
    TRACE_CALLERS = 2,
    TRACE_FRAMES = 30, /* of a stack, from the call of the lock outwards */
    TRACE_STACKS = 1024,
    TRACE_WAITED = 2048,
    TRACE_CHAINS = 4
};

/* Kind of lock and mode, in the top byte of a key: the mode in five bits, and in three the type of
 * Pawl's own locks (include/pawl/detail/traced.h); 0: another's. */
enum trace_mode {
    TRACE_MUTEX = 1,
    TRACE_READ,
    TRACE_WRITE,
    TRACE_SPIN,
    TRACE_COND_WAIT,
    TRACE_COND_SIGNAL,
    TRACE_COND_BROADCAST,
    TRACE_BARRIER,
    TRACE_SEM_WAIT,
    TRACE_SEM_POST,
    TRACE_SLEEP,
    TRACE_OUR_READ,
    TRACE_OUR_SEEK,
    TRACE_OUR_WRITE,
    TRACE_OUR_ATOMIC,
    TRACE_MODES
};

#define TRACE_ADDRESS_BITS 56
#define TRACE_MODE_BITS 5
#define TRACE_ADDRESS ((UINT64_C(1) << TRACE_ADDRESS_BITS) - 1)

/* Address of the lock with the mode on top; where it was taken and released. A key without a
 * release has no holds: failed tries, time-outs, signals. */
struct trace_key {
    uint64_t lock, take, release;
};

/* Of a take and its release that were timed: the lock's call, the recorder behind it; the recorder
 * before the release, and the release. */
enum trace_part { TRACE_TAKES, TRACE_SHOWS, TRACE_NOTES, TRACE_DROPS, TRACE_PARTS };

/* A histogram: values 0 to 3, then four buckets for each power of two. The last bucket has all
 * that is longer. */
struct trace_record {
    uint64_t count, hold_sum, hold_max;
    uint64_t waits, wait_sum, wait_max;
    uint64_t first_wait; /* when the first one began */
    uint32_t failed, timeouts, handoffs, overlaps;
    uint32_t threads, last_thread; /* how many threads of this lane; the last of them */
    uint32_t late;                 /* 1: it was in the pool before it had an entry of its own */
    uint32_t beside; /* reads that found a seeker inside, and seeks that found a reader */
    uint32_t kept;   /* long holds in which the thread was only kept off its processor */
    uint32_t woke;   /* holds that went on for long after the thread had woken others in them */
    uint64_t kept_sum, woke_sum; /* of these: the holds; from the wake to the release */
    uint64_t priced;             /* of the count, how many were timed */
    uint64_t part[TRACE_PARTS];  /* and for how long */
    uint32_t hold[TRACE_BUCKETS];
    uint32_t wait[TRACE_BUCKETS];
};

/* What a thread holds, or waits for. */
struct trace_hold {
    uint64_t lock; /* with the mode */
    uint64_t take;
    uint64_t since;  /* when the recorder gave the lock to the program, or when the wait began */
    uint64_t begun;  /* of a wait that is over */
    uint64_t waited; /* ticks; without what the recorder did after the wait */
    uint32_t state;  /* enum trace_state */
    uint32_t writes; /* of the lock, when it was read; for upgrades */
    uint32_t stack;  /* of the wait; 0: not known */
    uint32_t unused;
};

enum trace_state {
    TRACE_HELD = 1,
    TRACE_WAITING = 2,
    TRACE_IN_COND = 4,
    TRACE_HANDED_OFF = 8,
    TRACE_OVERLAPPED = 16,
    TRACE_COUNTED = 32,
    TRACE_BESIDE = 64,
    TRACE_WOKE = 128,
    TRACE_PRICED = 512, /* its take was timed */
    TRACE_AGAIN = 256   /* the thread holds the lock already: a hold inside a hold */
};

/* A lock was taken while another one was held. */
struct trace_edge {
    uint64_t held, taken; /* with modes */
    uint64_t held_site, taken_site;
    uint64_t count;
    uint64_t handed;                /* the held one was released first: hand over hand */
    uint32_t held_life, taken_life; /* of both locks, at the last time */
};

/* The part of waits in which one holder had the lock, or had had it last. */
struct trace_blame {
    uint64_t lock, site, holder; /* the site where the holder had taken it; 0: not known */
    uint64_t count, wait_sum, wait_max;
    uint64_t past_sum; /* of wait_sum: it had released, and the next one did not run yet */
    uint64_t inverted; /* a real-time thread waited for one that is not */
};

/* Written soon after this thread had dropped its read lock. `changed`: another thread wrote in
 * between. */
struct trace_upgrade {
    uint64_t lock; /* with the mode of the write */
    uint64_t read, write;
    uint64_t count, changed, gap_sum;
};

#define TRACE_NOT_KNOWN UINT64_MAX
#define TRACE_REALTIME (UINT64_C(1) << 63)
#define TRACE_PAST (UINT64_C(1) << 62)
#define TRACE_NUMBER(holder) ((holder) >> 48 & 0x3fff)

/* In a window `release` has on top, in units of 16 ticks, what passed until the releasing call was
 * over; 0: not known. */
#define TRACE_SITE_BITS 48
#define TRACE_CALL_UNIT 4

/* One hold, in the order of releases. Events form a ring. The wait is until the hold begins, so it
 * has the recorder's work at its end. */
struct trace_event {
    uint64_t lock; /* with the mode */
    uint64_t take, release;
    uint64_t begun; /* asked for; without a wait: granted */
    uint64_t wait, hold;
};

/*
 * A window: all holds of all threads from one moment on, until a lane has no room for more. Window
 * 0 begins with the recording, window n 2^(n-1) ms later. A lane keeps the last two that it has
 * events of: n is in windows[n % 2].
 *
 * The processor time is read at event 1, 2, 4, 8 and so on: a thread that ran for less than passed
 * was off its processor. Beside it stands how often the thread left the processor of its own
 * accord, and how long it was ready to run and had none: the rest of that time it slept.
 */
struct trace_window {
    uint64_t number, count;
    uint64_t missed;                /* events for which there was no room */
    uint64_t mixed;                 /* 1: of several threads, so the processor times mean nothing */
    uint64_t cpu_first, cpu_last;   /* ns of CLOCK_THREAD_CPUTIME_ID */
    uint64_t at_first, at_last;     /* ticks, when they were read */
    uint64_t left_first, left_last; /* voluntary switches until then */
    uint64_t kept_first, kept_last; /* ns kept off the processor; TRACE_NOT_KNOWN */
};

/* A stack that the thread has had lately, so that it is not unwound again: where its return
 * addresses lie. */
struct trace_chain {
    uint64_t site, frame;  /* the call; the frame of the function that looks */
    uint32_t depth, stack; /* depth 0: none */
    uint64_t at[TRACE_FRAMES];
};

struct trace_lane {
    uint32_t thread;              /* number of the thread that has it, 0: free */
    uint32_t kernel;              /* and its number in the kernel */
    uint32_t threads;             /* that have had it */
    uint32_t depth;               /* of holds */
    uint64_t begun, last;         /* of this thread: first and last call */
    uint64_t alive;               /* ticks of the threads that have left */
    uint64_t ran;                 /* ns of processor time, of these */
    uint64_t cpu_begun, cpu_seen; /* of this thread: at its first call, and lately */
    uint64_t events;              /* written in all */
    uint64_t pairs;               /* released in all */
    uint32_t deep;                /* takes beyond the holds that are remembered */
    uint32_t strange;             /* releases of what the thread does not hold */
    uint32_t reentered; /* calls of handlers that interrupted the recorder; of its own calls */
    uint32_t lost_edges, lost_blames, lost_upgrades;
    uint32_t sets, edges, blames, ring; /* sizes, powers of two */
    uint32_t latest, unused;            /* number of the last thread, which may have ended */
    char name[16];                      /* and what it called itself when it was looked at */
    uint64_t random;
    uint64_t window, window_next; /* number of the present one; ticks when the next one begins */
    struct trace_window windows[2];
    struct trace_chain chains[TRACE_CHAINS];
    struct trace_hold holds[TRACE_HOLDS];
    struct trace_upgrade upgrades[TRACE_UPGRADES];
    struct trace_record pool[TRACE_MODES]; /* what has no record of its own */
    /* keys, records, edges, blames, events, events of windows[0], of windows[1] follow */
};

/* The last holder of a lock whose address falls here. Threads write it without agreement: it is
 * for evidence, never for decisions. */
struct trace_slot {
    uint64_t lock;
    uint64_t
        holder; /* site; the thread's number in 14 bits; TRACE_REALTIME; TRACE_PAST: released */
    uint32_t cpu;
    uint32_t writes;
    uint32_t readers; /* that are in */
    uint32_t seekers;
    uint64_t reader; /* as holder: of Pawl's own locks, beside a seeker or holder that came later */
    uint32_t waiters;
    uint32_t lives; /* goes up when a lock is initialised or destroyed at an address used before */
};

/* Where a lock was initialised, and the block of memory that it lies in. */
struct trace_init {
    uint64_t lock, site;
    uint64_t offset, size, allocated; /* of the lock in the block; its bytes; site. 0: not known */
    uint64_t callers[TRACE_CALLERS];  /* of the function with the site, outwards */
};

struct trace_name {
    uint64_t lock;
    char name[TRACE_NAME_LENGTH];
};

struct trace_module {
    uint64_t from, to, file_offset, inode;
    uint32_t path, unused;
};

enum trace_stacks_state {
    TRACE_STACKS_NOT_YET,
    TRACE_STACKS_THERE,
    TRACE_STACKS_NO_ROOM,
    TRACE_STACKS_NO_LIBRARY, /* this C library does not say in which object code lies */
    TRACE_STACKS_UNWANTED,
    TRACE_STACKS_COME /* a thread allocates them */
};

/* Found by its hash, which is taken first. A thread that was killed before it had written the
 * frames leaves a depth of 0. */
struct trace_stack {
    uint64_t hash;                /* of the frames; 0: free */
    uint32_t depth, cut;          /* cut: 1: there were more frames */
    uint64_t frame[TRACE_FRAMES]; /* return addresses; the first is the site */
};

/* A lock, mode and stack. */
struct trace_waited {
    uint64_t hash;  /* of both; 0: free */
    uint64_t lock;  /* with the mode; 0: its thread was killed before it had written it */
    uint64_t stack; /* index in the stacks + 1 */
    uint64_t count, wait_sum, wait_max;
    uint64_t taken; /* takes without a wait, of those that were looked at */
};

struct trace_stacks {
    struct trace_stack stack[TRACE_STACKS];
    struct trace_waited waited[TRACE_WAITED];
};

struct trace_control {
    uint64_t magic;
    uint32_t format, control_bytes, lane_bytes, record_bytes;
    uint32_t pid, parent;
    uint32_t enabled; /* pawl trace clears it to stop the recording */
    uint32_t is_tsc;
    uint64_t ticks_begun, ns_begun; /* the same moment, CLOCK_MONOTONIC */
    uint64_t ticks_seen, ns_seen;   /* a later one */
    uint64_t realtime_begun;
    uint32_t small_lanes, large_lanes; /* allocated */
    uint32_t threads;                  /* numbers given out */
    uint32_t without_lane;             /* calls of threads that found no lane */
    uint32_t no_room;                  /* lanes that the disk had no room for */
    uint32_t busy;                     /* looks at a table that another thread changed */
    uint32_t lost_names, lost_modules;
    uint32_t modules, paths_used, maps_read, ended;
    uint32_t stacks; /* enum trace_stacks_state */
    uint32_t
        stack_every; /* takes without a wait, of which one has its stack; 0: some of each thread */
    uint32_t lost_stacks; /* waits and takes whose stack had no room, or could not be read */
    uint32_t own_ticks;   /* what the recorder does before a hold begins takes at least so long */
    uint32_t alone[TRACE_PARTS]; /* parts of a call of a lock that no other thread has */
    uint32_t looks, unused;      /* of these: the looks at the clock, of each part */
    uint32_t seccomp;            /* mode of it when the recording began */
    uint32_t sandboxed;          /* 0; from a sandbox on 1, and 1 for each child of fork */
    char program[256];
    char paths[TRACE_PATHS];
    struct trace_module module[TRACE_MODULES];
    struct trace_name names[TRACE_NAMES];
    struct trace_init inits[TRACE_INITS];
    struct trace_slot slots[TRACE_SLOTS];
};
