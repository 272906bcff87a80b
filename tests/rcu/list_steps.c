/* SPDX-License-Identifier: MIT */
/*
 * Readers in the middle of a writer's work on an RCU list or chain. Two operations run one after
 * the other; before them, at one store within them and at a later one, a reader takes some steps,
 * and then goes to the end. For all pairs of operations, all numbers of steps and all stores:
 *
 *   the walk ends; it meets each element that stayed in exactly once, and in order; of an element
 *   and its replacement exactly one; what was added or deleted at most once.
 *
 * One real thread plays both: every store that a reader could see goes through the hook.
 */
#include "test.h"

#include <pawl/rcu_list.h>

enum { FIRST = 4, MOST = 16, MOST_STEPS = 12 };

struct element {
    int number;   /* of its place; -1: added */
    bool touched; /* by a deletion, or it was added: need not be met */
    unsigned met;
    pawl_list link;
    pawl_hlist_node chain;
};

static struct element all[MOST];
static unsigned used;
static struct element *in[FIRST]; /* who stands at the place now */
static unsigned stores;           /* of links that readers follow */
static pawl_list list;
static pawl_hlist chain, other_chain;

/* The reader: which steps it takes when, and where it stands. */
static struct {
    unsigned accesses, first_point, second_point, between, steps;
    bool of_chain, ended;
    pawl_list *node;
    pawl_hlist_node *chain_node; /* NULL: on the head */
    int last;
} reader;

static struct element *element_at(void *node, size_t offset)
{
    return (struct element *)((char *)node - offset);
}

static void meet(struct element *e)
{
    must(++e->met == 1);
    if (e->number >= 0) {
        must(e->number > reader.last);
        reader.last = e->number;
    }
}

static void step(void)
{
    if (reader.ended)
        return;
    must(reader.steps++ < MOST_STEPS);
    if (reader.of_chain) {
        reader.chain_node = reader.chain_node ? reader.chain_node->next : chain.first;
        reader.ended = reader.chain_node == NULL;
        if (!reader.ended)
            meet(element_at(reader.chain_node, offsetof(struct element, chain)));
    } else {
        reader.node = reader.node->next;
        reader.ended = reader.node == &list;
        if (!reader.ended)
            meet(element_at(reader.node, offsetof(struct element, link)));
    }
}

static void steps(unsigned count)
{
    while (count-- > 0)
        step();
}

static void look_at_point(void)
{
    if (reader.accesses == reader.first_point)
        steps(reader.between);
    if (reader.accesses == reader.second_point)
        steps(MOST_STEPS);
    reader.accesses++;
}

uint64_t pawl_hook_atomic(const struct pawl_operation *o)
{
    const uintptr_t value = (uintptr_t)o->operand;
    must(o->kind == PAWL_HOOK_STORE && o->order == PAWL_ORDER_RELEASE && o->width == sizeof value);
    look_at_point();
    memcpy(o->address, &value, sizeof value);
    return 0;
}

/* ---- The writer ------------------------------------------------------------------------------ */

static struct element *new_element(int number)
{
    struct element *e = &all[used++];
    must(used <= MOST);
    memset(e, 0, sizeof *e);
    e->number = number;
    return e;
}

static void add(int place)
{
    struct element *e, *at = place < 0 ? NULL : in[place];
    if (place >= 0 && at == NULL)
        return; /* it was deleted */
    e = new_element(-1);
    e->touched = true;
    stores += 2;
    if (reader.of_chain && at)
        pawl_hlist_add_behind_rcu(&e->chain, &at->chain);
    else if (reader.of_chain)
        pawl_hlist_add_rcu(&e->chain, &chain);
    else
        pawl_list_add_rcu(&e->link, at ? &at->link : &list);
}

static void add_before(int place)
{
    struct element *e, *at = in[place];
    if (at == NULL)
        return;
    e = new_element(-1);
    e->touched = true;
    stores += 2;
    if (reader.of_chain)
        pawl_hlist_add_before_rcu(&e->chain, &at->chain);
    else
        pawl_list_add_tail_rcu(&e->link, &at->link);
}

static void take_out(int place)
{
    struct element *e = in[place];
    if (e == NULL)
        return;
    e->touched = true;
    stores++;
    must(reader.of_chain ? pawl_hlist_del_rcu(&e->chain) : pawl_list_del_rcu(&e->link));
    in[place] = NULL;
}

static void replace(int place)
{
    struct element *e = in[place], *fresh;
    if (e == NULL)
        return;
    fresh = new_element(place);
    stores += 2;
    must(reader.of_chain ? pawl_hlist_replace_rcu(&e->chain, &fresh->chain)
                         : pawl_list_replace_rcu(&e->link, &fresh->link));
    in[place] = fresh;
}

enum { OPERATIONS = 1 + 4 * FIRST };

static void operate(int number)
{
    static void (*const each[])(int) = {add, add_before, take_out, replace};
    if (number == 0)
        add(-1);
    else
        each[(number - 1) / FIRST]((number - 1) % FIRST);
}

static void begin(bool of_chain)
{
    used = 0;
    memset(&reader, 0, sizeof reader);
    reader.first_point = reader.second_point = UINT_MAX;
    pawl_list_init(&list);
    chain.first = other_chain.first = NULL;
    for (int i = 0; i < FIRST; i++) {
        in[i] = new_element(i);
        pawl_list_add_tail_rcu(&in[i]->link, &list);
    }
    for (int i = FIRST - 1; i >= 0; i--)
        pawl_hlist_add_rcu(&in[i]->chain, &chain);
    reader.of_chain = of_chain;
    reader.node = &list;
    reader.last = -1;
    reader.accesses = 0;
    stores = 0;
}

/* Each place that nobody deleted was met once, by whoever stood there. */
static void check_all_met(void)
{
    unsigned met[FIRST] = {0}, i;
    bool touched[FIRST] = {false};
    for (i = 0; i < used; i++)
        if (all[i].number >= 0) {
            met[all[i].number] += all[i].met;
            touched[all[i].number] |= all[i].touched;
        }
    must(reader.ended);
    for (i = 0; i < FIRST; i++)
        must(touched[i] ? met[i] <= 1 : met[i] == 1);
}

/* Runs two operations with the reader at these points; returns the number of points. */
static unsigned run(bool of_chain, int one, int two, unsigned before, unsigned point,
                    unsigned between, unsigned second)
{
    begin(of_chain);
    reader.first_point = point;
    reader.second_point = second;
    reader.between = between;
    steps(before);
    operate(one);
    operate(two);
    unsigned points = reader.accesses;
    must(points == stores); /* none of them was a plain one */
    steps(MOST_STEPS);      /* when its points were not reached */
    check_all_met();
    return points;
}

static uint64_t all_schedules_of(bool of_chain, int one, int two)
{
    const unsigned points = run(of_chain, one, two, 0, UINT_MAX, 0, UINT_MAX);
    uint64_t runs = 0;
    for (unsigned before = 0; before <= FIRST; before++)
        for (unsigned first = 0; first <= points; first++)
            for (unsigned second = first; second <= points; second++)
                for (unsigned between = 0; between <= FIRST + 1; between++, runs++)
                    run(of_chain, one, two, before, first, between, second);
    return runs;
}

static void all_pairs(bool of_chain)
{
    uint64_t runs = 0;
    for (int one = 0; one < OPERATIONS; one++)
        for (int two = 0; two < OPERATIONS; two++)
            runs += all_schedules_of(of_chain, one, two);
    print_message("%" PRIu64 " schedules\n", runs);
    assert_true(runs > 50000);
}

TEST_CASE(a_reader_of_a_list_meets_what_stays_exactly_once)
{
    all_pairs(false);
}

TEST_CASE(a_reader_of_a_chain_meets_what_stays_exactly_once)
{
    all_pairs(true);
}

/* ---- Moving at once to another chain --------------------------------------------------------- */

/* Whatever the reader misses, it meets nothing twice and comes to an end. */
TEST_CASE(a_reader_that_is_moved_to_another_chain_comes_to_its_end)
{
    unsigned before, first, points = 1;
    for (int place = 0; place < FIRST; place++)
        for (before = 0; before <= FIRST; before++)
            for (first = 0; first <= points; first++) {
                struct element *there, *back;
                begin(true);
                there = new_element(-1);
                back = new_element(-1);
                pawl_hlist_add_rcu(&back->chain, &other_chain);
                pawl_hlist_add_rcu(&there->chain, &other_chain);
                reader.accesses = 0;
                reader.first_point = first;
                reader.between = MOST_STEPS;
                steps(before);
                must(pawl_hlist_del_rcu(&in[place]->chain));
                pawl_hlist_add_behind_rcu(&in[place]->chain, &there->chain);
                points = reader.accesses;
                steps(MOST_STEPS);
                assert_true(reader.ended);
                assert_ptr_equal(there->chain.next, &in[place]->chain);
                assert_ptr_equal(in[place]->chain.next, &back->chain);
            }
    assert_int_equal(points, 3);
}

TEST_MAIN()
