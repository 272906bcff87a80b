# SPDX-License-Identifier: MIT
"""The JSON Schema of result files: fresh, and refusing what is broken with a sentence."""

import json

import pytest

from conftest import ROOT
from pawl import schema as printed
from pawl.core import schema
from pawl.kinds.registry import KINDS


def test_the_file_is_what_the_kinds_declare():
    path = ROOT / "tool" / "pawl" / "result.schema.json"
    assert path.read_text() == printed.text(), (
        "stale; run: PYTHONPATH=tool .venv/bin/python -m pawl.schema > tool/pawl/result.schema.json"
    )


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
