/* SPDX-License-Identifier: MIT */
/* The rows of a driver: their names, whether this build has them, and which the user chose. */
#ifndef PAWL_BENCH_CORE_CANDIDATE_HPP
#define PAWL_BENCH_CORE_CANDIDATE_HPP

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

/* The sentence for a name that does not exist: gives the three nearest names, and the place of
 * the full list. */
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

/* The candidate of that name; throws if so many threads cannot measure it. */
template <class Candidate>
const Candidate *find_candidate(const std::vector<Candidate> &all, const std::string &name,
                                long long threads)
{
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const Candidate &c) { return c.name == name; });
    if (at == all.end()) {
        std::vector<std::string> names;
        for (const Candidate &c : all)
            names.push_back(c.name);
        throw bad_input(unknown_name(name, names));
    }
    if (!at->why.empty())
        throw bad_input("The candidate '" + name + "' is not in this build: " + at->why + ".");
    if (at->one_thread_only && threads > 1)
        throw bad_input("The candidate '" + name + "' has no lock and runs with one thread only: "
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

#endif
