# SPDX-License-Identifier: MIT
"""`pawl diff`: of two traces and of two results."""

import json

import fastjsonschema
import pytest

from pawl.cli import main
from pawl.core.errors import BadInput
from pawl.diff import schema
from pawl.diff.rows import parse
from pawl.trace import store

HISTOGRAM = "[[100, 90], [1000, 10]]"


@pytest.fixture
def trace(tmp_path):
    """A trace of one thread that took two locks; `waited` ns for the first one."""

    def make(name, waited, second="b", waits=10):
        path = tmp_path / name
        with store.create(path) as db:
            store.insert(db, "meta", [("command", "x"), ("finished", "yes")])
            process = (1, 9, 1, "/bin/x", 0, 10**9, 1, 2, 10**9, 200, 200, 20, None)
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
                    f"[[{ns // 10}, 10]]" if ns else "[]")])  # fmt: skip
        return path

    return make


def test_locks_of_two_traces(trace, tmp_path, capsys):
    old, new, out = trace("old", 10**6), trace("new", 3 * 10**6, second="c"), tmp_path / "d.json"
    assert main(["diff", str(old), str(new), "--json", str(out)]) == 0
    said = capsys.readouterr().out
    assert "0.1 % > 0.3 % (3.00x)" in said and "Only before: b." in said
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


def test_two_results(result, tmp_path, capsys):
    slower = json.loads(result.read_text())
    for cell in slower["cells"]:
        for s in cell["samples"]:
            if s["candidate"].endswith("none"):
                s["ops"] //= 10
    other, out = tmp_path / "slower.json", tmp_path / "d.json"
    other.write_text(json.dumps(slower))
    assert (
        main(
            [
                "diff",
                str(result),
                str(other),
                "--json",
                str(out),
                "--fail-on",
                "name=*none median<0.5x",
            ]
        )
        == 1
    )
    made = json.loads(out.read_text())
    fastjsonschema.compile(schema.schema())(made)
    assert made["of"] == "results" and made["rows"][0]["sure"] is True
    assert made["rows"][0]["measures"]["median"]["ratio"] == pytest.approx(0.1, abs=0.01)
    assert {
        r["measures"]["median"]["ratio"] for r in made["rows"] if not r["name"].endswith("none")
    } == {1.0}
    assert "beyond the spread" in capsys.readouterr().out
