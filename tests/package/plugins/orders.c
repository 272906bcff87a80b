/* SPDX-License-Identifier: MIT */
/*
 * orders FIRST.so SECOND.so: two plug-ins, each with a copy of the library, are loaded, used and
 * unloaded in every order. Once in each order a filter forbids membarrier: before any plug-in is
 * there, between the two, after both, or after both and pawl_fences_strong. Each run is a child.
 *
 * A plug-in that is gone. The second copy's first call starts the worker of the callbacks. Its
 * barrier returns, it is unloaded, and so is the code that the worker sleeps in. The next call, of
 * any copy, wakes the worker.
 *
 * Copies that disagree. The first copy finds membarrier, and its readers pass no fence. Then a
 * sandbox forbids the call, and the second copy finds none. It ends a grace period by plain fences,
 * and frees what a reader of the first copy has just found. The process must end instead.
 */
#include "../../support/sandbox.h"
#include "plugin.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HOST_HAS_PAWL
#include "plugin.c"
#define HOST_IS_LIGHT plugin_is_light()
#else
#define HOST_IS_LIGHT 0
#endif

enum sandbox { NONE, BEFORE, BETWEEN, AFTER, AFTER_STRONG, SANDBOXES };

static const char *const sandbox_names[SANDBOXES] = {"no sandbox", "sandboxed before",
                                                     "sandboxed between", "sandboxed after",
                                                     "sandboxed after pawl_fences_strong"};

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

static void sandbox_if(bool now)
{
    if (now)
        forbid_membarrier();
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
    unsigned long cookie;
    reader->enter();
    cookie = driver->start_poll();
    must(!driver->poll(cookie));
    must(!reader->poll(cookie));
    reader->leave();
    must(driver->poll(cookie));
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
    sandbox_if(order->sandbox == BEFORE);
    plugins[order->loaded] = plugin_load(paths[order->loaded]);
    sandbox_if(order->sandbox == BETWEEN);
    plugins[!order->loaded] = plugin_load(paths[!order->loaded]);
    sandbox_if(order->sandbox == AFTER);
    if (order->sandbox == AFTER_STRONG) {
        must(plugins[user].strong() == 0);
        must(plugins[!user].strong() == 0);
        must(!HOST_IS_LIGHT);
        must(!plugins[0].is_light());
        forbid_membarrier();
    }
    must(plugins[0].is_light() == plugins[1].is_light());
    /* From here on a message about membarrier is expected if the mode is light. */
    if (order->sandbox != NONE && plugins[0].is_light())
        must(order->sandbox != AFTER_STRONG && write(STDOUT_FILENO, "light\n", 6) == 6);

    use(&plugins[user]);
    use(&plugins[!user]);
    read_beside(&plugins[0], &plugins[1]);
    read_beside(&plugins[1], &plugins[0]);
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
    use_the_host();
}

/* What the child said on both outputs; returns its status. */
static int run_in_child(const struct order *order, char *said, size_t size)
{
    int ends[2], status;
    ssize_t got;
    size_t length = 0;
    pid_t child;
    must(pipe(ends) == 0);
    child = fork();
    must(child >= 0);
    if (child == 0) {
        must(dup2(ends[1], STDOUT_FILENO) >= 0 && dup2(ends[1], STDERR_FILENO) >= 0);
        must(close(ends[0]) == 0 && close(ends[1]) == 0);
        run(order);
        _exit(0);
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

int main(int argc, char **argv)
{
    int number, skipped = 0, ended = 0, wrong = 0;
    must(argc == 3);
    paths = (const char *const *)argv + 1;
    for (number = 0; number < 8 * SANDBOXES; number++) {
        const struct order order = {number & 1, number >> 1 & 1, number >> 2 & 1,
                                    (enum sandbox)(number >> 3)};
        char said[4096];
        const int status = run_in_child(&order, said, sizeof said);
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
