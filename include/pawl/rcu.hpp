// SPDX-License-Identifier: MIT
//
// RCU under the names of C++26's <rcu>, for C++17. No logic of its own: every function is one call
// of rcu.h or rcu_call.h, where the contracts are.
//
//   rcu_domain             lock and try_lock enter a section, unlock leaves it; sections nest
//                          (std::scoped_lock, std::unique_lock work on it)
//   rcu_default_domain()   the domain that is always there
//   rcu_synchronize()      waits for a grace period
//   rcu_barrier()          waits until all retired objects have been evaluated
//   rcu_obj_base<T, D>     base of objects that retire themselves: node->retire()
//   rcu_retire(p, d)       the same for any object; allocates a node
//
// The standard differs in these points, because the queue here has a limit:
//   - retire and rcu_retire throw std::system_error when the domain is full and refuses
//     (resource_unavailable_try_again), or when it is full and the caller reads or is in a deleter
//     (resource_deadlock_would_occur). The caller then keeps the object. Without exceptions the
//     program ends with a sentence.
//   - try_retire never waits, throws nothing, and returns whether the object was retired.
//   - Programs can make more domains than the one.
//   - Deleters run on a thread of the library's, or on a thread that retires at the limit. A
//     deleter that throws ends the program.
#ifndef PAWL_RCU_HPP
#define PAWL_RCU_HPP

#include <pawl/detail/cxx17.inc.h>
#if PAWL_CXX17_

#include <pawl/rcu.h>
#include <pawl/rcu_call.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <system_error>
#include <type_traits>
#include <utility>

namespace pawl {
PAWL_INLINE_BEGIN

#if defined(__cpp_exceptions)
inline void rcu_throw_(int error, const char *what)
{
    if (error == 0)
        return;
    throw std::system_error(error, std::generic_category(), what);
}
#else
inline void rcu_throw_(int error, const char *what)
{
    if (error == 0)
        return;
    std::fprintf(stderr, "%s: %s\n", what, std::strerror(error));
    std::abort();
}
#endif

class rcu_domain {
  public:
    // Throws std::system_error if PAWL_RCU_DOMAINS - 2 exist. The name must live as long.
    explicit rcu_domain(const char *name = nullptr) : domain_()
    {
        rcu_throw_(pawl_rcu_domain_init(&domain_, name), "pawl::rcu_domain");
    }
    ~rcu_domain() { pawl_rcu_domain_destroy(&domain_); }
    rcu_domain(const rcu_domain &) = delete;
    rcu_domain &operator=(const rcu_domain &) = delete;

    void lock() noexcept { pawl_rcu_domain_read_lock(&domain_); }
    [[nodiscard]] bool try_lock() noexcept
    {
        lock();
        return true;
    }
    void unlock() noexcept { pawl_rcu_domain_read_unlock(&domain_); }

    // For the functions of rcu.h and rcu_call.h.
    [[nodiscard]] pawl_rcu_domain *native_handle() noexcept { return &domain_; }

    // The built-in domain of that number; programs get it by rcu_default_domain.
    struct built_in {};
    constexpr rcu_domain(built_in, uint32_t index, const char *name) noexcept : domain_{index, name}
    {
    }

  private:
    pawl_rcu_domain domain_;
};

inline rcu_domain rcu_default_object_{rcu_domain::built_in{}, PAWL_RCU_DEFAULT_, "default"};

[[nodiscard]] inline rcu_domain &rcu_default_domain() noexcept
{
    return rcu_default_object_;
}

inline void rcu_synchronize(rcu_domain &domain = rcu_default_domain()) noexcept
{
    pawl_rcu_domain_synchronize(domain.native_handle());
}

// Inside a section or a deleter it could never return, so it ends the program.
inline void rcu_barrier(rcu_domain &domain = rcu_default_domain()) noexcept
{
    if (pawl_rcu_domain_barrier(domain.native_handle()) != 0)
        std::terminate();
}

// Holds a deleter; an empty class takes no room.
template <class D, bool Empty = std::is_empty<D>::value && !std::is_final<D>::value>
class rcu_deleter_ : private D {
  protected:
    void set_deleter_(D &&d) { static_cast<D &>(*this) = std::move(d); }
    D take_deleter_() { return std::move(static_cast<D &>(*this)); }
};

template <class D> class rcu_deleter_<D, false> {
  protected:
    void set_deleter_(D &&d) { d_ = std::move(d); }
    D take_deleter_() { return std::move(d_); }

  private:
    D d_{};
};

template <class T, class D = std::default_delete<T>>
class rcu_obj_base : private pawl_rcu_head, private rcu_deleter_<D> {
  public:
    // Has d(object) evaluated after a grace period. Once for each object.
    void retire(D d = D(), rcu_domain &domain = rcu_default_domain())
    {
        this->set_deleter_(std::move(d));
        rcu_throw_(pawl_rcu_domain_call(domain.native_handle(), this, run_, sizeof(T)),
                   "pawl::rcu retire");
    }
    [[nodiscard]] bool try_retire(D d = D(), rcu_domain &domain = rcu_default_domain()) noexcept
    {
        this->set_deleter_(std::move(d));
        return pawl_rcu_domain_try_call(domain.native_handle(), this, run_, sizeof(T)) == 0;
    }

  protected:
    rcu_obj_base() noexcept : pawl_rcu_head() {}
    rcu_obj_base(const rcu_obj_base &) = default;
    rcu_obj_base(rcu_obj_base &&) = default;
    rcu_obj_base &operator=(const rcu_obj_base &) = default;
    rcu_obj_base &operator=(rcu_obj_base &&) = default;
    ~rcu_obj_base() = default;

  private:
    static void run_(pawl_rcu_head *head) noexcept
    {
        auto *self = static_cast<rcu_obj_base *>(head);
        D d = self->take_deleter_(); // evaluating d destroys the object that held it
        d(static_cast<T *>(self));
    }
};

template <class T, class D> struct rcu_node_ final : pawl_rcu_head {
    rcu_node_(T *p, D &&d) : pawl_rcu_head(), object(p), deleter(std::move(d)) {}
    static void run(pawl_rcu_head *head) noexcept
    {
        const std::unique_ptr<rcu_node_> self(static_cast<rcu_node_ *>(head));
        self->deleter(self->object);
    }
    T *object;
    D deleter;
};

// Has d(p) evaluated after a grace period. May also throw std::bad_alloc; the caller keeps p then.
template <class T, class D = std::default_delete<T>>
void rcu_retire(T *p, D d = D(), rcu_domain &domain = rcu_default_domain())
{
    using node = rcu_node_<T, D>;
    std::unique_ptr<node> made(new node(p, std::move(d)));
    rcu_throw_(pawl_rcu_domain_call(domain.native_handle(), made.get(), node::run,
                                    sizeof(T) + sizeof(node)),
               "pawl::rcu retire");
    (void)made.release();
}

PAWL_INLINE_END
} // namespace pawl

#endif
#endif
