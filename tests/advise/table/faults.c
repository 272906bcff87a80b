/* SPDX-License-Identifier: MIT */
#include "cases.h"

#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER,
                       third = PTHREAD_MUTEX_INITIALIZER, own[1], hashed[16];
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static volatile bool ready;
static volatile int done, turn, queued;
static long number, keys[64];

static NOINLINE int crypto_read_lock(pthread_rwlock_t *l)
{
    return pthread_rwlock_rdlock(l) == 0;
}

static NOINLINE int crypto_unlock(pthread_rwlock_t *l)
{
    return pthread_rwlock_unlock(l) == 0;
}

/* ---- Held for long, or by somebody all the time ---------------------------------------------- */

/* fault long_holds saturated: MySQL bug 21074: the query cache frees blocks under its mutex for
 * long. */
CASE(query_cache, 4)
{
    for (int i = 0; me == 0 && i < 25; i++) {
        IN(&mutex, usleep(3000));
        usleep(500);
    }
    done |= me == 0;
    while (!done) {
        IN(&mutex, work(5));
        work(50);
    }
}

/* fault long_holds saturated: glog, LogFileObject::Write: fflush under the file's mutex. */
CASE(log_to_disk, 3)
{
    for (int i = 0; i < 40; i++) {
        IN(&mutex, usleep(1500));
        work(200 + me);
    }
}

/* fault saturated convoy long_holds: memcached 1.4: cache_lock, one mutex for the whole hash. */
CASE(cache_lock, 4)
{
    for (int i = 0; i < 4000; i++) {
        IN(&mutex, work(20));
        work(2 + me);
    }
}

/* fault long_holds saturated: slapd's pool of threads: two wait for each other, the rest has no
 * job. */
CASE_WITH(beside_a_pool, 2, POOL)
{
    for (int i = 0; i < 60; i++) {
        IN(&mutex, usleep(2000));
        work(1000 + me);
    }
}

/* fault long_holds saturated: unbound, a reload of local zones has their lock for writing. */
CASE(reload, 3)
{
    for (int i = 0; me == 0 && i < 20; i++) {
        pthread_rwlock_wrlock(&rwlock);
        usleep(8000);
        pthread_rwlock_unlock(&rwlock);
        usleep(3000);
    }
    done |= me == 0;
    while (!done) {
        pthread_rwlock_rdlock(&rwlock);
        work(5);
        pthread_rwlock_unlock(&rwlock);
        work(100);
    }
}

/* fault long_holds: InnoDB, bug 51325: a table is dropped under the buffer pool's mutex; others
 * look into the pool for a moment, and queue behind each other, too. */
CASE(drop_table, 6)
{
    for (int i = 0; i < (me == 0 ? 40 : 200); i++) {
        take(&mutex);
        if (me == 0)
            usleep(4000);
        else
            work(50);
        drop(&mutex);
        work(100);
    }
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static NOINLINE void stats_LOCK(void)
{
    pthread_mutex_lock(&mutex);
}

static NOINLINE void stats_UNLOCK(void)
{
    pthread_mutex_unlock(&mutex);
}

static NOINLINE void count_connection(long n)
{
    stats_LOCK();
    number += n;
    stats_UNLOCK();
}

/* fault counter: memcached, thread.c: STATS_LOCK() around a count of connections, up and down. */
CASE(stats_lock, 2)
{
    for (int i = 0; i < 60000; i++) {
        count_connection(1 + me);
        work(0.2);
        count_connection(-1);
    }
}

static NOINLINE void atomic_inc(long *data, pthread_mutex_t *m)
{
    pthread_mutex_lock(m);
    ++*data;
    pthread_mutex_unlock(m);
}

/* fault counter: rsyslog, STATSCOUNTER_INC without atomics: a mutex for each number. */
CASE(statscounter, 2)
{
    for (int i = 0; i < 100000; i++) {
        atomic_inc(&number, &mutex);
        work(0.1 * me);
    }
}

static NOINLINE void spin_count(void)
{
    pthread_spin_lock(&spin);
    number++;
    pthread_spin_unlock(&spin);
}

/* fault counter: DPDK's guide: a shared number under a spinlock, where each core could count. */
CASE(packets, 2)
{
    for (int i = 0; i < 100000; i++) {
        spin_count();
        work(0.1 * me);
    }
}

static NOINLINE int ldap_lock(pthread_mutex_t *m)
{
    return pthread_mutex_lock(m) != 0 ? -1 : 0; /* no tail call */
}

static NOINLINE int ldap_unlock(pthread_mutex_t *m)
{
    return pthread_mutex_unlock(m) != 0 ? -1 : 0;
}

/* fault counter: slapd, slap_counters.sc_mutex behind ldap_pvt_thread_mutex_lock, which is a
 * function that goes on after the lock. */
CASE(operations, 2)
{
    for (int i = 0; i < 100000; i++) {
        must(ldap_lock(&mutex) == 0);
        number++;
        must(ldap_unlock(&mutex) == 0);
        work(0.1 * me);
    }
}

/* ---- Sections that only read ----------------------------------------------------------------- */

static NOINLINE int find(long key)
{
    int i, found = -1;
    pthread_mutex_lock(&mutex);
    for (i = 0; i < 64; i++)
        if (keys[i] == key)
            found = i;
    pthread_mutex_unlock(&mutex);
    return found;
}

/* fault only_reads saturated: ClickHouse issue 88003: a mutex around a set that is read. */
CASE(active_parts, 3)
{
    long i, sum = 0;
    for (i = 0; i < 300000; i++)
        sum += find(i & 63);
    must(sum < 0 || me >= 0);
}

static NOINLINE long seen_state(void)
{
    pthread_mutex_lock(&mutex);
    long found = number;
    pthread_mutex_unlock(&mutex);
    return found;
}

/* fault only_reads: ClickHouse pull request 72375: a mutex to see whether a state is NONE. */
CASE(sees_state, 3)
{
    long i, sum = 0;
    for (i = 0; i < 300000; i++)
        sum += seen_state();
    must(sum >= 0 && me >= 0);
}

/* fault many_short_reads: OpenSSL issues 17064, 23370: locks of the name map, the store, the
 * provider. */
CASE(openssl_fetch, 2)
{
    static pthread_rwlock_t *all[3];
    if (me == 0)
        for (int i = 0; i < 3; i++) {
            pthread_rwlock_t *const made = (pthread_rwlock_t *)malloc(sizeof *made);
            must(made != NULL && pthread_rwlock_init(made, NULL) == 0);
            all[i] = made;
        }
    done += me == 0;
    while (!done)
        sched_yield();
    for (int i = 0; i < 150000; i++)
        for (int k = 0; k < 3; k++) {
            must(crypto_read_lock(all[k]));
            must(keys[k] == 0 && crypto_unlock(all[k]));
        }
}

/* fault many_short_reads: glib, gtype.c: type_rw_lock, read whenever an object is made. */
CASE(object_types, 4)
{
    for (int i = 0; i < 150000; i++) {
        pthread_rwlock_rdlock(&rwlock);
        must(keys[me] == 0);
        pthread_rwlock_unlock(&rwlock);
    }
}

/* ---- Waits that are sleeps ------------------------------------------------------------------- */

static NOINLINE bool is_ready(void)
{
    pthread_mutex_lock(&mutex);
    bool now = ready;
    pthread_mutex_unlock(&mutex);
    return now;
}

static NOINLINE void get_ready(void)
{
    usleep(400000);
    pthread_mutex_lock(&mutex);
    ready = true;
    pthread_mutex_unlock(&mutex);
}

/* fault polling: VLC 1: the input thread looks for b_die, msleep, and again. */
CASE(looks_for_end, 2)
{
    if (me == 0)
        get_ready();
    else
        while (!is_ready())
            usleep(1000);
}

/* fault polling: RocksDB, WriteThread::AwaitState: looks and yields. */
CASE(yields, 2)
{
    if (me == 0)
        get_ready();
    else
        while (!is_ready())
            sched_yield();
}

/* fault polling: Transmission, tr_sessionClose: waits in steps of its own until all is shut. */
CASE(closes_in_steps, 2)
{
    const struct timespec step = {0, 2000000};
    bool now = false;
    if (me == 0) {
        usleep(400000);
        pthread_rwlock_wrlock(&rwlock);
        ready = true;
        pthread_rwlock_unlock(&rwlock);
    }
    while (!now) {
        pthread_rwlock_rdlock(&rwlock);
        now = ready;
        pthread_rwlock_unlock(&rwlock);
        nanosleep(&step, NULL);
    }
}

/* fault polling: Ruby 1.9, thread_timer: a timed wait of 10 ms that nobody signals. */
CASE(naps, 2)
{
    struct timespec t;
    for (int i = 0; i < 100 && me == 0; i++) {
        pthread_mutex_lock(&mutex);
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += 2000000;
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&news, &mutex, &t);
        pthread_mutex_unlock(&mutex);
    }
}

/* ---- Conditions ------------------------------------------------------------------------------ */

/* fault broadcast_storm: ffmpeg, frame threads wait for progress of any: a broadcast for each
 * row. */
CASE(takes_turns, 8)
{
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&mutex);
        while (turn != me)
            pthread_cond_wait(&news, &mutex);
        turn = (turn + 1) % 8;
        pthread_cond_broadcast(&news);
        pthread_mutex_unlock(&mutex);
    }
}

/* fault broadcast_storm: InnoDB, os_event_set: a broadcast for one thing that can be taken. */
CASE(wakes_all, 6)
{
    for (int i = 0; i < 1500; i++) {
        pthread_mutex_lock(&mutex);
        if (me == 0) {
            queued++;
            pthread_cond_broadcast(&news);
        } else if (i < 300) {
            while (queued == 0)
                pthread_cond_wait(&news, &mutex);
            queued--;
        }
        pthread_mutex_unlock(&mutex);
        work(me == 0 ? 30 : 0);
    }
}

/* fault wakes_before_unlock long_holds saturated: ldap_pvt_thread_pool_submit, and work under
 * its mutex. */
CASE(signals_first, 2)
{
    for (int i = 0; i < 300; i++) {
        pthread_mutex_lock(&mutex);
        if (me == 0) {
            queued++;
            pthread_cond_signal(&news);
            work(400);
        } else {
            while (queued == 0)
                pthread_cond_wait(&news, &mutex);
            queued--;
        }
        pthread_mutex_unlock(&mutex);
        work(50);
    }
}

/* ---- Orders ---------------------------------------------------------------------------------- */

static void both(pthread_mutex_t *first, pthread_mutex_t *then)
{
    take(first);
    take(then);
    drop(then);
    drop(first);
}

/* All have taken a lock before: to the recorder a thread may follow one that has ended. */
static void wait_for_turn(int me, int threads)
{
    static int arrived;
    IN(&own[0], arrived++);
    while (turn != me || arrived < threads)
        usleep(100);
}

/* fault lock_order: Valgrind, helgrind/tests/tc13_laog1.c: both orders, one after the other. */
CASE(both_orders, 2)
{
    wait_for_turn(me, 2);
    for (int i = 0; i < 10; i++)
        both(me ? &second : &mutex, me ? &mutex : &second);
    turn++;
}

/* fault lock_order: Valgrind, helgrind/tests/tc14_laog_dinphils.c: a chain of three. */
CASE(philosophers, 3)
{
    pthread_mutex_t *const forks[] = {&mutex, &second, &third, &mutex};
    wait_for_turn(me, 3);
    for (int i = 0; i < 10; i++)
        both(forks[me], forks[me + 1]);
    turn++;
}

/* fault lock_order: CPython issue 9260: the import lock and a lock of a module. */
CASE(callback, 2)
{
    wait_for_turn(me, 2);
    for (int i = 0; i < 5; i++) {
        if (me == 0)
            pthread_rwlock_wrlock(&rwlock);
        take(&mutex);
        if (me == 1)
            pthread_rwlock_wrlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
        drop(&mutex);
    }
    turn++;
}

/* fault self_deadlock: Valgrind, drd/tests/recursive_mutex.c: a plain mutex taken once more. */
CASE(calls_back, 2)
{
    if (me == 0) {
        hang_for(200000);
        take(&mutex);
        take(&mutex);
    }
}

/* fault self_deadlock: pthread_rwlock_wrlock(3p): the caller has it to read. */
CASE(keeps_its_read, 2)
{
    if (me == 0) {
        hang_for(200000);
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_wrlock(&rwlock);
    }
}

/* ---- Reads, and writes after them ------------------------------------------------------------ */

/* fault read_then_write: Qt 5, QMetaType: QReadLocker to look a type up, QWriteLocker to add it. */
CASE(fills_a_cache, 2)
{
    int found;
    for (int i = 0; i < 12000; i++) {
        pthread_rwlock_rdlock(&rwlock);
        found = i % 2;
        pthread_rwlock_unlock(&rwlock);
        if (!found) {
            pthread_rwlock_wrlock(&rwlock);
            work(10 + me);
            pthread_rwlock_unlock(&rwlock);
        }
    }
}

/* fault read_then_write: OpenSSL 3, ossl_method_store_cache_get, then _set, by functions for the
 * lock. */
CASE(gets_or_makes, 2)
{
    for (int i = 0; i < 12000; i++) {
        must(crypto_read_lock(&rwlock) && crypto_unlock(&rwlock));
        if (i % 3 == 0) {
            must(pthread_rwlock_wrlock(&rwlock) == 0);
            work(15 + me);
            must(crypto_unlock(&rwlock));
        }
    }
}

/* fault writers_leave_early: HAProxy's stick tables before 2.8: the lock for writing, to see
 * whether an entry is out of date. */
CASE(out_of_date, 3)
{
    for (int i = 0; i < 6000; i++) {
        pthread_rwlock_rdlock(&rwlock);
        work(1 + me);
        pthread_rwlock_unlock(&rwlock);
        pthread_rwlock_wrlock(&rwlock);
        work(i % 10 == 0 ? 60 : 1);
        pthread_rwlock_unlock(&rwlock);
    }
}

/* fault starvation: the manual of pthread_rwlockattr_setkind_np: readers keep a writer out. */
CASE(writer_starves, 5)
{
    for (int i = 0; me != 0 && i < 400; i++) {
        pthread_rwlock_rdlock(&rwlock);
        usleep(300);
        pthread_rwlock_unlock(&rwlock);
    }
    for (int i = 0; me == 0 && i < 3; i++) {
        usleep(5000);
        pthread_rwlock_wrlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
}

/* fault readers_do_not_overlap one_thread: Duffy's 'Reader/writer locks and their (lack of)
 * applicability', 2009. */
CASE(never_meet, 2)
{
    wait_for_turn(me, 2);
    for (int i = 0; i < 250000; i++) {
        pthread_rwlock_rdlock(&rwlock);
        number += keys[0];
        pthread_rwlock_unlock(&rwlock);
    }
    turn++;
}

/* ---- Several locks --------------------------------------------------------------------------- */

/* fault uneven_split saturated long_holds: RocksDB's wiki, block cache: one shard has the hot
 * block. */
CASE(hot_shard, 4)
{
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_t *const m = &hashed[i % 4 != 0 ? 5 : (i + 4 * me) % 16];
        pthread_mutex_lock(m);
        work(40);
        pthread_mutex_unlock(m);
    }
}

/* fault could_be_split saturated long_holds: PulseAudio, pa_threaded_mainloop_lock: for playing
 * and for recording. */
CASE(two_jobs, 2)
{
    for (int i = 0; me == 0 && i < 60; i++) {
        pthread_mutex_lock(&mutex);
        usleep(800);
        pthread_mutex_unlock(&mutex);
        work(100);
    }
    for (int i = 0; me == 1 && i < 60; i++) {
        pthread_mutex_lock(&mutex);
        usleep(900);
        pthread_mutex_unlock(&mutex);
        work(100);
    }
}

/* fault one_thread: POSIX, rationale of getc_unlocked: a stream's lock where one thread reads. */
CASE(reads_characters, 2)
{
    for (int i = 0; me == 0 && i < 600000; i++) {
        pthread_mutex_lock(&mutex);
        number += i;
        pthread_mutex_unlock(&mutex);
    }
}

__attribute__((constructor)) static void set_up(void)
{
    for (int i = 0; i < 16; i++)
        must(pthread_mutex_init(&hashed[i], NULL) == 0);
    must(pthread_mutex_init(&own[0], NULL) == 0);
    must(pthread_spin_init(&spin, 0) == 0);
}
