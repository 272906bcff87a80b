/* SPDX-License-Identifier: MIT */
/* A program that a debugger stops in `look`, its primitives being in states that are known. */
#include <pawl/pawl.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

pawl_lock64 contended, sought, idle;
pawl_lock32 scaled;  /* with PAWL_BIAS=on its reader is in an entry */
pawl_lock32 doubted; /* by evidence its readers scale for a while */
pawl_spin32 spinning = {2};
pawl_pshared_lock32 between;
pawl_brlock big;
pawl_sift sifted;
pawl_seq number;
pawl_seq_latch latched;
pawl_counter counted = PAWL_COUNTER_INIT;
pawl_atomic_counter atomic = PAWL_ATOMIC_COUNTER_INIT;
pawl_counter_limit limited = PAWL_COUNTER_LIMIT_INIT(10);
pawl_bigref shared = PAWL_BIGREF_INIT(NULL, NULL);
pawl_cond changed = PAWL_COND_INIT;
pawl_rcu_domain readers;

void look(void);
__attribute__((noinline)) void look(void)
{
    __asm__ __volatile__("");
}

static void *write_it(void *unused)
{
    pawl_take_write(&contended);
    pawl_drop_write(&contended);
    return unused;
}

static void take_all(void)
{
    pawl_take_read(&scaled);
    pawl_drop_read(&scaled);
    pawl_take_read(&scaled);
    pawl_take_seek(&sought);
    if (!PAWL_CHECKED) { /* which would report them: it is the same thread */
        pawl_take_read(&sought);
        pawl_take_read(&sought);
    }
    pawl_take_atomic(&spinning);
    pawl_take_read(&between);
    pawl_brlock_take_seek(&big);
    pawl_sift_take_read(&sifted, PAWL_SIFT_THREAD);
    pawl_seq_begin_write(&number);
    pawl_counter_add(&counted, 42);
    pawl_atomic_counter_add(&atomic, -7);
    if (!pawl_counter_limit_try_add(&limited, 3))
        look();
    pawl_bigref_get(&shared);
    pawl_rcu_domain_read_lock(&readers);
}

static void drop_all(void)
{
    pawl_rcu_domain_read_unlock(&readers);
    pawl_seq_end_write(&number);
    pawl_sift_drop_read(&sifted, PAWL_SIFT_THREAD);
    pawl_brlock_drop_seek(&big);
    pawl_drop_read(&between);
    pawl_drop_atomic(&spinning);
    if (!PAWL_CHECKED) {
        pawl_drop_read(&sought);
        pawl_drop_read(&sought);
    }
    pawl_drop_seek(&sought);
    pawl_drop_read(&scaled);
    pawl_take_write(&scaled);
    pawl_drop_write(&scaled);
}

static bool is_biased(void)
{
    return (__atomic_load_n(&doubted.word, __ATOMIC_RELAXED) & PAWL_LOCK_BIASED) != 0;
}

static void *read_until_biased(void *unused)
{
    for (unsigned i = 0; i < 100000000 && !is_biased(); i++) {
        pawl_take_read(&doubted);
        pawl_drop_read(&doubted);
    }
    return unused;
}

/* By evidence: readers that meet set BIASED, and dear writes take it away. */
static int read_often_then_write_often(void)
{
    pthread_t reader;
    if (pthread_create(&reader, NULL, read_until_biased, NULL) != 0)
        return 1;
    (void)read_until_biased(NULL);
    if (pthread_join(reader, NULL) != 0)
        return 1;
    for (unsigned i = 0; i < 1000000 && is_biased(); i++) {
        pawl_take_write(&doubted);
        pawl_drop_write(&doubted);
    }
    return 0;
}

int main(void)
{
    const char *const bias = getenv("PAWL_BIAS");
    const bool evidence = bias != NULL && (bias[0] == 0 || strcmp(bias, "evidence") == 0);
    pthread_t writer;
    if (pawl_brlock_init(&big, 4) != 0 || pawl_rcu_domain_init(&readers, "routes") != 0)
        return 1;
    take_all();
    pawl_take_write(&contended);
    if (pthread_create(&writer, NULL, write_it, NULL) != 0)
        return 1;
    while ((__atomic_load_n(&contended.word, __ATOMIC_RELAXED) & PAWL_LOCK_PARKED) == 0)
        sched_yield();
    look();
    pawl_drop_write(&contended);
    drop_all();
    return pthread_join(writer, NULL) != 0 || (evidence && read_often_then_write_often() != 0);
}
