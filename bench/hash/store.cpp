/* SPDX-License-Identifier: MIT */
/* The table that all chained designs work on. */
#include "hash/hash.hpp"

namespace bench {

hash_store::hash_store(std::uint32_t keys) : buckets_(keys)
{
    for (std::uint32_t key = 0; key < keys; key++) {
        auto *e = new element(key);
        e->place = &buckets_[key].first;
        buckets_[key].first = e;
    }
}

hash_store::~hash_store()
{
    for (bucket &b : buckets_)
        for (element *e = b.first; e;) {
            element *gone = e;
            e = e->next;
            delete gone;
        }
}

bool hash_store::is_sound() const
{
    for (std::uint32_t key = 0; key < keys(); key++) {
        const element *e = buckets_[key].first;
        if (!e || e->next || e->place != &buckets_[key].first || e->key != key ||
            e->check != element::check_of(key) || e->references.load() != 1)
            return false;
    }
    return true;
}

} // namespace bench
