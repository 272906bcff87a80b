/* SPDX-License-Identifier: MIT */
/*
 * The simulator of shared lines. Each simulated thread is a fiber with a clock of its own. The
 * engine always lets the event with the smallest clock happen next, so a program of fibers runs as
 * it would on as many cores, in one host thread, and the same seed gives the same run.
 *
 *   engine e(machine, seed);
 *   e.add(hardware thread, [&] { take(); e.work(350 * ns); drop(); });
 *   e.run();
 *
 * Atomic accesses happen in the order of the clocks. A read that the compiler has reported (plain
 * memory) and that hits the core's cache is only charged: a program without data races cannot tell.
 *
 * Lines. A line is nowhere, shared by some cores, or owned by one. A request that the core's cache
 * cannot serve asks for the line. While a line moves it serves nobody else; requests wait in its
 * queue, and the oldest is served next (machine.near_first: a share of the grants goes to the
 * nearest). The access takes place when the request is granted, and its thread goes on when the
 * line has come.
 *
 * Stores wait in the thread's store buffer and enter their lines in order. A read-modify-write and
 * a full fence wait until the buffer is empty. So the memory order is that of x86.
 */
#pragma once

#include <boost/context/fiber.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "engine/arena.hpp"
#include "engine/machine.hpp"

#include <pawl/detail/hook.h>

namespace sim {

/* The program under simulation failed: it stands still, or broke a rule that the oracle watches. */
struct program_failed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/* What a hardware thread is at; its sibling feels it. */
enum class doing : std::uint8_t { nothing, waits, walks, computes };

/* The library's thread variables, as each fiber has them. */
struct thread_variables {
    unsigned char bytes[256] = {};
};

struct request {
    const pawl_operation *op = nullptr; /* NULL: a plain access */
    std::size_t line = 0;
    bool writes = false;
};

/* A line that was asked for ahead, and when it is there. */
struct arrival {
    std::size_t line;
    ps time;
};

struct pending_store {
    pawl_operation op;
    std::size_t line;
    bool plain;
};

enum class standing : std::uint8_t {
    ready,     /* in the heap, or running */
    queued,    /* for a line */
    draining,  /* until its store buffer is empty */
    buffering, /* until its store buffer has room */
    polling,   /* reads the same value again and again */
    sleeping,  /* futex */
    runnable,  /* has no hardware thread */
    ended
};

struct fiber {
    unsigned number = 0;
    unsigned hw = 0, core = 0;
    ps clock = 0;
    standing state = standing::ready;
    std::function<void()> body;
    boost::context::fiber context;
    thread_variables variables;

    request wants;                  /* the line it is queued for */
    std::uint64_t changes_read = 0; /* of the line that it read last */
    const void *touched = nullptr;  /* the address of its last access, for reports */
    std::uint64_t result = 0;       /* of the access that was granted */
    ps begun = 0;                   /* of the work that follows: done beside the last access */
    std::vector<arrival> arrivals;
    std::deque<pending_store> stores;
    bool storing = false;                  /* the first of them has asked for its line */
    std::uint64_t stored = 0, drained = 0; /* stores that entered the buffer, and left it */

    const std::uint32_t *sleeps_at = nullptr;
    std::uint32_t classes = 0;
    ps deadline = never;
    bool timed_out = false;
    unsigned sleep = 0; /* numbers its sleeps: an old timer is no longer for it */
    ps slice_end = never;
    ps poll_since = 0, poll_period = 0;
};

struct statistics {
    std::uint64_t accesses = 0, transfers = 0, copies = 0, waits = 0;
    std::uint64_t switches = 0, sleeps = 0, wakes = 0, yields = 0, barriers = 0, preemptions = 0;
    ps queued = 0;
};

class engine {
  public:
    engine(const machine &m, std::uint64_t seed);
    ~engine();
    engine(const engine &) = delete;
    engine &operator=(const engine &) = delete;

    /* Adds a thread on a hardware thread: core + cores * sibling. It starts at `start`. */
    unsigned add(unsigned hw, std::function<void()> body, ps start = 0);

    /* Runs until every fiber has ended, or stop() was called. Throws program_failed when the
     * fibers stand still, or none reports progress for the patience. */
    void run();
    void stop() { stopped_ = true; }

    /* Before the run, at no cost: the lines of these bytes are in the caches of the first cores. */
    void share(const void *address, std::size_t size, unsigned cores);

    /* For bodies. */
    ps now() const { return current_->clock; }
    unsigned self() const { return current_->number; }
    void work(ps duration);
    void walk(ps duration) { charge(duration, doing::walks); }
    void turn(); /* waits until no other event is earlier */
    void progress() { last_progress_ = current_->clock; }

    /* Reads *p until accept(value): `relaxes` hints between two reads. The same as the loop, but
     * the engine need not run the reads that find the same value. */
    template <class Word, class Accept>
    Word poll(const Word *p, unsigned relaxes, Accept accept);

    /* The seam. */
    std::uint64_t access(const pawl_operation &op);
    void ahead(const void *address); /* the thread will read that line soon */
    void relax();
    void yield();
    bool sleep(const std::uint32_t *address, std::uint32_t expected, std::uint32_t classes,
               ps deadline);
    unsigned wake(const std::uint32_t *address, unsigned count, std::uint32_t classes);
    ps look_at_clock();
    void plain(const void *address, std::size_t size, bool writes);

    void name(const void *object, std::size_t size, const std::string &name);
    std::string name_of(const void *address) const;

    const machine &m;
    statistics counted;
    ps patience = 300000000000; /* without progress: 0.3 simulated seconds */
    static engine *running;     /* the one whose fiber runs, or NULL */

  private:
    enum class kind : std::uint8_t { fiber, agent, line, timer };
    struct event {
        ps time;
        std::uint64_t order;
        kind what;
        std::uint32_t fiber;
        std::uint64_t detail; /* the line, or the number of the sleep */
        bool operator>(const event &o) const
        {
            return time != o.time ? time > o.time : order > o.order;
        }
    };
    struct waiter {
        std::uint32_t fiber;
        bool agent;
        ps since;
    };
    struct hardware {
        fiber *runs = nullptr;
        std::deque<fiber *> queue;
        doing mode = doing::nothing;
        ps debt = 0;  /* of interrupts, charged at the next occasion */
        ps awake = 0; /* when the thread that was woken for it runs */
    };
    struct bucket {
        struct alignas(64) line {
            std::uint32_t coming, next, served; /* threads that may sleep; tickets */
        } *words = nullptr;
        std::vector<fiber *> sleepers;
    };

    /* engine.cpp: fibers */
    void push(ps time, kind what, std::uint32_t fiber, std::uint64_t detail = 0);
    void resume(fiber &f);
    void leave(standing why); /* the current fiber gives way until it is made ready again */
    void make_ready(fiber &f, ps time);
    void charge(ps duration, doing what);
    void set_mode(fiber &f, doing what) { hardware_[f.hw].mode = what; }
    double slowed(const fiber &f, doing what) const;
    void end_of(fiber &f);
    [[noreturn]] void stuck(const std::string &why);
    std::string story(const fiber &f) const;
    void handle(const event &e);

    /* lines.cpp */
    bool hits(const line &l, unsigned core, bool writes) const;
    bool is_free(const line &l, ps at) const { return l.busy <= at && l.waiting == 0; }
    /* Of an owner that writes again: once the line is due to leave, those that wait come first. */
    bool has_its_turn(const line &l, ps at) const
    {
        return l.busy <= at && (l.waiting == 0 || at < l.kept);
    }
    void ask(fiber &f, bool agent, std::size_t line_number, bool writes, ps at);
    void grant(fiber &f, bool agent, std::size_t line_number, ps at, ps waited = 0);
    ps move(line &l, unsigned core, bool writes, ps &occupied);
    level farthest(const line &l, unsigned core, unsigned &others) const;
    level nearest(const line &l, unsigned core) const;
    void hold(line &l, ps busy);
    ps after(const pawl_operation *op, std::uint64_t found) const;
    void begin_work(ps since, bool is_foretold);
    double chance();
    ps about(ps duration);
    void serve(std::size_t line_number, ps at);
    void wake_pollers(std::size_t line_number, ps at);
    void agent_step(fiber &f, ps at);
    bool await_arrival(std::size_t line_number);
    void store(const pawl_operation &op);
    void push_store(const pawl_operation &op, std::size_t number, bool plain);
    bool forwarded(const pawl_operation &op, std::uint64_t &value) const;
    void drain();
    void poll_pause(const void *address, ps period);
    void fence(const pawl_operation &op);

    /* system.cpp */
    void block(fiber &f);
    void place(fiber &f, ps at);
    void next_on(unsigned hw, ps at);
    void preempt();
    bucket &bucket_of(const std::uint32_t *address);
    std::uint32_t kernel(const std::uint32_t *word, pawl_kind what, std::uint32_t operand);
    void lock(bucket &b);
    void unlock(bucket &b, ps slice_end);
    void wake_up(fiber &sleeper);
    void call();

    std::vector<std::unique_ptr<fiber>> fibers_;
    std::vector<hardware> hardware_;
    std::vector<bucket> buckets_;
    std::priority_queue<event, std::vector<event>, std::greater<event>> events_;
    std::map<std::size_t, std::deque<waiter>> queues_;
    std::map<std::size_t, std::vector<fiber *>> pollers_;
    std::map<const void *, std::pair<std::size_t, std::string>> names_;
    boost::context::fiber scheduler_;
    fiber *current_ = nullptr;
    std::uint64_t order_ = 0, random_;
    std::uint8_t levels_[most_cores][most_cores];
    ps last_progress_ = 0;
    unsigned alive_ = 0;
    bool stopped_ = false;
    std::exception_ptr failure_;
};

template <class Word, class Accept>
Word engine::poll(const Word *p, unsigned relaxes, Accept accept)
{
    pawl_operation op = {};
    op.address = const_cast<Word *>(p);
    op.width = sizeof(Word);
    op.kind = PAWL_HOOK_LOAD;
    op.order = PAWL_ORDER_ACQUIRE;
    for (;;) {
        const Word value = static_cast<Word>(access(op));
        if (accept(value))
            return value;
        poll_pause(p, m.load + static_cast<ps>(relaxes) * m.relax);
    }
}

} // namespace sim
