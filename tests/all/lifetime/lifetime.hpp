// SPDX-License-Identifier: MIT
#pragma once

#include <pawl/pawl.hpp>

#include <cstdio>
#include <cstdlib>

// Locks that exist before any constructor has run, because they are constants at first.
extern pawl::spin_lock early_lock;
extern pawl_spin64 early_plain;
extern int early_uses;

inline void use_all_states()
{
    {
        pawl::seek_guard seek(early_lock);
        const pawl::write_guard write = std::move(seek).to_write();
        early_uses++;
    }
    {
        pawl::read_guard read(early_lock);
        if (!std::move(read).try_to_atomic())
            std::abort();
    }
    pawl_take_write(&early_plain);
    early_uses++;
    pawl_drop_write(&early_plain);
}

// Uses the locks when it is made and when it is destroyed.
struct user {
    user() { use_all_states(); }
    ~user() { use_all_states(); }
    user(const user &) = delete;
    user &operator=(const user &) = delete;
};
