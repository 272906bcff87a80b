/* SPDX-License-Identifier: MIT */
/* The pl_* names of the R S W A model under the checking variant: what plock leaves to hang or to
 * corrupt is reported. */
#include <pawl/compat/plock.h>

#include "test.h"

static unsigned int lock;

static void take_r_inside_r(void *unused)
{
    pl_take_r(&lock);
    pl_take_r(&lock);
}

static void take_r_inside_s(void *unused)
{
    pl_take_s(&lock);
    pl_take_r(&lock);
}

static void take_w_inside_r(void *unused)
{
    pl_take_r(&lock);
    pl_take_w(&lock);
}

static void drop_w_instead_of_s(void *unused)
{
    pl_take_s(&lock);
    pl_drop_w(&lock);
}

static void stow_without_s(void *unused)
{
    pl_take_r(&lock);
    pl_stow(&lock);
}

static void drop_w_after_a_failed_upgrade(void *unused)
{
    pl_take_r(&lock);
    lock += PLOCK32_SL_1 + PLOCK32_RL_1; /* somebody else's S */
    if (!pl_try_rtow(&lock))
        pl_drop_w(&lock); /* as if it had been granted */
}

TEST_CASE(misuse_is_reported)
{
    assert_aborts_saying(take_r_inside_r, NULL, "taken again by its holder");
    assert_aborts_saying(take_r_inside_s, NULL, "taken again by its holder");
    assert_aborts_saying(take_w_inside_r, NULL, "taken again by its holder");
    assert_aborts_saying(drop_w_instead_of_s, NULL, "drop of the wrong mode");
    assert_aborts_saying(stow_without_s, NULL, "transition from the wrong mode");
    assert_aborts_saying(drop_w_after_a_failed_upgrade, NULL, "drop of the wrong mode");
}

TEST_CASE(right_use_is_not_reported)
{
    unsigned long l = 0;
    void *p = NULL;
    pl_take_r(&lock);
    if (pl_try_rtos(&lock)) {
        pl_stow(&lock);
        pl_wtos(&lock);
        pl_stor(&lock);
    }
    if (pl_try_rtoa(&lock))
        pl_ator(&lock);
    pl_drop_r(&lock);
    pl_take_w(&l);
    pl_wtor(&l);
    pl_drop_r(&l);
    pl_take_a(&p);
    pl_drop_a(&p);
    assert_true(pl_try_w(&l) && pl_try_w_nowait(&lock));
    pl_drop_w(&lock);
    pl_drop_w(&l);
    assert_int_equal(lock, 0);
}

TEST_MAIN()
