// SPDX-License-Identifier: MIT
//
// cache.h for C++17: pawl::cache<K, V>, a bounded cache that owns its entries. Include pawl.hpp, or
// this.
//
//   pawl::cache<std::string, page> pages(10000);       entries; or the sum of their costs
//
//   if (auto hit = pages.find(name))                   a read section as long as `hit` lives
//       show(hit->text);
//   auto kept = pages.find_or_load(name, load);        a reference: may be kept for long
//   pages.insert(name, page(...));                     instead of the one that is there
//   pages.erase(name);
//
// Keys are integers, enumerations, strings (look-ups take std::string_view), and types each value
// of which has one representation in memory. Entries are destroyed a grace period after they have
// left, in no certain thread. Where the loader throws, its caller gets the exception, and others
// that wait for the key get nothing.
#ifndef PAWL_CACHE_HPP
#define PAWL_CACHE_HPP

#include <pawl/rcu.hpp>
#if PAWL_CXX17_

#include <pawl/cache.h>

#include <cerrno>
#include <exception>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace pawl {
PAWL_INLINE_BEGIN

template <class K, class V> class cache {
    static constexpr bool text_ = std::is_convertible_v<const K &, std::string_view>;
    static constexpr bool number_ = std::is_integral_v<K> || std::is_enum_v<K>;
    static_assert(text_ || number_ || std::has_unique_object_representations_v<K>,
                  "a key is a number, a string, or a type without padding");

    // The entry is the first and only member of its class.
    struct part {
        pawl_cache_entry entry = {};
    };
    struct node : part {
        template <class Key, class Value>
        node(Key &&k, Value &&v) : key(std::forward<Key>(k)), value(std::forward<Value>(v))
        {
        }
        K key;
        V value;
    };
    static node *of_(void *e) noexcept { return static_cast<node *>(static_cast<part *>(e)); }
    static void release_(pawl_rcu_head *head) noexcept { delete of_(head); }

  public:
    using key_view = std::conditional_t<text_, std::string_view, const K &>;

    // A hit in a read section; or nothing, and no section.
    class [[nodiscard]] found {
      public:
        found(const found &) = delete;
        found &operator=(const found &) = delete;
        ~found()
        {
            if (node_ != nullptr)
                pawl_rcu_read_unlock();
        }
        [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }
        [[nodiscard]] const V *get() const noexcept { return node_ ? &node_->value : nullptr; }
        [[nodiscard]] const V *operator->() const noexcept { return &node_->value; }
        [[nodiscard]] const V &operator*() const noexcept { return node_->value; }

      private:
        friend class cache;
        found(pawl_cache *c, pawl_cache_key key)
        {
            pawl_rcu_read_lock();
            node_ = of_(pawl_cache_get(c, key));
            if (node_ == nullptr)
                pawl_rcu_read_unlock();
        }
        node *node_;
    };

    // A reference, or nothing. It is dropped before the cache ends.
    class [[nodiscard]] held {
      public:
        held() noexcept = default;
        held(held &&other) noexcept
            : cache_(other.cache_), node_(std::exchange(other.node_, nullptr))
        {
        }
        held &operator=(held &&other) noexcept
        {
            held(std::move(other)).swap(*this);
            return *this;
        }
        ~held()
        {
            if (node_ != nullptr)
                pawl_cache_drop(cache_, &node_->entry);
        }
        void swap(held &other) noexcept
        {
            std::swap(cache_, other.cache_);
            std::swap(node_, other.node_);
        }
        [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }
        [[nodiscard]] const V *get() const noexcept { return node_ ? &node_->value : nullptr; }
        [[nodiscard]] const V *operator->() const noexcept { return &node_->value; }
        [[nodiscard]] const V &operator*() const noexcept { return node_->value; }

      private:
        friend class cache;
        held(pawl_cache *c, pawl_cache_entry *e) noexcept : cache_(c), node_(of_(e)) {}
        pawl_cache *cache_ = nullptr;
        node *node_ = nullptr;
    };

    // life: ns, 0: for ever. entries: how many to expect, where the limit is not their number.
    explicit cache(std::uint64_t limit, std::uint64_t life = 0, std::uint32_t entries = 0)
    {
        const pawl_cache_options options = {limit, entries, life, release_, nullptr};
        rcu_throw_(pawl_cache_init(&cache_, &options), "pawl::cache");
    }
    cache(const cache &) = delete;
    cache &operator=(const cache &) = delete;
    ~cache() { pawl_cache_destroy(&cache_); }
    [[nodiscard]] pawl_cache *native_handle() noexcept { return &cache_; }

    found find(key_view key) { return found(&cache_, of_key_(key)); }
    held hold(key_view key) { return held(&cache_, pawl_cache_hold(&cache_, of_key_(key))); }

    // A miss calls load(key), once for all threads that miss it, and inserts its value.
    template <class Load> held find_or_load(key_view key, Load &&load, std::uint64_t cost = 1)
    {
        loading<Load> l = {load, key, cost, nullptr};
        held result(&cache_, pawl_cache_load(&cache_, of_key_(key), load_<Load>, &l));
        if (l.thrown)
            std::rethrow_exception(l.thrown);
        return result;
    }

    // False: it costs more than the limit.
    bool insert(K key, V value, std::uint64_t cost = 1, std::uint64_t life = 0)
    {
        std::unique_ptr<node> n(new node(std::move(key), std::move(value)));
        pawl_cache_entry_init(&n->entry, of_key_(n->key), cost, life);
        if (!pawl_cache_insert(&cache_, &n->entry))
            return false;
        (void)n.release();
        return true;
    }
    bool erase(key_view key) { return pawl_cache_remove(&cache_, of_key_(key)); }
    void clear() { pawl_cache_clear(&cache_); }
    [[nodiscard]] pawl_cache_statistics statistics()
    {
        pawl_cache_statistics all;
        pawl_cache_read(&cache_, &all);
        return all;
    }

  private:
    template <class Load> struct loading {
        Load &load;
        key_view key;
        std::uint64_t cost;
        std::exception_ptr thrown;
    };
    template <class Load> static pawl_cache_entry *load_(pawl_cache_key, void *argument) noexcept
    {
        loading<Load> &l = *static_cast<loading<Load> *>(argument);
#if defined(__cpp_exceptions)
        try {
#endif
            node *const n = new node(K(l.key), l.load(l.key));
            pawl_cache_entry_init(&n->entry, of_key_(n->key), l.cost, 0);
            return &n->entry;
#if defined(__cpp_exceptions)
        } catch (...) {
            l.thrown = std::current_exception();
            return nullptr;
        }
#endif
    }
    static pawl_cache_key of_key_(key_view key) noexcept
    {
        if constexpr (number_)
            return pawl_cache_number(static_cast<std::uint64_t>(key));
        else if constexpr (text_)
            return pawl_cache_bytes(key.data(), key.size());
        else
            return pawl_cache_bytes(std::addressof(key), sizeof key);
    }
    pawl_cache cache_;
};

PAWL_INLINE_END
} // namespace pawl

#endif
#endif
