# SPDX-License-Identifier: MIT
"""What the fake drivers share: one that stands still until it is interrupted.

FAKE_STOP=FILE:START:SAMPLES says in which start of a driver (the first is 1) and after how many of
its samples; then it makes the file, so that a test knows when, and waits for as long as it takes.
"""

import os
import time


def stand_still(samples, interrupted):
    """Called before each sample with the number of those that have been said."""
    if not (asked := os.environ.get("FAKE_STOP")):
        return
    path, start, after = asked.rsplit(":", 2)
    with open(os.environ["FAKE_LOG"]) as log:
        starts = len(log.readlines())
    if starts != int(start) or samples != int(after):
        return
    open(path, "a").close()
    while not interrupted():
        time.sleep(0.01)
