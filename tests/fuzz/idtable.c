/* SPDX-License-Identifier: MIT */
/*
 * ID tables beside a list of what is in them: lookups by IDs that are valid, stale and made up,
 * locks that are held, memory that runs out, growth, iteration; and each object released once.
 *
 *   input   places of the first array, limit; then an operation and its arguments, a byte each
 */
#include "fuzz/fuzz.h"

#include <pawl/idtable.h>

enum { MOST = 64, IDS = 256 };

struct thing {
    int before; /* the entry need not come first */
    pawl_idtable_entry entry;
    pawl_lock32 lock;
    unsigned number;
};

PAWL_IDTABLE_TYPE(things, struct thing, entry, lock);
PAWL_IDTABLE_TYPE_UNTIL(things, struct thing, entry, lock);

static struct {
    pawl_idtable table;
    uint32_t limit;
    struct thing *in[MOST]; /* NULL: free */
    bool held[MOST];        /* under W, by us */
    uint32_t count;
    pawl_id ids[IDS]; /* all that were given out, oldest first, until there are too many */
    unsigned id_count;
    unsigned grants;            /* how often there will be memory; then there is none */
    bool refused;               /* some was asked for in vain */
    uint32_t removed, released; /* the second by the callbacks' worker */
} now;

static void *allocate(size_t bytes, void *arg)
{
    if (now.grants == 0) {
        now.refused = true;
        return NULL;
    }
    now.grants--;
    return malloc(bytes);
}

static void release_memory(void *memory, size_t bytes, void *arg)
{
    (void)bytes, (void)arg;
    free(memory);
}

static void release_thing(pawl_rcu_head *head)
{
    struct thing *o = things_of_head(head);
    (void)pawl_fetch_add_relaxed32(&now.released, 1);
    free(o);
}

static bool begin(struct fuzz *f)
{
    pawl_idtable_options options;
    memset(&now, 0, sizeof now);
    memset(&options, 0, sizeof options);
    options.first = fuzz_below(f, 40);
    options.limit = fuzz_below(f, 2 * MOST); /* 0: none */
    options.release = release_thing;
    options.allocator.allocate = allocate;
    options.allocator.release = release_memory;
    now.limit = options.limit ? options.limit : PAWL_IDTABLE_MOST;
    now.grants = 1000;
    return pawl_idtable_init(&now.table, &options) == 0;
}

static void end(void)
{
    for (unsigned i = 0; i < MOST; i++)
        if (now.in[i] != NULL && now.held[i])
            things_drop_write(now.in[i]);
    pawl_idtable_destroy(&now.table);
    must(pawl_load_relaxed32(&now.released) == now.removed + now.count);
}

/* ---- What is asked for ----------------------------------------------------------------------- */

/* The number of the object that has the ID; MOST: none. */
static unsigned number_of(pawl_id id)
{
    for (unsigned i = 0; i < MOST; i++)
        if (now.in[i] != NULL && now.in[i]->entry.id == id)
            return i;
    return MOST;
}

static pawl_id some_id(struct fuzz *f)
{
    const unsigned how = fuzz_byte(f);
    if (how < 224)
        return now.id_count ? now.ids[how % now.id_count] : how;
    if (how < 240)
        return fuzz_number(f);
    return (uint64_t)fuzz_below(f, 4) << 32 | fuzz_byte(f);
}

/* ---- Operations ------------------------------------------------------------------------------ */

static void insert(void)
{
    pawl_id id = PAWL_ID_NONE;
    unsigned i;
    struct thing *o;
    for (i = 0; i < MOST && now.in[i] != NULL; i++)
        ;
    if (i == MOST)
        return;
    o = (struct thing *)calloc(1, sizeof *o);
    must(o != NULL);
    o->number = i;
    now.refused = false;
    int result = things_insert(&now.table, o, &id);
    if (result != 0) {
        must(result == (now.count == now.limit ? ENOSPC : ENOMEM));
        must(now.count == now.limit || now.refused);
        free(o);
        return;
    }
    must(now.count < now.limit && id != PAWL_ID_NONE && id == o->entry.id);
    must(number_of(id) == MOST);
    for (unsigned old = 0; old < now.id_count; old++)
        must(now.ids[old] != id);
    if (now.id_count < IDS)
        now.ids[now.id_count++] = id;
    now.in[i] = o;
    now.held[i] = false;
    now.count++;
}

static void look_up(struct fuzz *f)
{
    const pawl_id id = some_id(f);
    const unsigned number = number_of(id);
    struct thing *o;
    bool other = false;
    if (number < MOST && now.held[number]) {
        must(things_try_read(&now.table, id, &other) == NULL && other);
        must(things_take_seek_until(&now.table, id, 1, &other) == NULL && other);
        return;
    }
    switch (fuzz_below(f, 4)) {
    case 0:
        o = things_take_read(&now.table, id);
        if (o != NULL)
            things_drop_read(o);
        break;
    case 1:
        o = things_try_atomic(&now.table, id, &other);
        must(!other);
        if (o != NULL)
            things_drop_atomic(o);
        break;
    case 2:
        o = things_take_write_until(&now.table, id, 1, &other);
        must(!other);
        if (o != NULL)
            things_drop_write(o);
        break;
    default:
        o = things_take_write(&now.table, id); /* and keeps it */
        if (o != NULL)
            now.held[o->number] = true;
        break;
    }
    must(o == (number < MOST ? now.in[number] : NULL));
}

static void let_go(struct fuzz *f)
{
    const unsigned i = fuzz_below(f, MOST);
    if (now.in[i] == NULL || !now.held[i])
        return;
    now.held[i] = false;
    things_drop_write(now.in[i]);
}

static void remove_one(struct fuzz *f)
{
    const pawl_id id = some_id(f);
    const unsigned number = number_of(id);
    if (fuzz_mistake("a_removal_is_forgotten"))
        ;
    else if (number < MOST && now.held[number])
        must(things_remove(&now.table, now.in[number]));
    else
        must(things_remove_id(&now.table, id) == (number < MOST));
    if (number < MOST) {
        now.in[number] = NULL;
        now.held[number] = false;
        now.count--;
        now.removed++;
    }
}

static void reserve(struct fuzz *f)
{
    const uint32_t places = (uint32_t)fuzz_number(f) & 8191u;
    now.refused = false;
    int result = pawl_idtable_reserve(&now.table, places);
    must(result == (now.refused ? ENOMEM : 0)); /* room for more than the limit is no mistake */
}

static void iterate(void)
{
    pawl_id cursor = PAWL_ID_NONE;
    pawl_idtable_entry *e;
    uint32_t count = 0;
    pawl_idtable_read_lock(&now.table);
    while ((e = pawl_idtable_next(&now.table, &cursor)) != NULL) {
        const unsigned number = number_of(cursor);
        must(number < MOST && e == &now.in[number]->entry);
        must(pawl_idtable_peek(&now.table, cursor) == e);
        count++;
    }
    pawl_idtable_read_unlock(&now.table);
    must(count == now.count);
}

static void everything_removed_is_released(void)
{
    must(pawl_rcu_barrier() == 0);
    must(pawl_load_relaxed32(&now.released) == now.removed);
    must(pawl_idtable_parked(&now.table) == 0);
}

static void turn(struct fuzz *f)
{
    switch (fuzz_below(f, 10)) {
    case 0:
        for (unsigned times = fuzz_below(f, 33); times > 0; times--)
            insert();
        break;
    case 1: remove_one(f); break;
    case 2: let_go(f); break;
    case 3: reserve(f); break;
    case 4: iterate(); break;
    case 5: now.grants = fuzz_below(f, 4) ? 1000 : fuzz_below(f, 2); break;
    case 6:
        if (fuzz_below(f, 8) == 0)
            everything_removed_is_released();
        break;
    case 7: insert(); break;
    default: look_up(f); break;
    }
    must(pawl_idtable_count(&now.table) == now.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = fuzz_begin(data, size);
    if (!begin(&f))
        return 0;
    while (fuzz_more(&f))
        turn(&f);
    end();
    return 0;
}
