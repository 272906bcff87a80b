/* SPDX-License-Identifier: MIT */
/*
 * The command line of a driver. A driver declares an option once, with its default, its bounds and
 * its help. The help text and the check of the bounds come from that. The options that most drivers
 * have are members here; a driver takes those that it knows, with its own defaults. options.cpp has
 * the parser.
 */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/common.hpp"

namespace CLI {
class App; /* CLI11 takes seconds to compile: options.cpp alone includes it */
}

namespace bench {

class options {
  public:
    /* `says`: the first line of the help. */
    explicit options(const char *says);
    ~options();
    options(const options &) = delete;
    options &operator=(const options &) = delete;

    bool list = false;
    std::vector<std::string> candidates;
    long long threads = 1, rounds = 1, seed = 0;
    double seconds = 0, warmup = 0;
    std::string pin;

    void take_threads(long long usual, const char *says)
    {
        common("threads", threads, usual, 1, 1024, says);
    }
    void take_seconds(double usual, double least = 0.001, double most = 3600)
    {
        common("seconds", seconds, usual, least, most, "length of a sample");
    }
    void take_rounds(long long usual)
    {
        common("rounds", rounds, usual, 1, 100000, "samples of each candidate");
    }
    void take_warmup(double usual)
    {
        common("warmup", warmup, usual, 0, 60, "seconds before each sample");
    }
    void take_seed(const char *says) { common("seed", seed, 1, 0, INT64_MAX, says); }
    void take_pin(const char *usual,
                  const char *says = "CPUs, as 0,1: thread i on the i-th; auto; none")
    {
        pin = usual;
        text("--pin", pin, says);
    }

    /* A number between bounds. */
    template <class Number>
    void number(const std::string &name, Number &value, std::common_type_t<Number> least,
                std::common_type_t<Number> most, const std::string &says)
    {
        add(name, value, says + " (default " + text_of(value) + ")");
        checks_.push_back([=, &value] { require(name, value, least, most); });
    }
    /* A number that the driver checks itself: its bounds or its default depend on other options. */
    template <class Number>
    void dependent_number(const char *name, Number &value, const char *says)
    {
        add(name, value, says);
    }
    void text(const char *name, std::string &value, const std::string &says);
    void names(const char *name, std::vector<std::string> &value, const char *says);
    void flag(const char *name, bool &value, const char *says);

    /* False: the help was asked for, and is printed. Throws bad_input for words that are none. */
    bool parse(int argc, char **argv);
    /* Throws bad_input for the first number outside its bounds. */
    void check() const
    {
        for (const auto &one : checks_)
            one();
    }
    /* The options that most drivers have, as the first line gives them. */
    json describe() const
    {
        json line = json::object();
        for (const auto &[key, value] : common_)
            line[key] = value();
        return line;
    }

  private:
    template <class Number>
    void common(const char *key, Number &value, std::common_type_t<Number> usual,
                std::common_type_t<Number> least, std::common_type_t<Number> most, const char *says)
    {
        value = usual;
        number(std::string("--") + key, value, least, most, says);
        common_.emplace_back(key, [&value] { return json(value); });
    }

    void add(const std::string &name, long long &value, const std::string &says);
    void add(const std::string &name, double &value, const std::string &says);

    std::unique_ptr<CLI::App> app_;
    std::vector<std::function<void()>> checks_;
    std::vector<std::pair<const char *, std::function<json()>>> common_;
};

} // namespace bench
