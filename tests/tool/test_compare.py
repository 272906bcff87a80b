# SPDX-License-Identifier: MIT
"""Verdicts of rows that do not all compete: every part of a recorded run has one.

Only kinds whose rows all compete had a verdict; pages of readers, counters, the crate, RCU and
others began with a table and left the judgement to the reader.
"""

import pytest

from conftest import ROOT
from pawl.core import compare, report, results, verdict
from pawl.core.compare import RATE, TIME, Comparison
from pawl.kinds.registry import KINDS

RUNS = sorted((ROOT / "bench" / "results").glob("*/run1.json.xz"))
STEADY = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]


def said(what, *workloads):
    return compare.sentences([Comparison("reading", "ours", "theirs", workloads, what)])


def test_half_the_time_is_ahead_and_half_the_rate_is_behind():
    assert said(TIME, STEADY)[0] == (
        "Reading: ours takes 0.50x (0.50 to 0.50) the time of theirs: ahead."
    )
    assert (
        said(RATE, STEADY)[0]
        == "Reading: ours has 0.50x (0.50 to 0.50) the rate of theirs: behind."
    )


def test_the_last_sentence_says_which_way_is_better():
    assert said(TIME, STEADY)[-1] == "Of times and sizes less is better."
    assert said(RATE, STEADY)[-1] == "Of rates more is better."


def test_an_interval_around_one_is_no_difference():
    (text, _) = said(TIME, [0.9, 0.95, 1.0, 1.0, 1.05, 1.1])
    assert text.endswith("no difference beyond noise.")


def test_a_quantity_of_its_own_is_named():
    (text, _) = said("the longest queue", STEADY)
    assert "the longest queue of ours is 0.50x (0.50 to 0.50) that of theirs: ahead" in text


def test_few_rounds_have_no_interval():
    (text, _) = said(TIME, [0.5, 0.6])
    assert "0.55x the time of theirs: fewer than six rounds, so no interval" in text


def test_a_small_ratio_is_not_zero():
    assert "takes 0.0042x" in said(TIME, [0.0042])[0]


def test_many_workloads_are_counted():
    (text, _) = said(RATE, [2.0] * 6, [0.5] * 6, [0.9, 1, 1, 1, 1, 1.1], [4.0])
    assert "in 4 workloads ours is ahead in 1, even in 1, behind in 1" in text
    assert "1 had too few rounds" in text and "the rate is 1.41x that of theirs" in text


def test_a_row_that_was_not_measured_is_not_spoken_of():
    assert said(TIME, []) == [] and said(TIME) == []


def test_the_short_form_counts_all_comparisons():
    asked = [Comparison("reading", "a", "b", [STEADY, [0.5]], what) for what in (TIME, RATE)]
    assert compare.short(asked) == [
        "Of 2 comparisons ahead in 1, even in 0, behind in 1; 2 more had fewer than six rounds."
    ]


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.parent.name)
def test_every_part_of_a_recorded_run_has_a_verdict(path):
    for kind, result in results.parts(path, KINDS):
        if all(result["baseline"] not in cell["candidates"] for cell in result["cells"]):
            continue  # nothing to compare with
        assert verdict.verdict(kind, result), result["title"]
        assert verdict.short(kind, result), result["title"]


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.parent.name)
def test_every_null_row_of_a_recorded_run_has_a_line_of_noise(path):
    for kind, result in results.parts(path, KINDS):
        measured = {name for cell in result["cells"] for name in cell["candidates"]}
        lines = verdict.noise(kind, result)
        for first, again in kind.nulls:
            if {first, again} <= measured:
                assert any(f"{again} is {first} once more" in text for text in lines)


def test_a_null_row_tells_how_much_is_noise():
    kind = KINDS["readers"]
    first, again = kind.nulls[0]
    samples = [
        {"candidate": name, "round": n, "ops": ops, "seconds": 1.0}
        for name, ops in ((first, 100), (again, 104))
        for n in range(6)
    ]
    (text,) = verdict.noise(kind, {"cells": [{"samples": samples, "summary": []}]})
    assert text == f"Noise: {again} is {first} once more, and differs from it by 4.0 %."


def test_first_parts_of_names_are_explained():
    named = ("pairs", "readers", "crate", "counters", "rcu", "shim", "busy", "flood", "latency")
    for path in RUNS:
        for kind, result in results.parts(path, KINDS):
            if kind.name in named:
                starts = {r["candidate"] for c in result["cells"] for r in c["summary"]}
                starts = {name.split("/")[0] for name in starts if "/" in name}
                assert starts == {s for s, _ in report._strategies(kind, result["cells"])}, (
                    kind.name
                )
