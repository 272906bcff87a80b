/* SPDX-License-Identifier: MIT */
/* Reports of the checking variant on hazard pointers. */
#include "support/misuse.h"

#include <pawl/hazard.h>

static struct {
    pawl_hazard_head head;
} object, *place = &object;

static void forget(void *unused)
{
    (void)unused;
}

static void drop_twice(void *unused)
{
    pawl_hazard *const h = pawl_hazard_make();
    (void)unused;
    pawl_hazard_drop(h);
    pawl_hazard_drop(h);
}

TEST_CASE(dropping_twice_is_reported)
{
    assert_reports(drop_twice, NULL, "used after its drop", "hazard pointer at",
                   "misuse.c:", "mend: drop each hazard pointer once", "page: doc/hazard.md", NULL);
}

static void protect_after_the_drop(void *unused)
{
    pawl_hazard *const h = pawl_hazard_make();
    (void)unused;
    pawl_hazard_drop(h);
    (void)pawl_hazard_protect(h, &place);
}

TEST_CASE(protecting_after_the_drop_is_reported)
{
    assert_reports(protect_after_the_drop, NULL, "used after its drop", "misuse.c:", NULL);
}

static void retire_twice(void *unused)
{
    (void)unused;
    pawl_hazard_retire(&object.head, &object, forget);
    pawl_hazard_retire(&object.head, &object, forget);
}

TEST_CASE(retiring_twice_is_reported)
{
    assert_reports(retire_twice, NULL, "retired twice", "by pawl_hazard_retire",
                   "misuse.c:", "mend: retire each object once", "page: doc/hazard.md", NULL);
}

static void retire_again_after_its_function(void *unused)
{
    pawl_hazard *const h = pawl_hazard_make();
    (void)unused;
    for (unsigned i = 0; i < 2; i++) {
        must(pawl_hazard_protect(h, &place) == &object);
        pawl_hazard_retire(&object.head, &object, forget);
        pawl_hazard_reset(h, NULL);
        pawl_hazard_clean_up();
    }
    pawl_hazard_drop(h);
}

TEST_CASE(an_object_may_be_used_again_after_its_function)
{
    assert_silent(retire_again_after_its_function, NULL);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
