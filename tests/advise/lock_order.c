/* SPDX-License-Identifier: MIT */
/* A before B in one thread, later B before A in another. Mended: one order. With the word `three`:
 * A before B, B before C, and C before A, each in a thread of its own. */
#include "programs.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *a_then_b(void *unused)
{
    must(pthread_mutex_lock(&a) == 0 && pthread_mutex_lock(&b) == 0);
    must(pthread_mutex_unlock(&b) == 0 && pthread_mutex_unlock(&a) == 0);
    return NULL;
}

static void *b_then_a(void *unused)
{
    must(pthread_mutex_lock(&b) == 0 && pthread_mutex_lock(&a) == 0);
    must(pthread_mutex_unlock(&a) == 0 && pthread_mutex_unlock(&b) == 0);
    return NULL;
}

/* Both threads are there, so that they are two; the second one waits for its turn. */
static sem_t turn, end;

static void *second(void *call)
{
    take(&turn);
    return call != NULL ? a_then_b(NULL) : b_then_a(NULL);
}

static void *first(void *unused)
{
    (void)a_then_b(unused);
    must(sem_post(&turn) == 0);
    take(&end);
    return NULL;
}

static void *one_of_three(void *number)
{
    static pthread_mutex_t three[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                       PTHREAD_MUTEX_INITIALIZER};
    pthread_mutex_t *const held = &three[(size_t)number];
    pthread_mutex_t *const taken = &three[((size_t)number + 1) % 3];
    must(pthread_mutex_lock(held) == 0 && pthread_mutex_lock(taken) == 0);
    must(pthread_mutex_unlock(taken) == 0 && pthread_mutex_unlock(held) == 0);
    must(sem_post(&turn) == 0);
    take(&end); /* so that they are three threads */
    return NULL;
}

static int all_three(void)
{
    pthread_t ids[3];
    for (size_t i = 0; i < 3; i++) {
        must(pthread_create(&ids[i], NULL, one_of_three, (void *)i) == 0);
        take(&turn);
    }
    for (size_t i = 0; i < 3; i++)
        must(sem_post(&end) == 0);
    for (size_t i = 0; i < 3; i++)
        must(pthread_join(ids[i], NULL) == 0);
    return 0;
}

int main(int count, char **words)
{
    pthread_t ids[2];
    must(sem_init(&turn, 0, 0) == 0 && sem_init(&end, 0, 0) == 0);
    if (count > 1 && strcmp(words[1], "three") == 0)
        return all_three();
    must(pthread_create(&ids[0], NULL, first, NULL) == 0);
    must(pthread_create(&ids[1], NULL, second, is_mended(count, words) ? &turn : NULL) == 0);
    must(pthread_join(ids[1], NULL) == 0 && sem_post(&end) == 0);
    must(pthread_join(ids[0], NULL) == 0);
    return 0;
}
