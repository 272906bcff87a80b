// SPDX-License-Identifier: MIT
//
// table.h for C++17: pawl::table<T> is a hash table of objects of the program's own, which derive
// from pawl::table_object and have a key(). Include pawl.hpp, or this.
//
//   struct route : pawl::table_object {
//       std::string name;
//       int port;
//       const std::string &key() const { return name; }
//   };
//   pawl::table<route> routes;
//
//   routes.insert(r);                        false: the key is there
//   if (auto found = routes.find("a"))       a read section as long as `found` lives
//       use(found->port);
//   routes.for_each([](route &r) { ... });   in one read section
//   if (routes.erase(r))                     free it a grace period later: pawl::rcu_retire
//
// key() stays the same while the object is in; Equal does not throw. The table owns no object.
#ifndef PAWL_TABLE_HPP
#define PAWL_TABLE_HPP

#include <pawl/detail/cxx17.inc.h>
#if PAWL_CXX17_

#include <pawl/table.h>

#include <functional>
#include <type_traits>
#include <utility>

namespace pawl {
PAWL_INLINE_BEGIN

// Objects of a table derive from this class, once.
class table_object {
  public:
    table_object() noexcept = default;
    table_object(const table_object &) = delete;
    table_object &operator=(const table_object &) = delete;
#if PAWL_CHECKED
    ~table_object() { pawl_table_node_destroy(&node_); }
#endif

  private:
    template <class, class, class> friend class table;
    pawl_table_node node_ = {};
};

// The void stands for std::hash and std::equal_to of the key's type.
template <class T, class Hash = void, class Equal = std::equal_to<>> class table {
    using key_type_ = std::decay_t<decltype(std::declval<const T &>().key())>;
    using hash_ = std::conditional_t<std::is_void_v<Hash>, std::hash<key_type_>, Hash>;

    static T *of_(pawl_table_node *n) noexcept
    {
        // The node is the first and only member of its class.
        return n == nullptr ? nullptr : static_cast<T *>(reinterpret_cast<table_object *>(n));
    }
    static pawl_table_node *node_(T &object) noexcept
    {
        return &static_cast<table_object &>(object).node_;
    }
    static pawl_table_key key_(const key_type_ &key)
    {
        return pawl_table_hashed(hash_()(key), &key);
    }
    static bool same_(const pawl_table_node *n, const void *key) noexcept
    {
        const T *const object = of_(const_cast<pawl_table_node *>(n));
        return Equal()(object->key(), *static_cast<const key_type_ *>(key));
    }
    struct section_ {
        section_() noexcept { pawl_rcu_read_lock(); }
        ~section_() { pawl_rcu_read_unlock(); }
    };

  public:
    // An object in a read section; or nothing, and no section.
    class [[nodiscard]] found {
      public:
        found(found &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
        found &operator=(found &&) = delete;
        ~found()
        {
            if (object_ != nullptr)
                pawl_rcu_read_unlock();
        }
        [[nodiscard]] explicit operator bool() const noexcept { return object_ != nullptr; }
        [[nodiscard]] T *get() const noexcept { return object_; }
        [[nodiscard]] T *operator->() const noexcept { return object_; }
        [[nodiscard]] T &operator*() const noexcept { return *object_; }

      private:
        friend class table;
        explicit found(T *object) noexcept : object_(object) {}
        T *object_;
    };

    table() noexcept
    {
        pawl_table_options options = {};
        options.same = same_;
        pawl_table_init(&table_, &options);
    }
    table(const table &) = delete;
    table &operator=(const table &) = delete;
    ~table() { pawl_table_destroy(&table_); }
    [[nodiscard]] pawl_table *native_handle() noexcept { return &table_; }

    // False: the key is there already.
    bool insert(T &object)
    {
        const key_type_ &key = std::as_const(object).key();
        return pawl_table_insert_unique(&table_, node_(object), key_(key)) == nullptr;
    }
    // Puts `fresh`, which has the same key, in the place of the object.
    bool replace(T &object, T &fresh)
    {
        return pawl_table_replace(&table_, node_(object), node_(fresh));
    }
    bool erase(T &object) { return pawl_table_remove(&table_, node_(object)); }

    [[nodiscard]] found find(const key_type_ &key)
    {
        const pawl_table_key made = key_(key); // may throw
        pawl_rcu_read_lock();
        T *const object = of_(pawl_table_get(&table_, made));
        if (object == nullptr)
            pawl_rcu_read_unlock();
        return found(object);
    }
    // In the caller's read section.
    [[nodiscard]] T *get(const key_type_ &key) { return of_(pawl_table_get(&table_, key_(key))); }
    // Each object that is in all the time, once. `use` may insert and erase.
    template <class Use> void for_each(Use use)
    {
        const section_ here;
        for (auto *n = pawl_table_from(&table_, 0); n != nullptr; n = pawl_table_step(&table_, n))
            use(*of_(n));
    }

  private:
    pawl_table table_;
};

PAWL_INLINE_END
} // namespace pawl

#endif
#endif
