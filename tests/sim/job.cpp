/* SPDX-License-Identifier: MIT */
/* Rules that the published LRU job needs, each by a case that is computed by hand. */
#include "small.hpp"

#include "words.hpp"

#include "test.h" /* last: cmocka defines fail, skip and more as macros */

namespace {

/* The poller reads at 2000 and looks again at 2006. Its core has the line all the time. */
void a_poller_notices_that_its_sibling_changed_the_word_between_two_reads(void **)
{
    sim::machine m = round_numbers();
    m.smt = 2;
    m.smt_compute = m.smt_walk = m.smt_beside_waiter = 1;
    engine e(m, 1);
    std::uint32_t *w = word();
    long seen = 0;
    e.add(0, [&] {
        (void)sim::add(w, 0U);
        until(2000);
        (void)sim::poll(w, 1, [](std::uint32_t v) { return v == 1; });
        seen = engine::running->now() / ns;
    });
    e.add(16, [&] {
        until(2003);
        (void)sim::add(w, 1U);
    });
    e.run();
    assert_int_equal(seen, 2006 + 1);
}

} // namespace

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_poller_notices_that_its_sibling_changed_the_word_between_two_reads),
    };
    return test_run(argc, argv, tests);
}
