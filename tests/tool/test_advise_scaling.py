# SPDX-License-Identifier: MIT
"""What `pawl advise` says that readers gain which share a line: of a recording of two threads that
fetch digests of OpenSSL 3, whose answer was measured, and of traces that do not permit a figure."""

import contextlib
import gzip
import json
import sqlite3

import fastjsonschema
import pytest

from conftest import ROOT, built_sim
from pawl.advise import schema, simulated
from pawl.advise.facts import Facts
from pawl.advise.finding import find
from pawl.advise.rules import RULES
from pawl.cli import main
from pawl.trace import store

# Fetches a second: with `pawl run` over those without, three runs of each right before it.
MEASURED = 2.3
RECORDED = ROOT / "tests/tool/fetch.trace.gz"


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "fetch.trace"
    path.write_bytes(gzip.decompress(RECORDED.read_bytes()))
    return path


def gains(trace, *given):
    facts = Facts(store.open_trace(trace))
    (finding,) = find(facts, {simulated.RULE: RULES[simulated.RULE]})
    return simulated.gains(facts, finding, *given)


def change(trace, *statements):
    with contextlib.closing(sqlite3.connect(trace)) as db, db:
        for statement in statements:
            db.execute(statement)


def test_the_gain_here_is_that_which_was_measured(trace, tmp_path):
    """Without the simulator, too; the sentence then says how to get that."""
    nobody = tmp_path / "nobody"
    nobody.mkdir()
    found = gains(trace, str(nobody))
    (row,) = found.rows
    assert row.here and row.cores == 2 and row.is_figure
    assert (row.low * row.high) ** 0.5 == pytest.approx(MEASURED, rel=0.25)
    assert "name pawl-sim or the folder" in found.said


def test_more_cores_are_simulated_and_said_to_be(trace, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PAWL_BENCH_DIR", str(built_sim()))
    monkeypatch.setattr(simulated, "CORES", (8,))  # more take longer
    files = {n: tmp_path / n for n in ("json", "html")}
    words = [word for n, path in files.items() for word in (f"--{n}", str(path))]
    assert main(["advise", str(trace), *words]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Readers that scale: here, at 2 threads, about" in said
    assert "simulated (two AMD EPYC 7763), never validated" in said
    result = json.loads(files["json"].read_text())
    fastjsonschema.compile(schema.schema())(result)
    (finding,) = result["findings"]
    rows = {row["cores"]: row for row in finding["scaling"]["rows"]}
    assert rows[8]["simulated"] and not rows[2]["simulated"]
    assert rows[8]["low"] > 0
    assert "Readers that scale: here" in files["html"].read_text()


def test_what_takes_too_long_is_cut_and_said(trace, monkeypatch):
    monkeypatch.setattr(simulated._Runs, "is_over", property(lambda self: True))
    found = gains(trace, str(built_sim()))
    assert [row.cores for row in found.rows] == [2]
    assert "8 cores and more were cut" in found.said


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("UPDATE process SET cpu_ns = cpu_ns / 20", "not like the rest of the run"),
        ("DELETE FROM step WHERE lane = (SELECT max(lane) FROM step)", "a single thread"),
    ],
)
def test_a_window_that_shows_something_else_gives_no_figure(trace, statement, why):
    change(trace, statement)
    facts = Facts(store.open_trace(trace))
    (match,) = RULES[simulated.RULE](facts)
    finding = simulated.Finding(simulated.RULE, "", match, {})
    found = simulated.gains(facts, finding)
    assert found.rows == [] and why in found.said


def test_prices_that_leave_too_much_open_give_no_figure():
    assert simulated.Row(2, 1.6, 3.4, True).is_figure
    wide = simulated.Row(2, 1.2, 3.4, True)
    assert "1.2 to 3.4 times, too wide for a figure" in wide.said and not wide.is_figure
    rows = simulated.Gains([wide]).as_json()["rows"]
    assert rows[0]["figure"] is None


def test_only_reads_that_share_a_line_have_such_a_gain(trace):
    """Where threads come to a lock of their own, or read for long, the rule is silent."""
    change(trace, "UPDATE use SET handoffs = 0, overlaps = 0")
    assert find(Facts(store.open_trace(trace)), {simulated.RULE: RULES[simulated.RULE]}) == []
