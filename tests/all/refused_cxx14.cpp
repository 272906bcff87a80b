// SPDX-License-Identifier: MIT
// Below C++17 each C++ header gives one error that says so, and no others. Case 0 is right.
#if CASE == 1
#include <pawl/pawl.hpp> // expect once: needs C..17
#elif CASE == 2
#include <pawl/guards.hpp> // expect once: needs C..17
#elif CASE == 3
#include <pawl/seq.hpp> // expect once: needs C..17
#elif CASE == 4
#include <pawl/rcu.hpp> // expect once: needs C..17
#elif CASE == 5
#include <pawl/bigref.hpp>
#include <pawl/brlock.hpp>
#include <pawl/cache.hpp>
#include <pawl/counter.hpp>
#include <pawl/guarded.hpp>
#include <pawl/hazard.hpp>
#include <pawl/idtable.hpp>
#include <pawl/notice.hpp>
#include <pawl/pshared.hpp>
#include <pawl/table.hpp>
#include <pawl/tree.hpp>
#include <pawl/wait.hpp>
#include <pawl/sift.hpp> // expect once: needs C..17
#endif

int right();
int right()
{
    return 0;
}
