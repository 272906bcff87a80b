# SPDX-License-Identifier: MIT
"""scripts/targets for runs of the set "shim", from made-up samples; and the driver itself."""

import json
import os
import random
import subprocess

import pytest

from conftest import BUILD
from pawl.kinds.shim.plan import (
    AGAIN,
    BASELINE,
    DRIVER,
    MAIN,
    PREFER,
    RECORDED,
    SCALING,
    SCENES,
    plan,
)
from pawl.kinds.shim.targets import notes, targets

BUILT = os.path.join(BUILD, "bench", DRIVER)


def run_with(rates):
    """A run whose row of a scene has so many times the baseline's rate; else what meets all."""
    usual = {"pair-read": 1.1, "pair-write": 1.6, "read-only": 3.5}
    recorded = {"pair-read": 0.5, "pair-write": 0.5, "paced": 0.98}
    cells = []
    for cell in plan(1.0, [BASELINE, MAIN, SCALING, RECORDED]):
        scene = cell.parameters["scene"]
        factor = rates.get(scene, usual.get(scene, 1.2))
        slower = rates.get(f"recorded {scene}", recorded.get(scene))
        times = {BASELINE: 1, RECORDED: slower}
        samples = [
            {
                "candidate": name,
                "round": number,
                "seconds": 1.0,
                "threads": 1,
                "ops": 3e7
                * times.get(name, factor)
                * random.Random(f"{name} {number}").uniform(0.99, 1.01),
            }
            for number in range(SCENES[scene].rounds)
            for name in cell.candidates
        ]
        cells.append(cell.parameters | {"samples": samples})
    return {"started": "now", "parts": [{"kind": "shim", "title": "t", "cells": cells}]}


def missed(rates):
    run = run_with(rates)
    return [t.name for t in targets() if not t.met(t.find(run))]


def test_all_targets_are_met_by_what_meets_them():
    assert missed({}) == []


@pytest.mark.parametrize(
    ("scene", "rate", "words"),
    [
        ("pair-read", 0.9, "read pair"),
        ("pair-write", 1.3, "write pair"),
        ("read-only", 2.5, "read only"),
        ("crowd", 0.95, "32 threads"),
        ("crowd-busy-2", 0.95, "beside two"),
        ("slapd", 0.9, "slapd"),
        ("libssl", 0.95, "libssl"),
        ("recorded pair-read", 0.3, "read pair under the recorder"),
        ("recorded pair-write", 0.3, "write pair under the recorder"),
        ("recorded paced", 0.9, "200,000 reads"),
    ],
)
def test_each_target_can_be_missed(scene, rate, words):
    found = missed({scene: rate})
    assert len(found) == 1 and words in found[0]


def test_a_program_may_be_slower_within_the_noise():
    assert missed({"pigz": 0.97}) == []


def test_the_notes_have_the_mode_that_scales(tmp_path):
    assert "pair-write 1." in next(iter(notes([(tmp_path / "run1.json", run_with({}))])))


@pytest.mark.skipif(not os.path.exists(BUILT), reason="the programs of the bench are not built")
def test_the_driver_alternates_and_ends():
    done = subprocess.run(
        [BUILT, "--scene", "pair-read", "--rounds", "2", "--seconds", "0.01"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["type"] for line in lines] == ["start", *["sample"] * 12, "end"]
    rows = [line["candidate"] for line in lines[1:-1]]
    assert rows[:6] == [BASELINE, AGAIN, MAIN, SCALING, RECORDED, PREFER]
    assert rows[6:] == rows[5::-1]
