// SPDX-License-Identifier: MIT
// The moves that the guards offer are those of transitions.def: all of them, and no other.
#include <gtest/gtest.h>
#include <pawl/pawl.hpp>

#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace {

using Read = pawl::read_guard<pawl_spin64>;
using Seek = pawl::seek_guard<pawl_spin64>;
using Write = pawl::write_guard<pawl_spin64>;
using Atomic = pawl::atomic_guard<pawl_spin64>;

// The state of the guard in what a move returns; 0 when it returns something else.
template <class T> constexpr char letter = 0;
template <> constexpr char letter<Read> = 'R';
template <> constexpr char letter<Seek> = 'S';
template <> constexpr char letter<Write> = 'W';
template <> constexpr char letter<Atomic> = 'A';
template <class T> constexpr char letter<std::optional<T>> = letter<T>;
template <> constexpr char letter<pawl::read_after_atomic<pawl_spin64>> = 'R';

// Adds "S-W move" if the expression compiles on a guard that is about to be given up.
#define OFFER(method, kind)                                                                        \
    template <class Guard> auto add_##method(std::set<std::string> &found, int)                    \
        -> decltype(std::declval<Guard &&>().method(), void())                                     \
    {                                                                                              \
        using result = decltype(std::declval<Guard &&>().method());                                \
        found.insert(std::string{letter<Guard>, '-', letter<result>} + " " kind " " #method);      \
    }                                                                                              \
    template <class Guard> void add_##method(std::set<std::string> &, long)                        \
    {                                                                                              \
    }

#define EACH_METHOD(X)                                                                             \
    X(to_read, "sure")                                                                             \
    X(to_seek, "sure")                                                                             \
    X(to_write, "sure")                                                                            \
    X(to_atomic, "sure")                                                                           \
    X(try_to_read, "try")                                                                          \
    X(try_to_seek, "try")                                                                          \
    X(try_to_write, "try")                                                                         \
    X(try_to_atomic, "try")                                                                        \
    X(claim_read, "claim")                                                                         \
    X(claim_seek, "claim")                                                                         \
    X(claim_write, "claim")                                                                        \
    X(claim_atomic, "claim")
EACH_METHOD(OFFER)

template <class Guard> void add_all(std::set<std::string> &found)
{
#define ADD(method, kind) add_##method<Guard>(found, 0);
    EACH_METHOD(ADD)
#undef ADD
}

std::set<std::string> offered()
{
    std::set<std::string> found;
    add_all<Read>(found);
    add_all<Seek>(found);
    add_all<Write>(found);
    add_all<Atomic>(found);
    return found;
}

// The name of the method, from the data alone.
std::string method_of(const std::string &kind, char to)
{
    const std::string target = to == 'R'   ? "read"
                               : to == 'S' ? "seek"
                               : to == 'W' ? "write"
                                           : "atomic";
    if (kind == "claim")
        return "claim_" + target;
    return (kind == "try" ? "try_to_" : "to_") + target;
}

struct row {
    const char *name, *kind, *from, *to;
};

const row table[] = {
#define PAWL_OP(result, name, kind, from, to, cost) {#name, #kind, #from, #to},
#include <pawl/detail/transitions.def>
};

std::set<std::string> published()
{
    std::set<std::string> found;
    for (const row &op : table) {
        if (*op.from == 'U' || *op.to == 'U')
            continue;
        std::string kind = op.kind;
        if (kind == "move" || kind == "tells")
            kind = "sure";
        found.insert(std::string{*op.from, '-', *op.to} + " " + kind + " " +
                     method_of(kind, *op.to));
    }
    return found;
}

TEST(GuardTransitions, are_those_of_the_table_and_no_other)
{
    EXPECT_EQ(published(), offered());
}

TEST(GuardTransitions, are_as_many_as_the_table_has_rows_between_two_states)
{
    std::size_t rows = 0;
    for (const row &op : table)
        rows += *op.from != 'U' && *op.to != 'U';
    EXPECT_EQ(rows, offered().size());
    EXPECT_LT(rows, std::size(table));
}

// A guard that is not about to be given up cannot move: the name must be std::moved.
template <class Guard, class = void> struct moves_as_lvalue : std::false_type {};
template <class Guard>
struct moves_as_lvalue<Guard, std::void_t<decltype(std::declval<Guard &>().to_read())>>
    : std::true_type {};

TEST(GuardTransitions, need_std_move)
{
    EXPECT_FALSE(moves_as_lvalue<Seek>::value);
    EXPECT_FALSE(moves_as_lvalue<Write>::value);
    EXPECT_FALSE(moves_as_lvalue<Atomic>::value);
}

} // namespace
