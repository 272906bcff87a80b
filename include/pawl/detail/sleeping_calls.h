/* SPDX-License-Identifier: MIT */
/*
 * How an operation of a lock that sleeps calls its body (PAWL_DO_ of sleeping_word.inc.h). Those
 * that can wait get the deadline `d`; the others return at once.
 */
#ifndef PAWL_SLEEPING_CALLS_H
#define PAWL_SLEEPING_CALLS_H

#define PAWL_CALL_take_(name, d) PAWL_DO_(name)(l, d)
#define PAWL_CALL_claim_(name, d) PAWL_DO_(name)(l, d)
#define PAWL_CALL_try_(name, d) PAWL_DO_(name)(l)
#define PAWL_CALL_drop_(name, d) (PAWL_DO_(name)(l), true)
#define PAWL_CALL_tells_(name, d) PAWL_DO_(name)(l, d)
#define PAWL_CALL_move_(name, d) PAWL_CALL_##name(d)
#define PAWL_CALL_seek_to_write(d) PAWL_DO_(seek_to_write)(l, d)
#define PAWL_CALL_write_to_seek(d) (PAWL_DO_(write_to_seek)(l), true)
#define PAWL_CALL_write_to_read(d) (PAWL_DO_(write_to_read)(l), true)
#define PAWL_CALL_seek_to_read(d) (PAWL_DO_(seek_to_read)(l), true)

#endif
