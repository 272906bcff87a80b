// SPDX-License-Identifier: MIT
// A class whose inline members use locks; two translation units include it.
#pragma once

#include <pawl/pawl.hpp>

class counter {
  public:
    void add(long n)
    {
        pawl_take_write(&plain_);
        value_ += n;
        pawl_drop_write(&plain_);
    }
    void add_with_guards(long n)
    {
        pawl::seek_guard seek(lock_);
        const pawl::write_guard write = std::move(seek).to_write();
        guarded_ += n;
    }
    long value()
    {
        pawl_spin64_take_read(&plain_);
        const pawl::read_guard read(lock_);
        const long sum = value_ + guarded_;
        pawl_spin64_drop_read(&plain_);
        return sum;
    }

  private:
    pawl_spin64 plain_ = PAWL_SPIN64_INIT;
    pawl::spin_lock16 lock_;
    long value_ = 0, guarded_ = 0;
};

// One object in the program, whoever asks for it.
inline counter &the_counter()
{
    static counter one;
    return one;
}

// The address of an inline function of the library, as each translation unit sees it.
using take_function = void (*)(pawl_spin32 *);
take_function left_take();
take_function right_take();
void left();
void right();
