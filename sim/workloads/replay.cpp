/* SPDX-License-Identifier: MIT */
/*
 * The threads of a traced program do again what they did: the steps that `pawl replay` and
 * `pawl sim trace` write (bench/replay/steps.hpp), on simulated cores. Copies of a recorded thread
 * begin at other places of its steps.
 */
#include "bench/adapters/pawl_brlock.hpp"
#include "bench/adapters/pawl_lock.hpp"
#include "bench/adapters/pawl_spin.hpp"
#include "bench/replay/steps.hpp"
#include "models/published.hpp"
#include "stage.hpp"

#include <type_traits>

namespace sim {

namespace {

using bench::lock_kind;
using bench::op;
using bench::step;
using bench::step_file;

/* What the program had, as models: one of them is used. */
struct original {
    alignas(128) stage::watched<model_low_level_lock> as_mutex;
    alignas(128) stage::watched<model_rwlock> as_rwlock;
    alignas(128) stage::watched<model_spin> as_spin;
};

template <class Lock> struct alignas(128) placed {
    stage::watched<Lock> lock;
};

/* Readers take it alone, too. */
template <class Lock> struct exclusive : Lock {
    void take_read() { Lock::take_write(); }
    void drop_read() { Lock::drop_write(); }
};

struct nothing {};

template <class Lock> auto has_upgrade(int) -> decltype(&Lock::try_read_to_seek, std::true_type());
template <class Lock> std::false_type has_upgrade(...);

template <class T> T *all_of(std::size_t count)
{
    T *const first = static_cast<T *>(stage::memory(sizeof(T) * count, alignof(T)));
    for (std::size_t i = 0; i < count; i++)
        new (&first[i]) T();
    return first;
}

/* Where a copy begins: holding nothing, after its share of the steps. */
std::size_t begin_of(const std::vector<step> &steps, unsigned copy, unsigned copies)
{
    std::size_t begin = 0;
    int held = 0;
    for (std::size_t i = 0; i < steps.size() * copy / copies; i++) {
        const op what = steps[i].what;
        held += what == op::take_read || what == op::take_write || what == op::take_seek;
        held -= what == op::drop_read || what == op::drop_write;
        if (held == 0)
            begin = i + 1;
    }
    return begin % steps.size();
}

template <class Lock> class replay_of {
  public:
    replay_of(const step_file &file, const std::vector<std::vector<step>> &steps)
        : file_(file), steps_(steps), originals_(all_of<original>(file.kinds.size())),
          locks_(all_of<placed<Lock>>(file.kinds.size()))
    {
    }

    void run(stage::member &me)
    {
        const auto recorded = static_cast<unsigned>(steps_.size());
        const std::vector<step> &steps = steps_[me.number() % recorded];
        auto *const bed = static_cast<std::uint32_t *>(stage::memory(64, 64));
        std::size_t at = begin_of(steps, me.number() / recorded, copies_);
        for (bool goes_on = true; goes_on; at = (at + 1) % steps.size())
            goes_on = advance(me, steps[at], bed);
    }

    void set_copies(unsigned copies) { copies_ = copies; }

  private:
    /* False once the run is over. An operation is a lock taken and dropped. */
    bool advance(stage::member &me, const step &s, std::uint32_t *bed)
    {
        if (s.what == op::work) {
            me.work_on(static_cast<double>(s.ns));
            return true;
        }
        if (s.what == op::sleep) {
            me.sleep(bed, static_cast<double>(s.ns));
            return true;
        }
        if constexpr (!std::is_same_v<Lock, nothing>)
            if (file_.replaced[s.lock])
                return replacement(me, locks_[s.lock].lock, s);
        original &o = originals_[s.lock];
        switch (file_.kinds[s.lock]) {
        case lock_kind::mutex: return alone(me, o.as_mutex, s);
        case lock_kind::spin: return alone(me, o.as_spin, s);
        default: return shared(me, o.as_rwlock, s);
        }
    }

    template <class One> static bool alone(stage::member &me, One &l, const step &s)
    {
        if (s.what == op::drop_write) {
            l.drop_write();
            return me.done(true);
        }
        me.waits();
        l.take_write();
        me.entered(true);
        return true;
    }

    template <class One> static bool shared(stage::member &me, One &l, const step &s)
    {
        if (s.what == op::drop_read) {
            l.drop_read();
            return me.done(false);
        }
        if (s.what != op::take_read)
            return alone(me, l, s);
        me.waits();
        l.take_read();
        me.entered(false);
        return true;
    }

    template <class One> static bool replacement(stage::member &me, One &l, const step &s)
    {
        if constexpr (decltype(has_upgrade<Lock>(0))::value) {
            if (s.what == op::take_seek) {
                me.waits();
                l.take_seek();
                me.entered(false);
                return true;
            }
            if (s.what == op::try_seek && !l.try_read_to_seek()) {
                l.drop_read();
                me.waits();
                l.take_seek();
                me.entered(false);
                me.work_on(static_cast<double>(s.ns)); /* it looks again */
            }
            if (s.what == op::seek_to_write) {
                me.waits();
                l.seek_to_write();
                me.entered(true);
            }
            if (s.what == op::try_seek || s.what == op::seek_to_write)
                return true;
        }
        return shared(me, l, s);
    }

    const step_file &file_;
    const std::vector<std::vector<step>> &steps_;
    original *const originals_;
    placed<Lock> *const locks_;
    unsigned copies_ = 1;
};

enum class which { original, plain, upgraded };

template <class Lock> findings run(settings &s, const step_file &file, which steps)
{
    const auto &chosen = steps == which::original ? file.original
                         : steps == which::plain  ? file.plain
                                                  : file.upgraded;
    stage::world w(s);
    s.refuse_unused();
    if (chosen.empty() || w.threads() % chosen.size() != 0)
        throw bad_input("The recording has " + std::to_string(chosen.size()) + " threads, and " +
                        std::to_string(w.threads()) + " were asked for: name a multiple.");
    for (const auto &of_one : chosen)
        if (of_one.empty())
            throw bad_input("A thread of the recording has no steps: record again.");
    auto *const it = new replay_of<Lock>(file, chosen);
    it->set_copies(w.threads() / static_cast<unsigned>(chosen.size()));
    return w.run([it](stage::member &me) { it->run(me); });
}

step_file steps_of(settings &s)
{
    const std::string path = s.text("steps", "");
    if (path.empty())
        throw bad_input("steps is missing: name the file that `pawl sim trace` wrote.");
    try {
        return bench::read_steps(path);
    } catch (const bench::bad_input &fault) {
        throw bad_input(fault.what());
    }
}

} // namespace

findings run_replay(settings &s)
{
    static const struct {
        const char *name;
        which steps;
        findings (*run)(settings &, const step_file &, which);
    } all[] = {
        {"original", which::original, run<nothing>},
        {"low_level_lock", which::plain, run<exclusive<model_low_level_lock>>},
        {"rwlock", which::plain, run<model_rwlock>},
        {"spin32", which::plain, run<adapter::pawl_spin32>},
        {"lock32", which::plain, run<adapter::pawl_lock32>},
        {"brlock", which::plain, run<adapter::pawl_brlock>},
        {"spin32_upgrade", which::upgraded, run<adapter::pawl_spin32>},
        {"lock32_upgrade", which::upgraded, run<adapter::pawl_lock32>},
    };
    const std::string lock = s.text("lock", "original");
    std::string names;
    for (const auto &one : all) {
        if (lock == one.name)
            return one.run(s, *new step_file(steps_of(s)), one.steps);
        names += std::string(names.empty() ? "" : ", ") + one.name;
    }
    throw bad_input("There is no model of a lock '" + lock + "': choose one of " + names + ".");
}

} // namespace sim
