/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-costs: the cost of single operations on this machine. It has three parts: rows
 * (instructions, caches, atomic operations, transfers, the kernel, RCU), matrix (a line between any
 * two CPUs), locks. It prints JSON lines as the other drivers do; nanoseconds of an operation are
 * seconds / ops. The command `pawl costs` runs it and makes the table.
 */
#include "core/driver.hpp"
#include "costs/rows.hpp"

namespace bench::costs {
namespace {

struct cost_settings {
    std::string part = "rows", cpus = "auto", caches = "auto";
    long long near = -1;
};

std::vector<std::size_t> numbers_of(const char *option, const std::string &text, std::size_t digits)
{
    const auto found = whole_numbers(text, digits);
    if (!found)
        throw bad_input(std::string(option) + " is '" + text +
                        "'; it must be whole numbers with "
                        "commas between them, or auto.");
    return *found;
}

std::vector<unsigned> choose_cpus(const std::string &text)
{
    std::vector<unsigned> cpus;
    if (text == "auto") {
        cpus = allowed_cpus();
        if (cpus.empty())
            throw bad_input("The system does not say which CPUs may be used: name them with "
                            "--cpus.");
        return cpus;
    }
    for (const std::size_t cpu : numbers_of("--cpus", text, 6)) {
        if (std::find(cpus.begin(), cpus.end(), cpu) != cpus.end())
            throw bad_input("--cpus names CPU " + std::to_string(cpu) + " twice.");
        cpus.push_back(static_cast<unsigned>(cpu));
    }
    return cpus;
}

std::vector<std::size_t> choose_caches(const std::string &text)
{
    if (text != "auto")
        return numbers_of("--caches", text, 12);
    std::vector<std::size_t> caches;
    for (const int name : {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE}) {
        const long bytes = sysconf(name);
        caches.push_back(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    }
    return caches;
}

rows rows_of(const std::string &part, const world &w)
{
    if (part == "locks")
        return lock_rows(w);
    if (part == "matrix")
        return matrix_rows(w);
    if (part != "rows")
        throw bad_input("--part is '" + part + "'; it must be rows, matrix or locks.");
    rows all;
    add_processor(all, w);
    add_memory(all, w);
    add_atomics(all);
    add_transfers(all, w);
    add_kernel(all, w);
    add_rcu(all);
    for (row &r : all)
        r.baseline = r.name == "instruction";
    return all;
}

class cost_scene final : public scene<row, nothing_made> {
  public:
    cost_scene(world &w, const std::string &part) : world_(w), part_(part) {}

    json start() const override
    {
        return {{"bench", "costs"},      {"part", part_},       {"cpus", world_.cpus},
                {"first", world_.first}, {"near", world_.near}, {"caches", world_.caches}};
    }
    placement where() const override { return {nullptr, true, ""}; }
    nothing_made make(const row &) override { return {}; }
    json sample(const row &r, nothing_made &, long long) override
    {
        const measured m = r.design(world_);
        json line = {{"ops", m.ops}, {"seconds", m.seconds}};
        line.update(m.extra);
        return line;
    }

  private:
    world &world_;
    const std::string part_;
};

class costs_driver {
  public:
    static constexpr const char *says =
        "Nanoseconds of single operations on this machine; JSON lines.";

    explicit costs_driver(options &o) : o_(o)
    {
        o.text("--part", s_.part, "rows, matrix or locks");
        o.text("--cpus", s_.cpus, "CPUs, as 0,1: rows of one thread use the first");
        o.dependent_number("--near", s_.near,
                           "the other end of transfers (default: the second CPU)");
        o.text("--caches", s_.caches, "bytes of level 1 (data), 2, 3; auto: as glibc says");
        o.take_rounds(15);
        o.take_seconds(0.004, 0.0001, 10);
    }

    rows candidates()
    {
        look_around();
        /* The memory of rows is touched here first, and so lies near the CPU that measures. The
         * main thread sleeps during each measurement. */
        must_be_on(pthread_self(), world_.first);
        const rows all = rows_of(s_.part, world_);
        why_none_ = all.empty() ? needs_two_cpus : all.front().why;
        return all;
    }

    void check() { world_.seconds = o_.seconds; }

    std::unique_ptr<cost_scene> open(const std::vector<const row *> &chosen)
    {
        if (chosen.empty())
            throw bad_input("Nothing of the part '" + s_.part +
                            "' can be measured here: " + why_none_ + ".");
        return std::make_unique<cost_scene>(world_, s_.part);
    }

  private:
    void look_around()
    {
        world_.cpus = choose_cpus(s_.cpus);
        world_.first = world_.cpus.front();
        world_.near = world_.cpus.size() > 1 ? world_.cpus[1] : world_.first;
        world_.caches = choose_caches(s_.caches);
        if (s_.near < 0)
            return;
        world_.near = static_cast<unsigned>(s_.near);
        if (std::find(world_.cpus.begin(), world_.cpus.end(), world_.near) == world_.cpus.end())
            throw bad_input("--near is " + std::to_string(s_.near) +
                            ", which --cpus does not name.");
    }

    const options &o_;
    cost_settings s_;
    world world_;
    std::string why_none_;
};

} // namespace
} // namespace bench::costs

int main(int argc, char **argv)
{
    return bench::drive<bench::costs::costs_driver>(argc, argv);
}
