/* SPDX-License-Identifier: MIT */
/*
 * A lock inside the object that its last user frees. The releaser does not touch the lock any more
 * once the next holder can be granted. So that holder may free the object at once. It needs no
 * count outside the object, and does not wait until other threads have returned from their drop.
 */
#include <pawl/lock.h>

#include "example.h"

struct session {
    pawl_lock32 lock;
    int users;
    char name[24];
};

static int freed;

/* [quote begin] */
void session_leave(struct session *s)
{
    pawl_take_write(&s->lock);
    bool last = --s->users == 0;
    pawl_drop_write(&s->lock);
    if (last)
        free(s); /* the holder before may still be returning from its drop */
}
/* [quote end] */

enum { USERS = 4, ROUNDS = 5000 / EXAMPLE_LESS };

static struct session *session;

static void *leave(void *arg)
{
    (void)arg;
    session_leave(session);
    return NULL;
}

int main(void)
{
    static void *(*const work[])(void *) = {leave, leave, leave, leave};
    for (freed = 0; freed < ROUNDS; freed++) {
        session = (struct session *)calloc(1, sizeof *session);
        CHECK(session != NULL);
        session->users = USERS;
        run_threads(USERS, work);
    }
    printf("%d sessions, each freed by its last user\n", freed);
    return 0;
}
