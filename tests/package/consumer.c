/* SPDX-License-Identifier: MIT */
/* A user's program in C: every compiled path of the 32-bit lock that one thread can reach, and a
 * contended one. */
#include <pawl/pawl.h>

#include <pthread.h>
#include <stdio.h>

#if PAWL_CHECKED
#error "the release library came with the checking variant's header"
#endif

static pawl_spin32 lock = PAWL_SPIN32_INIT;
static int counter;

static void *add(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20000; i++) {
        pawl_spin32_take_seek(&lock);
        pawl_spin32_seek_to_write(&lock);
        counter++;
        pawl_spin32_drop_write(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, add, NULL) != 0)
            return 2;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d additions, word %u, version %d.%d.%d\n", counter, (unsigned)lock.word,
           PAWL_VERSION_MAJOR, PAWL_VERSION_MINOR, PAWL_VERSION_PATCH);
    return counter == 60000 && pawl_spin32_is_free(&lock) ? 0 : 1;
}
