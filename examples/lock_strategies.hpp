/* SPDX-License-Identifier: MIT */
/*
 * Ways to lock a structure that is mostly looked up and sometimes inserted into. A strategy says
 * which state of the lock covers the lookup, and by which states an insertion goes from its search
 * to its write.
 *
 * A strategy has two guards, both of which hold the lock from construction to destruction:
 *   lookup      other threads may read meanwhile, none writes
 *   insertion   starts in the state of its search. to_write() asks for the right to write.
 *               true: the guard holds it, alone. false: the lock was free in between, so the result
 *               of the search may be stale; search again and call again (the second time succeeds).
 *               The guard may be destroyed only after a true.
 *
 * The lock type gives the operations under these names: take_read, drop_read, take_seek, drop_seek,
 * take_write, drop_write, seek_to_write, try_read_to_seek, try_read_to_write; a strategy uses only
 * those in its name. try_read_to_write may wait for the other readers once its claim is good.
 */
#ifndef PAWL_EXAMPLES_LOCK_STRATEGIES_HPP
#define PAWL_EXAMPLES_LOCK_STRATEGIES_HPP

namespace pawl_example {

/* The lookup under R, for all the strategies whose name starts with it. */
template <class Lock> class read_lookup {
  public:
    explicit read_lookup(Lock &lock) : lock_(lock) { lock_.take_read(); }
    ~read_lookup() { lock_.drop_read(); }
    read_lookup(const read_lookup &) = delete;
    read_lookup &operator=(const read_lookup &) = delete;

  private:
    Lock &lock_;
};

/* The insertion under W from its first step. */
template <class Lock> class write_insertion {
  public:
    explicit write_insertion(Lock &lock) : lock_(lock) { lock_.take_write(); }
    ~write_insertion() { lock_.drop_write(); }
    write_insertion(const write_insertion &) = delete;
    write_insertion &operator=(const write_insertion &) = delete;
    bool to_write() { return true; }

  private:
    Lock &lock_;
};

/* w: one at a time, for lookups too. A mutex or a spinlock offers no more. */
template <class Lock> struct write_only {
    using lock_type = Lock;
    using lookup = write_insertion<Lock>;
    using insertion = write_insertion<Lock>;
};

/* s: one at a time by the seek state. Cheaper than w, which has to look for readers; correct only
 * because no user of the lock takes R. */
template <class Lock> struct seek_only {
    using lock_type = Lock;
    class insertion {
      public:
        explicit insertion(Lock &lock) : lock_(lock) { lock_.take_seek(); }
        ~insertion() { lock_.drop_seek(); }
        insertion(const insertion &) = delete;
        insertion &operator=(const insertion &) = delete;
        bool to_write() { return true; }

      private:
        Lock &lock_;
    };
    using lookup = insertion;
};

/* r+w: lookups together, insertions alone from their search on. */
template <class Lock> struct read_write {
    using lock_type = Lock;
    using lookup = read_lookup<Lock>;
    using insertion = write_insertion<Lock>;
};

/* r+s>w: insertions search under S, beside readers, one at a time, and write under W. */
template <class Lock> struct read_seek_write {
    using lock_type = Lock;
    using lookup = read_lookup<Lock>;
    class insertion {
      public:
        explicit insertion(Lock &lock) : lock_(lock) { lock_.take_seek(); }
        ~insertion() { lock_.drop_write(); }
        insertion(const insertion &) = delete;
        insertion &operator=(const insertion &) = delete;
        bool to_write()
        {
            lock_.seek_to_write();
            return true;
        }

      private:
        Lock &lock_;
    };
};

/* r+rs>w: insertions search under R, beside each other too. If another thread was faster, the
 * insertion drops R and searches again under S. */
template <class Lock> struct read_try_seek_write {
    using lock_type = Lock;
    using lookup = read_lookup<Lock>;
    class insertion {
      public:
        explicit insertion(Lock &lock) : lock_(lock) { lock_.take_read(); }
        ~insertion() { lock_.drop_write(); }
        insertion(const insertion &) = delete;
        insertion &operator=(const insertion &) = delete;
        bool to_write()
        {
            if (!seeking_ && !lock_.try_read_to_seek()) {
                lock_.drop_read();
                lock_.take_seek();
                seeking_ = true;
                return false;
            }
            lock_.seek_to_write();
            return true;
        }

      private:
        Lock &lock_;
        bool seeking_ = false;
    };
};

/* r+rw: as before, but straight from R to W, and the second search under W. */
template <class Lock> struct read_try_write {
    using lock_type = Lock;
    using lookup = read_lookup<Lock>;
    class insertion {
      public:
        explicit insertion(Lock &lock) : lock_(lock) { lock_.take_read(); }
        ~insertion() { lock_.drop_write(); }
        insertion(const insertion &) = delete;
        insertion &operator=(const insertion &) = delete;
        bool to_write()
        {
            if (!writing_ && !lock_.try_read_to_write()) {
                lock_.drop_read();
                lock_.take_write();
                writing_ = true;
                return false;
            }
            return true;
        }

      private:
        Lock &lock_;
        bool writing_ = false;
    };
};

} // namespace pawl_example

#endif
