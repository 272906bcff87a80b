/* SPDX-License-Identifier: MIT */
/*
 * Two programs that are not related but by a name: one is started afresh by exec, maps the memory
 * by shm_open or by an inherited memfd at an address of its own, and works with the same locks.
 * (The other program is this file, called with --other.)
 */
#include "test.h"

#include <pawl/robust.h>
#include <pawl/pshared.h>

#include <fcntl.h>
#include <sys/mman.h>

enum { ADDITIONS = 2000 };

struct common {
    pawl_robust_lock robust;
    pawl_pshared_lock64 lock64;
    pawl_pshared_lock32 lock32;
    uint64_t under32, under64, under_robust;
};

static uint64_t late(void) /* ends what hangs */
{
    return (uint64_t)((test_now() + 60) * 1e9);
}

static struct common *map_file(int file)
{
    void *at = mmap(NULL, sizeof(struct common), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    must(at != MAP_FAILED);
    return (struct common *)at;
}

/* Half of it by reading first, so that both sleep and are woken in more than one way. */
static void add(struct common *c)
{
    for (unsigned i = 0; i < ADDITIONS; i++) {
        must(pawl_pshared_lock32_take_write_until(&c->lock32, late()));
        c->under32++;
        if (i % 64 == 0)
            usleep(10); /* long enough to be waited for asleep */
        pawl_pshared_lock32_drop_write(&c->lock32);
        must(pawl_pshared_lock64_take_seek_until(&c->lock64, late()));
        must(pawl_pshared_lock64_seek_to_write_until(&c->lock64, late()));
        c->under64++;
        pawl_pshared_lock64_write_to_read(&c->lock64);
        if (i % 64 == 1)
            usleep(10);
        pawl_pshared_lock64_drop_read(&c->lock64);
        must(pawl_robust_lock_take_write_until(&c->robust, late()) == PAWL_ROBUST_OK);
        c->under_robust++;
        must(pawl_robust_lock_drop_write(&c->robust) == PAWL_ROBUST_OK);
    }
}

/* The other program. */
static int other(const char *how, const char *what)
{
    const bool by_name = strcmp(how, "shm") == 0;
    const int file = by_name ? shm_open(what, O_RDWR, 0) : atoi(what);
    if (file < 0)
        return 2;
    struct common *c = map_file(file);
    if (strcmp(how, "die") == 0) {
        (void)pawl_robust_lock_take_write(&c->robust);
        raise(SIGKILL);
    }
    add(c);
    return 0;
}

static pid_t start_other(const char *how, const char *what)
{
    char here[4096];
    const ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
    must(length > 0);
    here[length] = 0;
    fflush(NULL);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        execl(here, here, "--other", how, what, (char *)NULL);
        _exit(127);
    }
    return child;
}

static void both_add(struct common *c, const char *how, const char *what)
{
    must(pawl_robust_lock_init(&c->robust) == PAWL_ROBUST_OK); /* the others are zero bytes */
    pid_t child = start_other(how, what);
    add(c);
    assert_int_equal(test_wait(child), 0);
    assert_true(c->under32 == 2 * ADDITIONS);
    assert_true(c->under64 == 2 * ADDITIONS);
    assert_true(c->under_robust == 2 * ADDITIONS);
    assert_true(pawl_pshared_lock32_is_free(&c->lock32));
    assert_true(pawl_pshared_lock64_is_free(&c->lock64));
}

TEST_CASE(a_program_that_opens_the_memory_by_name_shares_the_locks)
{
    char name[64];
    (void)snprintf(name, sizeof name, "/pawl-test-%ld", (long)getpid());
    int file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file < 0) {
        print_message("no shared memory by name here: not run\n");
        skip();
    }
    must(ftruncate(file, sizeof(struct common)) == 0);
    struct common *c = map_file(file);
    both_add(c, "shm", name);
    must(shm_unlink(name) == 0);
    munmap((void *)c, sizeof *c), close(file);
}

static int anonymous_file(char *number, size_t size)
{
    const int file = memfd_create("pawl", 0); /* inherited by the other program */
    must(file >= 0 && ftruncate(file, sizeof(struct common)) == 0);
    (void)snprintf(number, size, "%d", file);
    return file;
}

TEST_CASE(a_program_that_inherits_the_memory_shares_the_locks)
{
    char number[16];
    const int file = anonymous_file(number, sizeof number);
    struct common *c = map_file(file);
    both_add(c, "memfd", number);
    munmap((void *)c, sizeof *c), close(file);
}

TEST_CASE(the_death_of_another_program_is_told)
{
    char number[16];
    const int file = anonymous_file(number, sizeof number);
    struct common *c = map_file(file);
    must(pawl_robust_lock_init(&c->robust) == PAWL_ROBUST_OK);
    pid_t child = start_other("die", number);
    const int status = test_wait(child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(pawl_robust_lock_take_read_until(&c->robust, late()), PAWL_ROBUST_OWNER_DIED);
    assert_int_equal(pawl_robust_lock_deaths(&c->robust), PAWL_ROBUST_DIED_WRITE);
    assert_int_equal(pawl_robust_lock_drop_read(&c->robust), PAWL_ROBUST_OK);
    munmap((void *)c, sizeof *c), close(file);
}

int main(int argc, char **argv)
{
    alarm(TEST_HANGS);
    if (argc == 4 && strcmp(argv[1], "--other") == 0)
        return other(argv[2], argv[3]);
    return test_main(argc, argv);
}
