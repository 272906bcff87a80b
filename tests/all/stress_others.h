/* SPDX-License-Identifier: MIT */
/* The other primitives of stress.c, each with a pair of numbers that only a writer tears, or a sum
 * that each thread adds up for itself. */
#pragma once

#include <pawl/pawl.h>

#include <sys/mman.h>

enum { BITS = 32, BOARD = 64 };

struct pair {
    uint64_t a, b;
};

struct node {
    pawl_rcu_head head; /* first member */
    uint64_t number, complement;
};

struct thing {
    uint64_t number, complement;
    pawl_idtable_entry entry;
    pawl_lock32 lock;
};
PAWL_IDTABLE_TYPE(things, struct thing, entry, lock);

/* The numbers that a thread has added, for the sums at the end. */
struct added {
    int64_t plain, exact, limited;
};

static struct {
    uint32_t bits;
    struct pair by_bit[BITS], by_brlock, by_sift;
    pawl_brlock brlock;
    pawl_sift sift;
    pawl_seq seq;
    pawl_seq_word sequenced[PAWL_SEQ_WORDS(sizeof(struct pair))];
    pawl_counter counter;
    pawl_counter_exact exact;
    pawl_counter_limit limit;
    struct node *node;
    uint32_t nodes, freed, things, removed, released;
    pawl_idtable table;
    uint64_t board[BOARD];
    struct processes {
        pawl_robust_lock robust;
        pawl_pshared_lock64 pshared;
        struct pair by_robust, by_pshared;
        uint32_t stop;
    } *processes; /* in memory that they share */
} others;

static bool is_whole(const struct pair *p)
{
    const uint64_t a = p->a;
    return p->b == a;
}

static bool is_whole_and_written(struct pair *p)
{
    const bool whole = is_whole(p);
    p->a++;
    p->b++;
    return whole;
}

static void free_node(pawl_rcu_head *head)
{
    struct node *const n = (struct node *)(void *)head;
    must(n->complement == ~n->number);
    n->complement = n->number;
    free(n);
    (void)pawl_fetch_add_relaxed32(&others.freed, 1);
}

static struct node *new_node(uint64_t number)
{
    struct node *const n = (struct node *)malloc(sizeof *n);
    must(n != NULL);
    n->number = number;
    n->complement = ~number;
    (void)pawl_fetch_add_relaxed32(&others.nodes, 1);
    return n;
}

static void release_thing(pawl_rcu_head *head)
{
    struct thing *const o = things_of_head(head);
    must(o->complement == ~o->number);
    o->complement = o->number;
    free(o);
    (void)pawl_fetch_add_relaxed32(&others.released, 1);
}

static void others_begin(void)
{
    pawl_idtable_options options;
    pawl_sift_use use;
    memset(&others, 0, sizeof others);
    memset(&options, 0, sizeof options);
    memset(&use, 0, sizeof use);
    options.first = 4;
    options.release = release_thing;
    must(pawl_brlock_init(&others.brlock, PAWL_BRLOCK_LINES) == 0);
    must(pawl_sift_init(&others.sift, &use) == 0);
    must(pawl_idtable_init(&others.table, &options) == 0);
    pawl_seq_init(&others.seq);
    pawl_counter_init(&others.counter);
    pawl_counter_exact_init(&others.exact, PAWL_EXACT_FOLD);
    pawl_counter_limit_init(&others.limit, 1 << 20);
    others.node = new_node(1);
    others.processes = (struct processes *)mmap(
        NULL, sizeof *others.processes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must((void *)others.processes != MAP_FAILED);
    must(pawl_robust_lock_init(&others.processes->robust) == PAWL_ROBUST_OK);
    must(pawl_pshared_lock64_init(&others.processes->pshared));
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void step_bit(uint64_t *random)
{
    const unsigned bit = test_random_below(random, BITS);
    if (test_random_below(random, 4) == 0)
        if (!pawl_bitlock32_take_until(&others.bits, bit, pawl_now() + 50000))
            return;
        else
            must(is_whole_and_written(&others.by_bit[bit]));
    else {
        pawl_bitlock32_take(&others.bits, bit);
        must(is_whole_and_written(&others.by_bit[bit]));
    }
    pawl_bitlock32_drop(&others.bits, bit);
}

static void step_brlock(uint64_t *random)
{
    if (test_random_below(random, 16) == 0) {
        pawl_brlock_take_write(&others.brlock);
        must(is_whole_and_written(&others.by_brlock));
        pawl_brlock_drop_write(&others.brlock);
        return;
    }
    pawl_brlock_take_read(&others.brlock);
    must(is_whole(&others.by_brlock));
    pawl_brlock_drop_read(&others.brlock);
}

static void step_sift(uint64_t *random)
{
    if (test_random_below(random, 4) == 0) {
        pawl_sift_take_write(&others.sift);
        must(is_whole_and_written(&others.by_sift));
        pawl_sift_drop_write(&others.sift);
        return;
    }
    pawl_sift_take_read(&others.sift, PAWL_SIFT_THREAD);
    must(is_whole(&others.by_sift));
    pawl_sift_drop_read(&others.sift, PAWL_SIFT_THREAD);
}

static void step_seq(uint64_t *random)
{
    struct pair copy;
    pawl_seq_word begun;
    if (test_random_below(random, 4) == 0) {
        pawl_seq_take_write(&others.seq);
        pawl_seq_copy_out(&copy, others.sequenced, sizeof copy);
        must(is_whole_and_written(&copy));
        pawl_seq_begin_write(&others.seq);
        pawl_seq_copy_in(others.sequenced, &copy, sizeof copy);
        pawl_seq_end_write(&others.seq);
        pawl_seq_drop_write(&others.seq);
        return;
    }
    do {
        begun = pawl_seq_begin(&others.seq);
        pawl_seq_copy_out(&copy, others.sequenced, sizeof copy);
    } while (pawl_seq_retry(&others.seq, begun));
    must(is_whole(&copy));
}

static void step_counters(uint64_t *random, struct added *added)
{
    const int64_t n = test_random_below(random, 9) - (int64_t)4;
    pawl_counter_add_in_handler(&others.counter, n); /* the handler may come within it */
    added->plain += n;
    pawl_counter_exact_add(&others.exact, n);
    added->exact += n;
    if (pawl_counter_limit_try_add(&others.limit, 3))
        added->limited += 3;
    if (added->limited > 64 && test_random_below(random, 2)) {
        pawl_counter_limit_sub(&others.limit, 64);
        added->limited -= 64;
    }
    if (test_random_below(random, 64) == 0)
        (void)pawl_counter_exact_read(&others.exact);
}

static void step_rcu(uint64_t *random)
{
    if (test_random_below(random, 8) == 0) {
        struct node *const fresh = new_node(test_random(random));
        struct node *const old = __atomic_exchange_n(&others.node, fresh, __ATOMIC_ACQ_REL);
        must(pawl_rcu_call(&old->head, free_node, sizeof *old) == 0);
        return;
    }
    pawl_rcu_read_lock();
    {
        const struct node *const n = pawl_rcu_dereference(others.node);
        must(n->complement == ~n->number);
        if (test_random_below(random, 8) == 0)
            sched_yield();
        must(n->complement == ~n->number);
    }
    pawl_rcu_read_unlock();
    if (test_random_below(random, 512) == 0)
        pawl_rcu_synchronize();
}

static void step_idtable(uint64_t *random)
{
    uint64_t *const seat = &others.board[test_random_below(random, BOARD)];
    const pawl_id id = pawl_load_relaxed64(seat);
    struct thing *o;
    pawl_id fresh;
    switch (test_random_below(random, 8)) {
    case 0:
        o = (struct thing *)malloc(sizeof *o);
        must(o != NULL);
        o->number = test_random(random);
        o->complement = ~o->number;
        pawl_lock32_init(&o->lock);
        must(things_insert(&others.table, o, &fresh) == 0);
        (void)pawl_fetch_add_relaxed32(&others.things, 1);
        pawl_store_relaxed64(seat, fresh);
        break;
    case 1:
        o = things_take_write(&others.table, id);
        if (o != NULL) {
            must(things_remove(&others.table, o));
            (void)pawl_fetch_add_relaxed32(&others.removed, 1);
        }
        break;
    default:
        o = things_take_read(&others.table, id);
        if (o != NULL) {
            must(o->complement == ~o->number);
            things_drop_read(o);
        }
    }
}

/* Threads do this, and processes that may be killed at any instruction of it. */
static void step_robust(uint64_t *random)
{
    struct processes *const s = others.processes;
    const bool writes = test_random_below(random, 2) == 0;
    const enum pawl_robust how =
        writes ? pawl_robust_lock_take_write(&s->robust) : pawl_robust_lock_take_read(&s->robust);
    must(pawl_robust_held(how));
    if (!writes) {
        if (how == PAWL_ROBUST_OK)
            must(is_whole(&s->by_robust));
        must(pawl_robust_lock_drop_read(&s->robust) == PAWL_ROBUST_OK);
        return;
    }
    if (how == PAWL_ROBUST_OWNER_DIED) {
        s->by_robust.b = s->by_robust.a;
        must(pawl_robust_lock_consistent(&s->robust) == PAWL_ROBUST_OK);
    }
    must(is_whole_and_written(&s->by_robust));
    must(pawl_robust_lock_drop_write(&s->robust) == PAWL_ROBUST_OK);
}

static void step_pshared(uint64_t *random)
{
    struct processes *const s = others.processes;
    if (test_random_below(random, 4) == 0) {
        if (!pawl_pshared_lock64_take_write_until(&s->pshared, pawl_now() + 1000000))
            return;
        must(is_whole_and_written(&s->by_pshared));
        pawl_pshared_lock64_drop_write(&s->pshared);
        return;
    }
    pawl_pshared_lock64_take_read(&s->pshared);
    must(is_whole(&s->by_pshared));
    pawl_pshared_lock64_drop_read(&s->pshared);
}

/* ---- The end --------------------------------------------------------------------------------- */

static void others_end(const struct added *all)
{
    pawl_id cursor = PAWL_ID_NONE;
    struct thing *o;
    uint32_t left = 0;
    must(others.bits == 0);
    must(pawl_counter_read(&others.counter) == all->plain);
    must(pawl_counter_exact_read(&others.exact) == all->exact);
    must(pawl_counter_limit_read(&others.limit) == all->limited);
    while ((o = things_next_write(&others.table, &cursor)) != NULL) {
        left++;
        things_drop_write(o);
    }
    must(left == others.things - others.removed);
    pawl_idtable_destroy(&others.table);
    must(pawl_rcu_barrier() == 0);
    must(pawl_load_relaxed32(&others.released) == others.things);
    must(pawl_load_relaxed32(&others.freed) == others.nodes - 1);
    free(others.node);
    pawl_brlock_destroy(&others.brlock);
    pawl_sift_destroy(&others.sift);
    (void)pawl_counter_destroy(&others.counter);
    (void)pawl_counter_exact_destroy(&others.exact);
    (void)pawl_counter_limit_destroy(&others.limit);
    must(munmap(others.processes, sizeof *others.processes) == 0);
}
