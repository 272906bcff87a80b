/* SPDX-License-Identifier: MIT */
#include "core/options.hpp"

#include <CLI/CLI.hpp>

namespace bench {

options::options(const char *says) : app_(std::make_unique<CLI::App>(says))
{
    flag("--list", list, "print the candidates as a JSON array and end");
    names("--candidates", candidates, "names, as --list gives them");
}

options::~options() = default;

void options::text(const char *name, std::string &value, const std::string &says)
{
    app_->add_option(name, value, value.empty() ? says : says + " (default " + value + ")");
}

void options::names(const char *name, std::vector<std::string> &value, const char *says)
{
    app_->add_option(name, value, says)->delimiter(',');
}

void options::flag(const char *name, bool &value, const char *says)
{
    app_->add_flag(name, value, says);
}

void options::add(const std::string &name, long long &value, const std::string &says)
{
    app_->add_option(name, value, says);
}

void options::add(const std::string &name, double &value, const std::string &says)
{
    app_->add_option(name, value, says);
}

bool options::parse(int argc, char **argv)
{
    try {
        app_->parse(argc, argv);
        return true;
    } catch (const CLI::CallForHelp &) {
        std::fputs(app_->help().c_str(), stdout);
        return false;
    } catch (const CLI::ParseError &e) {
        throw bad_input(std::string(e.what()) + ". See --help.");
    }
}

} // namespace bench
