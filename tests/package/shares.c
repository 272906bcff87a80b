/* SPDX-License-Identifier: MIT */
/* A user's program that has an object of the process: the registry of threads. */
#include <pawl/counter.h>

static pawl_counter counter = PAWL_COUNTER_INIT;

int main(void)
{
    pawl_counter_inc(&counter);
    return pawl_counter_read(&counter) == 1 ? 0 : 1;
}
