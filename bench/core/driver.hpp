/* SPDX-License-Identifier: MIT */
/*
 * The frame of every driver. A driver is a class of three parts, and main() is
 * `return bench::drive<bench::lru_driver>(argc, argv);`
 *
 *   1. its options    a constructor that declares them in `options`, check() of what bounds alone
 *                     do not say, and candidates(): its rows
 *   2. its scene      open(chosen): the objects built once for a cell, a `scene` of the class below
 *   3. its samples    the scene's sample(): one sample of one row, as the end of its JSON line
 *
 * The frame does the rest. It handles --list, the choice of candidates, bad input, interruption and
 * exit codes. It prints the first line and the lines of the samples, and alternates the candidates
 * in rounds.
 */
#pragma once

#include <memory>

#include "core/candidate.hpp"
#include "core/options.hpp"

namespace bench {

/* The places of a scene's threads, as the first line gives them. */
struct placement {
    json pin; /* null: that line gives it in another form */
    bool pinned = true;
    std::string error; /* the reason why they are not pinned although they should be */
};

/* All that one run measures. Each row gets a `Thing`, which lives for all its samples. */
template <class Candidate, class Thing> class scene {
  public:
    virtual ~scene() = default;
    /* The first line: `bench`, its name, and the scene's own fields. */
    virtual json start() const = 0;
    virtual placement where() const = 0;
    virtual Thing make(const Candidate &who) = 0;
    /* Takes one sample; the caller discards the result of an interrupted one. Throws if a lock
     * has failed. */
    virtual json sample(const Candidate &who, Thing &what, long long round) = 0;
    /* Runs after the last round. Throws if the measured object is damaged. */
    virtual void verify(const Candidate &, const Thing &) {}
};

/* For rows without an object of their own. */
struct nothing_made {};

inline std::string compiler()
{
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

inline std::string compiler_flags()
{
#ifdef PAWL_BENCH_FLAGS
    return PAWL_BENCH_FLAGS;
#else
    return "unknown";
#endif
}

template <class Candidate>
json first_line(const json &own, const placement &where, const options &o,
                const std::vector<const Candidate *> &chosen)
{
    json names = json::array();
    for (const Candidate *c : chosen)
        names.push_back(c->name);
    json line = {{"type", "start"}};
    line.update(own);
    line.update(o.describe());
    if (!where.pin.is_null())
        line["pin"] = where.pin;
    line.update({{"candidates", names},
                 {"compiler", compiler()},
                 {"flags", compiler_flags()},
                 {"pinned", where.pinned},
                 {"pin_error", where.error}});
    return line;
}

/* A B C, C B A, ...: a drift (heat, neighbours on the host) affects all candidates alike. */
inline std::size_t turn_of(std::size_t i, std::size_t candidates, long long round)
{
    return round % 2 == 0 ? i : candidates - 1 - i;
}

template <class Candidate, class Thing>
int measure_all(scene<Candidate, Thing> &where, const options &o,
                const std::vector<const Candidate *> &chosen)
{
    emit(first_line(where.start(), where.where(), o, chosen));
    std::vector<Thing> things;
    for (const Candidate *who : chosen) {
        if (interrupted)
            return finish();
        things.push_back(where.make(*who));
    }
    for (long long round = 0; round < o.rounds; round++)
        for (std::size_t i = 0; i < chosen.size(); i++) {
            const std::size_t turn = turn_of(i, chosen.size(), round);
            json line = {{"type", "sample"}, {"candidate", chosen[turn]->name}, {"round", round}};
            line.update(where.sample(*chosen[turn], things[turn], round));
            if (interrupted)
                return finish();
            emit(line);
        }
    for (std::size_t i = 0; i < chosen.size(); i++)
        where.verify(*chosen[i], things[i]);
    return finish();
}

template <class Driver> int run(Driver &driver, const options &o)
{
    const auto all = driver.candidates();
    if (o.list)
        return print_list(all);
    o.check();
    driver.check();
    const auto chosen = choose(all, o.candidates, o.threads);
    watch_for_interrupts();
    const auto where = driver.open(chosen);
    return measure_all(*where, o, chosen);
}

/* main() of a driver: parses, runs, and turns an error into a sentence and an exit code. */
template <class Driver> int drive(int argc, char **argv)
{
    options o(Driver::says);
    Driver driver(o);
    try {
        return o.parse(argc, argv) ? run(driver, o) : exit_done;
    } catch (const bad_input &e) {
        return report_error(e.what(), exit_bad_input);
    } catch (const std::bad_alloc &) {
        return report_error("Not enough memory: ask for less.", exit_bad_input);
    } catch (const std::exception &e) {
        return report_error(e.what(), exit_broken);
    }
}

} // namespace bench
