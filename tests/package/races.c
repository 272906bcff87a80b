/* SPDX-License-Identifier: MIT */
/* A user's C program for ThreadSanitizer: `races` keeps to the rules, `races CASE` does not. The
 * threads of a case go in step by relaxed atomics, which order nothing in the sanitizer's eyes. */
#include <pawl/pawl.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct value {
    long a, b;
};
PAWL_SEQ_TYPE(value_seq, struct value);

static pawl_brlock big;
static pawl_lock64 lock;
static pawl_spin32 spin;
static pawl_sift sift;
static value_seq number = PAWL_SEQ_TYPE_INIT;
static pawl_counter counter = PAWL_COUNTER_INIT;
static pawl_bigref ref;
static struct value *head;
static struct value under[4]; /* plain: the locks guard it */
static long data;             /* plain */
static int step;
static const char *chosen;

static void check(int right)
{
    if (!right)
        abort();
}

static void released(pawl_bigref *r, void *none)
{
    (void)r, (void)none;
    under[0].a++;
    under[0].b--;
}

static void change(struct value *v)
{
    v->a++;
    v->b--;
}

static void write_all(void)
{
    struct value now, *old, *fresh = (struct value *)malloc(sizeof *fresh);
    check(fresh != NULL);
    pawl_brlock_take_write(&big);
    change(&under[0]);
    pawl_brlock_drop_write(&big);
    pawl_take_seek(&lock);
    pawl_seek_to_write(&lock);
    change(&under[1]);
    old = head;
    *fresh = *old;
    change(fresh);
    pawl_rcu_assign_pointer(head, fresh);
    pawl_drop_write(&lock);
    pawl_rcu_synchronize();
    old->a = 1; /* nobody sees it any more */
    free(old);
    pawl_take_write(&spin);
    change(&under[2]);
    pawl_drop_write(&spin);
    pawl_sift_take_write(&sift);
    change(&under[3]);
    pawl_sift_drop_write(&sift);
    value_seq_take_write(&number, &now);
    change(&now);
    value_seq_drop_write(&number, &now);
}

static void read_all(void)
{
    struct value now;
    pawl_brlock_take_read(&big);
    check(under[0].a + under[0].b == 0);
    pawl_brlock_drop_read(&big);
    pawl_take_read(&lock);
    check(under[1].a + under[1].b == 0);
    pawl_drop_read(&lock);
    pawl_take_read(&spin);
    check(under[2].a + under[2].b == 0);
    pawl_drop_read(&spin);
    pawl_sift_take_read(&sift, PAWL_SIFT_THREAD);
    check(under[3].a + under[3].b == 0);
    pawl_sift_drop_read(&sift, PAWL_SIFT_THREAD);
    value_seq_read(&number, &now);
    check(now.a + now.b == 0);
    pawl_rcu_read_lock();
    const struct value *seen = pawl_rcu_dereference(head);
    check(seen->a + seen->b == 0);
    pawl_rcu_read_unlock();
    pawl_counter_inc(&counter);
    pawl_bigref_get(&ref);
    pawl_bigref_drop(&ref);
}

static void *work(void *number_of_thread)
{
    const int thread = *(const int *)number_of_thread;
    for (int round = 0; round < 200; round++)
        if ((thread + round) % 4 == 0)
            write_all();
        else
            read_all();
    return NULL;
}

/* ---- Wrong programs: each access is under what does not order it ----------------------------- */

static int is(const char *name)
{
    return strcmp(chosen, name) == 0;
}

static void write_wrongly(void)
{
    if (is("brlock_read")) {
        pawl_brlock_take_read(&big);
        data++;
        pawl_brlock_drop_read(&big);
    } else if (is("lock_read")) {
        pawl_take_read(&lock);
        data++;
        pawl_drop_read(&lock);
    } else if (is("lock_read_counted")) {
        pawl_take_read_counted(&lock);
        data++;
        pawl_drop_read_counted(&lock);
    } else if (is("spin_read")) {
        pawl_take_read(&spin);
        data++;
        pawl_drop_read(&spin);
    } else if (is("sift_read")) {
        pawl_sift_take_read(&sift, PAWL_SIFT_THREAD);
        data++;
        pawl_sift_drop_read(&sift, PAWL_SIFT_THREAD);
    } else if (is("counter")) {
        data++;
        pawl_counter_inc(&counter);
    } else if (is("bigref")) {
        pawl_bigref_get(&ref);
        data++;
        pawl_bigref_drop(&ref);
    } else if (is("rcu_read")) {
        pawl_rcu_read_lock();
        data += pawl_rcu_dereference(head)->a;
        pawl_rcu_read_unlock();
    } else {
        exit(3);
    }
}

static void *first(void *none)
{
    write_wrongly();
    __atomic_store_n(&step, 1, __ATOMIC_RELAXED);
    return none;
}

static void *second(void *none)
{
    while (__atomic_load_n(&step, __ATOMIC_RELAXED) == 0)
        (void)sched_yield();
    write_wrongly();
    return none;
}

int main(int count, char **arguments)
{
    static const int numbers[] = {0, 1, 2, 3};
    pthread_t threads[4];
    int used = 2;
    head = (struct value *)calloc(1, sizeof *head);
    check(head != NULL && pawl_brlock_init(&big, 4) == 0 && pawl_sift_init(&sift, NULL) == 0);
    pawl_bigref_init(&ref, released, NULL);
    if (count > 1) {
        chosen = arguments[1];
        check(pthread_create(&threads[0], NULL, first, NULL) == 0);
        check(pthread_create(&threads[1], NULL, second, NULL) == 0);
    } else {
        for (used = 0; used < 4; used++)
            check(pthread_create(&threads[used], NULL, work, (void *)&numbers[used]) == 0);
    }
    for (int i = 0; i < used; i++)
        check(pthread_join(threads[i], NULL) == 0);
    pawl_bigref_kill(&ref);
    return 0;
}
