# SPDX-License-Identifier: MIT
"""`pawl diff`: of two traces and of two results."""

import itertools
import json
import random

import fastjsonschema
import pytest

from conftest import ROOT
from pawl.cli import main
from pawl.core import stats
from pawl.core.errors import BadInput
from pawl.diff import results, schema
from pawl.diff.rows import Row, parse
from pawl.kinds.registry import KINDS
from pawl.trace import store

HISTOGRAM = "[[100, 90], [1000, 10]]"


@pytest.fixture
def trace(tmp_path):
    """A trace of one thread that took two locks; `waited` ns for the first one."""

    def make(name, waited, second="b", waits=10):
        path = tmp_path / name
        with store.create(path) as db:
            store.insert(db, "meta", [("command", "x"), ("finished", "yes")])
            process = (1, 9, 1, "/bin/x", 0, 10**9, 1, 2, 10**9, 200, 200, 20, None, 20)
            store.insert(db, "process", [process])
            store.insert(db, "site", [(1, 1, 5, "/bin/x", 5, "f", "f.c", 1, "f (f.c:1)", "[]")])
            store.insert(
                db,
                "lock",
                [
                    (1, 1, 16, "mutex", "a", 1, *[None] * 4),
                    (2, 1, 32, "mutex", second, 1, *[None] * 4),
                ],
            )
            for lock, ns in ((1, waited), (2, 0)):
                store.insert(db, "use", [(
                    lock, lock, "mutex", 1, 1, 100, 10**6, 100, 1000, 1000, 2000,
                    waits if ns else 0, ns, ns // 10, ns // 10, ns // 10, ns // 10, 0, 0, 0, 0, 0,
                    2, None, *[0] * 5, HISTOGRAM,
                    f"[[{ns // 10}, 10]]" if ns else "[]", *[0] * 5)])  # fmt: skip
        return path

    return make


def test_locks_of_two_traces(trace, tmp_path, capsys):
    old, new, out = trace("old", 10**6), trace("new", 3 * 10**6, second="c"), tmp_path / "d.json"
    assert main(["diff", str(old), str(new), "--json", str(out)]) == 0
    said = capsys.readouterr().out
    assert "0.1 % → 0.3 % (3.00x)" in said and "Only before: b." in said
    assert "Only after: c." in said
    result = json.loads(out.read_text())
    fastjsonschema.compile(schema.schema())(result)
    assert [r["name"] for r in result["rows"]] == ["a"]
    assert result["rows"][0]["measures"]["p99_wait"] == {
        "before": 100000,
        "after": 300000,
        "ratio": 3.0,
    }


def test_conditions_end_with_1(trace, capsys):
    old, new = str(trace("old", 10**6)), str(trace("new", 3 * 10**6))
    assert main(["diff", old, new, "--fail-on", "name=a p99_wait>2x"]) == 1
    assert "a: p99_wait went from 100000 to 300000" in capsys.readouterr().err
    for text in ("name=a p99_wait>4x", "name=b waiting>1x", "name=a max_hold<1x"):
        assert main(["diff", old, new, "--fail-on", text]) == 0, text
    assert main(["diff", old, new, "--fail-on", "wait>4x"]) == 2
    assert main(["diff", new, old, "--fail-on", "waiting<0.5x"]) == 1


@pytest.mark.parametrize("text", ["", "x", "p99>2", "p99>x", "p99>1.2.3x", "name=a", "a>1x b>2x"])
def test_conditions_that_are_none(text):
    with pytest.raises(BadInput, match="is no condition"):
        parse(text)


def test_files_that_cannot_be_compared(trace, result, tmp_path, capsys):
    old = str(trace("old", 10**6))
    for other, says in (
        (str(result), "one is a trace"),
        (str(tmp_path / "no"), "cannot be read"),
        (str(tmp_path), "cannot be read"),
    ):
        assert main(["diff", old, other]) == 2
        assert says in capsys.readouterr().err
    text = tmp_path / "text"
    text.write_text("hello")
    assert main(["diff", str(text), str(text)]) == 2


def made(chance, names, change=1.0, noise=0.05, rounds=9, speed=1.0):
    """Rows of a benchmark as `results._rows` has them: the last one is `change` times as fast, and
    the whole machine `speed` times."""
    table = {"base": {i: speed * chance.lognormvariate(0, noise) for i in range(rounds)}}
    for name in names:
        times = change if name == names[-1] else 1.0
        table[name] = {
            i: times * rate * chance.lognormvariate(0, noise) for i, rate in table["base"].items()
        }
    return {
        name: stats.quartiles(rates.values()) | stats.against(table, name, "base")
        for name, rates in table.items()
    }


def compared(monkeypatch, old, new):
    """`old` and `new` make the rows anew, with the confidence of that moment."""
    monkeypatch.setattr(results, "_rows", lambda path, _: (old if path == "old" else new)())
    return results.compare("old", "new", {}).rows


@pytest.mark.parametrize("several", [8, 60, 400])
def test_a_thing_compared_with_itself_seldom_differs(monkeypatch, several):
    """Absolute medians lay apart in 41 % of the rows. The machine's speed is another one here."""
    names, wrong, runs = [f"r{i}" for i in range(several)], 0, 100 if several < 100 else 20
    for seed in range(runs):
        rows = compared(
            monkeypatch,
            lambda s=seed: made(random.Random(s), names),
            lambda s=seed: made(random.Random(-s - 1), names, speed=0.8),
        )
        wrong += any(row.sure for row in rows)
    assert wrong <= 0.05 * runs


def test_a_change_that_could_be_seen_is_seen(monkeypatch):
    names = [f"r{i}" for i in range(8)]
    rows = compared(
        monkeypatch,
        lambda: made(random.Random(1), names),
        lambda: made(random.Random(2), names, change=1.5),
    )
    assert [r.name for r in rows if r.sure] == ["r7"] and rows[0].name == "r7"
    assert all(1.0 < r.visible < 1.5 for r in rows if r.sure is not None)
    assert next(r for r in rows if r.name == "base").sure is None


@pytest.mark.parametrize(("change", "differs"), [(1.045, False), (1.08, True)])
def test_where_memory_lies_is_no_change(monkeypatch, change, differs):
    """Two rows of fifty were 4.5 % apart in quiet runs of one program, where it lay elsewhere."""
    names = [f"r{i}" for i in range(50)]
    rows = compared(
        monkeypatch,
        lambda: made(random.Random(1), names, noise=0.001),
        lambda: made(random.Random(2), names, change=change, noise=0.001),
    )
    assert any(row.sure for row in rows) == differs
    assert all(row.visible >= 1.05 for row in rows if row.sure is not None)


def test_few_rounds_can_tell_nothing(monkeypatch):
    old, new = (lambda: made(random.Random(1), ["r"], 3.0, rounds=5) for _ in range(2))
    assert {row.sure for row in compared(monkeypatch, old, new)} == {None}


def test_conditions_look_at_rows_beyond_chance():
    row = Row("a", {"median": (2.0, 1.0)}, sure=False, visible=3.0)
    limit = parse("median<0.95x")
    assert limit.broken([row]) == []
    row.sure = True
    assert len(limit.broken([row])) == 1


def test_runs_of_one_record_differ_in_few_rows():
    """Of recorded runs of the same thing, hours apart. In the last of these folders the baseline of
    a cell, and so all its rows, was 1.3 times as fast in one run."""
    told = beyond = 0
    for folder in (
        "amd-epyc-2026-11-21-counters",
        "amd-epyc-2026-11-24-shim",
        "amd-epyc-2026-11-21",
    ):
        runs = sorted((ROOT / "bench/results" / folder).glob("run*.json.xz"))
        for old, new in itertools.pairwise(runs):
            rows = [r for r in results.compare(old, new, KINDS).rows if r.sure is not None]
            told += len(rows)
            beyond += any(r.sure for r in rows)
    assert told >= 100 and beyond == 0


def test_two_results(result, tmp_path, capsys):
    slower = json.loads(result.read_text())
    for cell in slower["cells"]:
        for s in cell["samples"]:
            if s["candidate"].endswith("none"):
                s["ops"] //= 10
    other, out = tmp_path / "slower.json", tmp_path / "d.json"
    other.write_text(json.dumps(slower))
    assert main(["diff", str(result), str(other), "--json", str(out)]) == 0
    found = json.loads(out.read_text())
    fastjsonschema.compile(schema.schema())(found)
    assert found["of"] == "results"
    ratios = {r["name"].endswith("none"): r["measures"]["median"]["ratio"] for r in found["rows"]}
    assert ratios[True] == pytest.approx(0.1, abs=0.01) and ratios[False] == 1.0
    assert "beyond chance" in capsys.readouterr().out
