/* SPDX-License-Identifier: MIT */
/* Measures candidates: threads that begin together, perhaps beside one that is not measured. */
#include "counters/scene.hpp"

#include <cmath>

namespace bench::counters {
namespace {

unsigned seats(const counter_candidate &c)
{
    return c.threads + (c.beside.empty() ? 0 : 1);
}

/* The thread beside must end even if the others fail. */
class companion {
  public:
    companion(worker &where, subject &what) : where_(where)
    {
        where_.start([this, &what] { what.beside(stop_); });
    }
    ~companion()
    {
        stop_ = true;
        try {
            where_.wait();
        } catch (...) { /* the measured threads report the error */
        }
    }

  private:
    worker &where_;
    std::atomic<bool> stop_{false};
};

} // namespace

json counter_scene::sample(const counter_candidate &who, runner &r, long long)
{
    const unsigned threads = who.threads;
    gate together(threads);
    std::vector<measure> parts(threads, measure(o_.warmup, o_.seconds, together));
    {
        std::unique_ptr<companion> beside;
        if (!who.beside.empty())
            beside = std::make_unique<companion>(team_.on(cpus_[threads]), *r.what);
        for (unsigned t = 0; t < threads; t++)
            team_.on(cpus_[t]).start([&, t] { r.what->run(parts[t], t); });
        for (unsigned t = 0; t < threads; t++)
            team_.on(cpus_[t]).wait();
    }
    std::uint64_t ops = 0;
    double seconds = 0;
    for (const measure &m : parts) {
        ops += m.ops;
        seconds += m.seconds / threads;
        r.total += m.total;
    }
    json line = {{"threads", threads}, {"ops", ops}, {"seconds", std::round(seconds * 1e9) / 1e9}};
    if (interrupted)
        return line;
    r.what->verify(r.total);
    line.update(r.what->more());
    return line;
}

void take_options(options &o)
{
    o.take_rounds(12);
    o.take_seconds(0.02, 0.0001);
    o.take_warmup(0.003);
    o.take_pin("auto", "CPUs, as 0,1: thread i on the i-th; auto: all");
}

void need_cpus(candidates &all, const options &o)
{
    const std::size_t cpus = parse_pin(o.pin).size();
    if (cpus == 0)
        throw bad_input("--pin is '" + o.pin +
                        "'; this bench needs its threads on CPUs of their "
                        "own: name them, as 0,1, or say auto.");
    for (counter_candidate &c : all)
        if (c.why.empty() && seats(c) > cpus)
            c.why = "it needs " + std::to_string(seats(c)) + " CPUs and this process has " +
                    std::to_string(cpus);
}

} // namespace bench::counters
