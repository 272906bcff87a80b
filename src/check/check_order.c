/* SPDX-License-Identifier: MIT */
/*
 * The order of locks. A pair "from, to" says that some thread held `from` when it asked for `to` by
 * an operation that may wait. A chain of pairs may lead from the lock that a thread asks for back
 * to a lock that it holds. Such a chain is a possible deadlock. The checker examines each new pair
 * before it adds it, and before the thread waits.
 *
 * Kinds of waits: any holder can keep out a thread that takes a lock. A thread that drains it (S to
 * W, a try that waits for readers) waits for readers only. A thread that holds S there is in no
 * drainer's way. So pairs have kinds, and two pairs form a chain only where the first pair's wait
 * can be for the second pair's hold. Without kinds, "seek the tree, seek a node, write the tree"
 * would be an inversion with itself.
 */
#include "check.h"

#if PAWL_CHECKED

#include <string.h>

#include "../base/base.h"

PAWL_SHARED_DEFINE(struct pawl_orders, orders_object);

/* The greater kind includes the smaller. */
enum { WAIT_DRAINS, WAIT_TAKES };
enum { HOLD_OTHER, HOLD_READS };

static bool order_is_in_the_way(unsigned wait, unsigned hold)
{
    return wait == WAIT_TAKES || hold == HOLD_READS;
}

static unsigned order_hold_of(unsigned state)
{
    return state == PAWL_STATE_R ? HOLD_READS : HOLD_OTHER;
}

/* ---- The tables: chains of indices, 0 ends --------------------------------------------------- */

static uint32_t order_hashed(uint64_t key, uint32_t size)
{
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % size;
}

static uint32_t *order_lock_chain(struct pawl_orders *o, ipawl_address_ lock)
{
    return &o->lock_chains[order_hashed(lock, PAWL_ORDER_LOCKS)];
}

static uint32_t *order_pair_chain(struct pawl_orders *o, uint32_t from, uint32_t to)
{
    return &o->pair_chains[order_hashed((uint64_t)from << 32 | to, PAWL_ORDER_PAIRS)];
}

static uint32_t order_find_lock(struct pawl_orders *o, ipawl_address_ lock)
{
    uint32_t i = *order_lock_chain(o, lock);
    while (i != 0 && o->locks[i].lock != lock)
        i = o->locks[i].next;
    return i;
}

/* The lock's index, new if need be; 0 when the table is full. */
static uint32_t order_note_lock(struct pawl_orders *o, ipawl_address_ lock, uint32_t bits)
{
    uint32_t *chain = order_lock_chain(o, lock);
    uint32_t i = order_find_lock(o, lock);
    if (i != 0)
        return i;
    if (o->free_locks != 0) {
        i = o->free_locks;
        o->free_locks = o->locks[i].next;
    } else if (o->locks_used < PAWL_ORDER_LOCKS) {
        i = ++o->locks_used;
    } else {
        return 0;
    }
    memset(&o->locks[i], 0, sizeof o->locks[i]);
    o->locks[i].lock = lock;
    o->locks[i].bits = bits;
    o->locks[i].next = *chain;
    *chain = i;
    return i;
}

/* Whether a new pair would add no order. */
static bool order_known_pair(struct pawl_orders *o, uint32_t from, uint32_t to, unsigned hold,
                             unsigned wait)
{
    uint32_t p = from == 0 || to == 0 ? 0 : *order_pair_chain(o, from, to);
    for (; p != 0; p = o->pairs[p].next)
        if (o->pairs[p].from == from && o->pairs[p].to == to && o->pairs[p].hold >= hold &&
            o->pairs[p].wait >= wait)
            return true;
    return false;
}

static void order_link_pair(struct pawl_orders *o, uint32_t p)
{
    struct pawl_order_pair *pair = &o->pairs[p];
    uint32_t *chain = order_pair_chain(o, pair->from, pair->to);
    pair->next = *chain;
    *chain = p;
    pair->out_next = o->locks[pair->from].out;
    pair->in_next = o->locks[pair->to].in;
    o->pairs[pair->out_next].out_previous = p; /* pairs[0] takes the unused writes */
    o->pairs[pair->in_next].in_previous = p;
    o->locks[pair->from].out = p;
    o->locks[pair->to].in = p;
}

static void order_unlink_pair(struct pawl_orders *o, uint32_t p)
{
    struct pawl_order_pair *pair = &o->pairs[p];
    uint32_t *link = order_pair_chain(o, pair->from, pair->to);
    while (*link != p)
        link = &o->pairs[*link].next;
    *link = pair->next;
    if (pair->out_previous != 0)
        o->pairs[pair->out_previous].out_next = pair->out_next;
    else
        o->locks[pair->from].out = pair->out_next;
    if (pair->in_previous != 0)
        o->pairs[pair->in_previous].in_next = pair->in_next;
    else
        o->locks[pair->to].in = pair->in_next;
    o->pairs[pair->out_next].out_previous = pair->out_previous;
    o->pairs[pair->in_next].in_previous = pair->in_previous;
    pair->next = o->free_pairs;
    o->free_pairs = p;
}

/* A zeroed pair; 0 when the table is full. */
static uint32_t order_new_pair(struct pawl_orders *o)
{
    uint32_t p = o->free_pairs;
    if (p != 0)
        o->free_pairs = o->pairs[p].next;
    else if (o->pairs_used < PAWL_ORDER_PAIRS)
        p = ++o->pairs_used;
    if (p != 0)
        memset(&o->pairs[p], 0, sizeof o->pairs[p]);
    return p;
}

/* ---- The search ------------------------------------------------------------------------------ */

static bool order_enter_lock(struct pawl_orders *o, uint32_t *queue_end, uint32_t lock,
                             unsigned wait, uint32_t via)
{
    struct pawl_order_lock *node = &o->locks[lock];
    if (node->seen[wait] == o->search)
        return false;
    node->seen[wait] = o->search;
    node->via[wait] = via;
    o->queue[(*queue_end)++] = lock << 1 | wait;
    return true;
}

/* Breadth first, so the chain it finds is a shortest one. Returns the last step (lock << 1 | wait),
 * from which `via` leads back; 0 when no lock marked as a goal can be reached. */
static uint32_t order_search(struct pawl_orders *o, uint32_t start, unsigned wait)
{
    uint32_t head = 0;
    uint32_t end = 0;
    (void)order_enter_lock(o, &end, start, wait, 0);
    while (head < end) {
        const uint32_t step = o->queue[head++];
        uint32_t p = o->locks[step >> 1].out;
        for (; p != 0; p = o->pairs[p].out_next) {
            const struct pawl_order_pair *pair = &o->pairs[p];
            const struct pawl_order_lock *next = &o->locks[pair->to];
            if (!order_is_in_the_way(step & 1, pair->hold) ||
                !order_enter_lock(o, &end, pair->to, pair->wait, p << 1 | (step & 1)))
                continue;
            if (next->goal == o->search && order_is_in_the_way(pair->wait, next->goal_hold))
                return pair->to << 1 | pair->wait;
        }
    }
    return 0;
}

/* ---- The data of a report, copied while the tables are locked -------------------------------- */

#define LONGEST_CHAIN 12

struct order_step {
    struct pawl_order_pair pair;
    ipawl_address_ from, to;
    uint32_t from_bits, to_bits;
};

struct inversion {
    uint32_t length;                        /* of the chain, which may be longer than `steps` */
    struct order_step steps[LONGEST_CHAIN]; /* the last first */
};

static void order_copy_chain(struct pawl_orders *o, uint32_t step, struct inversion *found)
{
    uint32_t via;
    found->length = 0;
    while ((via = o->locks[step >> 1].via[step & 1]) != 0) {
        const struct pawl_order_pair *pair = &o->pairs[via >> 1];
        if (found->length < LONGEST_CHAIN) {
            struct order_step *copy = &found->steps[found->length];
            copy->pair = *pair;
            copy->from = o->locks[pair->from].lock;
            copy->to = o->locks[pair->to].lock;
            copy->from_bits = o->locks[pair->from].bits;
            copy->to_bits = o->locks[pair->to].bits;
        }
        found->length++;
        step = pair->from << 1 | (via & 1);
    }
}

static void order_report_inversion(struct pawl_check_line *line, const struct pawl_check_call *call,
                                   const struct inversion *found)
{
    const uint32_t kept = found->length < LONGEST_CHAIN ? found->length : LONGEST_CHAIN;
    const uint32_t used = check_used_of(line);

    ipawl_report_begin_("lock-order inversion", call);
    ipawl_report_say_("  while this thread holds\n");
    for (uint32_t i = 0; i < used; i++) {
        const uint32_t what = check_what_of(&line->held[i]);
        if (check_state(what) == PAWL_STATE_U || check_lock_of(&line->held[i]) == 0)
            continue;
        ipawl_report_say_("    %c of ", check_letter(check_state(what)));
        ipawl_report_lock_(check_bits(what), check_lock_of(&line->held[i]));
        ipawl_report_say_(", taken at ");
        ipawl_report_stack_(&line->held[i].stack);
    }
    ipawl_report_say_("  the order was the opposite before:\n");
    if (kept < found->length)
        ipawl_report_say_("    (%u locks more)\n", found->length - kept);
    for (uint32_t i = kept; i-- > 0;) {
        const struct order_step *step = &found->steps[i];
        ipawl_report_say_("    thread %u held %c of ", step->pair.thread,
                          check_letter(step->pair.from_state));
        ipawl_report_lock_(step->from_bits, step->from);
        ipawl_report_say_(", taken at ");
        ipawl_report_stack_(&step->pair.from_stack);
        ipawl_report_say_("      when it asked for %c of ", check_letter(step->pair.to_state));
        ipawl_report_lock_(step->to_bits, step->to);
        ipawl_report_say_(" at ");
        ipawl_report_stack_(&step->pair.to_stack);
    }
    ipawl_report_end_(PAWL_REPORT_FAULT);
}

/* ---- Asking and adding ----------------------------------------------------------------------- */

/* The next lock that the line's thread holds beside the one of the call. */
static const struct pawl_held *order_next_held(const struct pawl_check_line *line,
                                               ipawl_address_ but, uint32_t *i)
{
    const uint32_t used = check_used_of(line);
    while (*i < used) {
        const struct pawl_held *held = &line->held[(*i)++];
        const uint32_t what = check_what_of(held);
        const ipawl_address_ lock = check_lock_of(held);
        if (lock != 0 && lock != but && check_state(what) != PAWL_STATE_U &&
            (what & CHECK_LEAVING) == 0)
            return held;
    }
    return NULL;
}

static bool order_add_pair(struct pawl_orders *o, const struct pawl_held *held,
                           const struct pawl_check_call *call, unsigned wait)
{
    const uint32_t what = check_what_of(held);
    const uint32_t from = order_note_lock(o, check_lock_of(held), check_bits(what));
    const uint32_t to = order_note_lock(o, call->lock, call->bits);
    const uint32_t p = from == 0 || to == 0 ? 0 : order_new_pair(o);
    struct pawl_order_pair *pair = &o->pairs[p];
    if (p == 0)
        return false;
    pair->from = from;
    pair->to = to;
    ipawl_stack_copy_(&pair->from_stack, &held->stack);
    ipawl_stack_take_(call->site, NULL, &pair->to_stack);
    pair->thread = pawl_os_thread_id();
    pair->from_state = (uint8_t)check_state(what);
    pair->to_state = call->to;
    pair->hold = (uint8_t)order_hold_of(check_state(what));
    pair->wait = (uint8_t)wait;
    order_link_pair(o, p);
    return true;
}

/* Marks the held locks whose order before the call's lock is new. */
static bool order_mark_goals(struct pawl_orders *o, const struct pawl_check_line *line,
                             const struct pawl_check_call *call, unsigned wait)
{
    const uint32_t to = order_find_lock(o, call->lock);
    const struct pawl_held *held;
    bool news = false;
    uint32_t i = 0;

    o->search++;
    while ((held = order_next_held(line, call->lock, &i)) != NULL) {
        const unsigned hold = order_hold_of(check_state(check_what_of(held)));
        const uint32_t from = order_find_lock(o, check_lock_of(held));
        struct pawl_order_lock *goal = &o->locks[from];
        if (order_known_pair(o, from, to, hold, wait))
            continue;
        news = true;
        if (from == 0)
            continue;
        if (goal->goal != o->search || goal->goal_hold < hold)
            goal->goal_hold = hold;
        goal->goal = o->search;
    }
    return news;
}

void ipawl_order_check_(struct pawl_check_line *line, const struct pawl_check_call *call,
                        bool drains)
{
    struct pawl_orders *o = orders_here();
    const unsigned wait = drains ? WAIT_DRAINS : WAIT_TAKES;
    const struct pawl_held *held;
    struct inversion found;
    uint32_t start;
    uint32_t last;
    uint32_t i = 0;
    bool full = false;

    found.length = 0;
    if (line->busy != 0 || order_next_held(line, call->lock, &i) == NULL)
        return;
    check_enter(line, &o->lock);
    if (order_mark_goals(o, line, call, wait)) {
        start = order_find_lock(o, call->lock);
        last = start == 0 ? 0 : order_search(o, start, wait);
        if (last != 0)
            order_copy_chain(o, last, &found);
        /* An inversion is added too: the checker does not report it again. */
        for (i = 0; (held = order_next_held(line, call->lock, &i)) != NULL && !full;)
            if (!order_known_pair(o, order_find_lock(o, check_lock_of(held)),
                                  order_find_lock(o, call->lock),
                                  order_hold_of(check_state(check_what_of(held))), wait))
                full = !order_add_pair(o, held, call, wait);
    }
    check_leave(line, &o->lock);
    if (full)
        ipawl_report_warn_(PAWL_WARN_ORDERS);
    if (found.length != 0)
        order_report_inversion(line, call, &found);
}

void ipawl_order_forget_(struct pawl_check_line *line, ipawl_address_ lock)
{
    struct pawl_orders *o = orders_here();
    uint32_t *link;
    uint32_t i;

    if (line->busy != 0)
        return;
    check_enter(line, &o->lock);
    i = order_find_lock(o, lock);
    if (i != 0) {
        while (o->locks[i].out != 0)
            order_unlink_pair(o, o->locks[i].out);
        while (o->locks[i].in != 0)
            order_unlink_pair(o, o->locks[i].in);
        link = order_lock_chain(o, lock);
        while (*link != i)
            link = &o->locks[*link].next;
        *link = o->locks[i].next;
        o->locks[i].next = o->free_locks;
        o->free_locks = i;
    }
    check_leave(line, &o->lock);
}

/* If another thread was changing the tables as the process forked, they are inconsistent, and no
 * thread is left to finish the change. The child begins anew. */
void ipawl_order_after_fork_(void)
{
    struct pawl_orders *o = orders_here();
    if (pawl_load_relaxed32(&o->lock.word) != 0)
        memset(o, 0, sizeof *o);
}

#endif
