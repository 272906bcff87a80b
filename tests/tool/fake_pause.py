# SPDX-License-Identifier: MIT
"""What the fake drivers share: one that stands still until it is interrupted.

FAKE_STOP=FILE:START:SAMPLES says in which start of a driver (the first is 1) and after how many of
its samples; then it makes the file, so that a test knows when, and waits for as long as it takes.
"""

import os
import time
from pathlib import Path


def stand_still(samples, interrupted):
    """Called before each sample with the number of those that have been said."""
    if not (asked := os.environ.get("FAKE_STOP")):
        return
    path, start, after = asked.rsplit(":", 2)
    starts = len(Path(os.environ["FAKE_LOG"]).read_text().splitlines())
    if starts != int(start) or samples != int(after):
        return
    Path(path).touch()
    while not interrupted():
        time.sleep(0.01)
