/* SPDX-License-Identifier: MIT */
/*
 * Programs use plock's helpers as statements, results unused, and build with -Wall -Werror. Each of
 * ours must then compile without a word; a cast or a comparison drew "value computed is not used".
 * The tests are built with -Werror, so this file is the test.
 */
#include <pawl/compat/plock.h>

#include "../test.h"

TEST_CASE(every_helper_is_a_statement)
{
    unsigned int word = 0;
    pl_barrier();
    pl_cpu_relax();
    pl_mb();
    pl_mb_load();
    pl_mb_store();
    pl_mb_ato();
    pl_mb_ato();
    pl_mb_ato_load();
    pl_mb_ato_store();
    pl_load(&word);
    pl_load_lax(&word);
    pl_store(&word, 1);
    pl_store_lax(&word, 1);
    pl_xchg(&word, 1);
    pl_xadd(&word, 1);
    pl_cmpxchg(&word, 2, 1);
    pl_deref_int(&word);
    pl_inc(&word);
    pl_inc_lax(&word);
    pl_inc_acq(&word);
    pl_inc_rel(&word);
    pl_inc_noret(&word);
    pl_inc_noret_lax(&word);
    pl_inc_noret_acq(&word);
    pl_inc_noret_rel(&word);
    pl_dec(&word);
    pl_dec_lax(&word);
    pl_dec_acq(&word);
    pl_dec_rel(&word);
    pl_dec_noret(&word);
    pl_dec_noret_lax(&word);
    pl_dec_noret_acq(&word);
    pl_dec_noret_rel(&word);
    pl_add(&word, 1);
    pl_add_lax(&word, 1);
    pl_add_acq(&word, 1);
    pl_add_rel(&word, 1);
    pl_add_noret(&word, 1);
    pl_add_noret_lax(&word, 1);
    pl_add_noret_acq(&word, 1);
    pl_add_noret_rel(&word, 1);
    pl_sub(&word, 1);
    pl_sub_lax(&word, 1);
    pl_sub_acq(&word, 1);
    pl_sub_rel(&word, 1);
    pl_sub_noret(&word, 1);
    pl_sub_noret_lax(&word, 1);
    pl_sub_noret_acq(&word, 1);
    pl_sub_noret_rel(&word, 1);
    pl_and(&word, 1);
    pl_and_lax(&word, 1);
    pl_and_acq(&word, 1);
    pl_and_rel(&word, 1);
    pl_and_noret(&word, 1);
    pl_and_noret_lax(&word, 1);
    pl_and_noret_acq(&word, 1);
    pl_and_noret_rel(&word, 1);
    pl_or(&word, 1);
    pl_or_lax(&word, 1);
    pl_or_acq(&word, 1);
    pl_or_rel(&word, 1);
    pl_or_noret(&word, 1);
    pl_or_noret_lax(&word, 1);
    pl_or_noret_acq(&word, 1);
    pl_or_noret_rel(&word, 1);
    pl_xor(&word, 1);
    pl_xor_lax(&word, 1);
    pl_xor_acq(&word, 1);
    pl_xor_rel(&word, 1);
    pl_xor_noret(&word, 1);
    pl_xor_noret_lax(&word, 1);
    pl_xor_noret_acq(&word, 1);
    pl_xor_noret_rel(&word, 1);
    pl_ldadd(&word, 1);
    pl_ldadd_lax(&word, 1);
    pl_ldadd_acq(&word, 1);
    pl_ldadd_rel(&word, 1);
    pl_ldsub(&word, 1);
    pl_ldsub_lax(&word, 1);
    pl_ldsub_acq(&word, 1);
    pl_ldsub_rel(&word, 1);
    pl_ldand(&word, 1);
    pl_ldand_lax(&word, 1);
    pl_ldand_acq(&word, 1);
    pl_ldand_rel(&word, 1);
    pl_ldor(&word, 1);
    pl_ldor_lax(&word, 1);
    pl_ldor_acq(&word, 1);
    pl_ldor_rel(&word, 1);
    pl_ldxor(&word, 1);
    pl_ldxor_lax(&word, 1);
    pl_ldxor_acq(&word, 1);
    pl_ldxor_rel(&word, 1);
    pl_bts(&word, 3);
    pl_bts_lax(&word, 3);
    pl_bts_acq(&word, 3);
    pl_bts_rel(&word, 3);
    pl_btr(&word, 3);
    pl_btr_lax(&word, 3);
    pl_btr_acq(&word, 3);
    pl_btr_rel(&word, 3);
    assert_true(sizeof word == 4);
}

TEST_CASE(so_is_one_of_a_long)
{
    unsigned long word = 5;
    pl_deref_long(&word);
    pl_xadd(&word, 1);
    assert_true(word == 6);
}

TEST_MAIN()
