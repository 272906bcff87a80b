/* SPDX-License-Identifier: MIT */
/*
 * What the drivers share: JSON lines on standard output, sentences for bad input, interruption,
 * order of the samples. The drivers are run by the command `pawl`, and by hand.
 */
#ifndef PAWL_BENCH_CORE_COMMON_HPP
#define PAWL_BENCH_CORE_COMMON_HPP

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace bench {

using json = nlohmann::ordered_json;

/* Exit codes: bad input, a lock that did not lock, interrupted by a signal (as shells have it). */
enum exit_code { exit_done = 0, exit_broken = 1, exit_bad_input = 2, exit_interrupted = 130 };

/* Something the user can put right; the text is the sentence that says how. */
struct bad_input : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/* A line at a time and flushed, so that a reader can show progress and an interrupt loses nothing.
 * Arguments and paths may hold any bytes: those that are not UTF-8 are replaced. */
inline void emit(const json &line)
{
    const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        std::exit(exit_broken);
}

inline int report_error(const std::string &message, int code)
{
    emit({{"type", "error"}, {"message", message}});
    return code;
}

inline volatile std::sig_atomic_t interrupted = 0;

/* The handler only notes it: the loops look between samples, sleeps end early. */
inline void watch_for_interrupts()
{
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted = 1; };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

inline int finish()
{
    json line = {{"type", "end"}};
    if (interrupted)
        line["interrupted"] = true;
    emit(line);
    return interrupted ? exit_interrupted : exit_done;
}

inline double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline std::uint64_t now_ns()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1000000000U +
           static_cast<std::uint64_t>(t.tv_nsec);
}

/* A B C, C B A, ...: whatever drifts (heat, neighbours on the host) meets all alike. */
inline std::vector<std::size_t> order_of_round(std::size_t candidates, unsigned round)
{
    std::vector<std::size_t> order(candidates);
    for (std::size_t i = 0; i < candidates; i++)
        order[i] = round % 2 == 0 ? i : candidates - 1 - i;
    return order;
}

inline std::size_t edit_distance(const std::string &a, const std::string &b)
{
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j < row.size(); j++)
        row[j] = j;
    for (std::size_t i = 1; i <= a.size(); i++) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); j++) {
            const std::size_t change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

/* The sentence for a name that does not exist: the three nearest ones, and where to find all. */
inline std::string unknown_name(const std::string &wanted, std::vector<std::string> names)
{
    const auto score = [&](const std::string &name) {
        const bool part = !wanted.empty() && name.find(wanted) != std::string::npos;
        return part ? 0 : edit_distance(wanted, name);
    };
    std::stable_sort(names.begin(), names.end(), [&](const std::string &a, const std::string &b) {
        return score(a) < score(b);
    });
    std::string text = "There is no candidate '" + wanted + "'. Near it are:";
    for (std::size_t i = 0; i < names.size() && i < 3; i++)
        text += (i == 0 ? " " : ", ") + names[i];
    return text + ". All of them: --list.";
}

/* Picks by name from a list of structs with name, why (empty: available) and by_default. */
template <class Candidate>
std::vector<const Candidate *> choose(const std::vector<Candidate> &all,
                                      const std::vector<std::string> &wanted)
{
    std::vector<const Candidate *> chosen;
    if (wanted.empty()) {
        for (const Candidate &c : all)
            if (c.why.empty() && c.by_default)
                chosen.push_back(&c);
        return chosen;
    }
    std::vector<std::string> names;
    for (const Candidate &c : all)
        names.push_back(c.name);
    for (const std::string &name : wanted) {
        const auto at = std::find(names.begin(), names.end(), name);
        if (at == names.end())
            throw bad_input(unknown_name(name, names));
        const Candidate &c = all[static_cast<std::size_t>(at - names.begin())];
        if (!c.why.empty())
            throw bad_input("The candidate '" + name + "' is not in this build: " + c.why + ".");
        if (std::find(chosen.begin(), chosen.end(), &c) != chosen.end())
            throw bad_input("The candidate '" + name + "' is named twice.");
        chosen.push_back(&c);
    }
    return chosen;
}

/* A number from a command line, in bounds, or the sentence that says so. */
template <class Number>
void require(const char *option, Number value, Number least, Number most)
{
    if (value >= least && value <= most)
        return;
    const auto text = [](Number n) {
        std::string s = std::to_string(n);
        if (s.find('.') != std::string::npos) {
            s.erase(s.find_last_not_of('0') + 1);
            if (s.back() == '.')
                s.pop_back();
        }
        return s;
    };
    throw bad_input(std::string(option) + " is " + text(value) + "; it must be between " +
                    text(least) + " and " + text(most) + ".");
}


/* main() of a driver: parses, runs, and turns what went wrong into a sentence and an exit code. */
template <class Run> int guarded(CLI::App &app, int argc, char **argv, Run run)
{
    try {
        app.parse(argc, argv);
        return run();
    } catch (const CLI::CallForHelp &) {
        std::fputs(app.help().c_str(), stdout);
        return exit_done;
    } catch (const CLI::ParseError &e) {
        return report_error(std::string(e.what()) + ". See --help.", exit_bad_input);
    } catch (const bad_input &e) {
        return report_error(e.what(), exit_bad_input);
    } catch (const std::bad_alloc &) {
        return report_error("Not enough memory: ask for less.", exit_bad_input);
    } catch (const std::exception &e) {
        return report_error(e.what(), exit_broken);
    }
}

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

} // namespace bench

#endif
