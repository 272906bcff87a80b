// SPDX-License-Identifier: MIT
//
// Hazard pointers under the names of C++26's <hazard_pointer>, for C++17 (P2530). No logic of its
// own: every function is a call of hazard.h, where the contracts are.
//
//   hazard_pointer                  empty, or names at most one object; may be moved to any thread
//   make_hazard_pointer()           one that is not empty
//   h.protect(pointer)              names the object of the pointer, and returns it
//   hazard_pointer_obj_base<T, D>   base of objects that retire themselves: node->retire()
//   hazard_pointer_clean_up()       evaluates what is retired and unnamed; not in the standard
//
// Deleters run on threads that retire or clean up, and may retire. One that throws ends the
// program. Objects that are still retired when the process ends stay, as in the standard.
#ifndef PAWL_HAZARD_HPP
#define PAWL_HAZARD_HPP

#include <pawl/detail/cxx17.inc.h>
#if PAWL_CXX17_

#include <pawl/hazard.h>
#include <pawl/rcu.hpp>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace pawl {
PAWL_INLINE_BEGIN

template <class T, class D = std::default_delete<T>>
class hazard_pointer_obj_base : private pawl_hazard_head, private rcu_deleter_<D> {
  public:
    // Has d(object) evaluated when no hazard pointer names it. Once for each object.
    void retire(D d = D()) noexcept
    {
        this->set_deleter_(std::move(d));
        pawl_hazard_retire(this, static_cast<T *>(this), run_);
    }

  protected:
    hazard_pointer_obj_base() noexcept : pawl_hazard_head() {}
    hazard_pointer_obj_base(const hazard_pointer_obj_base &) noexcept : hazard_pointer_obj_base() {}
    hazard_pointer_obj_base &operator=(const hazard_pointer_obj_base &) noexcept { return *this; }
    ~hazard_pointer_obj_base() = default;

  private:
    static void run_(void *object) noexcept
    {
        hazard_pointer_obj_base *const self = static_cast<T *>(object);
        D d = self->take_deleter_(); // evaluating d destroys the object that held it
        d(static_cast<T *>(object));
    }
};

class hazard_pointer {
  public:
    hazard_pointer() noexcept = default;
    hazard_pointer(hazard_pointer &&other) noexcept : h_(std::exchange(other.h_, nullptr)) {}
    hazard_pointer &operator=(hazard_pointer &&other) noexcept
    {
        hazard_pointer(std::move(other)).swap(*this);
        return *this;
    }
    ~hazard_pointer()
    {
        if (h_ != nullptr)
            pawl_hazard_drop(h_);
    }

    [[nodiscard]] bool empty() const noexcept { return h_ == nullptr; }

    // The others: not of an empty one.
    template <class T> T *protect(const std::atomic<T *> &src) noexcept
    {
        static_assert(sizeof src == sizeof(T *), "an atomic pointer is larger than a pointer");
        return reinterpret_cast<T *>(static_cast<std::uintptr_t>(ipawl_hazard_protect_(h_, &src)));
    }

    // Names ptr's object, if src still has ptr. False: ptr is what src has, and nothing is named.
    template <class T> bool try_protect(T *&ptr, const std::atomic<T *> &src) noexcept
    {
        static_assert(sizeof src == sizeof(T *), "an atomic pointer is larger than a pointer");
        T *const asked = ptr;
        ptr = reinterpret_cast<T *>(static_cast<std::uintptr_t>(
            ipawl_hazard_try_(h_, reinterpret_cast<std::uintptr_t>(asked), &src)));
        if (ptr == asked)
            return true;
        reset_protection();
        return false;
    }

    template <class T> void reset_protection(const T *ptr) noexcept { pawl_hazard_reset(h_, ptr); }
    void reset_protection(std::nullptr_t = nullptr) noexcept { pawl_hazard_reset(h_, nullptr); }

    void swap(hazard_pointer &other) noexcept { std::swap(h_, other.h_); }

  private:
    explicit hazard_pointer(pawl_hazard *h) noexcept : h_(h) {}
    friend hazard_pointer make_hazard_pointer();
    pawl_hazard *h_ = nullptr;
};

inline void swap(hazard_pointer &one, hazard_pointer &other) noexcept
{
    one.swap(other);
}

#if defined(__cpp_exceptions)
[[noreturn]] inline void hazard_none_()
{
    throw std::bad_alloc();
}
#else
inline void hazard_none_()
{
    rcu_throw_(ENOMEM, "pawl::make_hazard_pointer");
}
#endif

// Throws std::bad_alloc where pawl_hazard_make returns NULL; without exceptions the program ends
// with a sentence.
[[nodiscard]] inline hazard_pointer make_hazard_pointer()
{
    pawl_hazard *const h = pawl_hazard_make();
    if (h == nullptr)
        hazard_none_();
    return hazard_pointer(h);
}

inline void hazard_pointer_clean_up() noexcept
{
    pawl_hazard_clean_up();
}

PAWL_INLINE_END
} // namespace pawl

#endif
#endif
