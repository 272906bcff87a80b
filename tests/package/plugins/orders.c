/* SPDX-License-Identifier: MIT */
/*
 * orders FIRST.so SECOND.so: two plug-ins, each with a copy of the library, are loaded, used and
 * unloaded in every order. Once in each order a filter forbids membarrier: before any plug-in is
 * there, between the two, after both, or after both and pawl_fences_strong. Once in each order it
 * forbids only what stops restartable sequences. Once one of the copies is told to use none, by
 * PAWL_NO_RSEQ. Each run is a child.
 *
 * A plug-in that is gone. The second copy's first call starts the worker of the callbacks. Its
 * barrier returns, it is unloaded, and so is the code that the worker sleeps in. The next call, of
 * any copy, wakes the worker.
 *
 * Copies that disagree. The first copy finds membarrier, and its readers pass no fence. Then a
 * sandbox forbids the call, and the second copy finds none. It ends a grace period by plain fences,
 * and frees what a reader of the first copy has just found. The process must end instead. So with
 * sequences: one copy adds by them, another copy that knows of none reads without stopping them,
 * and an update that was under way is lost, or counted twice.
 */
#include "../../support/sandbox.h"
#include "plugin.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HOST_HAS_PAWL
#include "plugin.c"
#define HOST_IS_LIGHT plugin_is_light()
#else
#define HOST_IS_LIGHT 0
#endif

enum sandbox {
    NONE,
    BEFORE,
    BETWEEN,
    AFTER,
    AFTER_STRONG,
    SEQUENCES_BEFORE, /* what stops sequences is forbidden, and other membarriers are allowed */
    SEQUENCES_BETWEEN,
    SEQUENCES_AFTER,
    SEQUENCES_AFTER_STRONG,
    FIRST_USES_NONE, /* the environment says so */
    SECOND_USES_NONE,
    SANDBOXES
};

static const char *const sandbox_names[SANDBOXES] = {"no sandbox",
                                                     "sandboxed before",
                                                     "sandboxed between",
                                                     "sandboxed after",
                                                     "sandboxed after pawl_fences_strong",
                                                     "sequences sandboxed before",
                                                     "sequences sandboxed between",
                                                     "sequences sandboxed after",
                                                     "sequences sandboxed after pawl_fences_strong",
                                                     "PAWL_NO_RSEQ for the first",
                                                     "PAWL_NO_RSEQ for the second"};

struct order {
    int loaded, user, unloaded; /* 0 or 1: the plug-in that is the first */
    enum sandbox sandbox;
};

static const char *const *paths;

static void forbid_membarrier(void)
{
    if (!sandbox_refuses(SYS_membarrier))
        _exit(77);
}

/* The kernel's commands of restartable sequences are 1 << 7 and, to register, 1 << 8. */
static void forbid_stopping_sequences(void)
{
    if (!sandbox_refuses_bits(SYS_membarrier, 3 << 7))
        _exit(77);
}

static void sandbox_if(bool all, bool sequences)
{
    if (all)
        forbid_membarrier();
    if (sequences)
        forbid_stopping_sequences();
}

static void without_sequences(bool now)
{
    must(now ? setenv("PAWL_NO_RSEQ", "1", 1) == 0 : unsetenv("PAWL_NO_RSEQ") == 0);
}

static void use(const struct plugin *plugin)
{
    must(plugin->calls_back() == 1);
    must(plugin->synchronizes() == 1);
    must(plugin->counts() == 1);
}

/* Whichever copy reads, the other one's grace periods wait for it. */
static void read_beside(const struct plugin *reader, const struct plugin *driver)
{
    reader->enter();
    unsigned long cookie = driver->start_poll();
    must(!driver->poll(cookie));
    must(!reader->poll(cookie));
    reader->leave();
    must(driver->poll(cookie));
}

/* A thread adds through one copy; meanwhile another copy reads, and adds too. */
enum { ADDS = 3000, OWN_ADDS = 20 };

struct adder {
    const struct plugin *plugin;
    void *counters;
};

static void *add_often(void *argument)
{
    const struct adder *adder = (const struct adder *)argument;
    for (int i = 0; i < ADDS; i++)
        adder->plugin->add(adder->counters);
    return NULL;
}

static void count_beside(const struct plugin *adds, const struct plugin *reads)
{
    const struct adder adder = {adds, reads->counters()};
    long long first[COUNTERS], last[COUNTERS];
    pthread_t thread;
    for (unsigned i = 0; i < COUNTERS; i++)
        first[i] = last[i] = reads->sum(adder.counters, i);
    must(pthread_create(&thread, NULL, add_often, (void *)&adder) == 0);
    for (unsigned round = 0; round < OWN_ADDS; round++) {
        reads->add(adder.counters);
        for (unsigned i = 0; i < COUNTERS; i++) {
            const long long now = reads->sum(adder.counters, i);
            must(now >= last[i] + 1 && now <= first[i] + round + 1 + ADDS);
            last[i] = now;
        }
    }
    must(pthread_join(thread, NULL) == 0);
    for (unsigned i = 0; i < COUNTERS; i++)
        must(reads->sum(adder.counters, i) == first[i] + ADDS + OWN_ADDS &&
             adds->sum(adder.counters, i) == first[i] + ADDS + OWN_ADDS);
}

static void use_the_host(void)
{
#ifdef HOST_HAS_PAWL
    must(plugin_calls_back() == 1);
    must(plugin_synchronizes() == 1);
    must(plugin_counts() == 1);
#endif
}

static void run(const struct order *order)
{
    struct plugin plugins[2];
    const int user = order->user;
    const bool of_sequences =
        order->sandbox >= SEQUENCES_BEFORE && order->sandbox <= SEQUENCES_AFTER_STRONG;
    sandbox_if(order->sandbox == BEFORE, order->sandbox == SEQUENCES_BEFORE);
    without_sequences(order->sandbox == FIRST_USES_NONE);
    plugins[order->loaded] = plugin_load(paths[order->loaded]);
    sandbox_if(order->sandbox == BETWEEN, order->sandbox == SEQUENCES_BETWEEN);
    without_sequences(order->sandbox == SECOND_USES_NONE);
    plugins[!order->loaded] = plugin_load(paths[!order->loaded]);
    sandbox_if(order->sandbox == AFTER, order->sandbox == SEQUENCES_AFTER);
    if (order->sandbox == AFTER_STRONG || order->sandbox == SEQUENCES_AFTER_STRONG) {
        must(plugins[user].strong() == 0);
        must(plugins[!user].strong() == 0);
        must(!HOST_IS_LIGHT);
        must(!plugins[0].is_light());
        sandbox_if(order->sandbox == AFTER_STRONG, order->sandbox == SEQUENCES_AFTER_STRONG);
    }
    must(plugins[0].is_light() == plugins[1].is_light());
    must(plugins[0].is_sequenced() == plugins[1].is_sequenced());
    /* From here on a message about membarrier is expected if the mode needs what is forbidden. */
    if (of_sequences
            ? plugins[0].is_sequenced()
            : order->sandbox >= BEFORE && order->sandbox <= AFTER_STRONG && plugins[0].is_light())
        must(order->sandbox != AFTER_STRONG && order->sandbox != SEQUENCES_AFTER_STRONG &&
             write(STDOUT_FILENO, "light\n", 6) == 6);

    use(&plugins[user]);
    use(&plugins[!user]);
    read_beside(&plugins[0], &plugins[1]);
    read_beside(&plugins[1], &plugins[0]);
    count_beside(&plugins[0], &plugins[1]);
    count_beside(&plugins[1], &plugins[0]);
    must(plugins[0].strong() == (plugins[0].is_light() ? EBUSY : 0));

    must(dlclose(plugins[order->unloaded].handle) == 0);
    use(&plugins[!order->unloaded]);
    must(dlclose(plugins[!order->unloaded].handle) == 0);
    use_the_host();

    plugins[!order->loaded] = plugin_load(paths[!order->loaded]);
    use(&plugins[!order->loaded]);
    plugins[order->loaded] = plugin_load(paths[order->loaded]);
    use(&plugins[order->loaded]);
    must(plugins[0].is_light() == plugins[1].is_light());
    must(plugins[0].is_sequenced() == plugins[1].is_sequenced());
    use_the_host();
}

/* What the child said on both outputs; returns its status. It is a program of its own, as the
 * library writes only to the file that it has found as descriptor 2. */
static int run_in_child(char **argv, int number, char *said, size_t size)
{
    char order[16];
    int ends[2], status;
    ssize_t got;
    size_t length = 0;
    must(pipe(ends) == 0);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        must(dup2(ends[1], STDOUT_FILENO) >= 0 && dup2(ends[1], STDERR_FILENO) >= 0);
        must(close(ends[0]) == 0 && close(ends[1]) == 0);
        must(snprintf(order, sizeof order, "%d", number) > 0);
        (void)execl("/proc/self/exe", argv[0], argv[1], argv[2], order, (char *)NULL);
        _exit(127);
    }
    must(close(ends[1]) == 0);
    while (length < size - 1 && (got = read(ends[0], said + length, size - 1 - length)) > 0)
        length += (size_t)got;
    said[length] = 0;
    must(close(ends[0]) == 0);
    must(waitpid(child, &status, 0) == child);
    return status;
}

/* A mode that is light needs what the sandbox forbids. */
static bool right(int status, const char *said)
{
    if (strncmp(said, "light\n", 6) == 0)
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
               strstr(said, "pawl_fences_strong()") != NULL;
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
}

static struct order order_of(int number)
{
    const struct order order = {number & 1, number >> 1 & 1, number >> 2 & 1,
                                (enum sandbox)(number >> 3)};
    return order;
}

int main(int argc, char **argv)
{
    int number, skipped = 0, ended = 0, wrong = 0;
    must(argc == 3 || argc == 4);
    paths = (const char *const *)argv + 1;
    if (argc == 4) {
        const struct order order = order_of(atoi(argv[3]));
        run(&order);
        return 0;
    }
    for (number = 0; number < 8 * SANDBOXES; number++) {
        const struct order order = order_of(number);
        char said[4096];
        const int status = run_in_child(argv, number, said, sizeof said);
        skipped += WIFEXITED(status) && WEXITSTATUS(status) == 77;
        ended += WIFSIGNALED(status);
        if (!right(status, said)) {
            fprintf(stderr, "%s first loaded, %s first used, %s first unloaded, %s: status %x\n%s",
                    argv[1 + order.loaded], argv[1 + order.user], argv[1 + order.unloaded],
                    sandbox_names[order.sandbox], (unsigned)status, said);
            wrong++;
        }
    }
    printf("%d orders, %d ended with the message, %d skipped\n", number, ended, skipped);
    return wrong != 0;
}
