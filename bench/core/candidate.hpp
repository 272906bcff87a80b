/* SPDX-License-Identifier: MIT */
/* The rows of a driver: their names, whether this build has them, and which the user chose. */
#pragma once

#include "core/common.hpp"

namespace bench {

/* `Design` measures the row, or makes an object that does; each driver has a type of its own. */
template <class Design> struct candidate {
    std::string strategy, lock; /* for tables; a lock without a name is in none */
    std::string why;            /* the reason why it cannot be measured; empty: it can */
    Design design{};
    std::string name = strategy + "/" + lock;
    bool baseline = false;
    bool by_default = true;
    bool one_thread_only = false; /* it has no lock */
};

template <class Candidate> int print_list(const std::vector<Candidate> &all)
{
    json list = json::array();
    for (const Candidate &c : all) {
        json one = {{"name", c.name}};
        if (!c.lock.empty())
            one.update({{"strategy", c.strategy}, {"lock", c.lock}});
        one.update({{"available", c.why.empty()}, {"why", c.why}, {"baseline", c.baseline}});
        list.push_back(one);
    }
    emit(list);
    return exit_done;
}

/* The candidate of that name; throws if there is none, or if so many threads cannot measure it. The
 * command `pawl` names those that are near an unknown one. */
template <class Candidate>
const Candidate *find_candidate(const std::vector<Candidate> &all, const std::string &name,
                                long long threads)
{
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const Candidate &c) { return c.name == name; });
    if (at == all.end())
        throw bad_input("There is no candidate '" + name + "'. All of them: --list.");
    if (!at->why.empty())
        throw bad_input("The candidate '" + name + "' is not in this build: " + at->why + ".");
    if (at->one_thread_only && threads > 1)
        throw bad_input("The candidate '" + name +
                        "' has no lock and runs with one thread only: "
                        "use --threads 1 or leave it out.");
    return &*at;
}

/* The wanted candidates, in that order; without wishes all that are measured by default. */
template <class Candidate>
std::vector<const Candidate *> choose(const std::vector<Candidate> &all,
                                      const std::vector<std::string> &wanted, long long threads)
{
    std::vector<const Candidate *> chosen;
    if (wanted.empty())
        for (const Candidate &c : all)
            if (c.why.empty() && c.by_default && !(c.one_thread_only && threads > 1))
                chosen.push_back(&c);
    for (const std::string &name : wanted) {
        const Candidate *one = find_candidate(all, name, threads);
        if (std::find(chosen.begin(), chosen.end(), one) != chosen.end())
            throw bad_input("The candidate '" + name + "' is named twice.");
        chosen.push_back(one);
    }
    return chosen;
}

} // namespace bench
