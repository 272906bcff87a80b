/* SPDX-License-Identifier: MIT */
/*
 * What all code of the drivers may use: JSON lines on standard output, sentences for bad input,
 * interruption. The command `pawl` runs the drivers, and so can a user.
 */
#pragma once

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/bad_input.hpp"
#include "core/clock.hpp"

namespace bench {

using json = nlohmann::ordered_json;

/* Exit codes: bad input, a lock that did not lock, interrupted by a signal (as shells have it). */
enum exit_code { exit_done = 0, exit_broken = 1, exit_bad_input = 2, exit_interrupted = 130 };

/* Prints a line at a time and flushes it. So a reader can show progress, and an interrupt loses
 * nothing. Arguments and paths may hold any bytes; bytes that are not UTF-8 are replaced. */
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

/* The handler only notes the signal: the loops look between samples, and sleeps end early. */
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

/* The number as sentences and the help print it: with no more digits than it has. */
template <class Number> std::string text_of(Number n)
{
    std::string s = std::to_string(n);
    if (s.find('.') != std::string::npos) {
        s.erase(s.find_last_not_of('0') + 1);
        if (s.back() == '.')
            s.pop_back();
    }
    return s;
}

/* A number from a command line, within its bounds; otherwise throws the sentence that says so. */
template <class Number>
void require(const std::string &option, Number value, std::common_type_t<Number> least,
             std::common_type_t<Number> most)
{
    if (!(value >= least && value <= most)) /* so that NaN is refused too */
        throw bad_input(option + " is " + text_of(value) + "; it must be between " +
                        text_of(least) + " and " + text_of(most) + ".");
}

/* Whether a variable of the environment is set, and not to 0. */
inline bool switched_off(const char *variable)
{
    const char *value = std::getenv(variable);
    return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

inline void expect(bool condition, const std::string &what)
{
    if (!condition)
        throw std::runtime_error(what);
}

} // namespace bench
