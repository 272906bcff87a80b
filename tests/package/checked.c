/* SPDX-License-Identifier: MIT */
/* A user's program with the checking variant: right use passes, dropping what is free aborts. */
#include <pawl/pawl.h>

#include <signal.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#if !PAWL_CHECKED
#error "the checking library came with the release variant's header"
#endif

int main(void)
{
    static pawl_spin32 lock = PAWL_SPIN32_INIT;
    int status = 0;

    pawl_spin32_take_seek(&lock);
    pawl_spin32_seek_to_write(&lock);
    pawl_spin32_drop_write(&lock);

    pid_t child = fork();
    if (child == 0) {
        pawl_spin32_drop_read(&lock);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 2;
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT) {
        fprintf(stderr, "dropping what is not held did not abort\n");
        return 1;
    }
    return 0;
}
