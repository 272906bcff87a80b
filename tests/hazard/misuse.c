/* SPDX-License-Identifier: MIT */
/* Reports of the checking variant on hazard pointers. */
#include "support/misuse.h"

#include <pawl/hazard.h>

static struct {
    pawl_hazard_head head;
} object, *place = &object;

static void forget(void *unused)
{
}

REPORTED_CASE(dropping_twice_is_reported, "used after its drop", "hazard pointer at",
              "misuse.c:", "mend: drop each hazard pointer once", "page: doc/hazard.md")
{
    pawl_hazard *const h = pawl_hazard_make();
    pawl_hazard_drop(h);
    pawl_hazard_drop(h);
}

REPORTED_CASE(protecting_after_the_drop_is_reported, "used after its drop", "misuse.c:")
{
    pawl_hazard *const h = pawl_hazard_make();
    pawl_hazard_drop(h);
    (void)pawl_hazard_protect(h, &place);
}

REPORTED_CASE(retiring_twice_is_reported, "retired twice", "by pawl_hazard_retire",
              "misuse.c:", "mend: retire each object once", "page: doc/hazard.md")
{
    pawl_hazard_retire(&object.head, &object, forget);
    pawl_hazard_retire(&object.head, &object, forget);
}

SILENT_CASE(an_object_may_be_used_again_after_its_function)
{
    pawl_hazard *const h = pawl_hazard_make();
    for (unsigned i = 0; i < 2; i++) {
        must(pawl_hazard_protect(h, &place) == &object);
        pawl_hazard_retire(&object.head, &object, forget);
        pawl_hazard_reset(h, NULL);
        pawl_hazard_clean_up();
    }
    pawl_hazard_drop(h);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
