/* SPDX-License-Identifier: MIT */
/*
 * Shapes of sections for tests/tool/test_advise_shapes.py: faults that a rule finds in another form
 * than its program of tests/advise, and innocent ones that look like them. A word for each.
 */
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>

#include "../advise/programs.h"

enum { ROUNDS = 20000, LOOKS = 300 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, parked = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER, news = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t work, parks;
static unsigned long number, flushed, state = 88172645463325252u;
static bool ready;

/* ---- Numbers --------------------------------------------------------------------------------- */

/* The unlock is a tail call at -O2, and returns to the caller. */
static NOINLINE void up(void)
{
    (void)pthread_mutex_lock(&mutex);
    number++;
    (void)pthread_mutex_unlock(&mutex);
}

static NOINLINE void down(void)
{
    (void)pthread_mutex_lock(&mutex);
    number--;
    (void)pthread_mutex_unlock(&mutex);
}

/* Locks of a program of its own, which keep their owner. */
static struct owned {
    pthread_mutex_t mutex;
    pthread_t owner;
    unsigned long takes, value;
} owned = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static NOINLINE void take_owned(struct owned *o)
{
    (void)pthread_mutex_lock(&o->mutex);
    o->owner = pthread_self();
    o->takes++;
}

static NOINLINE void drop_owned(struct owned *o)
{
    o->owner = 0;
    (void)pthread_mutex_unlock(&o->mutex);
}

static NOINLINE void add_in_wrappers(unsigned long more)
{
    take_owned(&owned);
    owned.value += more;
    drop_owned(&owned);
}

static NOINLINE unsigned long read_in_wrappers(void)
{
    take_owned(&owned);
    unsigned long found = owned.value;
    drop_owned(&owned);
    return found;
}

static NOINLINE unsigned long next_in_wrappers(void)
{
    take_owned(&owned);
    unsigned long found = owned.value++;
    drop_owned(&owned);
    return found;
}

static NOINLINE unsigned long next_id(void)
{
    (void)pthread_mutex_lock(&mutex);
    unsigned long made = number++;
    (void)pthread_mutex_unlock(&mutex);
    return made;
}

static NOINLINE unsigned long next_random(void)
{
    (void)pthread_mutex_lock(&mutex);
    state ^= state << 13;
    state ^= state >> 7;
    unsigned long made = state ^= state << 17;
    (void)pthread_mutex_unlock(&mutex);
    return made;
}

/* A free list, which is empty or has one entry. */
static NOINLINE void *exchange(void *back)
{
    static void *first;
    (void)pthread_mutex_lock(&mutex);
    void *found = first;
    first = back;
    (void)pthread_mutex_unlock(&mutex);
    return found;
}

/* A number that others wait for. */
static NOINLINE void add_and_tell(void)
{
    (void)pthread_mutex_lock(&mutex);
    number++;
    (void)pthread_cond_signal(&news);
    (void)pthread_mutex_unlock(&mutex);
}

static void *up_and_down(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        up();
        down();
    }
    return unused;
}

static void *add_wrapped(void *unused)
{
    for (int i = 0; i < ROUNDS; i++)
        add_in_wrappers(i);
    return unused;
}

static void *read_wrapped(void *unused)
{
    unsigned long sum = 0;
    for (int i = 0; i < ROUNDS; i++)
        sum += read_in_wrappers();
    return (void *)sum;
}

static void *next_wrapped(void *unused)
{
    unsigned long sum = 0;
    for (int i = 0; i < ROUNDS; i++)
        sum += next_in_wrappers();
    return (void *)sum;
}

static void *take_ids(void *unused)
{
    unsigned long sum = 0;
    for (int i = 0; i < ROUNDS; i++)
        sum += next_id();
    return (void *)sum;
}

static void *take_random(void *unused)
{
    unsigned long sum = 0;
    for (int i = 0; i < ROUNDS; i++)
        sum += next_random();
    return (void *)sum;
}

static void *take_nodes(void *node)
{
    for (int i = 0; i < ROUNDS; i++)
        node = exchange(node);
    return node;
}

static void *tell(void *unused)
{
    for (int i = 0; i < ROUNDS; i++)
        add_and_tell();
    return unused;
}

/* ---- Looks ----------------------------------------------------------------------------------- */

static NOINLINE bool is_ready(void)
{
    (void)pthread_mutex_lock(&mutex);
    bool now = ready;
    (void)pthread_mutex_unlock(&mutex);
    return now;
}

static NOINLINE void set_ready(void)
{
    (void)pthread_mutex_lock(&mutex);
    ready = true;
    (void)pthread_mutex_unlock(&mutex);
}

static NOINLINE void flush(void)
{
    (void)pthread_mutex_lock(&mutex);
    flushed += number;
    number = 0;
    (void)pthread_mutex_unlock(&mutex);
}

static void *yields(void *first)
{
    int looks = 0;
    if (first == NULL) {
        take(&work);
        set_ready();
        return NULL;
    }
    while (!is_ready()) {
        if (++looks == LOOKS)
            must(sem_post(&work) == 0);
        (void)sched_yield();
    }
    return NULL;
}

/* Waits that only their time ends, as nobody signals. */
static void *naps(void *first)
{
    struct timespec t;
    (void)pthread_mutex_lock(&parked);
    for (int i = 0; i < 50 && first != NULL; i++) {
        must(clock_gettime(CLOCK_REALTIME, &t) == 0);
        t.tv_nsec += 200000;
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&never, &parked, &t);
    }
    (void)pthread_mutex_unlock(&parked);
    return NULL;
}

/* It waits for nothing: it writes out what others have counted, and sleeps. */
static void *flushes(void *first)
{
    for (int i = 0; i < LOOKS; i++) {
        if (first != NULL)
            up();
        else
            flush();
        usleep(100);
    }
    return NULL;
}

/* ---- Others ---------------------------------------------------------------------------------- */

/* One holds a mutex in order to keep the other from going on. */
static void *parks_the_other(void *first)
{
    for (int i = 0; i < 10; i++) {
        if (first == NULL) {
            (void)pthread_mutex_lock(&parked);
            must(sem_post(&parks) == 0);
            usleep(5000);
            (void)pthread_mutex_unlock(&parked);
            take(&work);
        } else {
            take(&parks);
            (void)pthread_mutex_lock(&parked);
            (void)pthread_mutex_unlock(&parked);
            must(sem_post(&work) == 0);
        }
    }
    return NULL;
}

/* A list walked hand over hand, whose nodes change places: they come back at its end. */
static struct node {
    pthread_mutex_t mutex;
    struct node *next;
} head, nodes[4];

static NOINLINE void rotate(void)
{
    struct node *first, *at = &head, *then;
    (void)pthread_mutex_lock(&head.mutex);
    first = head.next;
    (void)pthread_mutex_lock(&first->mutex);
    head.next = first->next;
    (void)pthread_mutex_unlock(&first->mutex);
    while ((then = at->next) != NULL) {
        (void)pthread_mutex_lock(&then->mutex);
        (void)pthread_mutex_unlock(&at->mutex);
        at = then;
    }
    first->next = NULL;
    at->next = first;
    (void)pthread_mutex_unlock(&at->mutex);
}

static void *walks(void *unused)
{
    for (int i = 0; i < 500; i++)
        rotate();
    return unused;
}

/* Short reads by one thread after the other: the line has one owner for long. */
static void *reads(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        (void)pthread_rwlock_rdlock(&rwlock);
        (void)pthread_rwlock_unlock(&rwlock);
    }
    return unused;
}

/* Knot DNS 3.2, zone_events_deinit: when all other threads have ended, the first one has another
 * order than they had. */
static void *both(void *number)
{
    pthread_mutex_t *const one = number != NULL ? &mutex : &parked;
    pthread_mutex_t *const other = number != NULL ? &parked : &mutex;
    must(pthread_mutex_lock(one) == 0 && pthread_mutex_lock(other) == 0);
    must(pthread_mutex_unlock(other) == 0 && pthread_mutex_unlock(one) == 0);
    return NULL;
}

static void ends(void *(*call)(void *), size_t n)
{
    in_turn(call, 1);
    (void)call(&n);
}

int main(int count, char **words)
{
    static const struct {
        const char *word;
        void *(*call)(void *);
        void (*run)(void *(*)(void *), size_t);
    } all[] = {
        {"two_places", up_and_down, together},
        {"wrapped", add_wrapped, together},
        {"wrapped_read", read_wrapped, together},
        {"wrapped_ids", next_wrapped, together},
        {"ids", take_ids, together},
        {"random", take_random, together},
        {"nodes", take_nodes, together},
        {"monitor", tell, together},
        {"yields", yields, together},
        {"naps", naps, together},
        {"flushes", flushes, together},
        {"parks", parks_the_other, together},
        {"walks", walks, together},
        {"in_turn", reads, in_turn},
        {"ends", both, ends},
    };
    must(count > 1 && sem_init(&work, 0, 0) == 0 && sem_init(&parks, 0, 0) == 0);
    for (size_t i = 0; i < 4; i++) {
        nodes[i].next = head.next;
        head.next = &nodes[i];
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(words[1], all[i].word) == 0) {
            all[i].run(all[i].call, 2);
            return 0;
        }
    return 97;
}
