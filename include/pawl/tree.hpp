// SPDX-License-Identifier: MIT
//
// tree.h for C++17: pawl::tree<T> is an ordered map of objects of the program's own, which derive
// from pawl::tree_object. Include pawl.hpp, or this.
//
//   struct route : pawl::tree_object { int port; };
//   pawl::tree<route> routes;
//
//   routes.insert(r, 7u);                    false: the key is there
//   if (auto found = routes.find(7u))        R as long as `found` lives
//       use(found->port);
//   for (auto i = routes.first(); i; i.next())
//       use(i->port);
//   routes.erase(r);                         S, then W: not while this thread has a `found`
//
// Keys are unsigned integers, std::string_view (a tree of PAWL_TREE_BYTES), or pawl_tree_prefix(),
// as the tree's kind says: another kind of key finds nothing, or a wrong object.
// The bytes of a key are the program's, as in tree.h. The tree owns no object.
#ifndef PAWL_TREE_HPP
#define PAWL_TREE_HPP

#include <pawl/pawl.hpp>
#if PAWL_CXX17_

#include <pawl/tree.h>

#include <optional>
#include <string_view>
#include <type_traits>

namespace pawl {
PAWL_INLINE_BEGIN

class tree_key {
  public:
    template <class K, class = std::enable_if_t<std::is_unsigned_v<K> ||
                                                std::is_convertible_v<const K &, std::string_view>>>
    tree_key(const K &key) noexcept : key_(of_(key))
    {
    }
    tree_key(pawl_tree_key key) noexcept : key_(key) {}
    operator pawl_tree_key() const noexcept { return key_; }

  private:
    static pawl_tree_key of_(std::uint64_t number) noexcept { return pawl_tree_number(number); }
    static pawl_tree_key of_(std::string_view text) noexcept
    {
        return pawl_tree_bytes(text.data(), text.size());
    }
    pawl_tree_key key_;
};

// Objects of a tree derive from this class, once.
class tree_object {
  public:
    tree_object() noexcept = default;
    tree_object(const tree_object &) = delete;
    tree_object &operator=(const tree_object &) = delete;
#if PAWL_CHECKED
    ~tree_object() { pawl_tree_node_destroy(&node_); }
#endif

  private:
    template <class T> friend class tree;
    pawl_tree_node node_ = {};
};

template <class T> class tree {
    static T *of_(pawl_tree_node *n) noexcept
    {
        // The node is the first and only member of its class.
        return n == nullptr ? nullptr : static_cast<T *>(reinterpret_cast<tree_object *>(n));
    }
    static pawl_tree_node *node_(T &object) noexcept
    {
        return &static_cast<tree_object &>(object).node_;
    }

  public:
    // An object under R of the tree; or nothing, and no lock.
    class [[nodiscard]] found {
      public:
        [[nodiscard]] explicit operator bool() const noexcept { return guard_.owns_lock(); }
        [[nodiscard]] T *get() const noexcept { return *this ? object_ : nullptr; }
        [[nodiscard]] T *operator->() const noexcept { return object_; }
        [[nodiscard]] T &operator*() const noexcept { return *object_; }
        // The object behind or before this one.
        void next() noexcept { set_(pawl_tree_step(node_(*object_), 0)); }
        void previous() noexcept { set_(pawl_tree_step(node_(*object_), 1)); }

      private:
        friend class tree;
        template <class Search> found(pawl_tree *t, Search search) : guard_(t->lock)
        {
            set_(search(t));
        }
        void set_(pawl_tree_node *n) noexcept PAWL_TSA_NOT_CHECKED
        {
            object_ = of_(n);
            if (object_ == nullptr)
                guard_.drop();
        }
        T *object_ = nullptr;
        read_guard<pawl_lock64> guard_;
    };

    explicit tree(pawl_tree_kind kind = PAWL_TREE_NUMBERS) noexcept
    {
        pawl_tree_init(&tree_, kind);
    }
    tree(const tree &) = delete;
    tree &operator=(const tree &) = delete;
    ~tree() { pawl_tree_destroy(&tree_); }
    [[nodiscard]] pawl_tree *native_handle() noexcept { return &tree_; }

    // False: the key is there already.
    bool insert(T &object, tree_key key)
    {
        return pawl_tree_insert_unique(&tree_, node_(object), key) == nullptr;
    }
    // Behind those of the same key.
    void insert_equal(T &object, tree_key key) { pawl_tree_insert(&tree_, node_(object), key); }
    bool erase(T &object) { return pawl_tree_remove(&tree_, node_(object)); }

    found find(tree_key key)
    {
        return found(&tree_, [&](pawl_tree *t) { return pawl_tree_find(t, key); });
    }
    // The first whose key is at least, the last whose key is at most that; the longest prefix.
    found at_least(tree_key key)
    {
        return found(&tree_, [&](pawl_tree *t) { return pawl_tree_near(t, key, 0); });
    }
    found at_most(tree_key key)
    {
        return found(&tree_, [&](pawl_tree *t) { return pawl_tree_near(t, key, 1); });
    }
    found match(tree_key key)
    {
        return found(&tree_, [&](pawl_tree *t) { return pawl_tree_match(t, key); });
    }
    found first()
    {
        return found(&tree_, [](pawl_tree *t) { return pawl_tree_end(t, 0); });
    }
    found last()
    {
        return found(&tree_, [](pawl_tree *t) { return pawl_tree_end(t, 1); });
    }
    // Without a lock, in an RCU read section (tree.h).
    [[nodiscard]] T *get(tree_key key) { return of_(pawl_tree_get(&tree_, key)); }

  private:
    pawl_tree tree_;
};

PAWL_INLINE_END
} // namespace pawl

#endif
#endif
