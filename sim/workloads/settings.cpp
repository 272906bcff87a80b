/* SPDX-License-Identifier: MIT */
#include "workloads/settings.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sim {

settings::settings(const std::vector<std::string> &words)
{
    for (const std::string &word : words) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos || equals == 0)
            throw bad_input("'" + word + "' is not of the form name=value.");
        const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
        if (name.rfind("machine.", 0) == 0)
            set(on, name.substr(8), value);
        else if (!given_.emplace(name, value).second)
            throw bad_input("'" + name + "' is given twice.");
    }
    check(on);
    seed = static_cast<std::uint64_t>(number("seed", 1, 0, 1e15));
    guilty = number("plant", 0, 0, 1) != 0;
}

double settings::number(const std::string &name, double usual, double least, double most)
{
    used_.insert(name);
    const auto found = given_.find(name);
    if (found == given_.end())
        return usual;
    char *end = nullptr;
    const double value = std::strtod(found->second.c_str(), &end);
    if (found->second.empty() || *end != 0 || !(value >= least && value <= most)) {
        char text[200];
        (void)std::snprintf(text, sizeof text, "; it must be a number from %g to %g.", least, most);
        throw bad_input(name + " is '" + found->second + "'" + text);
    }
    return value;
}

std::pair<unsigned, unsigned> settings::crowd(unsigned cores_at_most, unsigned threads_at_most)
{
    const unsigned cores = count("cores", 1, 1, cores_at_most);
    const unsigned threads = count("threads", cores, 1, threads_at_most);
    if (threads < cores)
        throw bad_input("There are more cores (" + std::to_string(cores) + ") than threads (" +
                        std::to_string(threads) + "): name as many threads at least.");
    return {cores, threads};
}

std::string settings::text(const std::string &name, const std::string &usual)
{
    used_.insert(name);
    const auto found = given_.find(name);
    return found == given_.end() ? usual : found->second;
}

void settings::refuse_unused() const
{
    for (const auto &[name, value] : given_)
        if (used_.count(name) == 0)
            throw bad_input("This workload has no setting '" + name + "' (doc/sim.md lists them).");
}

void findings::key(const std::string &name)
{
    text_ += (text_.empty() ? "\"" : ", \"") + name + "\": ";
}

void findings::add(const std::string &name, double value)
{
    char text[40];
    key(name);
    (void)std::snprintf(text, sizeof text, "%.10g", value);
    text_ += text;
}

void findings::add(const std::string &name, const std::string &text)
{
    key(name);
    text_ += "\"" + text + "\"";
}

workload chosen(const char *program, const std::vector<offer> &all, int argc, char **argv)
{
    if (argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
        (void)std::printf("usage: %s WORKLOAD [machine.NAME=VALUE | NAME=VALUE]...\n\n"
                          "Makes one run and prints one line of JSON. The command `pawl sim` makes "
                          "many and shows them.\n\nworkloads:\n",
                          program);
        for (const offer &one : all)
            (void)std::printf("  %-11s%s\n", one.name, one.about);
        (void)std::printf("\ndoc/sim.md lists the settings. Exit code 1: the program that was run "
                          "failed; 2: bad input.\n");
        return nullptr;
    }
    std::string names;
    for (const offer &one : all) {
        if (argc > 1 && std::strcmp(argv[1], one.name) == 0)
            return one.run;
        names += std::string(names.empty() ? "" : ", ") + one.name;
    }
    throw bad_input("The first argument names a workload: " + names + ".");
}

} // namespace sim
