/* SPDX-License-Identifier: MIT */
#include "engine/constants.hpp"

#include "engine/machine.hpp"
#include "src/base/constants.h"

#include <cstdlib>

namespace {

const struct {
    const char *name;
    std::uint32_t least, most;
} all[PAWL_SIM_CONSTANTS] = {
    {"first_pause", 1, 1000000},
    {"longest_pause", 1, 1000000},
    {"suspect_ns", 0, 1000000000},
    {"reading_ns", 0, 1000000000},
    {"reads_on", 0, 1000000},
    {"wakes", 1, 1000000},
    {"handoff_ns", 0, 1000000000},
    {"brlock_spins", 0, 1000000},
    {"brlock_patience", 0, 1000000},
    {"bias", 0, 2}, /* 0: readers do not scale; 1: they do; 2: on evidence */
};

struct {
    bool chosen;
    std::uint32_t value;
} given[PAWL_SIM_CONSTANTS];

} // namespace

uint32_t pawl_sim_constant(enum pawl_sim_constant which, uint32_t usual)
{
    return given[which].chosen ? given[which].value : usual;
}

namespace sim {

bool set_constant(const std::string &word)
{
    if (word.rfind("library.", 0) != 0)
        return false;
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos)
        throw bad_input("'" + word + "' is not of the form library.name=value.");
    const std::string name = word.substr(8, equals - 8), text = word.substr(equals + 1);
    std::string names;
    for (std::size_t i = 0; i < PAWL_SIM_CONSTANTS; i++) {
        if (name != all[i].name) {
            names += std::string(names.empty() ? "" : ", ") + all[i].name;
            continue;
        }
        char *end = nullptr;
        const unsigned long value = std::strtoul(text.c_str(), &end, 10);
        if (text.empty() || text[0] < '0' || text[0] > '9' || *end != 0 || value < all[i].least ||
            value > all[i].most)
            throw bad_input("library." + name + " is '" + text + "'; it must be a whole number " +
                            "from " + std::to_string(all[i].least) + " to " +
                            std::to_string(all[i].most) + ".");
        if (given[i].chosen)
            throw bad_input("'library." + name + "' is given twice.");
        given[i] = {true, static_cast<std::uint32_t>(value)};
        return true;
    }
    throw bad_input("The library has no constant '" + name + "'; there are " + names + ".");
}

} // namespace sim
