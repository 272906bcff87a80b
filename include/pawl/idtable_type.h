/* SPDX-License-Identifier: MIT */
/*
 * ID tables of a type of the program's own: lookups that take the object's lock. Include idtable.h.
 *
 *   struct session {
 *       pawl_idtable_entry entry;
 *       pawl_lock32 lock;                              any of pawl_spin16/32/64, pawl_lock32/64
 *       int requests;
 *   };
 *   PAWL_IDTABLE_TYPE(sessions, struct session, entry, lock);         at file scope
 *
 *   static void end(pawl_rcu_head *head) { free(sessions_of_head(head)); }
 *   static pawl_idtable table = PAWL_IDTABLE_INIT(end);
 *
 *   struct session *s = sessions_take_write(&table, id);
 *   if (s != NULL) {                                   no thread removes it while we hold its lock
 *       s->requests++;
 *       sessions_drop_write(s);
 *   }
 *
 * For any other lock, or one that is elsewhere: PAWL_IDTABLE_TAKE and the like, at the end.
 */
#include <pawl/idtable.h> /* outside the guard: idtable.h includes this file where it needs it */

#ifndef PAWL_IDTABLE_TYPE_H
#define PAWL_IDTABLE_TYPE_H

/* clang warns of unused static functions outside headers. */
#define PAWL_IDTABLE_FUNCTION_ PAWL_INLINE PAWL_ALWAYS_INLINE_ __attribute__((__unused__))

/* Ends the macros, so that a semicolon can follow. */
#ifdef __cplusplus
#define PAWL_IDTABLE_END_(type) static_assert(sizeof(type) != 0, "")
#else
#define PAWL_IDTABLE_END_(type) _Static_assert(sizeof(type) != 0, "")
#endif

#define PAWL_IDTABLE_OBJECT_(type, entry, e) ((type *)(void *)((char *)(e) - offsetof(type, entry)))

/* Functions called name_... for objects of `type` that have a pawl_idtable_entry `entry` and a
 * progressive lock `lock`.
 *   name_take_read(t, id)  _seek _write _atomic    the object, locked in that mode; NULL: none
 *   name_try_read(t, id, &busy)  ...               the same without waiting; *busy (may be NULL)
 *                                                  says that the object exists, but is held
 *   name_drop_read(o)  ...                         drops the lock
 *   name_next_read(t, &cursor)  ...                the next object, locked in that mode; begin
 *                                                  with PAWL_ID_NONE; *cursor becomes its ID
 *   name_insert(t, o, &id)                         pawl_idtable_insert
 *   name_remove(t, o)                              the caller holds W of the object, and the call
 *                                                  drops it; released after a grace period
 *   name_remove_id(t, id)                          takes W and removes; false: no such object
 *   name_of(e), name_of_head(head)                 the object of an entry, of a callback's head */
#define PAWL_IDTABLE_TYPE(name, type, entry, lock)                                                 \
    PAWL_IDTABLE_OF_(name, type, entry)                                                            \
    PAWL_IDTABLE_STATE_(name, type, entry, lock, read)                                             \
    PAWL_IDTABLE_STATE_(name, type, entry, lock, seek)                                             \
    PAWL_IDTABLE_STATE_(name, type, entry, lock, write)                                            \
    PAWL_IDTABLE_STATE_(name, type, entry, lock, atomic)                                           \
    PAWL_IDTABLE_FUNCTION_ bool name##_remove(pawl_idtable *t, type *o)                            \
    {                                                                                              \
        bool removed;                                                                              \
        pawl_assert_held_write(&o->lock);                                                          \
        removed = pawl_idtable_remove(t, &o->entry);                                               \
        pawl_drop_write(&o->lock);                                                                 \
        if (PAWL_LIKELY(removed))                                                                  \
            pawl_idtable_retire(t, &o->entry, sizeof *o);                                          \
        return removed;                                                                            \
    }                                                                                              \
    PAWL_IDTABLE_FUNCTION_ bool name##_remove_id(pawl_idtable *t, pawl_id id)                      \
    {                                                                                              \
        type *const o = name##_take_write(t, id);                                                  \
        return o != NULL && name##_remove(t, o);                                                   \
    }                                                                                              \
    PAWL_IDTABLE_END_(type)

/* For pawl_lock32 and pawl_lock64, beside PAWL_IDTABLE_TYPE.
 *   name_take_read_until(t, id, deadline, &late)  ...   waits until `deadline` (ns of pawl_now) at
 *                                                  most; *late (may be NULL): it has passed */
#define PAWL_IDTABLE_TYPE_UNTIL(name, type, entry, lock)                                           \
    PAWL_IDTABLE_UNTIL_(name, type, entry, lock, read)                                             \
    PAWL_IDTABLE_UNTIL_(name, type, entry, lock, seek)                                             \
    PAWL_IDTABLE_UNTIL_(name, type, entry, lock, write)                                            \
    PAWL_IDTABLE_UNTIL_(name, type, entry, lock, atomic)                                           \
    PAWL_IDTABLE_END_(type)

/* ---- Lookups with a lock of any kind --------------------------------------------------------- */

/* `type *function(t, id)`. take(o) waits for the object's lock, drop(o) gives it back; both are
 * functions or macros. The lock may be a mutex, a big-reader lock, a sequence lock's own lock, a
 * bit, or a lock that several objects share. */
#define PAWL_IDTABLE_TAKE(function, type, entry, take, drop)                                       \
    PAWL_IDTABLE_FUNCTION_ type *function(const pawl_idtable *t, pawl_id id)                       \
    {                                                                                              \
        pawl_idtable_entry *e;                                                                     \
        type *o = NULL;                                                                            \
        pawl_idtable_read_lock(t);                                                                 \
        e = pawl_idtable_peek(t, id);                                                              \
        if (PAWL_LIKELY(e != NULL)) {                                                              \
            o = PAWL_IDTABLE_OBJECT_(type, entry, e);                                              \
            take(o);                                                                               \
            if (pawl_idtable_is_removed(e)) {                                                      \
                drop(o);                                                                           \
                o = NULL;                                                                          \
            }                                                                                      \
        }                                                                                          \
        pawl_idtable_read_unlock(t);                                                               \
        return o;                                                                                  \
    }                                                                                              \
    PAWL_IDTABLE_END_(type)

/* `type *function(t, id, bool *busy)`: try_(o) returns whether it took the lock. */
#define PAWL_IDTABLE_TRY(function, type, entry, try_, drop)                                        \
    PAWL_IDTABLE_FUNCTION_ type *function(const pawl_idtable *t, pawl_id id, bool *busy)           \
    {                                                                                              \
        pawl_idtable_entry *e;                                                                     \
        type *o = NULL;                                                                            \
        bool got = true;                                                                           \
        pawl_idtable_read_lock(t);                                                                 \
        e = pawl_idtable_peek(t, id);                                                              \
        if (PAWL_LIKELY(e != NULL)) {                                                              \
            o = PAWL_IDTABLE_OBJECT_(type, entry, e);                                              \
            got = try_(o);                                                                         \
            if (got && pawl_idtable_is_removed(e))                                                 \
                drop(o);                                                                           \
            if (!got || pawl_idtable_is_removed(e))                                                \
                o = NULL;                                                                          \
        }                                                                                          \
        pawl_idtable_read_unlock(t);                                                               \
        if (busy != NULL)                                                                          \
            *busy = !got;                                                                          \
        return o;                                                                                  \
    }                                                                                              \
    PAWL_IDTABLE_END_(type)

/* `type *function(t, &cursor)`: the next object, locked; NULL when no object is left. */
#define PAWL_IDTABLE_NEXT(function, type, entry, take, drop)                                       \
    PAWL_IDTABLE_FUNCTION_ type *function(const pawl_idtable *t, pawl_id *cursor)                  \
    {                                                                                              \
        pawl_idtable_entry *e;                                                                     \
        type *o = NULL;                                                                            \
        pawl_idtable_read_lock(t);                                                                 \
        while (o == NULL && (e = pawl_idtable_next(t, cursor)) != NULL) {                          \
            o = PAWL_IDTABLE_OBJECT_(type, entry, e);                                              \
            take(o);                                                                               \
            if (pawl_idtable_is_removed(e)) {                                                      \
                drop(o);                                                                           \
                o = NULL;                                                                          \
            }                                                                                      \
        }                                                                                          \
        pawl_idtable_read_unlock(t);                                                               \
        return o;                                                                                  \
    }                                                                                              \
    PAWL_IDTABLE_END_(type)

/* ---- Parts ----------------------------------------------------------------------------------- */

#define PAWL_IDTABLE_OF_(name, type, entry)                                                        \
    PAWL_IDTABLE_FUNCTION_ type *name##_of(pawl_idtable_entry *e)                                  \
    {                                                                                              \
        return e == NULL ? NULL : PAWL_IDTABLE_OBJECT_(type, entry, e);                            \
    }                                                                                              \
    PAWL_IDTABLE_FUNCTION_ type *name##_of_head(pawl_rcu_head *head)                               \
    {                                                                                              \
        return PAWL_IDTABLE_OBJECT_(type, entry,                                                   \
                                    PAWL_IDTABLE_OBJECT_(pawl_idtable_entry, head, head));         \
    }                                                                                              \
    PAWL_IDTABLE_FUNCTION_ int name##_insert(pawl_idtable *t, type *o, pawl_id *id)                \
    {                                                                                              \
        return pawl_idtable_insert(t, &o->entry, id);                                              \
    }

/* One state of the lock. */
#define PAWL_IDTABLE_STATE_(name, type, entry, lock, state)                                        \
    PAWL_IDTABLE_FUNCTION_ void name##_have_##state##_(type *o)                                    \
    {                                                                                              \
        pawl_take_##state(&o->lock);                                                               \
    }                                                                                              \
    PAWL_IDTABLE_FUNCTION_ bool name##_ask_##state##_(type *o)                                     \
    {                                                                                              \
        return pawl_try_##state(&o->lock);                                                         \
    }                                                                                              \
    PAWL_IDTABLE_FUNCTION_ void name##_drop_##state(type *o)                                       \
    {                                                                                              \
        pawl_drop_##state(&o->lock);                                                               \
    }                                                                                              \
    PAWL_IDTABLE_TAKE(name##_take_##state, type, entry, name##_have_##state##_,                    \
                      name##_drop_##state);                                                        \
    PAWL_IDTABLE_TRY(name##_try_##state, type, entry, name##_ask_##state##_, name##_drop_##state); \
    PAWL_IDTABLE_NEXT(name##_next_##state, type, entry, name##_have_##state##_,                    \
                      name##_drop_##state);

#define PAWL_IDTABLE_UNTIL_(name, type, entry, lock, state)                                        \
    PAWL_IDTABLE_FUNCTION_ type *name##_take_##state##_until(const pawl_idtable *t, pawl_id id,    \
                                                             uint64_t deadline, bool *late)        \
    {                                                                                              \
        pawl_idtable_entry *e;                                                                     \
        type *o = NULL;                                                                            \
        bool got = true;                                                                           \
        pawl_idtable_read_lock(t);                                                                 \
        e = pawl_idtable_peek(t, id);                                                              \
        if (PAWL_LIKELY(e != NULL)) {                                                              \
            o = PAWL_IDTABLE_OBJECT_(type, entry, e);                                              \
            got = pawl_take_##state##_until(&o->lock, deadline);                                   \
            if (got && pawl_idtable_is_removed(e))                                                 \
                pawl_drop_##state(&o->lock);                                                       \
            if (!got || pawl_idtable_is_removed(e))                                                \
                o = NULL;                                                                          \
        }                                                                                          \
        pawl_idtable_read_unlock(t);                                                               \
        if (late != NULL)                                                                          \
            *late = !got;                                                                          \
        return o;                                                                                  \
    }

#endif
