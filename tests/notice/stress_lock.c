/* SPDX-License-Identifier: MIT */
/*
 * Requests beside threads at the same locks. Two event loops ask for all states, keep what they are
 * granted over a turn of their loop, and cancel now and then. Threads take, drop and hand over.
 * Nobody may find a state beside one that excludes it, and a wake that is lost leaves a loop at a
 * descriptor that nobody writes.
 */
#include "notice/eventfd.h"

enum { LOCKS = 2, REQUESTS = 6, LOOPS = 2, SLEEPERS = 3, ROUNDS = 300 };

static struct {
    pawl_lock64 lock;
    uint32_t inside[5]; /* by state */
} places[LOCKS];
static unsigned rounds;

static uint32_t in(unsigned p, enum pawl_state state)
{
    return __atomic_load_n(&places[p].inside[state], __ATOMIC_SEQ_CST);
}

static void enter(unsigned p, enum pawl_state state)
{
    (void)__atomic_add_fetch(&places[p].inside[state], 1, __ATOMIC_SEQ_CST);
    must(state == PAWL_STATE_W || in(p, PAWL_STATE_W) == 0);
    must(state == PAWL_STATE_A || in(p, PAWL_STATE_A) == 0);
    must((state != PAWL_STATE_S && state != PAWL_STATE_W) || in(p, state) == 1);
    must(state != PAWL_STATE_W || in(p, PAWL_STATE_R) + in(p, PAWL_STATE_S) == 0);
}

static void leave(unsigned p, enum pawl_state state)
{
    (void)__atomic_sub_fetch(&places[p].inside[state], 1, __ATOMIC_SEQ_CST);
}

static enum pawl_state any_state(uint64_t *random)
{
    return (enum pawl_state)(PAWL_STATE_R + (int)test_random_below(random, 4));
}

static void run_thread(uint64_t *random)
{
    static void (*const take[])(pawl_lock64 *) = {NULL, pawl_lock64_take_read,
                                                  pawl_lock64_take_seek, pawl_lock64_take_write,
                                                  pawl_lock64_take_atomic};
    static void (*const drop[])(pawl_lock64 *) = {NULL, pawl_lock64_drop_read,
                                                  pawl_lock64_drop_seek, pawl_lock64_drop_write,
                                                  pawl_lock64_drop_atomic};
    for (unsigned i = 0; i < rounds; i++) {
        const unsigned p = test_random_below(random, LOCKS);
        const enum pawl_state state = any_state(random);
        take[state](&places[p].lock);
        enter(p, state);
        if (state == PAWL_STATE_W && test_random_below(random, 4) == 0)
            usleep(20);
        leave(p, state);
        if (state == PAWL_STATE_W && test_random_below(random, 4) == 0)
            pawl_lock64_hand_off(&places[p].lock);
        drop[state](&places[p].lock);
    }
}

struct request {
    pawl_notice n;
    unsigned place;
    enum pawl_state state;
    enum { IDLE, ASKED, GRANTED } how;
};

static void note(struct request *r, enum pawl_noticed how)
{
    must(how != PAWL_NOTICE_REFUSED);
    r->how = how == PAWL_NOTICE_READY ? GRANTED : ASKED;
    if (r->how == GRANTED)
        enter(r->place, r->state);
}

/* One turn of the loop. Returns whether the request was granted and dropped. */
static bool turn(struct request *r, uint64_t *random)
{
    switch (r->how) {
    case IDLE:
        r->place = test_random_below(random, LOCKS);
        r->state = any_state(random);
        note(r, pawl_notice_lock64(&r->n, &places[r->place].lock, r->state));
        return false;
    case ASKED:
        if (test_random_below(random, 8) == 0) {
            pawl_notice_cancel(&r->n);
            r->how = IDLE;
        } else {
            note(r, pawl_notice_go_on(&r->n));
        }
        return false;
    case GRANTED: break;
    }
    leave(r->place, r->state);
    pawl_notice_drop64(&places[r->place].lock, r->state);
    r->how = IDLE;
    return true;
}

static void run_loop(uint64_t *random)
{
    struct request requests[REQUESTS];
    const int own = eventfd(0, EFD_NONBLOCK);
    struct pollfd look = {own, POLLIN, 0};
    unsigned done = 0;
    uint64_t count;
    for (unsigned i = 0; i < REQUESTS; i++) {
        must(pawl_notice_init(&requests[i].n, own) == 0);
        requests[i].how = IDLE;
    }
    while (done < rounds) {
        bool all_wait = true;
        for (unsigned i = 0; i < REQUESTS; i++) {
            done += turn(&requests[i], random);
            all_wait &= requests[i].how == ASKED;
        }
        if (all_wait)
            must(poll(&look, 1, -1) == 1);
        (void)!read(own, &count, sizeof count);
    }
    for (unsigned i = 0; i < REQUESTS; i++) {
        if (requests[i].how == GRANTED)
            (void)turn(&requests[i], random);
        pawl_notice_cancel(&requests[i].n);
    }
    must(close(own) == 0);
}

static void run(void *unused, unsigned index)
{
    uint64_t random = test_seed() + index;
    if (index < LOOPS)
        run_loop(&random);
    else
        run_thread(&random);
}

TEST_CASE(requests_and_threads_exclude_each_other_and_all_go_on)
{
    const double end = test_now() + test_seconds(0.3);
    for (unsigned i = ROUNDS; test_now() < end; i *= 2) {
        rounds = TEST_SCALE(i);
        test_threads(LOOPS + SLEEPERS, run, NULL);
        for (unsigned p = 0; p < LOCKS; p++) {
            assert_true(pawl_lock64_is_free(&places[p].lock));
            assert_int_equal(places[p].lock.word & PAWL_LOCK_PARKED, 0);
        }
    }
}

TEST_MAIN()
