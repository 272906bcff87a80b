/* SPDX-License-Identifier: MIT */
/* How reports name the places of calls, and how they end. */
#include <sys/stat.h>

#include "support/misuse.h"

static pawl_spin32 lock;

__attribute__((noinline)) static void take_it(void)
{
    pawl_take_read(&lock);
}
enum { TAKEN_IN_LINE = __LINE__ - 2 };
__attribute__((noinline)) static void drop_it(void)
{
    pawl_drop_write(&lock);
}
enum { DROPPED_IN_LINE = __LINE__ - 2 };

static void take_and_drop(void *unused)
{
    take_it();
    drop_it();
}

TEST_CASE(a_call_that_ends_a_function_is_named_by_function_file_and_line)
{
    char taken[100];
    char dropped[100];
    if (system("addr2line --version >/dev/null 2>&1") != 0)
        skip();
    snprintf(taken, sizeof taken, "sites.c:%d", TAKEN_IN_LINE);
    snprintf(dropped, sizeof dropped, "sites.c:%d", DROPPED_IN_LINE);
    assert_reports(take_and_drop, NULL, "by pawl_spin32_drop_write in thread ", " at drop_it",
                   " at ", dropped, "this thread holds R, taken at take_it", " at ", taken, NULL);
}

REPORTED_CASE(without_a_tool_the_module_and_the_offset_are_named,
              "by pawl_spin32_drop_write in thread ", "sites", "+0x", "taken at ", "sites", "+0x")
{
    misuse_without_lines();
    take_and_drop(unused);
}

/* A folder with an addr2line of our own. */
static void use_tool(const char *script)
{
    char folder[] = "/tmp/pawl-sites-XXXXXX";
    char path[sizeof folder + 20];
    must(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/addr2line", folder);
    FILE *file = fopen(path, "w");
    must(file != NULL);
    must(fprintf(file, "#!/bin/sh\nrm -r '%s'\n%s\n", folder, script) > 0);
    must(fclose(file) == 0);
    must(chmod(path, 0755) == 0);
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", folder);
    must(setenv("PATH", path, 1) == 0);
}

REPORTED_CASE(a_tool_that_hangs_is_not_waited_for,
              "pawl: drop of what is not held: ", "by pawl_spin32_drop_write in thread ", "sites",
              "+0x")
{
    use_tool("exec sleep 1000");
    drop_it();
}

static void drop_with_a_tool_that_talks_nonsense(void *unused)
{
    use_tool("echo what; head -c 100000 /dev/zero");
    drop_it();
}

TEST_CASE(a_tool_that_talks_nonsense_does_no_harm)
{
    assert_reports(drop_with_a_tool_that_talks_nonsense, NULL,
                   "pawl: drop of what is not held: ", "this thread holds nothing of it", NULL);
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

__attribute__((noinline)) static void my_lock(pawl_spin32 *l)
{
    pawl_take_write(l);
    __asm__ __volatile__(""); /* not a jump */
}

static volatile int culprits, victims; /* the two differ, or a compiler would make them one */

__attribute__((noinline)) static void culprit(void)
{
    my_lock(&lock);
    culprits = 1;
}

__attribute__((noinline)) static void victim(void)
{
    my_lock(&lock);
    victims = 1;
}

static void take_twice(void *unused)
{
    culprit();
    victim();
    victims = 0;
}

TEST_CASE(a_wrapper_of_the_programs_own_does_not_hide_who_called_it)
{
    if (system("addr2line --version >/dev/null 2>&1") != 0)
        skip();
    assert_reports(take_twice, NULL, "by pawl_spin32_take_write in thread ", " at my_lock at ",
                   "called from victim", "called from take_twice", "holds W, taken at my_lock",
                   "called from culprit", "called from take_twice", NULL);
}

/* No name begins as the library's own do, and no file is one of its sources or headers. */
TEST_CASE(no_frame_of_the_library_is_in_a_stack)
{
    assert_reports(take_twice, NULL, "taken again", NULL);
    for (const char *line = strstr(misuse_said, " at my_lock"); line != NULL;
         line = strchr(line + 1, '\n')) {
        char text[512];
        snprintf(text, sizeof text, "%.*s", (int)strcspn(line + 1, "\n"), line + 1);
        if (strstr(text, "called from") == NULL)
            continue;
        if (strstr(text, "from pawl_") != NULL || strstr(text, "/include/pawl/") != NULL ||
            strstr(text, "/src/check/") != NULL || strstr(text, "/src/lock/") != NULL)
            fail_msg("a frame of the library: %s", text);
    }
}

/* The same stack again and again, and others at the same depth: what is remembered stays right. */
static void take_from_two_places(void *unused)
{
    for (int i = 0; i < 100; i++) {
        culprit();
        pawl_drop_write(&lock);
        victim();
        pawl_drop_write(&lock);
    }
    culprit();
    victim();
    victims = 0;
}

TEST_CASE(a_stack_that_was_seen_before_is_not_taken_for_another)
{
    if (system("addr2line --version >/dev/null 2>&1") != 0)
        skip();
    assert_reports(take_from_two_places, NULL, "called from victim", "holds W, taken at my_lock",
                   "called from culprit", NULL);
}

static void take_with_one_frame(void *unused)
{
    must(setenv("PAWL_CHECK_STACK", "1", 1) == 0);
    take_twice(unused);
}

TEST_CASE(the_environment_may_ask_for_one_frame)
{
    assert_reports(take_with_one_frame, NULL, "taken again by its holder: ", NULL);
    if (strstr(misuse_said, "called from") != NULL)
        fail_msg("more than one frame:\n%s", misuse_said);
}

/* ---- The end of a report --------------------------------------------------------------------- */

static void write_inside_read(void *unused)
{
    pawl_take_read(&lock);
    pawl_take_write(&lock);
}

TEST_CASE(a_report_ends_with_the_mend_and_the_page)
{
    assert_reports(write_inside_read, NULL,
                   "taken again by its holder: ", "  mend: to upgrade, take seek instead of read",
                   "\n  page: doc/spin.md\n", NULL);
    assert_reports(drop_with_a_tool_that_talks_nonsense, NULL, "  mend: drop once for each take",
                   "\n  page: doc/spin.md\n", NULL);
}

REPORTED_CASE(with_report_in_the_environment_the_program_goes_on_with_its_errno,
              "pawl: not held as asserted: ", "went on\n")
{
    misuse_without_lines();
    must(setenv("PAWL_CHECK", "report", 1) == 0);
    pawl_take_read(&lock);
    errno = EXDEV;
    pawl_assert_held_write(&lock);
    must(errno == EXDEV);
    pawl_drop_read(&lock);
    fprintf(stderr, "went on\n");
    abort();
}

TEST_MAIN()
