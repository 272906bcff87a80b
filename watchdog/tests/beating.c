/* SPDX-License-Identifier: MIT */
/* A program that reports progress: beating FILE TIMES stalls|hangs. It beats every 100 ms. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/pawl_watch.h"

int main(int argc, char **argv)
{
    if (argc != 4 || !pawl_watch_open(argv[1]))
        return 2;
    for (int i = 0; i < atoi(argv[2]); i++) {
        pawl_watch_beat();
        usleep(100000);
    }
    if (strcmp(argv[3], "stalls") == 0)
        pawl_watch_on_rcu_stall(NULL, NULL);
    for (;;) {
        if (strcmp(argv[3], "stalls") == 0)
            pawl_watch_beat(); /* it still beats: the report is what counts */
        usleep(100000);
    }
}
