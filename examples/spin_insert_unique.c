/* SPDX-License-Identifier: MIT */
/*
 * Insert unless it is there, for many inserters that rarely collide. All of them search under R, at
 * the same time. An inserter that wants to write tries to go straight from R to W. If two try at
 * once, only one can be granted; the other drops R and repeats the search under S.
 */
#include <pawl/spin.h>

#include "example.h"

enum { CHAINS = 64, WORDS = 1000, INSERTERS = 4, ROUNDS = 2000 / EXAMPLE_LESS };

struct word {
    struct word *next;
    uint32_t value;
};

struct index {
    pawl_spin32 lock;
    struct word *chain[CHAINS];
};

static const struct word *find(const struct index *x, uint32_t value)
{
    const struct word *w = x->chain[value % CHAINS];
    while (w && w->value != value)
        w = w->next;
    return w;
}

bool index_insert_unique(struct index *x, struct word *w)
{
    pawl_take_read(&x->lock);
    if (find(x, w->value)) {
        pawl_drop_read(&x->lock);
        return false;
    }
    if (!pawl_read_claim_write(&x->lock)) {
        /* Another thread is on the way to W and waits for our R. After the drop the result of the
         * search under R is not valid any more. */
        pawl_drop_read(&x->lock);
        pawl_take_seek(&x->lock);
        if (find(x, w->value)) {
            pawl_drop_seek(&x->lock);
            return false;
        }
        pawl_seek_to_write(&x->lock);
    }
    w->next = x->chain[w->value % CHAINS];
    x->chain[w->value % CHAINS] = w;
    pawl_drop_write(&x->lock);
    return true;
}

/* ---- It runs --------------------------------------------------------------------------------- */

static struct index words;
static struct word pool[INSERTERS][WORDS];
static int inserted[INSERTERS];

/* The same words for all, in nearly the same order: they collide as often as they can. */
static void *insert_all(void *arg)
{
    const int me = (int)(intptr_t)arg;

    for (int i = 0; i < WORDS; i++) {
        struct word *w = &pool[me][i];
        w->value = (uint32_t)((i + me) % WORDS);
        inserted[me] += index_insert_unique(&words, w);
    }
    return NULL;
}

/* Every word is in its chain, once. */
static void check_words(void)
{
    int i, times[WORDS] = {0};

    for (i = 0; i < CHAINS; i++) {
        for (const struct word *w = words.chain[i]; w; w = w->next)
            times[w->value]++;
        words.chain[i] = NULL; /* for the next round */
    }
    for (i = 0; i < WORDS; i++)
        CHECK(times[i] == 1);
    CHECK(pawl_spin32_is_free(&words.lock));
}

int main(void)
{
    static void *(*const work[])(void *) = {insert_all, insert_all, insert_all, insert_all};

    for (int round = 1; round <= ROUNDS; round++) {
        run_threads(INSERTERS, work);
        CHECK(inserted[0] + inserted[1] + inserted[2] + inserted[3] == round * WORDS);
        check_words();
    }
    printf("%d times %d words by %d threads, none twice\n", ROUNDS, WORDS, INSERTERS);
    return 0;
}
