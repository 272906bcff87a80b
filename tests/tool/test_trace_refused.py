# SPDX-License-Identifier: MIT
"""The recorder changes no result: a call that the C library refuses is refused under it, too."""

import os
import subprocess

import pytest

from conftest import ROOT

BUILD = os.environ.get("PAWL_BUILD_DIR", str(ROOT / "build/dev"))
RECORDER = os.path.join(BUILD, "shim", "libpawl-trace.so")
pytestmark = pytest.mark.skipif(not os.path.exists(RECORDER), reason="the recorder is not built")


def test_deadlines_and_clocks_that_are_none(tmp_path):
    made = tmp_path / "refused"
    source = ROOT / "tests/trace/refused.c"
    subprocess.run(
        ["gcc", "-O1", "-g", "-D_GNU_SOURCE", "-o", made, source, "-pthread"], check=True
    )
    under = {**os.environ, "LD_PRELOAD": RECORDER, "PAWL_TRACE_DIR": str(tmp_path)}
    said = [
        subprocess.run([made], check=True, capture_output=True, text=True, env=env).stdout
        for env in (os.environ, under)
    ]
    assert said[0] == said[1] and " 22\n" in said[0] and " 0\n" in said[0]
