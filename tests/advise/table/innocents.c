/* SPDX-License-Identifier: MIT */
#include "cases.h"

#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER,
                       own[16], hashed[16];
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t work_there, parks, one;
static volatile int done, queued, turn, items;
static unsigned long number, flushed, state = 88172645463325252u;

/* ---- Short sections that are no counter ------------------------------------------------------ */

static NOINLINE void *exchange(void *back)
{
    static void *first;
    pthread_mutex_lock(&mutex);
    void *found = first;
    first = back;
    pthread_mutex_unlock(&mutex);
    return found;
}

/* innocent: APR, apr_allocator: a list of free blocks. */
CASE(free_list, 2)
{
    void *block = &me;
    for (int i = 0; i < 100000; i++)
        block = exchange(block);
}

static NOINLINE unsigned long next_id(void)
{
    pthread_mutex_lock(&mutex);
    unsigned long made = number++;
    pthread_mutex_unlock(&mutex);
    return made;
}

/* innocent: Varnish, VXID_Get: each number is used once. */
CASE(ids, 2)
{
    unsigned long i, sum = 0;
    for (i = 0; i < 100000; i++)
        sum += next_id();
    must(sum > 0 && me >= 0);
}

static NOINLINE unsigned long next_random(void)
{
    pthread_mutex_lock(&mutex);
    state ^= state << 13;
    state ^= state >> 7;
    unsigned long made = state ^= state << 17;
    pthread_mutex_unlock(&mutex);
    return made;
}

/* innocent: SQLite, sqlite3_randomness: the state of a generator. */
CASE(generator, 2)
{
    unsigned long i, sum = 0;
    for (i = 0; i < 100000; i++)
        sum += next_random();
    must(sum != 1 && me >= 0);
}

/* innocent: memcached, thread.c: a thread's own numbers, and one that adds all up now and then. */
CASE(own_numbers, 3)
{
    for (int i = 0; me < 2 && i < 60000; i++) {
        IN(&own[me], number++);
        work(3);
    }
    done += me < 2;
    while (me == 2 && done < 2) {
        for (int k = 0; k < 2; k++)
            IN(&own[k], flushed += number);
        usleep(20000);
    }
}

/* innocent: musl, malloc in front of a free list: 2 us of 50. */
CASE(seldom, 4)
{
    for (int i = 0; i < 2500; i++) {
        IN(&mutex, work(1));
        work(50);
    }
}

/* innocent: git grep, grep_lock, on a machine with fewer processors than threads. */
CASE(too_few_processors, 8)
{
    for (int i = 0; i < 200; i++) {
        IN(&mutex, work(1 + 0 * me));
        work(250);
    }
}

/* innocent: RocksDB, LRUCache: sixteen shards, all alike. */
CASE(even_shards, 4)
{
    for (int i = 0; i < 6000; i++) {
        IN(&hashed[(i * 7 + me * 5) % 16], work(1));
        work(15);
    }
}

/* innocent: jemalloc, arenas: a lock for each thread, and another one's now and then. */
CASE(arenas, 3)
{
    for (int i = 0; i < 8000; i++) {
        IN(&own[i % 200 ? me : (me + 1) % 3], work(1));
        work(10);
    }
}

/* innocent: stdio, a recursive lock around lines: flockfile, and putc inside. */
CASE(recursive, 2)
{
    for (int i = 0; i < 3000; i++) {
        take(&own[15]);
        IN(&own[15], number++);
        drop(&own[15]);
        work(40 + me);
    }
}

/* ---- Threads that wait for work -------------------------------------------------------------- */

/* innocent: memcached, the queue of connections: a mutex and a condition. */
CASE(queue, 4)
{
    for (int i = 0; i < 600; i++) {
        take(&mutex);
        if (me < 2) {
            queued++;
        } else {
            while (queued == 0)
                pthread_cond_wait(&news, &mutex);
            queued--;
        }
        drop(&mutex);
        if (me < 2)
            pthread_cond_signal(&news);
        work(100);
    }
}

/* innocent: a server's pool: 200 threads for a load of three. */
CASE_WITH(large_pool, 3, POOL)
{
    for (int i = 0; i < 1000; i++) {
        IN(&mutex, work(2));
        work(100 + me);
    }
}

/* innocent: ffmpeg, a bounded queue of frames: two conditions. */
CASE(bounded, 2)
{
    for (int i = 0; i < 1500; i++) {
        take(&mutex);
        while (me == 0 ? queued == 8 : queued == 0)
            pthread_cond_wait(me == 0 ? &room : &news, &mutex);
        queued += me == 0 ? 1 : -1;
        drop(&mutex);
        pthread_cond_signal(me == 0 ? &news : &room);
        work(60);
    }
}

/* innocent: x264, slices: threads meet at a barrier after each. */
CASE(phases, 3)
{
    for (int i = 0; i < 150; i++) {
        work(100 + 20 * me);
        IN(&mutex, number++);
        pthread_barrier_wait(&barrier);
    }
}

/* innocent: redis, initThreadedIO: the main thread holds a mutex to park the others. */
CASE(parks_another, 2)
{
    for (int i = 0; i < 25; i++)
        if (me == 0) {
            take(&mutex);
            sem_post(&parks);
            usleep(6000);
            drop(&mutex);
            sem_wait(&work_there);
        } else {
            sem_wait(&parks);
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
            sem_post(&work_there);
        }
}

/* innocent: pigz, yarn's twist(): a number that others wait for. */
CASE(twist, 2)
{
    for (int i = 0; i < 500; i++) {
        take(&mutex);
        while (turn % 2 != me)
            pthread_cond_wait(&news, &mutex);
        turn++;
        pthread_cond_broadcast(&news);
        drop(&mutex);
        work(100);
    }
}

/* innocent: OpenMP's team: a broadcast after which each thread has work. */
CASE(all_go_on, 5)
{
    int round;
    for (int i = 0; i < 120; i++) {
        take(&mutex);
        round = turn;
        if (++queued == 5) {
            queued = 0;
            turn++;
            pthread_cond_broadcast(&news);
        }
        while (round == turn)
            pthread_cond_wait(&news, &mutex);
        drop(&mutex);
        work(150);
    }
}

/* innocent: nginx, a pool's end: one broadcast for all. */
CASE(shuts_down, 6)
{
    take(&mutex);
    while (me != 0 && done == 0)
        pthread_cond_wait(&news, &mutex);
    done = 1;
    pthread_cond_broadcast(&news);
    drop(&mutex);
    work(20000);
}

/* innocent: a semaphore as a lock, as in old programs of System V. */
CASE(semaphore, 3)
{
    for (int i = 0; i < 1500; i++) {
        sem_wait(&one);
        work(2);
        sem_post(&one);
        work(50 + me);
    }
}

/* innocent: LevelDB's users: push and pop of one queue, at places of their own. */
CASE(push_and_pop, 2)
{
    for (int i = 0; i < 3000; i++) {
        if (me == 0)
            IN(&mutex, items++);
        else
            IN(&mutex, items -= items > 0);
        work(40);
    }
}

/* ---- Threads that sleep ---------------------------------------------------------------------- */

static NOINLINE void flush(void)
{
    pthread_mutex_lock(&mutex);
    flushed += number;
    number = 0;
    pthread_mutex_unlock(&mutex);
}

/* innocent: collectd: what others have counted is written out in steps. */
CASE(flushes, 2)
{
    for (int i = 0; i < 250; i++) {
        if (me == 0)
            flush();
        else
            IN(&mutex, number++);
        usleep(1000);
    }
}

/* innocent: memtier_benchmark: a client that keeps a rate. */
CASE(keeps_a_rate, 3)
{
    for (int i = 0; i < 250; i++) {
        IN(&mutex, number++);
        usleep(1000 + 10u * (unsigned)me);
    }
}

/* innocent: rsync --progress: another thread's number is shown in steps; nobody waits for it. */
CASE(shows_progress, 2)
{
    unsigned long seen;
    for (int i = 0; i < 200; i++) {
        if (me == 0) {
            pthread_mutex_lock(&mutex);
            seen = number;
            pthread_mutex_unlock(&mutex);
            must(dprintf(2, "%lu\r", seen) > 0);
            usleep(2000);
        } else {
            IN(&mutex, number++);
            work(2000);
        }
    }
}

/* innocent: a token bucket: takes what has come in, and sleeps for the rest. */
CASE(token_bucket, 2)
{
    unsigned long got;
    for (unsigned long i = 0; i < 200; i++) {
        pthread_mutex_lock(&mutex);
        number += 10;
        got = number > 5 ? 5 : number;
        number -= got;
        pthread_mutex_unlock(&mutex);
        usleep(800 + 100 * (unsigned)got + (unsigned)me);
    }
}

/* innocent: libuv, a thread of timers: a timed wait that others end early. */
CASE(timers, 2)
{
    struct timespec t;
    for (int i = 0; i < 100; i++) {
        if (me != 0) {
            usleep(3000);
            IN(&mutex, pthread_cond_signal(&news));
            continue;
        }
        take(&mutex);
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec = (t.tv_nsec + 4000000) % 1000000000;
        t.tv_sec += t.tv_nsec < 4000000;
        pthread_cond_timedwait(&news, &mutex, &t);
        drop(&mutex);
    }
}

/* ---- Orders ---------------------------------------------------------------------------------- */

static struct node {
    pthread_mutex_t mutex;
    struct node *next;
} head, nodes[4];

/* innocent: InnoDB, latch coupling: hand over hand, and nodes that change places. */
CASE(hand_over_hand, 2)
{
    struct node *first, *at, *then;
    for (int i = 0; i < 400; i++) {
        take(&head.mutex);
        first = head.next;
        IN(&first->mutex, head.next = first->next);
        for (at = &head; (then = at->next) != NULL; at = then) {
            take(&then->mutex);
            drop(&at->mutex);
        }
        first->next = NULL;
        at->next = first;
        drop(&at->mutex);
        work(50 + me);
    }
}

/* innocent: Linux, double_lock: two of a kind, the lower address first. */
CASE(by_address, 3)
{
    for (int i = 0; i < 1000; i++) {
        const int a = (i + me) % 16, b = (i * 3 + 5) % 16;
        take(&hashed[a < b ? a : b]);
        if (a != b)
            IN(&hashed[a < b ? b : a], number++);
        drop(&hashed[a < b ? a : b]);
        work(50);
    }
}

/* innocent: memcached, lru_pull_tail: the other order, but only by a try. */
CASE(other_order_by_try, 2)
{
    for (int i = 0; i < 1000; i++) {
        take(me ? &mutex : &second);
        if (me)
            IN(&second, number++);
        else if (pthread_mutex_trylock(&mutex) == 0)
            drop(&mutex);
        drop(me ? &mutex : &second);
        work(50);
    }
}

/* innocent: PostgreSQL's libpq, pairs of locks in memory that is used again, the other way
 * round. */
CASE(used_again, 2)
{
    while (turn != me)
        usleep(100);
    for (int i = 0; i < 20; i++) {
        pthread_mutex_init(&own[0], NULL);
        pthread_mutex_init(&own[1], NULL);
        take(&own[i % 2]);
        IN(&own[1 - i % 2], number++);
        drop(&own[i % 2]);
        pthread_mutex_destroy(&own[0]);
        pthread_mutex_destroy(&own[1]);
    }
    turn++;
}

/* innocent: slapd's back-mdb, one order everywhere. */
CASE(one_order, 3)
{
    for (int i = 0; i < 1000; i++) {
        take(&mutex);
        IN(&second, number++);
        drop(&mutex);
        work(60 + me);
    }
}

/* ---- Read-write locks ------------------------------------------------------------------------ */

/* innocent: BIND 9, a zone's tree: long reads, seldom a write. */
CASE(long_reads, 3)
{
    for (int i = 0; i < 800; i++) {
        if (me == 0 && i % 100 == 0)
            pthread_rwlock_wrlock(&rwlock);
        else
            pthread_rwlock_rdlock(&rwlock);
        work(20);
        pthread_rwlock_unlock(&rwlock);
        work(250);
    }
}

/* innocent: short reads in turn: OpenSSL's tests run one thread after the other. */
CASE(reads_in_turn, 2)
{
    while (turn != me)
        usleep(100);
    for (int i = 0; i < 20000; i++) {
        pthread_rwlock_rdlock(&rwlock);
        work(2);
        pthread_rwlock_unlock(&rwlock);
        work(5);
    }
    turn++;
}

/* innocent: unbound, slabhash: a read among 30 us of other work. */
CASE(reads_among_work, 3)
{
    for (int i = 0; i < 4000; i++) {
        pthread_rwlock_rdlock(&rwlock);
        work(1 + 0 * me);
        pthread_rwlock_unlock(&rwlock);
        work(30);
    }
}

/* innocent: PowerDNS, its packet cache: one write in four, each of them needed. */
CASE(writes_often, 3)
{
    for (int i = 0; i < 4000; i++) {
        if (i % 4 == 0)
            pthread_rwlock_wrlock(&rwlock);
        else
            pthread_rwlock_rdlock(&rwlock);
        work(2 + 0 * me);
        pthread_rwlock_unlock(&rwlock);
        work(40);
    }
}

/* ---- Others ---------------------------------------------------------------------------------- */

/* innocent: apache's prefork: a child that takes its parent's locks. */
CASE(forks, 1)
{
    for (int i = 0; i < 4; i++) {
        const pid_t child = fork();
        for (int k = 0; k < 500; k++) {
            IN(&mutex, number++);
            work(40 + me);
        }
        if (child == 0)
            _exit(0);
        must(waitpid(child, NULL, 0) == child);
    }
}

/* innocent: zstd's pool: a try, and other work where it fails. */
CASE(tries, 3)
{
    for (int i = 0; i < 3000; i++) {
        if (pthread_mutex_trylock(&mutex) == 0) {
            work(3);
            drop(&mutex);
        }
        work(30 + me);
    }
}

__attribute__((constructor)) static void set_up(void)
{
    pthread_mutexattr_t again;
    must(pthread_mutexattr_init(&again) == 0 &&
         pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE) == 0);
    for (int i = 0; i < 16; i++)
        must(pthread_mutex_init(&own[i], i == 15 ? &again : NULL) == 0 &&
             pthread_mutex_init(&hashed[i], NULL) == 0);
    must(pthread_barrier_init(&barrier, NULL, 3) == 0);
    must(sem_init(&work_there, 0, 0) == 0 && sem_init(&parks, 0, 0) == 0);
    must(sem_init(&one, 0, 1) == 0);
    for (int i = 0; i < 4; i++) {
        nodes[i].next = head.next;
        head.next = &nodes[i];
    }
}
