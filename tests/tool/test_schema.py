# SPDX-License-Identifier: MIT
"""The JSON Schema of result files: written for others; what is broken is refused."""

import json
import subprocess
import sys

import pytest

from conftest import ROOT
from pawl.core import schema
from pawl.kinds.registry import KINDS


def test_a_file_for_other_programs_is_written_of_each_schema(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "pawl.schema", tmp_path],
        env={"PYTHONPATH": str(ROOT / "tool")},
        check=False,
    )
    assert done.returncode == 0
    written = {path.name.split(".")[0]: json.loads(path.read_text()) for path in tmp_path.iterdir()}
    assert written.keys() == {"advise", "diff", "replay", "result"}
    assert written["result"] == schema.of(KINDS)
    assert all("SPDX" in one["$comment"] for one in written.values())


@pytest.mark.parametrize(
    ("keys", "value", "words"),
    [
        ((), [], "must be object"),
        (("kind",), "none", "kind must be one of"),
        (("schema",), 2, "schema must be"),
        (("cells", 0, "threads"), "2", "cells[0].threads must be integer"),
        (("cells", 0, "samples", 0, "ops"), -1, "cells[0].samples[0].ops must be bigger"),
        (("unavailable",), [{}], "unavailable[0] must contain"),
    ],
)
def test_a_broken_value_is_named(result, keys, value, words):
    run = json.loads(result.read_text())
    assert schema.fault(run, KINDS) is None
    place = run
    for key in keys[:-1]:
        place = place[key]
    if keys:
        place[keys[-1]] = value
    else:
        run = value
    assert words in schema.fault(run, KINDS)


def test_a_record_holds_no_record(result):
    run = json.loads(result.read_text())
    record = {"schema": 1, "kind": "record", "parts": [run]}
    assert schema.fault(record, KINDS) is None
    assert "parts[0] must" in schema.fault(record | {"parts": [record]}, KINDS)
