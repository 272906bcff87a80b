# SPDX-License-Identifier: MIT
"""The recorder changes no result: a call that the C library refuses is refused under it, too."""

import os
import subprocess

from conftest import ROOT, needs_recorder, recording

pytestmark = needs_recorder


def test_deadlines_and_clocks_that_are_none(tmp_path):
    made = tmp_path / "refused"
    source = ROOT / "tests/trace/refused.c"
    subprocess.run(
        ["gcc", "-O1", "-g", "-D_GNU_SOURCE", "-o", made, source, "-pthread"], check=True
    )
    under = recording(tmp_path)
    said = [
        subprocess.run([made], check=True, capture_output=True, text=True, env=env).stdout
        for env in (os.environ, under)
    ]
    assert said[0] == said[1] and " 22\n" in said[0] and " 0\n" in said[0]
