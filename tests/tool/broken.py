# SPDX-License-Identifier: MIT
"""Examples in which one thing is broken: built, and run until they fail.

A race that is there is not met in every run, and on one CPU hardly ever. So a case opens its
window with `window();`, where it lets others come between; and a run that ends well is repeated,
for minutes if need be.
"""

import re
import subprocess
import time

from conftest import ROOT

# Only what deadlocks runs so long; a slow machine makes such a case slower, not wrong.
STUCK_SECONDS = 10
# After this a case that never failed is taken for one that cannot. Nearly all fail at once.
MOST_SECONDS = 300

WINDOW = """\
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
static inline void let_others_run(void)
{
    const struct timespec a_while = {0, 100 * 1000};
    nanosleep(&a_while, NULL);
}
/* Gives the CPU away, and now and then sleeps so long that all others come along. */
static inline void window(void)
{
    static atomic_uint calls;
    const unsigned call = atomic_fetch_add(&calls, 1);
    if (call < 64 || call % 512 == 0)
        let_others_run();
    else
        sched_yield();
}
"""


def compile_c(*arguments):
    flags = "-std=c11 -pthread -w -D_POSIX_C_SOURCE=200809L".split()
    folders = [f"-I{ROOT}/include", f"-I{ROOT}/examples"]
    subprocess.run(["gcc", *flags, *folders, *arguments], check=True)


def library(folder, *flags):
    """The whole library as one object."""
    made = folder / "pawl.o"
    compile_c(*flags, "-c", ROOT / "src" / "pawl.c", "-o", made)
    return made


def build(example, changes, folder, *flags):
    """The example with each (pattern, replacement) made; every pattern must match."""
    text = (ROOT / "examples" / f"{example}.c").read_text()
    for pattern, new in changes:
        text, count = re.subn(pattern, new, text)
        assert count > 0, f"nothing matches {pattern}"
    (folder / "broken.c").write_text(text)
    (folder / "window.h").write_text(WINDOW)
    compile_c("-include", folder / "window.h", folder / "broken.c", *flags, "-o", folder / "broken")
    return folder / "broken"


def fails(program, *arguments):
    """Whether it fails by itself or by hanging, sooner or later."""
    end = time.monotonic() + MOST_SECONDS
    while time.monotonic() < end:
        try:
            done = subprocess.run(
                [program, *arguments], capture_output=True, timeout=STUCK_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return True
        if done.returncode != 0:
            return True
    return False
