/* SPDX-License-Identifier: MIT */
/* The functions of spin.h, lock.h and pshared.h, of all widths. */
#include "functions/moves.hpp"

namespace bench::functions {

#define PAWL_SPIN_ROWS(all, L)                                                                     \
    PAWL_MOVES(PAWL_MOVE_ROW, all, L);                                                             \
    PAWL_LOOKS(PAWL_MOVE_ROW, all, L);                                                             \
    PAWL_TWO_MOVES(PAWL_TWO_ROW, all, L);                                                          \
    PAWL_ROW(all, L, L##_bits, PAWL_NOTHING, PAWL_DO(L##_bits(&o)), PAWL_NOTHING);                 \
    PAWL_ROW(all, L, L##_set_bits, PAWL_NOTHING, PAWL_DO(L##_set_bits(&o, 1)),                     \
             PAWL_DO(L##_clear_bits(&o, 1)));                                                      \
    PAWL_ROW(all, L, L##_clear_bits, PAWL_DO(L##_set_bits(&o, 1)), PAWL_DO(L##_clear_bits(&o, 1)), \
             PAWL_NOTHING)

void add_spin(rows &all)
{
    all.group("spin");
    PAWL_SPIN_ROWS(all, pawl_spin16);
    PAWL_SPIN_ROWS(all, pawl_spin32);
    PAWL_SPIN_ROWS(all, pawl_spin64);
}

#define PAWL_LOCK_ROWS(all, L)                                                                     \
    PAWL_MOVES(PAWL_MOVE_ROW, all, L);                                                             \
    PAWL_UNTIL_MOVES(PAWL_UNTIL_ROW, all, L);                                                      \
    PAWL_LOOKS(PAWL_MOVE_ROW, all, L);                                                             \
    PAWL_TWO_MOVES(PAWL_TWO_ROW, all, L);                                                          \
    PAWL_MOVE_ROW(all, L, take_read_counted, is_free, drop_read_counted);                          \
    PAWL_MOVE_ROW(all, L, try_read_counted, is_free, drop_read_counted);                           \
    PAWL_MOVE_ROW(all, L, drop_read_counted, take_read_counted, is_free);                          \
    PAWL_UNTIL_ROW(all, L, take_read_counted_until, is_free, drop_read_counted);                   \
    PAWL_MOVE_ROW(all, L, hand_off, take_write, drop_write)

void add_lock(rows &all)
{
    all.group("lock");
    PAWL_LOCK_ROWS(all, pawl_lock32);
    PAWL_LOCK_ROWS(all, pawl_lock64);
}

void add_pshared(rows &all)
{
    all.group("pshared");
    PAWL_MOVES(PAWL_MOVE_ROW, all, pawl_pshared_lock32);
    PAWL_UNTIL_MOVES(PAWL_UNTIL_ROW, all, pawl_pshared_lock32);
    PAWL_MOVES(PAWL_MOVE_ROW, all, pawl_pshared_lock64);
    PAWL_UNTIL_MOVES(PAWL_UNTIL_ROW, all, pawl_pshared_lock64);
}

} // namespace bench::functions
