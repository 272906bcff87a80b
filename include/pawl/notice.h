/* SPDX-License-Identifier: MIT */
/*
 * Waits of event loops: a request stays in the wait list of a word while its thread does something
 * else. A wake makes the request's descriptor readable: an eventfd that epoll, poll or io_uring
 * watches.
 *
 * Not for: threads that may sleep (wait.h); memory shared between processes.
 *
 *   event loop                                  another thread
 *   pawl_notice_init(&n, eventfd)
 *   pawl_notice_watch(&n, &watch)  -> PENDING
 *   epoll_wait                                  store(word), pawl_wake_one(&word): writes eventfd
 *   read(eventfd), pawl_notice_go_on(&n)  -> READY: nothing is pending, look at the word
 *
 * The descriptor is the program's: an eventfd, or, where the system has none, a pipe or a socket.
 * It is non-blocking, and a wake writes the 8 bytes of a uint64_t 1. Several requests may share
 * it: read it first, then go on with each of them. It may be readable for nothing. Cancel all
 * requests before it is closed: its number may be another file's next. A pipe whose reader is gone
 * raises SIGPIPE in the waker.
 *
 * Guarantees
 *   I1  PENDING: each wake that follows, and that picks the request, makes the descriptor readable,
 *       and go_on then sees that. So no wake is lost. READY and REFUSED leave nothing pending, and
 *       the descriptor as it was.
 *   I2  A waker does not wait for the owner of a request: it writes once. go_on and cancel wait at
 *       most for a waker that has picked the request and is about to write.
 *   I3  The request and its address are used until READY or cancel, the descriptor too.
 *
 * A request belongs to one thread at a time, whichever it is. No call sleeps until a word
 * changes. None is for signal handlers. After fork the child has no request: go_on
 * returns REFUSED there, cancel does nothing. The eventfd is the same as the parent's, so a child
 * makes its own. Windows and WebAssembly have no such descriptor: init returns ENOTSUP.
 */
#ifndef PAWL_NOTICE_H
#define PAWL_NOTICE_H

#include <pawl/wait.h>

enum pawl_noticed {
    PAWL_NOTICE_PENDING, /* wait for the descriptor, then go on */
    PAWL_NOTICE_READY,   /* the word differs or a wake came */
    PAWL_NOTICE_REFUSED  /* not a sound request, another one is pending, or none is (any more) */
};

/* A request. It lies still while it is pending. */
typedef struct pawl_notice {
    uint64_t opaque_[72];
} pawl_notice;

PAWL_C_BEGIN

/* Makes a request that writes to the descriptor, with nothing pending. 0, or what is wrong: EBADF,
 * EINVAL (it may block, or is for reading only), ENOTSUP. */
PAWL_API int PAWL_SYMBOL_(pawl_notice_init)(struct pawl_notice *n, int descriptor);

PAWL_API enum pawl_noticed PAWL_SYMBOL_(pawl_notice_watch)(struct pawl_notice *n,
                                                           const struct pawl_watch *watch);
PAWL_API enum pawl_noticed PAWL_SYMBOL_(pawl_notice_go_on)(struct pawl_notice *n);
PAWL_API void PAWL_SYMBOL_(pawl_notice_cancel)(struct pawl_notice *n);

PAWL_C_END

#define pawl_notice_init PAWL_SYMBOL_(pawl_notice_init)

#if PAWL_TOLD_ && !PAWL_HOOKS
#include <pawl/detail/told.h>
#define PAWL_NOTICE_TOLD_(what, n) ipawl_told_##what##_(n)
#else
#define PAWL_NOTICE_TOLD_(what, n) ((void)(n))
#endif

PAWL_INLINE_BEGIN

/* Waits while (word & mask) == value, as pawl_wait_any does for one watch. READY: the word differs
 * already. Else the next wake that picks the request ends the wait, like that of a thread: the
 * word may be unchanged. Orders nothing: load the word with acquire. */
PAWL_INLINE enum pawl_noticed pawl_notice_watch(struct pawl_notice *n,
                                                const struct pawl_watch *watch)
{
    enum pawl_noticed how;
    PAWL_NOTICE_TOLD_(hide, n);
    how = PAWL_SYMBOL_(pawl_notice_watch)(n, watch);
    PAWL_NOTICE_TOLD_(show, n);
    return how;
}

/* READY: a wake has come. PENDING: none has, and the request stays. */
PAWL_INLINE enum pawl_noticed pawl_notice_go_on(struct pawl_notice *n)
{
    enum pawl_noticed how;
    PAWL_NOTICE_TOLD_(hide, n);
    how = PAWL_SYMBOL_(pawl_notice_go_on)(n);
    PAWL_NOTICE_TOLD_(show, n);
    return how;
}

/* Nothing is pending afterwards. A wake that came before goes on to the next waiter there. */
PAWL_INLINE void pawl_notice_cancel(struct pawl_notice *n)
{
    PAWL_NOTICE_TOLD_(hide, n);
    PAWL_SYMBOL_(pawl_notice_cancel)(n);
    PAWL_NOTICE_TOLD_(show, n);
}

PAWL_INLINE_END

#undef PAWL_NOTICE_TOLD_

#endif
