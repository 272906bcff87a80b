/* SPDX-License-Identifier: MIT */
/* What a run is asked for, as name=value, and what it found, as JSON. */
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/machine.hpp"

namespace sim {

class settings {
  public:
    explicit settings(const std::vector<std::string> &words);

    double number(const std::string &name, double usual, double least, double most);
    unsigned count(const std::string &name, double usual, double least, double most)
    {
        return static_cast<unsigned>(number(name, usual, least, most));
    }
    /* `cores` and `threads`: no core stays without a thread. */
    std::pair<unsigned, unsigned> crowd(unsigned cores_at_most, unsigned threads_at_most);
    std::string text(const std::string &name, const std::string &usual);
    void refuse_unused() const; /* throws for names that no one asked for */

    machine on;
    std::uint64_t seed = 1;
    bool guilty = false; /* planted: the oracle must find it */

    /* The hardware thread of a worker: all cores once, then their siblings. */
    unsigned place(unsigned worker, unsigned cores) const
    {
        const unsigned sibling = worker / cores;
        return worker % cores + on.all_cores() * (sibling % on.smt);
    }

  private:
    std::map<std::string, std::string> given_;
    std::set<std::string> used_;
};

/* What a run found: a line of JSON. */
class findings {
  public:
    void add(const std::string &name, double value);
    void add(const std::string &name, const std::string &text);
    /* `simulated`: whether the figures are; each line says so. */
    std::string json(bool simulated) const
    {
        return std::string("{\"simulated\": ") + (simulated ? "true" : "false") + ", " + text_ +
               "}";
    }

  private:
    void key(const std::string &name);
    std::string text_;
};

using workload = findings (*)(settings &);
findings run_lru(settings &s);
findings run_section(settings &s);   /* readers and writers of one object */
findings run_word(settings &s);      /* of one word on the line of its lock */
findings run_counter(settings &s);   /* threads that count events */
findings run_reference(settings &s); /* threads that take and drop references */
findings run_chain(settings &s);     /* threads that wake each other in turn */
findings run_replay(settings &s);    /* threads of a trace */

/* A workload as the first argument of a program names it, and a line of its help. */
struct offer {
    const char *name;
    workload run;
    const char *about;
};

/* The workload that the arguments name; null if they ask for help, which is then printed. */
workload chosen(const char *program, const std::vector<offer> &all, int argc, char **argv);

} // namespace sim
