// SPDX-License-Identifier: MIT
//
// idtable.h for C++17: pawl::id_table<T, &T::lock> owns its objects, finds them by ID and returns
// them locked. Include pawl.hpp, or this.
//
//   struct session : pawl::id_object {
//       pawl::lock lock;                           anything with lock(), try_lock() and unlock()
//       int requests = 0;
//   };
//   pawl::id_table<session, &session::lock> sessions;
//
//   const pawl_id id = sessions.insert(std::make_unique<session>());
//   if (auto s = sessions.find(id))                no thread removes it while s lives
//       s->requests++;
//   sessions.remove(id);                           deleted a grace period later
//
// The one rule of idtable.h holds here too: a thread that holds an object must not wait for a grace
// period of the table's domain.
#ifndef PAWL_IDTABLE_HPP
#define PAWL_IDTABLE_HPP

#include <pawl/detail/cxx17.inc.h>
#if PAWL_CXX17_

#include <pawl/idtable.h>

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <type_traits>
#include <utility>

namespace pawl {
PAWL_INLINE_BEGIN

// Objects of a table derive from this class, once.
class id_object {
  public:
    id_object() noexcept = default;
    id_object(const id_object &) = delete;
    id_object &operator=(const id_object &) = delete;

  private:
    template <class T, auto Lock> friend class id_table;
    pawl_idtable_entry entry_ = {};
};

// `Lock` names the lock in T. Objects come from new; callbacks of the domain delete them.
template <class T, auto Lock> class id_table {
    using mutex_ = std::remove_reference_t<decltype(std::declval<T &>().*Lock)>;

  public:
    // An object and its lock, held during the life of this guard; or nothing.
    template <class Guard> class [[nodiscard]] found {
      public:
        found() noexcept = default;
        found(found &&other) noexcept
            : object_(std::exchange(other.object_, nullptr)), guard_(std::move(other.guard_))
        {
        }
        found &operator=(found &&other) noexcept
        {
            if (this != &other) {
                guard_ = std::move(other.guard_); // drops the lock held before
                object_ = std::exchange(other.object_, nullptr);
            }
            return *this;
        }
        [[nodiscard]] explicit operator bool() const noexcept { return object_ != nullptr; }
        [[nodiscard]] T *get() const noexcept { return object_; }
        [[nodiscard]] T *operator->() const noexcept { return object_; }
        [[nodiscard]] T &operator*() const noexcept { return *object_; }

      private:
        friend class id_table;
        found(T *object, Guard &&guard) noexcept : object_(object), guard_(std::move(guard)) {}
        T *object_ = nullptr;
        Guard guard_;
    };
    using unique = found<std::unique_lock<mutex_>>;
    using shared = found<std::shared_lock<mutex_>>;

    // `release` of the options belongs to the table; error() is init's result for the others.
    explicit id_table(pawl_idtable_options options = {}) noexcept : error_(init_(options)) {}
    id_table(const id_table &) = delete;
    id_table &operator=(const id_table &) = delete;
    // Deletes the objects and waits until the removed ones have been deleted. No thread may use the
    // table or hold one of its objects. Not in a read section or a callback.
    ~id_table() { pawl_idtable_destroy(&table_); }
    [[nodiscard]] int error() const noexcept { return error_; }

    // Takes the object over; other threads can find it before this returns. PAWL_ID_NONE: there was
    // no room or no memory, and the caller keeps `object`.
    [[nodiscard]] pawl_id insert(std::unique_ptr<T> &object) noexcept
    {
        pawl_id id = PAWL_ID_NONE;
        if (object != nullptr && pawl_idtable_insert(&table_, entry_of_(object.get()), &id) == 0)
            (void)object.release();
        return id;
    }
    // The same; the object is deleted if there was no room.
    [[nodiscard]] pawl_id insert(std::unique_ptr<T> &&object) noexcept
    {
        std::unique_ptr<T> mine = std::move(object);
        return insert(mine);
    }

    // The object of that ID, locked; empty if there is none.
    unique find(pawl_id id) { return look_<std::unique_lock<mutex_>>(id); }
    shared find_shared(pawl_id id) { return look_<std::shared_lock<mutex_>>(id); }
    // Never waits. Empty also while another thread holds the object; *busy then says so.
    unique try_find(pawl_id id, bool *busy = nullptr)
    {
        return look_<std::unique_lock<mutex_>>(id, busy);
    }

    // Removes the object that the caller has found, and drops its lock.
    bool remove(unique held) noexcept
    {
        T *const object = held.object_;
        if (object == nullptr || !pawl_idtable_remove(&table_, entry_of_(object)))
            return false;
        held.guard_.unlock();
        pawl_idtable_retire(&table_, entry_of_(object), sizeof *object);
        return true;
    }
    // False: there is no such object.
    bool remove(pawl_id id) { return remove(find(id)); }

    // Calls visit(id, object) with each object locked, one at a time. visit may insert and remove
    // other objects. An object that is in the table all the time is visited once.
    template <class Visit> void for_each(Visit &&visit)
    {
        pawl_id cursor = PAWL_ID_NONE;
        while (unique one = next_(&cursor))
            visit(static_cast<const pawl_id &>(cursor), *one);
    }

    [[nodiscard]] uint32_t count() const noexcept { return pawl_idtable_count(&table_); }
    // For the functions of idtable.h.
    [[nodiscard]] pawl_idtable *native_handle() noexcept { return &table_; }

  private:
    struct section_ {
        explicit section_(const pawl_idtable *t) noexcept : table(t) { pawl_idtable_read_lock(t); }
        ~section_() { pawl_idtable_read_unlock(table); }
        section_(const section_ &) = delete;
        section_ &operator=(const section_ &) = delete;
        const pawl_idtable *table;
    };

    static pawl_idtable_entry *entry_of_(T *object) noexcept
    {
        return &static_cast<id_object *>(object)->entry_;
    }
    // The entry is the first and only member of id_object, so both have one address.
    static T *object_of_(pawl_idtable_entry *e) noexcept
    {
        static_assert(std::is_standard_layout_v<id_object>);
        return static_cast<T *>(reinterpret_cast<id_object *>(e));
    }
    static void release_(pawl_rcu_head *head)
    {
        delete object_of_(PAWL_IDTABLE_OBJECT_(pawl_idtable_entry, head, head));
    }
    int init_(pawl_idtable_options options) noexcept
    {
        options.release = release_;
        return pawl_idtable_init(&table_, &options);
    }

    // The lock of the object in `e`, unless it has been removed.
    template <class Guard> static found<Guard> hold_(pawl_idtable_entry *e)
    {
        T *const object = object_of_(e);
        Guard guard(object->*Lock);
        if (pawl_idtable_is_removed(e))
            return {};
        return {object, std::move(guard)};
    }
    template <class Guard> found<Guard> look_(pawl_id id) const
    {
        const section_ section(&table_);
        pawl_idtable_entry *const e = pawl_idtable_peek(&table_, id);
        return e == nullptr ? found<Guard>() : hold_<Guard>(e);
    }
    template <class Guard> found<Guard> look_(pawl_id id, bool *busy) const
    {
        const section_ section(&table_);
        pawl_idtable_entry *const e = pawl_idtable_peek(&table_, id);
        T *const object = e == nullptr ? nullptr : object_of_(e);
        Guard guard;
        if (object != nullptr)
            guard = Guard(object->*Lock, std::try_to_lock);
        if (busy != nullptr)
            *busy = object != nullptr && !guard.owns_lock();
        if (!guard.owns_lock() || pawl_idtable_is_removed(e))
            return {};
        return {object, std::move(guard)};
    }
    unique next_(pawl_id *cursor) const
    {
        const section_ section(&table_);
        while (pawl_idtable_entry *const e = pawl_idtable_next(&table_, cursor))
            if (unique one = hold_<std::unique_lock<mutex_>>(e))
                return one;
        return {};
    }

    pawl_idtable table_;
    int error_;
};

PAWL_INLINE_END
} // namespace pawl

#endif
#endif
