/* SPDX-License-Identifier: MIT */
/* A program that gdb stops in `look`, its locks being in states that are known. */
#include <pawl/lock.h>

#include <pthread.h>
#include <sched.h>

pawl_lock64 contended, sought, idle;
pawl_spin32 spinning = {2};

void look(void);
__attribute__((noinline)) void look(void)
{
    __asm__ __volatile__("");
}

static void *write_it(void *unused)
{
    pawl_take_write(&contended);
    pawl_drop_write(&contended);
    return unused;
}

int main(void)
{
    pthread_t writer;
    pawl_take_seek(&sought);
    pawl_take_read(&sought);
    pawl_take_read(&sought);
    pawl_take_atomic(&spinning);
    pawl_take_write(&contended);
    if (pthread_create(&writer, NULL, write_it, NULL) != 0)
        return 1;
    while ((__atomic_load_n(&contended.word, __ATOMIC_RELAXED) & PAWL_LOCK_PARKED) == 0)
        sched_yield();
    look();
    pawl_drop_write(&contended);
    return pthread_join(writer, NULL);
}
