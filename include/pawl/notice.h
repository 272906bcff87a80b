/* SPDX-License-Identifier: MIT */
/*
 * Waits of event loops: a request stays in the wait list of a word, or in the queue of a lock,
 * while its thread does something else. A wake makes the request's descriptor readable: an eventfd
 * that epoll, poll or io_uring watches.
 *
 * Not for: threads that may sleep (wait.h, lock.h); memory shared between processes.
 *
 *   event loop                                  another thread
 *   pawl_notice_init(&n, eventfd)
 *   pawl_notice_watch(&n, &watch)  -> PENDING
 *   epoll_wait                                  store(word), pawl_wake_one(&word): writes eventfd
 *   read(eventfd), pawl_notice_go_on(&n)  -> READY: nothing is pending, look at the word
 *
 *   pawl_notice_lock64(&n, &l, PAWL_STATE_W)  -> PENDING; epoll_wait, read, go_on  -> READY: held
 *   ... pawl_notice_drop64(&l, PAWL_STATE_W), in any thread
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
 *   I4  A request for a lock is a waiter as any thread, with the same fairness. It claims, and
 *       others claim for it, while it waits, so its owner may find itself granted. Until it goes on
 *       or cancels, a request that was woken or keeps a claim may keep others out.
 *
 * A request belongs to one thread at a time, whichever it is. No call sleeps until a word changes
 * or a lock is dropped. None is for signal handlers. After fork the child has no request: go_on
 * returns REFUSED there, cancel does nothing. The eventfd is the same as the parent's, so a child
 * makes its own. Windows and WebAssembly have no such descriptor: init returns ENOTSUP.
 */
#ifndef PAWL_NOTICE_H
#define PAWL_NOTICE_H

#include <pawl/lock.h>

enum pawl_noticed {
    PAWL_NOTICE_PENDING, /* wait for the descriptor, then go on */
    PAWL_NOTICE_READY,   /* the word differs or a wake came; the lock is granted */
    PAWL_NOTICE_REFUSED  /* not a sound request, another one is pending, or none is (any more) */
};

/* A request. It lies still while it is pending. */
typedef struct pawl_notice {
    pawl_lock64 *lock_; /* NULL: of a word */
    uint32_t state_;    /* enum pawl_state */
    int descriptor_;
    uint64_t opaque_[70];
} pawl_notice;

PAWL_C_BEGIN

/* Makes a request that writes to the descriptor, with nothing pending. 0, or what is wrong: EBADF,
 * EINVAL (it may block, or is for reading only), ENOTSUP. */
PAWL_API int PAWL_SYMBOL_(pawl_notice_init)(struct pawl_notice *n, int descriptor);

PAWL_API enum pawl_noticed PAWL_SYMBOL_(pawl_notice_watch)(struct pawl_notice *n,
                                                           const struct pawl_watch *watch);
PAWL_API enum pawl_noticed PAWL_SYMBOL_(pawl_notice_lock64)(struct pawl_notice *n, pawl_lock64 *l,
                                                            enum pawl_state state);
PAWL_API void PAWL_SYMBOL_(pawl_notice_drop64)(pawl_lock64 *l, enum pawl_state state);
PAWL_API enum pawl_noticed PAWL_SYMBOL_(pawl_notice_go_on)(struct pawl_notice *n);
PAWL_API void PAWL_SYMBOL_(pawl_notice_cancel)(struct pawl_notice *n);

PAWL_C_END

#define pawl_notice_init PAWL_SYMBOL_(pawl_notice_init)

#if PAWL_TOLD_ && !PAWL_HOOKS
#include <pawl/detail/tsan.h>
#define PAWL_NOTICE_TOLD_(what, n) ipawl_told_##what##_(n)
#define PAWL_NOTICE_GIVES_(l, state) ipawl_tsan_before_(&(l)->word, 8, state)
#define PAWL_NOTICE_GETS_(l, state, got) ipawl_tsan_after_(&(l)->word, 8, state, got)
#else
#define PAWL_NOTICE_TOLD_(what, n) ((void)(n))
#define PAWL_NOTICE_GIVES_(l, state) ((void)(l))
#define PAWL_NOTICE_GETS_(l, state, got) ((void)(got))
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

/* U -> the state, as take_read_counted, take_seek, take_write or take_atomic. READY: granted.
 * Acquire, here or where go_on is READY. */
PAWL_INLINE enum pawl_noticed pawl_notice_lock64(struct pawl_notice *n, pawl_lock64 *l,
                                                 enum pawl_state state)
{
    enum pawl_noticed how;
    PAWL_NOTICE_TOLD_(hide, n);
    how = PAWL_SYMBOL_(pawl_notice_lock64)(n, l, state);
    PAWL_NOTICE_TOLD_(show, n);
    if (how == PAWL_NOTICE_READY) {
        PAWL_NOTICE_GIVES_(l, PAWL_STATE_U);
        PAWL_NOTICE_GETS_(l, state, true);
    }
    return how;
}

/* The state that a request was granted -> U, in any thread. Release. A request is no thread, so in
 * the checking variant this alone drops it, and it has no moves there. */
PAWL_INLINE void pawl_notice_drop64(pawl_lock64 *l, enum pawl_state state)
{
    PAWL_NOTICE_GIVES_(l, state);
    PAWL_SYMBOL_(pawl_notice_drop64)(l, state);
    PAWL_NOTICE_GETS_(l, PAWL_STATE_U, false);
}

/* READY: a wake has come, or the lock is granted. PENDING: the request stays. */
PAWL_INLINE enum pawl_noticed pawl_notice_go_on(struct pawl_notice *n)
{
    enum pawl_noticed how;
    PAWL_NOTICE_TOLD_(hide, n);
    how = PAWL_SYMBOL_(pawl_notice_go_on)(n);
    PAWL_NOTICE_TOLD_(show, n);
    if (how == PAWL_NOTICE_READY && n->lock_ != NULL) {
        PAWL_NOTICE_GIVES_(n->lock_, PAWL_STATE_U);
        PAWL_NOTICE_GETS_(n->lock_, (enum pawl_state)n->state_, true);
    }
    return how;
}

/* Nothing is pending afterwards, and the lock is not held. A wake that came before goes on to the
 * next waiter there. */
PAWL_INLINE void pawl_notice_cancel(struct pawl_notice *n)
{
    PAWL_NOTICE_TOLD_(hide, n);
    PAWL_SYMBOL_(pawl_notice_cancel)(n);
    PAWL_NOTICE_TOLD_(show, n);
}

PAWL_INLINE_END

#undef PAWL_NOTICE_TOLD_
#undef PAWL_NOTICE_GIVES_
#undef PAWL_NOTICE_GETS_

#endif
