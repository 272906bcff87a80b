/* SPDX-License-Identifier: MIT */
/*
 * Each script under each circumstance is a test of its own, in a process of its own. Include it
 * behind the tables `scripts` and `circumstances`, the array `cells` and the function that runs a
 * cell in the child.
 */
#pragma once

static void promise_holds(void **state)
{
    char said[4096];
    const int status = test_in_child(runs_in_child, *state, said, sizeof said);
    if (status != 0)
        fail_msg("status %#x: %s", (unsigned)status, said);
}

static int run_cells(int argc, char **argv)
{
    static struct CMUnitTest tests[SCRIPTS * CIRCUMSTANCES];
    static char names[SCRIPTS * CIRCUMSTANCES][80];
    for (unsigned i = 0; i < SCRIPTS * CIRCUMSTANCES; i++) {
        cells[i].script = &scripts[i / CIRCUMSTANCES];
        cells[i].circumstance = &circumstances[i % CIRCUMSTANCES];
        (void)snprintf(names[i], sizeof names[i], "%s.%s", cells[i].script->name,
                       cells[i].circumstance->name);
        tests[i].name = names[i];
        tests[i].test_func = promise_holds;
        tests[i].initial_state = &cells[i];
    }
    return test_run(argc, argv, tests);
}
