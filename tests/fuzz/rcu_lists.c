/* SPDX-License-Identifier: MIT */
/*
 * Lists and chains for RCU readers, beside arrays that do the same: contents, order, the way back,
 * and what an operation on a node that is in nothing answers.
 *
 *   input   an operation, the list or chain, a node, a place: a byte each
 */
#include "fuzz/fuzz.h"

#include <pawl/rcu_list.h>

enum { LISTS = 3, NODES = 16, NOWHERE = -1 };

struct element {
    int number;
    pawl_list link;
    pawl_hlist_node chained;
};

static struct {
    pawl_list lists[LISTS];
    pawl_hlist chains[LISTS];
    struct element elements[NODES];
    /* the model: numbers in order; in which list each is */
    int in_list[LISTS][NODES], in_chain[LISTS][NODES];
    unsigned list_length[LISTS], chain_length[LISTS];
    int list_of[NODES], chain_of[NODES];
} now;

/* ---- The model ------------------------------------------------------------------------------- */

static unsigned position(const int *row, unsigned length, int number)
{
    unsigned i;
    for (i = 0; i < length && row[i] != number; i++)
        ;
    must(i < length);
    return i;
}

static void put(int *row, unsigned *length, unsigned at, int number)
{
    memmove(row + at + 1, row + at, (*length - at) * sizeof *row);
    row[at] = number;
    ++*length;
}

static void take_out(int *row, unsigned *length, int number)
{
    const unsigned at = position(row, *length, number);
    --*length;
    memmove(row + at, row + at + 1, (*length - at) * sizeof *row);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static void compare_list(unsigned l)
{
    pawl_list *const head = &now.lists[l];
    const pawl_list *back = head;
    const struct element *e;
    unsigned i = 0;
    pawl_rcu_read_lock();
    pawl_list_for_each_rcu(e, head, link)
        must(i < now.list_length[l] && e->number == now.in_list[l][i++]);
    pawl_rcu_read_unlock();
    must(e == NULL && i == now.list_length[l]);
    for (i = now.list_length[l]; i > 0; i--) {
        back = back->previous;
        must(back == &now.elements[now.in_list[l][i - 1]].link);
    }
    must(back->previous == head);
    must(pawl_list_is_empty(head) == (now.list_length[l] == 0));
    e = pawl_list_first(struct element, head, link);
    must(e == (now.list_length[l] ? &now.elements[now.in_list[l][0]] : NULL));
}

static void compare_chain(unsigned c)
{
    pawl_hlist *const chain = &now.chains[c];
    pawl_hlist_node *const *where = &chain->first;
    const struct element *e;
    unsigned i = 0;
    pawl_hlist_for_each(e, chain, chained) {
        must(i < now.chain_length[c] && e->number == now.in_chain[c][i++]);
        must(e->chained.where == where && *where == &e->chained);
        where = &e->chained.next;
    }
    must(i == now.chain_length[c]);
    i = 0;
    pawl_rcu_read_lock();
    pawl_hlist_for_each_rcu(e, chain, chained)
        must(e->number == now.in_chain[c][i++]);
    pawl_rcu_read_unlock();
    must(i == now.chain_length[c]);
    must(pawl_hlist_is_empty(chain) == (i == 0));
    e = pawl_hlist_first(struct element, chain, chained);
    must(e == (i ? &now.elements[now.in_chain[c][0]] : NULL));
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* The node before or behind which to add: one of the list, or its head. */
static void add_to_list(unsigned l, int number, unsigned at, bool before)
{
    const unsigned length = now.list_length[l];
    const unsigned place = at % (length + 1); /* 0: the head */
    pawl_list *const node = &now.elements[number].link;
    pawl_list *const beside =
        place == 0 ? &now.lists[l] : &now.elements[now.in_list[l][place - 1]].link;
    if (now.list_of[number] != NOWHERE)
        return;
    if (before && !fuzz_mistake("behind_is_taken_for_in_front"))
        pawl_list_add_tail_rcu(node, beside);
    else
        pawl_list_add_rcu(node, beside);
    put(now.in_list[l], &now.list_length[l],
        !before      ? place
        : place == 0 ? length
                     : place - 1,
        number);
    now.list_of[number] = (int)l;
}

static void delete_from_list(int number)
{
    const int l = now.list_of[number];
    must(pawl_list_del_rcu(&now.elements[number].link) == (l != NOWHERE));
    if (l == NOWHERE)
        return;
    take_out(now.in_list[l], &now.list_length[l], number);
    now.list_of[number] = NOWHERE;
}

static void replace_in_list(int number, int fresh)
{
    const int l = now.list_of[number];
    if (now.list_of[fresh] != NOWHERE || number == fresh)
        return;
    must(pawl_list_replace_rcu(&now.elements[number].link, &now.elements[fresh].link) ==
         (l != NOWHERE));
    if (l == NOWHERE)
        return;
    now.in_list[l][position(now.in_list[l], now.list_length[l], number)] = fresh;
    now.list_of[number] = NOWHERE;
    now.list_of[fresh] = l;
}

static void add_to_chain(unsigned c, int number, unsigned at, bool before)
{
    const unsigned place = at % (now.chain_length[c] + 1); /* 0: the front */
    pawl_hlist_node *const node = &now.elements[number].chained;
    if (now.chain_of[number] != NOWHERE)
        return;
    if (place == 0)
        pawl_hlist_add_rcu(node, &now.chains[c]);
    else if (before)
        pawl_hlist_add_before_rcu(node, &now.elements[now.in_chain[c][place - 1]].chained);
    else
        pawl_hlist_add_behind_rcu(node, &now.elements[now.in_chain[c][place - 1]].chained);
    put(now.in_chain[c], &now.chain_length[c], place != 0 && before ? place - 1 : place, number);
    now.chain_of[number] = (int)c;
}

static void delete_from_chain(int number)
{
    const int c = now.chain_of[number];
    must(pawl_hlist_del_rcu(&now.elements[number].chained) == (c != NOWHERE));
    if (c == NOWHERE)
        return;
    take_out(now.in_chain[c], &now.chain_length[c], number);
    now.chain_of[number] = NOWHERE;
}

static void replace_in_chain(int number, int fresh)
{
    const int c = now.chain_of[number];
    if (now.chain_of[fresh] != NOWHERE || number == fresh)
        return;
    must(pawl_hlist_replace_rcu(&now.elements[number].chained, &now.elements[fresh].chained) ==
         (c != NOWHERE));
    if (c == NOWHERE)
        return;
    now.in_chain[c][position(now.in_chain[c], now.chain_length[c], number)] = fresh;
    now.chain_of[number] = NOWHERE;
    now.chain_of[fresh] = c;
}

static void turn(struct fuzz *f)
{
    const unsigned what = fuzz_below(f, 8);
    const unsigned list = fuzz_below(f, LISTS);
    const int number = (int)fuzz_below(f, NODES);
    const unsigned place = fuzz_byte(f);
    switch (what) {
    case 0: add_to_list(list, number, place, false); break;
    case 1: add_to_list(list, number, place, true); break;
    case 2: delete_from_list(number); break;
    case 3: replace_in_list(number, (int)(place % NODES)); break;
    case 4: add_to_chain(list, number, place, false); break;
    case 5: add_to_chain(list, number, place, true); break;
    case 6: delete_from_chain(number); break;
    default: replace_in_chain(number, (int)(place % NODES)); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = fuzz_begin(data, size);
    memset(&now, 0, sizeof now);
    for (unsigned i = 0; i < LISTS; i++)
        pawl_list_init(&now.lists[i]);
    for (unsigned i = 0; i < NODES; i++) {
        now.elements[i].number = (int)i;
        now.list_of[i] = now.chain_of[i] = NOWHERE;
    }
    while (fuzz_more(&f)) {
        turn(&f);
        for (unsigned i = 0; i < LISTS; i++) {
            compare_list(i);
            compare_chain(i);
        }
    }
    return 0;
}
