/* SPDX-License-Identifier: MIT */
/*
 * ID tables: everything except the lookups, which are in the header. A thread holds the table's
 * lock only while it changes the table. It allocates memory before that and frees memory after it.
 */
#include <pawl/idtable.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../check/check.h"
#include "../base/base.h"

/* States of an entry. */
enum { IDTABLE_IN = 1, IDTABLE_REMOVED = 2 };

/* States in which a table takes no objects. */
enum { IDTABLE_DESTROYED = 1, IDTABLE_REFUSED = 2 };

/* Known of a place to insert and remove; copied with the array, and not read by lookups. */
struct idtable_book {
    uint32_t generation; /* of the next ID of this place; 0: all have been used */
    uint32_t next;       /* the next free place, + 1 */
};

#if PAWL_CHECKED
#define IDTABLE_SITE __builtin_return_address(0)
#define IDTABLE_MISUSE(what, t, call)                                                              \
    ipawl_report_misuse_(what, "pawl_idtable", t, call, IDTABLE_SITE)
#define IDTABLE_LIVES(t, call)                                                                     \
    do {                                                                                           \
        if (pawl_load_relaxed32(&(t)->life) == IDTABLE_DESTROYED)                                  \
            IDTABLE_MISUSE("used after destroy", t, call);                                         \
    } while (0)

__attribute__((noinline)) void ipawl_idtable_check_(const pawl_idtable *t)
{
    IDTABLE_LIVES(t, "a lookup");
}
#else
#define IDTABLE_MISUSE(what, t, call) ((void)(t))
#define IDTABLE_LIVES(t, call) ((void)(t))
#endif

/* ---- Arrays ---------------------------------------------------------------------------------- */

static struct idtable_book *idtable_books(struct ipawl_idtable_array_ *array)
{
    return (struct idtable_book *)(void *)(ipawl_idtable_places_(array) + array->size);
}

/* 0: the array would not fit in an address space. */
static size_t idtable_bytes(uint32_t places)
{
    const size_t each = sizeof(pawl_idtable_entry *) + sizeof(struct idtable_book);
    const size_t most = (SIZE_MAX - sizeof(struct ipawl_idtable_array_)) / each;
    return places > most ? 0 : sizeof(struct ipawl_idtable_array_) + places * each;
}

static void *idtable_malloc(size_t bytes, void *arg)
{
    (void)arg;
    return malloc(bytes);
}

static void idtable_free(void *memory, size_t bytes, void *arg)
{
    (void)bytes;
    (void)arg;
    free(memory);
}

static struct ipawl_idtable_array_ *idtable_make(const pawl_idtable *t, uint32_t places)
{
    static const pawl_idtable_allocator usual = {idtable_malloc, idtable_free, NULL};
    const size_t bytes = idtable_bytes(places);
    const pawl_idtable_allocator *a = &t->options.allocator;
    struct ipawl_idtable_array_ *array;
    if (a->allocate == NULL)
        a = &usual;
    array = bytes == 0 ? NULL : (struct ipawl_idtable_array_ *)a->allocate(bytes, a->arg);
    if (array == NULL)
        return NULL;
    PLAIN_WRITE(*array);
    memset(array, 0, bytes);
    array->allocator = *a;
    array->size = places;
    return array;
}

static void idtable_release(struct ipawl_idtable_array_ *array)
{
    const pawl_idtable_allocator a = array->allocator;
    a.release(array, idtable_bytes(array->size), a.arg);
}

static void idtable_release_later(pawl_rcu_head *head)
{
    idtable_release(PAWL_IDTABLE_OBJECT_(struct ipawl_idtable_array_, head, head));
}

/* ---- Freeing after a grace period ------------------------------------------------------------ */

static pawl_rcu_domain *idtable_domain(const pawl_idtable *t)
{
    return t->options.domain == NULL ? pawl_rcu_default() : t->options.domain;
}

/* Queues the head as a callback of the domain; the domain's policy decides whether the call may
 * refuse or wait. An object that is too large for the domain's limit counts as 0 bytes:
 * otherwise it could never be freed. */
static bool idtable_hand_over(const pawl_idtable *t, pawl_rcu_head *head,
                              pawl_rcu_function *function, size_t bytes)
{
    int result = pawl_rcu_domain_call(idtable_domain(t), head, function, bytes);
    if (result == E2BIG)
        result = pawl_rcu_domain_call(idtable_domain(t), head, function, 0);
    return result == 0;
}

/* Keeps a refused head in the table. The head belongs to the table until it is queued. */
static PAWL_COLD void idtable_park(pawl_idtable *t, pawl_rcu_head *head,
                                   pawl_rcu_function *function, size_t bytes)
{
    head->function = function;
    head->size = bytes;
    pawl_lock32_take_write(&t->lock);
    head->next = t->waiting;
    t->waiting = head;
    pawl_store_relaxed32(&t->parked, t->parked + 1);
    pawl_lock32_drop_write(&t->lock);
}

static pawl_rcu_head *idtable_unpark(pawl_idtable *t)
{
    pawl_rcu_head *head;
    pawl_lock32_take_write(&t->lock);
    head = t->waiting;
    if (head != NULL) {
        t->waiting = head->next;
        pawl_store_relaxed32(&t->parked, t->parked - 1);
    }
    pawl_lock32_drop_write(&t->lock);
    return head;
}

/* Offers the refused heads again, until one is refused again. The read section keeps the call
 * from waiting: the caller may hold the lock of an object that a reader waits for. */
static PAWL_COLD void idtable_offer(pawl_idtable *t)
{
    bool taken = true;
    pawl_idtable_read_lock(t);
    while (taken) {
        pawl_rcu_head *const head = idtable_unpark(t);
        pawl_rcu_function *const function = head == NULL ? NULL : head->function;
        const size_t bytes = head == NULL ? 0 : (size_t)head->size;
        if (head == NULL)
            break;
        taken = idtable_hand_over(t, head, function, bytes);
        if (!taken)
            idtable_park(t, head, function, bytes);
    }
    pawl_idtable_read_unlock(t);
}

static void idtable_offer_if_any(pawl_idtable *t)
{
    if (PAWL_UNLIKELY(pawl_load_relaxed32(&t->parked) != 0))
        idtable_offer(t);
}

void pawl_idtable_retire(pawl_idtable *t, pawl_idtable_entry *e, size_t bytes)
{
    IDTABLE_LIVES(t, "pawl_idtable_retire");
    if (PAWL_UNLIKELY(pawl_load_relaxed32(&e->state) != IDTABLE_REMOVED))
        IDTABLE_MISUSE("retired without being removed", t, "pawl_idtable_retire");
    if (t->options.release == NULL)
        return;
    idtable_offer_if_any(t);
    if (PAWL_UNLIKELY(!idtable_hand_over(t, &e->head, t->options.release, bytes)))
        idtable_park(t, &e->head, t->options.release, bytes);
}

static void idtable_retire_array(pawl_idtable *t, struct ipawl_idtable_array_ *array)
{
    const size_t bytes = idtable_bytes(array->size);
    bool taken;
    pawl_idtable_read_lock(t); /* as in idtable_offer */
    taken = idtable_hand_over(t, &array->head, idtable_release_later, bytes);
    pawl_idtable_read_unlock(t);
    if (!taken)
        idtable_park(t, &array->head, idtable_release_later, bytes);
}

/* ---- Growing --------------------------------------------------------------------------------- */

static uint32_t idtable_size(const pawl_idtable *t)
{
    return t->array == NULL ? 0 : t->array->size;
}

static uint32_t idtable_limit(const pawl_idtable *t)
{
    return t->options.limit == 0 ? PAWL_IDTABLE_MOST : t->options.limit;
}

/* Twice the size, but no more than the limit needs. Used-up places do not count towards the
 * limit, so an array may have to be larger than the limit. */
static uint32_t idtable_next_size(const pawl_idtable *t, uint32_t size)
{
    const uint32_t first = t->options.first == 0 ? PAWL_IDTABLE_FIRST : t->options.first;
    const uint32_t limit = idtable_limit(t);
    uint32_t next = size == 0 ? first : size;
    if (size != 0)
        next += size < PAWL_IDTABLE_MOST - size ? size : PAWL_IDTABLE_MOST - size;
    if (next > limit)
        next = size < limit ? limit : size + PAWL_IDTABLE_FIRST;
    return next < PAWL_IDTABLE_MOST ? next : PAWL_IDTABLE_MOST;
}

/* Lookups that began earlier continue in the old array, during the copy and after it. Its
 * contents stay right: the remover of an object marks it, and a lookup that finds a place empty
 * began before the insert. */
static struct ipawl_idtable_array_ *idtable_replace(pawl_idtable *t,
                                                    struct ipawl_idtable_array_ *fresh)
{
    struct ipawl_idtable_array_ *const old = t->array;
    PLAIN_WRITE(*fresh);
    if (old != NULL) {
        PLAIN_READ(*idtable_books(old));
        memcpy(ipawl_idtable_places_(fresh), ipawl_idtable_places_(old),
               old->size * sizeof(pawl_idtable_entry *));
        memcpy(idtable_books(fresh), idtable_books(old), old->size * sizeof(struct idtable_book));
    }
    pawl_rcu_assign_pointer(t->array, fresh);
    return old;
}

/* The array had `seen` places when the caller found it too small; the caller does not hold the
 * lock. */
static int idtable_grow(pawl_idtable *t, uint32_t seen, uint32_t wanted)
{
    struct ipawl_idtable_array_ *const fresh = idtable_make(t, wanted);
    struct ipawl_idtable_array_ *old = fresh;
    PAWL_PROBE2(idtable_grow, t, wanted);
    if (fresh == NULL)
        return ENOMEM;
    pawl_lock32_take_write(&t->lock);
    if (idtable_size(t) == seen)
        old = idtable_replace(t, fresh);
    pawl_lock32_drop_write(&t->lock);
    if (old == fresh) /* another thread was first */
        idtable_release(fresh);
    else if (old != NULL)
        idtable_retire_array(t, old);
    return 0;
}

int pawl_idtable_reserve(pawl_idtable *t, uint32_t places)
{
    IDTABLE_LIVES(t, "pawl_idtable_reserve");
    for (;;) {
        uint32_t size;
        int result;
        pawl_lock32_take_write(&t->lock);
        size = idtable_size(t);
        pawl_lock32_drop_write(&t->lock);
        if (size >= places)
            return 0;
        if (places > PAWL_IDTABLE_MOST || t->life != 0)
            return ENOSPC;
        result = idtable_grow(t, size, places);
        if (result != 0)
            return result;
    }
}

/* ---- Inserting and removing ------------------------------------------------------------------ */

/* The caller holds the lock. EAGAIN: the array is too small. */
static int idtable_place(pawl_idtable *t, pawl_idtable_entry *e, pawl_id *id)
{
    struct idtable_book *books;
    uint32_t place;
    if (t->count >= idtable_limit(t) || t->life != 0)
        return ENOSPC;
    if (t->free == 0 && t->used == idtable_size(t))
        return t->used < PAWL_IDTABLE_MOST ? EAGAIN : ENOSPC;
    books = idtable_books(t->array);
    PLAIN_WRITE(*books);
    if (t->free != 0) {
        place = t->free - 1;
        t->free = books[place].next;
    } else {
        place = t->used++;
        books[place].generation = 1;
    }
    *id = (pawl_id)books[place].generation << 32 | place;
    PLAIN_WRITE(e->id);
    e->id = *id;
    pawl_store_relaxed32(&e->state, IDTABLE_IN);
    pawl_rcu_assign_pointer(ipawl_idtable_places_(t->array)[place], e);
    pawl_store_relaxed32(&t->count, t->count + 1);
    return 0;
}

static bool idtable_has(pawl_idtable *t, const pawl_idtable_entry *e)
{
    const uint32_t place = (uint32_t)e->id;
    bool has;
    pawl_lock32_take_write(&t->lock);
    has = place < idtable_size(t) && ipawl_idtable_places_(t->array)[place] == e;
    pawl_lock32_drop_write(&t->lock);
    return has;
}
int pawl_idtable_insert(pawl_idtable *t, pawl_idtable_entry *e, pawl_id *id)
{
    pawl_id given = PAWL_ID_NONE;
    int result;
    IDTABLE_LIVES(t, "pawl_idtable_insert");
    if (PAWL_CHECKED && idtable_has(t, e))
        IDTABLE_MISUSE("inserted twice", t, "pawl_idtable_insert");
    idtable_offer_if_any(t);
    do {
        uint32_t size, wanted;
        pawl_lock32_take_write(&t->lock);
        result = idtable_place(t, e, &given);
        size = idtable_size(t);
        wanted = idtable_next_size(t, size);
        pawl_lock32_drop_write(&t->lock);
        if (PAWL_LIKELY(result != EAGAIN))
            break;
        result = idtable_grow(t, size, wanted);
    } while (result == 0);
    if (id != NULL)
        *id = given;
    return result;
}

/* The caller holds the lock; the place holds the entry to remove. The place's next object gets
 * another ID. */
static void idtable_clear(pawl_idtable *t, uint32_t place)
{
    struct idtable_book *const book = &idtable_books(t->array)[place];
    PLAIN_WRITE(*idtable_books(t->array));
    pawl_rcu_assign_pointer(ipawl_idtable_places_(t->array)[place], NULL);
    pawl_store_relaxed32(&t->count, t->count - 1);
    if (++book->generation == 0)
        return;
    book->next = t->free;
    t->free = place + 1;
}

bool pawl_idtable_remove(pawl_idtable *t, pawl_idtable_entry *e)
{
    const uint32_t place = (uint32_t)e->id;
    bool mine;
    IDTABLE_LIVES(t, "pawl_idtable_remove");
    if (PAWL_UNLIKELY(pawl_load_relaxed32(&e->state) != IDTABLE_IN)) {
        IDTABLE_MISUSE("removed what is not in", t, "pawl_idtable_remove");
        return false;
    }
    pawl_lock32_take_write(&t->lock);
    mine = place < idtable_size(t) && ipawl_idtable_places_(t->array)[place] == e;
    if (PAWL_LIKELY(mine)) {
        pawl_store_relaxed32(&e->state, IDTABLE_REMOVED); /* I1: the object's lock is held */
        idtable_clear(t, place);
    }
    pawl_lock32_drop_write(&t->lock);
    if (PAWL_UNLIKELY(!mine))
        IDTABLE_MISUSE("removed what is in another table", t, "pawl_idtable_remove");
    return mine;
}

pawl_idtable_entry *pawl_idtable_next(const pawl_idtable *t, pawl_id *cursor)
{
    struct ipawl_idtable_array_ *array;
    uint32_t place = *cursor == PAWL_ID_NONE ? 0 : (uint32_t)*cursor + 1;
    IDTABLE_LIVES(t, "pawl_idtable_next");
    array = PAWL_IDTABLE_FOLLOW_(t, t->array);
    if (array == NULL)
        return NULL;
    PLAIN_READ(*array);
    for (; place < array->size; place++) {
        pawl_idtable_entry *const e = PAWL_IDTABLE_FOLLOW_(t, ipawl_idtable_places_(array)[place]);
        if (e != NULL) {
            PLAIN_READ(e->id);
            *cursor = e->id;
            return e;
        }
    }
    return NULL;
}

/* ---- The life of a table --------------------------------------------------------------------- */

int pawl_idtable_init(pawl_idtable *t, const pawl_idtable_options *options)
{
    if (t == NULL)
        return EINVAL;
    memset(t, 0, sizeof *t);
    if (options == NULL)
        return 0;
    if (options->limit > PAWL_IDTABLE_MOST || options->first > PAWL_IDTABLE_MOST ||
        (options->allocator.allocate == NULL) != (options->allocator.release == NULL)) {
        t->life = IDTABLE_REFUSED;
        return EINVAL;
    }
    t->options = *options;
    t->domain = idtable_domain(t)->index;
    return 0;
}

/* Releases the objects that are still in the table, and the refused heads. Their last readers
 * may still be in a section. */
static void idtable_release_all(pawl_idtable *t, struct ipawl_idtable_array_ *array)
{
    pawl_rcu_head *head;
    if (t->count == 0 && t->parked == 0)
        return;
    pawl_rcu_domain_synchronize(idtable_domain(t));
    while ((head = idtable_unpark(t)) != NULL)
        head->function(head);
    for (uint32_t place = 0; t->count > 0; place++) {
        pawl_idtable_entry *const e = ipawl_idtable_places_(array)[place];
        if (e == NULL)
            continue;
        pawl_store_relaxed32(&t->count, t->count - 1);
        pawl_store_relaxed32(&e->state, IDTABLE_REMOVED);
        if (t->options.release != NULL)
            t->options.release(&e->head);
    }
}

void pawl_idtable_destroy(pawl_idtable *t)
{
    struct ipawl_idtable_array_ *array;
    if (t == NULL)
        return;
    IDTABLE_LIVES(t, "pawl_idtable_destroy");
    if (t->life != 0)
        return;
    array = t->array;
    pawl_rcu_assign_pointer(t->array, NULL);
    pawl_store_relaxed32(&t->life, IDTABLE_DESTROYED);
    idtable_release_all(t, array);
    (void)pawl_rcu_domain_barrier(idtable_domain(t));
    if (array != NULL)
        idtable_release(array);
    pawl_lock32_destroy(&t->lock);
}
