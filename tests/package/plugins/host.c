/* SPDX-License-Identifier: MIT */
/*
 * host FIRST.so SECOND.so: loads two plug-ins that do not see each other's symbols, each with a
 * copy of the library. Both must work on one process object, which stays when they are unloaded,
 * also for a thread that ends only then.
 */
#include "plugin.h"

#include <pthread.h>

#ifdef HOST_HAS_PAWL
#include <pawl/pawl.h>
#include <pawl/thread.h>
#endif

static struct plugin first, second;
static pthread_barrier_t registered, unloaded;

/* Where readers scale, the first drop gives the word BIASED; then it has no R. */
static void read_beside_each_other(const struct plugin *one, const struct plugin *other)
{
    static unsigned lock;
    const char *const bias = getenv("PAWL_BIAS");
    const int scales = bias != NULL && strcmp(bias, "on") == 0;
    lock = 0;
    one->read(&lock);
    one->leave_read(&lock);
    must(lock == (scales ? 2u : 0u));
    one->read(&lock);
    must(lock == (scales ? 2u : 4u));
    must(!one->try_write(&lock) && !other->try_write(&lock));
    other->read(&lock);
    one->leave_read(&lock);
    must(!one->try_write(&lock) && !other->try_write(&lock));
    one->leave_read(&lock);
    must(one->try_write(&lock) && other->try_write(&lock));
    must(lock == (scales ? 2u : 0u));
}

static void *live_longer_than_the_plugins(void *line)
{
    *(const void **)line = first.thread_line();
    must(second.thread_line() == *(const void **)line);
    must(second.reads() == first.reads());
    pthread_barrier_wait(&registered);
    pthread_barrier_wait(&unloaded);
    return NULL; /* the library's destructor of the thread's line runs now */
}

int main(int argc, char **argv)
{
    must(argc == 3);
    first = plugin_load(argv[1]);
    second = plugin_load(argv[2]);

    const void *process = first.process();
    must(process != NULL);
    must(second.process() == process);
    const void *line = first.thread_line();
    must(line != NULL);
    must(second.thread_line() == line);
    must(first.reads() != NULL && second.reads() == first.reads());
#ifdef HOST_HAS_PAWL
    must((const void *)ipawl_process_() == process);
    must((const void *)ipawl_thread_line_() == line);
#endif

    read_beside_each_other(&first, &second);
    read_beside_each_other(&second, &first);

    pthread_t thread;
    const void *other_line = NULL;
    must(pthread_barrier_init(&registered, NULL, 2) == 0);
    must(pthread_barrier_init(&unloaded, NULL, 2) == 0);
    must(pthread_create(&thread, NULL, live_longer_than_the_plugins, &other_line) == 0);
    pthread_barrier_wait(&registered);
    must(other_line != NULL && other_line != line);

    must(dlclose(second.handle) == 0);
    must(dlclose(first.handle) == 0);
    pthread_barrier_wait(&unloaded);
    must(pthread_join(thread, NULL) == 0);

    second = plugin_load(argv[2]);
    must(second.process() == process);
    must(second.thread_line() == line);
    first = plugin_load(argv[1]);
    must(first.process() == process);
    must(first.thread_line() == line);
    printf("one process object for %s and %s\n", argv[1], argv[2]);
    return 0;
}
