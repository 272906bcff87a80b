/* SPDX-License-Identifier: MIT */
/*
 * The oracle: it knows who holds a lock in which mode, from the threads themselves, and ends the
 * run when two holders exclude each other. Lost wake-ups show as a program that stands still. It is
 * no part of the simulated program: its functions are compiled without reports of their accesses.
 */
#pragma once

#include "engine/engine.hpp"

namespace sim {

class oracle {
  public:
    enum mode { read, seek, write, modes };

    void enter(mode m);
    void leave(mode m);

  private:
    unsigned holders_[modes] = {};
};

/* The lock with the oracle at each of its operations, under the names of lock_strategies.hpp. */
template <class Lock> struct watched {
    Lock lock;
    oracle *eye = new oracle; /* outside the simulated memory; lives as long as the process */
    void take_read() { lock.take_read(), eye->enter(oracle::read); }
    void drop_read() { eye->leave(oracle::read), lock.drop_read(); }
    void take_seek() { lock.take_seek(), eye->enter(oracle::seek); }
    void drop_seek() { eye->leave(oracle::seek), lock.drop_seek(); }
    void take_write() { lock.take_write(), eye->enter(oracle::write); }
    void drop_write() { eye->leave(oracle::write), lock.drop_write(); }
    void seek_to_write()
    {
        eye->leave(oracle::seek);
        lock.seek_to_write();
        eye->enter(oracle::write);
    }
    bool try_read_to_seek()
    {
        eye->leave(oracle::read);
        const bool got = lock.try_read_to_seek();
        eye->enter(got ? oracle::seek : oracle::read);
        return got;
    }
    bool try_read_to_write()
    {
        eye->leave(oracle::read);
        const bool got = lock.try_read_to_write();
        eye->enter(got ? oracle::write : oracle::read);
        return got;
    }
};

} // namespace sim
