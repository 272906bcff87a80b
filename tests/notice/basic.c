/* SPDX-License-Identifier: MIT */
/* Requests at words: a wake makes their descriptor readable. */
#include "notice/eventfd.h"

#include <sys/syscall.h>
#if defined(__linux__) && __has_include(<linux/io_uring.h>)
#include <linux/io_uring.h>
#include <sys/mman.h>
#endif

static uint64_t word __attribute__((aligned(8)));

#define HERE UINT64_C(0x0101010101010101) /* of either byte order */

static struct pawl_watch watch_of(uint32_t bits)
{
    const uint64_t mask = UINT64_MAX >> (64 - bits);
    const struct pawl_watch watch = {&word, HERE & mask, mask, bits};
    word = HERE;
    return watch;
}

static enum pawl_noticed watch_word(pawl_notice *asker)
{
    const struct pawl_watch watch = watch_of(64);
    return pawl_notice_watch(asker, &watch);
}

EVENT_CASE(a_wake_makes_the_descriptor_readable)
{
    for (uint32_t bits = 8; bits <= 64; bits *= 2) {
        const struct pawl_watch watch = watch_of(bits);
        assert_int_equal(pawl_notice_watch(n, &watch), PAWL_NOTICE_PENDING);
        assert_int_equal(pawl_notice_go_on(n), PAWL_NOTICE_PENDING);
        assert_false(is_readable_within(0));
        errno = 7;
        assert_int_equal(pawl_wake_one(&word), 1);
        assert_int_equal(errno, 7);
        assert_true(is_readable_within(0));
        hear();
        assert_int_equal(pawl_notice_go_on(n), PAWL_NOTICE_READY);
        assert_int_equal(pawl_wake_all(&word), 0);
    }
}

EVENT_CASE(a_word_that_differs_is_ready_at_once)
{
    const struct pawl_watch watch = watch_of(64);
    word = 2;
    assert_int_equal(pawl_notice_watch(n, &watch), PAWL_NOTICE_READY);
    assert_false(is_readable_within(0));
    assert_int_equal(pawl_wake_all(&word), 0);
}

EVENT_CASE(a_wake_picks_the_oldest_and_by_bits)
{
    const struct pawl_watch odd = {&word, 1, 1, 64}, even = {&word, 0, 2, 64};
    word = 1;
    assert_int_equal(pawl_notice_watch(n, &odd), PAWL_NOTICE_PENDING);
    assert_int_equal(pawl_notice_watch(&n[1], &even), PAWL_NOTICE_PENDING);
    assert_int_equal(pawl_wake_bits(&word, 2, 1), 1);
    assert_int_equal(pawl_notice_go_on(n), PAWL_NOTICE_PENDING);
    assert_int_equal(pawl_notice_go_on(&n[1]), PAWL_NOTICE_READY);
    assert_int_equal(pawl_notice_watch(&n[1], &even), PAWL_NOTICE_PENDING);
    assert_int_equal(pawl_wake_one(&word), 1);
    assert_int_equal(pawl_notice_go_on(n), PAWL_NOTICE_READY);
    pawl_notice_cancel(&n[1]);
}

EVENT_CASE(a_cancelled_request_is_in_no_list_and_hands_its_wake_on)
{
    assert_int_equal(watch_word(n), PAWL_NOTICE_PENDING);
    pawl_notice_cancel(n);
    assert_int_equal(pawl_wake_all(&word), 0);
    assert_int_equal(watch_word(n), PAWL_NOTICE_PENDING);
    assert_int_equal(watch_word(&n[1]), PAWL_NOTICE_PENDING);
    assert_int_equal(pawl_wake_one(&word), 1);
    pawl_notice_cancel(n);
    assert_int_equal(pawl_notice_go_on(&n[1]), PAWL_NOTICE_READY);
}

EVENT_CASE(a_request_moves_to_another_word)
{
    uint64_t other = 0;
    assert_int_equal(watch_word(n), PAWL_NOTICE_PENDING);
    assert_int_equal(pawl_requeue(&word, &other, 0, 1), 1);
    assert_int_equal(pawl_wake_all(&word), 0);
    assert_int_equal(pawl_wake_all(&other), 1);
    assert_int_equal(pawl_notice_go_on(n), PAWL_NOTICE_READY);
    assert_int_equal(pawl_wake_all(&other), 0);
}

static void *wake(void *unused)
{
    must(pawl_wake_one(&word) == 1);
    return unused;
}

EVENT_CASE(a_waker_does_not_wait_for_a_full_descriptor)
{
    const uint64_t most = UINT64_MAX - 1;
    assert_int_equal(watch_word(n), PAWL_NOTICE_PENDING);
    assert_int_equal(write(event, &most, sizeof most), sizeof most);
    test_join(test_start(wake, NULL));
    assert_int_equal(pawl_notice_go_on(n), PAWL_NOTICE_READY);
}

TEST_CASE(a_wake_ends_the_request_although_its_descriptor_was_closed)
{
    assert_int_equal(make_event(NULL), 0);
    assert_int_equal(watch_word(n), PAWL_NOTICE_PENDING);
    assert_int_equal(close(event), 0);
    assert_int_equal(pawl_wake_one(&word), 1);
    assert_int_equal(pawl_notice_go_on(n), PAWL_NOTICE_READY);
}

TEST_CASE(a_pipe_serves_as_well)
{
    uint64_t told;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pawl_notice_init(n, ends[1]), EINVAL); /* a write may block */
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(pawl_notice_init(n, ends[1]), 0);
    assert_int_equal(watch_word(n), PAWL_NOTICE_PENDING);
    assert_int_equal(pawl_wake_one(&word), 1);
    assert_int_equal(read(ends[0], &told, sizeof told), sizeof told);
    assert_int_equal(told, 1);
    assert_int_equal(pawl_notice_go_on(n), PAWL_NOTICE_READY);
    assert_int_equal(close(ends[0]) + close(ends[1]), 0);
}

static int has_no_request_but_its_own(void)
{
    must(pawl_wake_all(&word) == 0);
    must(pawl_notice_go_on(n) == PAWL_NOTICE_REFUSED);
    pawl_notice_cancel(&n[1]);
    must(make_event(NULL) == 0);
    must(watch_word(n) == PAWL_NOTICE_PENDING);
    must(pawl_wake_all(&word) == 1);
    must(pawl_notice_go_on(n) == PAWL_NOTICE_READY);
    return 0;
}

EVENT_CASE(the_child_of_a_fork_has_no_request)
{
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(watch_word(&n[i]), PAWL_NOTICE_PENDING);
    assert_int_equal(test_fork(has_no_request_but_its_own), 0);
    assert_false(is_readable_within(0));
    assert_int_equal(pawl_wake_all(&word), 2);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pawl_notice_go_on(&n[i]), PAWL_NOTICE_READY);
}

/* Ten ways to go wrong; the checking variant reports those that are in the program (misuse.c). */
EVENT_CASE(what_cannot_be_is_refused)
{
    static pawl_notice never;
    const struct pawl_watch watch = watch_of(64);
    const struct pawl_watch odd = {&word, HERE, UINT64_MAX, 63};
    const struct pawl_watch misaligned = {(const char *)&word + 4, HERE, UINT64_MAX, 64};
    assert_int_equal(pawl_notice_init(NULL, event), EINVAL);
    assert_int_equal(pawl_notice_init(n, -1), EBADF);
    const int reading = open("/dev/null", O_RDONLY | O_NONBLOCK);
    assert_int_equal(pawl_notice_init(n, reading), EINVAL);
    assert_int_equal(close(reading), 0);
    assert_int_equal(pawl_notice_init(n, reading), EBADF);
    pawl_notice *const unmade[] = {n, NULL, &never};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(pawl_notice_go_on(unmade[i]), PAWL_NOTICE_REFUSED);
        assert_int_equal(pawl_notice_watch(unmade[i], &watch), PAWL_NOTICE_REFUSED);
        pawl_notice_cancel(unmade[i]);
    }
    assert_int_equal(pawl_notice_init(n, event), 0);
    assert_int_equal(pawl_notice_watch(n, NULL), PAWL_NOTICE_REFUSED);
    assert_int_equal(pawl_notice_watch(n, &odd), PAWL_NOTICE_REFUSED);
    assert_int_equal(pawl_notice_watch(n, &misaligned), PAWL_NOTICE_REFUSED);
    assert_int_equal(pawl_notice_watch(n, &watch), PAWL_NOTICE_PENDING);
    assert_int_equal(pawl_notice_watch(n, &watch), PAWL_NOTICE_REFUSED); /* the first one stays */
    assert_int_equal(pawl_wake_one(&word), 1);
    assert_int_equal(pawl_notice_go_on(n), PAWL_NOTICE_READY);
    assert_int_equal(pawl_notice_go_on(n), PAWL_NOTICE_REFUSED);
    pawl_notice_cancel(n);
}

#if defined(IORING_OFF_SQES) && defined(__NR_io_uring_setup)

static void *map(int ring, size_t size, off_t offset)
{
    void *const at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, offset);
    must(at != MAP_FAILED);
    return at;
}

/* By hand, so that the test needs no library: one read of the eventfd is in the ring. */
EVENT_CASE(io_uring_reads_the_descriptor)
{
    struct io_uring_params p;
    uint64_t count = 0;
    memset(&p, 0, sizeof p);
    const int ring = (int)syscall(__NR_io_uring_setup, 1, &p);
    if (ring == -1) {
        print_message("the kernel refuses io_uring: %s\n", strerror(errno));
        skip();
    }
    char *const sq = (char *)map(ring, p.sq_off.array + sizeof(uint32_t), IORING_OFF_SQ_RING);
    char *const cq = (char *)map(ring, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe),
                                 IORING_OFF_CQ_RING);
    struct io_uring_sqe *const entry =
        (struct io_uring_sqe *)map(ring, sizeof *entry, (off_t)IORING_OFF_SQES);
    const struct io_uring_cqe *const done =
        (const struct io_uring_cqe *)(void *)(cq + p.cq_off.cqes);
    memset(entry, 0, sizeof *entry);
    entry->opcode = IORING_OP_READ;
    entry->fd = event;
    entry->addr = (uintptr_t)&count;
    entry->len = sizeof count;
    *(uint32_t *)(void *)(sq + p.sq_off.array) = 0;
    __atomic_store_n((uint32_t *)(void *)(sq + p.sq_off.tail), 1, __ATOMIC_RELEASE);
    assert_int_equal(fcntl(event, F_SETFL, 0), 0); /* else the read would end at once: EAGAIN */
    assert_int_equal(syscall(__NR_io_uring_enter, ring, 1, 0, 0, NULL, 0), 1);
    assert_int_equal(fcntl(event, F_SETFL, O_NONBLOCK), 0);

    assert_int_equal(watch_word(n), PAWL_NOTICE_PENDING);
    const pthread_t waker = test_start(wake, NULL);
    assert_int_equal(syscall(__NR_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0), 0);
    assert_int_equal(done->res, sizeof count);
    assert_int_equal(count, 1);
    assert_int_equal(pawl_notice_go_on(n), PAWL_NOTICE_READY);
    test_join(waker);
    assert_int_equal(close(ring), 0);
}

#endif

TEST_MAIN()
