/* SPDX-License-Identifier: MIT */
/* The library's own RCU in the hash bench. */
#include "adapters/pawl_rcu.hpp"
#include "hash/rcu.hpp"

namespace bench {

void add_hash_rcu(std::vector<hash_candidate> &all)
{
    all.push_back(rcu_candidate<adapter::pawl_rcu>());
    all.push_back(rcu_candidate<adapter::pawl_rcu_quiescent>());
}

} // namespace bench
