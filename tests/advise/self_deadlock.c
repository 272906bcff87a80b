/* SPDX-License-Identifier: MIT */
/* Asks for W while it holds R, and hangs until an alarm ends it. Mended: drops R first. */
#include "programs.h"

#include <sys/time.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static NOINLINE void change(bool drops)
{
    must(pthread_rwlock_rdlock(&lock) == 0);
    if (drops)
        must(pthread_rwlock_unlock(&lock) == 0);
    must(pthread_rwlock_wrlock(&lock) == 0);
    must(pthread_rwlock_unlock(&lock) == 0);
}

int main(int count, char **words)
{
    const bool drops = is_mended(count, words);
    const struct itimerval soon = {{0, 0}, {0, 300000}};
    if (!drops)
        must(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    change(drops);
    return 0;
}
