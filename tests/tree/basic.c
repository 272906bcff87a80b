/* SPDX-License-Identifier: MIT */
/* Trees: what is found, in which order, what a change touches, and what each mode lets in. */
#include "test.h"

#include <pawl/tree.h>

enum { NODES = 120, LONGEST = 12 };

struct thing {
    int before; /* the node need not come first */
    pawl_tree_node node;
    unsigned char bytes[LONGEST];
    uint32_t length;
    uint64_t number;
    bool in;
};

static struct thing things[NODES];
static pawl_tree tree;

static struct thing *of(pawl_tree_node *n)
{
    return n == NULL ? NULL : PAWL_TREE_OBJECT(struct thing, node, n);
}

static int begin(void **state)
{
    memset(things, 0, sizeof things);
    pawl_tree_init(&tree, PAWL_TREE_NUMBERS);
    return 0;
}

static int end(void **state)
{
    pawl_tree_destroy(&tree);
    return 0;
}

static void put(unsigned i, uint64_t number)
{
    things[i].number = number;
    pawl_tree_insert(&tree, &things[i].node, pawl_tree_number(number));
}

/* ---- The shape ------------------------------------------------------------------------------- */

static pawl_tree_node *plain(pawl_tree_node *word)
{
    return (pawl_tree_node *)((uintptr_t)word & ~(uintptr_t)1);
}

/* All words point back, depths grow, and each part lies above the leaf of its node. Returns the
 * number of leaves, and adds 1 to *own if that of `owner` is among them. */
static unsigned shape(pawl_tree_node *word, uintptr_t up, uint32_t least, unsigned levels,
                      unsigned *deepest)
{
    pawl_tree_node *const n = plain(word);
    if (levels > *deepest)
        *deepest = levels;
    if (n != word) {
        assert_int_equal(n->leaf_up, up);
        return 1;
    }
    assert_int_equal(n->inner_up, up);
    assert_true(n->depth >= least);
    const pawl_tree_node *at = n;
    for (up = n->leaf_up; (up & 2) == 0; up = at->inner_up) {
        at = (const pawl_tree_node *)(up & ~(uintptr_t)3);
        if (at == n)
            break;
    }
    assert_true((up & 2) == 0); /* the leaf is below the part */
    unsigned count = shape(n->branch[0], (uintptr_t)n, n->depth + 1, levels + 1, deepest);
    return count + shape(n->branch[1], (uintptr_t)n | 1, n->depth + 1, levels + 1, deepest);
}

static unsigned depth_of_all(unsigned count)
{
    unsigned deepest = 0;
    if (tree.root[0] == NULL)
        assert_int_equal(count, 0);
    else
        assert_int_equal(shape(tree.root[0], (uintptr_t)tree.root | 2, 0, 0, &deepest), count);
    return deepest;
}

/* ---- A reference: a sorted array ------------------------------------------------------------- */

struct reference {
    struct thing *sorted[NODES];
    unsigned count;
};

static uint32_t kind_now;

static int order(const struct thing *a, const struct thing *b)
{
    if (kind_now == PAWL_TREE_NUMBERS)
        return a->number < b->number ? -1 : a->number > b->number;
    for (uint32_t i = 0; i < a->length * kind_now && i < b->length * kind_now; i++) {
        const int x = a->bytes[i / 8] >> (7 - i % 8) & 1, y = b->bytes[i / 8] >> (7 - i % 8) & 1;
        if (x != y)
            return x - y;
    }
    return a->length < b->length ? -1 : a->length > b->length;
}

static bool begins(const struct thing *a, const struct thing *b)
{
    struct thing cut = *b;
    if (a->length > b->length)
        return false;
    cut.length = a->length;
    return order(a, &cut) == 0;
}

static pawl_tree_key key_of(const struct thing *o)
{
    return kind_now == PAWL_TREE_NUMBERS ? pawl_tree_number(o->number)
                                         : pawl_tree_bytes(o->bytes, o->length);
}

/* Few values, so that keys are equal and begin each other. */
static void make_key(struct thing *o, uint64_t *random)
{
    o->number = test_random_below(random, 40);
    if (test_random_below(random, 2) == 0)
        o->number = o->number << 58 | o->number;
    o->length = test_random_below(random, kind_now == PAWL_TREE_BYTES ? LONGEST : LONGEST * 8);
    for (unsigned i = 0; i < LONGEST; i++)
        o->bytes[i] = test_random_below(random, 8) == 0 ? 0x81 : 0;
}

static void compare(const struct reference *r, const struct thing *key)
{
    struct thing *least = NULL, *most = NULL, *equal = NULL, *best = NULL;
    for (unsigned i = 0; i < r->count; i++) {
        struct thing *const o = r->sorted[i];
        const int side = order(o, key);
        if (side >= 0 && least == NULL)
            least = o;
        if (side <= 0)
            most = o;
        if (side == 0 && equal == NULL)
            equal = o;
        if (begins(o, key) && (best == NULL || o->length > best->length))
            best = o;
    }
    assert_ptr_equal(of(pawl_tree_near(&tree, key_of(key), 0)), least);
    assert_ptr_equal(of(pawl_tree_near(&tree, key_of(key), 1)), most);
    assert_ptr_equal(of(pawl_tree_find(&tree, key_of(key))), equal);
    pawl_rcu_read_lock();
    assert_ptr_equal(of(pawl_tree_get(&tree, key_of(key))), equal);
    pawl_rcu_read_unlock();
    if (kind_now != PAWL_TREE_NUMBERS)
        assert_ptr_equal(of(pawl_tree_match(&tree, key_of(key))), best);
}

static void compare_order(const struct reference *r)
{
    pawl_tree_node *n = pawl_tree_end(&tree, 0);
    for (unsigned i = 0; i < r->count; i++, n = pawl_tree_step(n, 0)) {
        assert_ptr_equal(of(n), r->sorted[i]);
        assert_ptr_equal(of(pawl_tree_step(n, 1)), i == 0 ? NULL : r->sorted[i - 1]);
    }
    assert_null(n);
    assert_ptr_equal(of(pawl_tree_end(&tree, 1)), r->count == 0 ? NULL : r->sorted[r->count - 1]);
}

static void change(struct reference *r, struct thing *o, uint64_t *random)
{
    unsigned i;
    if (o->in) {
        for (i = 0; r->sorted[i] != o; i++)
            continue;
        r->count--;
        memmove(r->sorted + i, r->sorted + i + 1, (r->count - i) * sizeof *r->sorted);
        assert_true(pawl_tree_remove(&tree, &o->node));
        o->in = false;
        return;
    }
    make_key(o, random);
    for (i = 0; i < r->count && order(r->sorted[i], o) <= 0; i++)
        continue;
    if (test_random_below(random, 2) == 0 && i > 0 && order(r->sorted[i - 1], o) == 0) {
        const pawl_tree_node *const there = pawl_tree_insert_unique(&tree, &o->node, key_of(o));
        assert_ptr_equal(there, pawl_tree_find(&tree, key_of(o)));
        return;
    }
    memmove(r->sorted + i + 1, r->sorted + i, (r->count - i) * sizeof *r->sorted);
    r->sorted[i] = o;
    r->count++;
    pawl_tree_insert(&tree, &o->node, key_of(o));
    o->in = true;
}

static void goes_as_a_sorted_array(enum pawl_tree_kind kind)
{
    uint64_t random = test_seed();
    struct reference r;
    struct thing key;
    memset(&r, 0, sizeof r);
    memset(&key, 0, sizeof key);
    kind_now = kind;
    pawl_tree_init(&tree, kind);
    for (unsigned step = 0; step < 6000; step++) {
        const unsigned some = step / 1000 % 2 == 0 ? NODES : 12; /* a full tree, and a thin one */
        change(&r, &things[test_random_below(&random, some)], &random);
        make_key(&key, &random);
        compare(&r, &key);
        if (step % 16 == 0) {
            compare_order(&r);
            (void)depth_of_all(r.count);
        }
    }
    for (unsigned step = 0; step < NODES; step++)
        if (things[step].in)
            change(&r, &things[step], &random);
    assert_null(tree.root[0]);
}

TEST_CASE_WITH(numbers_are_found_and_ordered_as_in_a_sorted_array, begin, end)
{
    goes_as_a_sorted_array(PAWL_TREE_NUMBERS);
}

TEST_CASE_WITH(blocks_are_found_and_ordered_as_in_a_sorted_array, begin, end)
{
    goes_as_a_sorted_array(PAWL_TREE_BYTES);
}

TEST_CASE_WITH(prefixes_are_found_and_matched_as_in_a_sorted_array, begin, end)
{
    goes_as_a_sorted_array(PAWL_TREE_PREFIXES);
}

/* ---- Facts ----------------------------------------------------------------------------------- */

TEST_CASE_WITH(an_empty_tree_has_nothing, begin, end)
{
    assert_null(pawl_tree_find(&tree, pawl_tree_number(1)));
    assert_null(pawl_tree_near(&tree, pawl_tree_number(0), 0));
    assert_null(pawl_tree_near(&tree, pawl_tree_number(UINT64_MAX), 1));
    assert_null(pawl_tree_end(&tree, 0));
    assert_null(pawl_tree_match(&tree, pawl_tree_number(1)));
}

TEST_CASE_WITH(the_drawing_of_the_header_is_what_an_insertion_makes, begin, end)
{
    pawl_tree_node *const two = &things[1].node, *const three = &things[4].node;
    unsigned char before[4][sizeof *two];
    unsigned i, changed = 0;
    put(0, UINT64_C(1) << 61);
    put(1, UINT64_C(2) << 61);
    put(2, UINT64_C(4) << 61);
    put(3, UINT64_C(5) << 61);
    for (i = 0; i < 4; i++)
        memcpy(before[i], &things[i].node, sizeof *two);
    put(4, UINT64_C(3) << 61);
    for (i = 0; i < 4; i++)
        changed += memcmp(before[i], &things[i].node, sizeof *two) != 0;
    assert_int_equal(changed, 1); /* two words of node 2 */
    assert_ptr_equal(tree.root[0], &things[2].node);
    assert_ptr_equal(two->branch[1], three);
    assert_int_equal(three->depth, 2);
    assert_ptr_equal(plain(three->branch[0]), two);
    assert_ptr_equal(plain(three->branch[1]), three);
}

TEST_CASE_WITH(equal_keys_stay_in_their_order_and_are_not_deep, begin, end)
{
    unsigned i;
    pawl_tree_node *n;
    for (i = 0; i < NODES; i++)
        put(i, 7);
    assert_true(depth_of_all(NODES) <= 8);
    for (n = pawl_tree_end(&tree, 0), i = 0; i < NODES; i++, n = pawl_tree_step(n, 0))
        assert_ptr_equal(of(n), &things[i]);
}

TEST_CASE_WITH(a_removal_changes_at_most_seven_nodes, begin, end)
{
    static struct thing before[NODES];
    uint64_t random = test_seed();
    for (unsigned i = 0; i < NODES; i++)
        put(i, test_random(&random));
    for (unsigned i = 0; i < NODES; i++) {
        unsigned changed = 0;
        memcpy(before, things, sizeof things);
        assert_true(pawl_tree_remove(&tree, &things[i].node));
        for (unsigned k = 0; k < NODES; k++)
            changed += memcmp(&before[k], &things[k], sizeof things[k]) != 0;
        assert_true(changed <= 7); /* itself, three around the leaf, three around the part */
        (void)depth_of_all(NODES - 1 - i);
    }
}

TEST_CASE_WITH(the_longest_prefix_of_an_address_is_matched, begin, end)
{
    static const unsigned char ten[4] = {10, 0, 0, 0}, ten_one[4] = {10, 1, 0, 0},
                               asked[4] = {10, 1, 2, 3}, other[4] = {10, 2, 0, 1},
                               strange[4] = {11, 0, 0, 1};
    pawl_tree_init(&tree, PAWL_TREE_PREFIXES);
    pawl_tree_insert(&tree, &things[0].node, pawl_tree_prefix(ten, 8));
    pawl_tree_insert(&tree, &things[1].node, pawl_tree_prefix(ten_one, 16));
    pawl_tree_insert(&tree, &things[2].node, pawl_tree_prefix(asked, 32));
    assert_ptr_equal(of(pawl_tree_match(&tree, pawl_tree_prefix(asked, 32))), &things[2]);
    assert_true(pawl_tree_remove(&tree, &things[2].node));
    assert_ptr_equal(of(pawl_tree_match(&tree, pawl_tree_prefix(asked, 32))), &things[1]);
    assert_ptr_equal(of(pawl_tree_match(&tree, pawl_tree_prefix(other, 32))), &things[0]);
    assert_null(pawl_tree_match(&tree, pawl_tree_prefix(strange, 32)));
    pawl_tree_insert(&tree, &things[3].node, pawl_tree_prefix(ten, 0)); /* the default route */
    assert_ptr_equal(of(pawl_tree_match(&tree, pawl_tree_prefix(strange, 32))), &things[3]);
}

TEST_CASE_WITH(strings_are_ordered_with_the_shorter_first, begin, end)
{
    pawl_tree_init(&tree, PAWL_TREE_BYTES);
    pawl_tree_insert(&tree, &things[0].node, pawl_tree_string("tree"));
    pawl_tree_insert(&tree, &things[1].node, pawl_tree_string("tre"));
    pawl_tree_insert(&tree, &things[2].node, pawl_tree_string(""));
    assert_ptr_equal(of(pawl_tree_end(&tree, 0)), &things[2]);
    assert_ptr_equal(of(pawl_tree_near(&tree, pawl_tree_string("tref"), 1)), &things[0]);
    assert_ptr_equal(of(pawl_tree_find(&tree, pawl_tree_string("tre"))), &things[1]);
    assert_null(pawl_tree_find(&tree, pawl_tree_string("t")));
    assert_ptr_equal(of(pawl_tree_match(&tree, pawl_tree_string("trees"))), &things[0]);
}

/* ---- Walks ----------------------------------------------------------------------------------- */

TEST_CASE_WITH(a_walk_goes_on_when_its_node_is_removed, begin, end)
{
    pawl_tree_walk w, other;
    for (unsigned i = 0; i < 8; i++)
        put(i, i / 2);
    pawl_tree_walk_begin(&tree, &other);
    pawl_tree_walk_begin(&tree, &w);
    assert_ptr_equal(of(pawl_tree_walk_next(&w)), &things[0]);
    assert_true(pawl_tree_remove(&tree, &things[0].node)); /* the one it has returned */
    assert_true(pawl_tree_remove(&tree, &things[1].node)); /* and the ones before it */
    assert_true(pawl_tree_remove(&tree, &things[2].node));
    assert_ptr_equal(of(pawl_tree_walk_next(&w)), &things[3]);
    for (unsigned i = 4; i < 8; i++)
        assert_true(pawl_tree_remove(&tree, &things[i].node));
    assert_null(pawl_tree_walk_next(&w));
    assert_ptr_equal(of(pawl_tree_walk_next(&other)), &things[3]);
    pawl_tree_walk_end(&tree, &w);
    pawl_tree_walk_end(&tree, &other);
    assert_null(tree.walks);
}

/* ---- Modes ----------------------------------------------------------------------------------- */

static void *inserts_what_is_there(void *unused)
{
    must(pawl_tree_insert_unique(&tree, &things[1].node, pawl_tree_number(1)) == &things[0].node);
    return NULL;
}

TEST_CASE_WITH(an_insertion_searches_beside_a_reader, begin, end)
{
    pthread_t thread;
    put(0, 1);
    pawl_lock64_take_read(&tree.lock);
    assert_int_equal(pthread_create(&thread, NULL, inserts_what_is_there, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pawl_lock64_drop_read(&tree.lock);
}

TEST_CASE_WITH(a_look_up_without_a_lock_takes_the_lock_where_parts_go_on_moving, begin, end)
{
    put(0, 1);
    put(1, 2);
    pawl_seq_take_write(&tree.sequence);
    pawl_seq_begin_write(&tree.sequence); /* a mover that is not done */
    pawl_rcu_read_lock();
    assert_ptr_equal(of(pawl_tree_get(&tree, pawl_tree_number(2))), &things[1]);
    pawl_rcu_read_unlock();
    pawl_seq_end_write(&tree.sequence);
    pawl_seq_drop_write(&tree.sequence);
}

TEST_CASE_WITH(a_holder_of_write_changes_several_at_once, begin, end)
{
    put(0, 1);
    pawl_lock64_take_seek(&tree.lock);
    assert_non_null(pawl_tree_find(&tree, pawl_tree_number(1)));
    pawl_lock64_seek_to_write(&tree.lock);
    assert_true(pawl_tree_remove_as(&tree, &things[0].node, PAWL_TREE_HAS_WRITE));
    assert_null(pawl_tree_insert_as(&tree, &things[1].node, pawl_tree_number(2),
                                    PAWL_TREE_HAS_WRITE | PAWL_TREE_UNIQUE));
    pawl_lock64_drop_write(&tree.lock);
    assert_int_equal(depth_of_all(1), 0);
}

static void batch(void *unused, unsigned index)
{
    pawl_lock64_take_atomic(&tree.lock);
    for (unsigned i = index; i < NODES; i += 4)
        must(pawl_tree_insert_as(&tree, &things[i].node, pawl_tree_number(i),
                                 PAWL_TREE_HAS_ATOMIC) == NULL);
    for (unsigned i = index; i < NODES; i += 8)
        must(pawl_tree_remove_as(&tree, &things[i].node, PAWL_TREE_HAS_ATOMIC));
    pawl_lock64_drop_atomic(&tree.lock);
}

TEST_CASE_WITH(batches_change_the_tree_beside_each_other, begin, end)
{
    test_threads(4, batch, NULL);
    (void)depth_of_all(NODES / 2);
}

TEST_MAIN()
