/* SPDX-License-Identifier: MIT */
/* The names and limits of a machine's values. */
#include "engine/machine.hpp"

#include <cmath>
#include <cstdlib>

#include <map>

namespace sim {

namespace {

double number(const std::string &name, const std::string &text)
{
    char *end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != 0 || !std::isfinite(value))
        throw bad_input("The machine's " + name + " is '" + text + "'; it must be a number.");
    return value;
}

using counts = std::map<std::string, unsigned machine::*>;
using times = std::map<std::string, ps machine::*>;
using shares = std::map<std::string, double machine::*>;
using tables = std::map<std::string, ps (machine::*)[levels]>;

const counts all_counts = {
    {"sockets", &machine::sockets}, {"clusters", &machine::clusters},
    {"cores", &machine::cores},     {"pair", &machine::pair},
    {"smt", &machine::smt},         {"store_buffer", &machine::store_buffer},
    {"fetches", &machine::fetches}, {"futex_buckets", &machine::futex_buckets}};
const times all_times = {{"load", &machine::load},
                         {"store", &machine::store},
                         {"plain", &machine::plain},
                         {"rmw", &machine::rmw},
                         {"failed", &machine::failed},
                         {"fence", &machine::fence},
                         {"window", &machine::window},
                         {"relax", &machine::relax},
                         {"clock", &machine::clock},
                         {"invalidate_each", &machine::invalidate_each},
                         {"copy_gap", &machine::copy_gap},
                         {"keep", &machine::keep},
                         {"memory", &machine::memory},
                         {"slice", &machine::slice},
                         {"context", &machine::context},
                         {"syscall", &machine::syscall},
                         {"futex_wait", &machine::futex_wait},
                         {"futex_wake", &machine::futex_wake},
                         {"futex_hold", &machine::futex_hold},
                         {"wake_latency", &machine::wake_latency},
                         {"wake_work", &machine::wake_work},
                         {"interrupt", &machine::interrupt},
                         {"membarrier", &machine::membarrier}};
const shares all_shares = {{"smt_compute", &machine::smt_compute},
                           {"smt_walk", &machine::smt_walk},
                           {"smt_beside_waiter", &machine::smt_beside_waiter},
                           {"spread", &machine::spread},
                           {"request", &machine::request},
                           {"near_first", &machine::near_first}};
const tables all_tables = {{"transfer", &machine::transfer},
                           {"copy", &machine::copy},
                           {"invalidate", &machine::invalidate}};
const std::map<std::string, level> level_names = {
    {"pair", same_pair}, {"cluster", same_cluster}, {"socket", same_socket}, {"far", far_socket}};

ps duration(const std::string &name, double value)
{
    if (value < 0 || value > 1e9)
        throw bad_input("The machine's " + name + " is " + std::to_string(value) +
                        " ns; a duration lies between 0 and a second.");
    return static_cast<ps>(std::llround(value * 1000));
}

bool set_table(machine &m, const std::string &name, double value)
{
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos)
        return false;
    const auto table = all_tables.find(name.substr(0, dot));
    const auto place = level_names.find(name.substr(dot + 1));
    if (table == all_tables.end() || place == level_names.end())
        return false;
    (m.*(table->second))[place->second] = duration(name, value);
    return true;
}

} // namespace

void set(machine &m, const std::string &name, const std::string &text)
{
    const double value = number(name, text);
    const auto c = all_counts.find(name);
    const auto t = all_times.find(name);
    const auto s = all_shares.find(name);
    if (c != all_counts.end()) {
        if (value < 0 || value > 65536 || value != std::floor(value))
            throw bad_input("The machine's " + name + " is '" + text +
                            "'; it must be a whole number.");
        m.*(c->second) = static_cast<unsigned>(value);
    } else if (t != all_times.end()) {
        m.*(t->second) = duration(name, value);
    } else if (s != all_shares.end()) {
        m.*(s->second) = value;
    } else if (name == "queue") {
        m.queue = value != 0;
    } else if (name == "wakes_locked") {
        m.wakes_locked = value != 0;
    } else if (!set_table(m, name, value)) {
        throw bad_input("A machine has no value '" + name + "': see doc/sim.md for those it has.");
    }
}

void check(const machine &m)
{
    if (m.sockets == 0 || m.clusters == 0 || m.cores == 0 || m.pair == 0 || m.smt == 0)
        throw bad_input("A machine has at least one of each: sockets, clusters, cores, pair, smt.");
    if (m.all_cores() > most_cores)
        throw bad_input("The machine has " + std::to_string(m.all_cores()) +
                        " cores; the simulator knows machines of 1 to 256.");
    if (m.smt > 8)
        throw bad_input("The machine has " + std::to_string(m.smt) +
                        " hardware threads a core; 1 to 8 are possible.");
    if (m.cores % m.pair != 0)
        throw bad_input("Groups of " + std::to_string(m.pair) +
                        " cores (pair) do not fill a "
                        "cluster of " +
                        std::to_string(m.cores) + ".");
    if (m.smt_compute < 1 || m.smt_walk < 1 || m.smt_beside_waiter < 1)
        throw bad_input("An SMT factor is at least 1: a busy sibling makes no thread faster.");
    for (const double share : {m.near_first, m.request, m.spread})
        if (share < 0 || share > 1)
            throw bad_input("near_first, request and spread are shares, between 0 and 1.");
    if (m.store_buffer == 0 || m.futex_buckets == 0)
        throw bad_input("store_buffer and futex_buckets are at least 1.");
    const bool exists[levels] = {false, m.pair > 1, true, m.clusters > 1, m.sockets > 1};
    for (unsigned near = same_pair; near < levels; near++)
        for (unsigned far = near + 1; far < levels; far++)
            if (exists[near] && exists[far] && m.transfer[near] > m.transfer[far])
                throw bad_input("A nearer core's line costs more than a farther one's (transfer): "
                                "order them pair <= cluster <= socket <= far.");
}

} // namespace sim
