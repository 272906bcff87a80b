# SPDX-License-Identifier: MIT
"""Traces, results and machine files whose content makes no sense end in a sentence, never in a
traceback. The damage is chosen by a generator with a fixed seed, so each run has the same."""

import contextlib
import json
import random
import shutil
import sqlite3

import large_trace
import pytest

from pawl.cli import main
from pawl.trace import store

VALUES = (
    None,
    "",
    "x",
    "[",
    "[[1, 2, 3]]",
    "[" * 5000,
    '{"a": 1}',
    b"\xff\x00",
    -1,
    0,
    2**63 - 1,
    -(2**63),
    1e308,
    "\x1b[2J",
)
MUTANTS = 8  # of each seed; a seed is a test
READERS = (
    ("advise", "{}", "--html", "page.html", "--json", "advice.json"),
    ("advise", "{}", "--folded", "folded", "--pprof", "pprof", "--chrome", "chrome"),
    ("diff", "{}", "{whole}"),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    with pytest.MonkeyPatch.context() as few:
        for name, value in (("THREADS", 3), ("HOT", 2), ("COLD", 4), ("EVENTS", 12), ("SITES", 8)):
            few.setattr(large_trace, name, value)
        path = tmp_path_factory.mktemp("fuzz") / "whole"
        large_trace.write(path, 0.01)
        return path


def damage(path, chance):
    """A value of another kind, a table that is gone, or some bytes."""
    how = chance.randrange(8)
    if how == 0:
        data = bytearray(path.read_bytes())
        for _ in range(chance.randint(1, 20)):
            data[chance.randrange(100, len(data))] = chance.randrange(256)
        path.write_bytes(data)
        return
    with sqlite3.connect(path) as db:
        table = chance.choice([t for t in store.TABLES if t != "meta"])
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        if how == 1:
            db.execute(f"DROP TABLE {table}")
        elif how == 2:
            db.execute(f"DELETE FROM {table}")
        else:
            for column in chance.sample(columns, chance.randint(1, min(3, len(columns)))):
                value = chance.choice(VALUES)
                some = "" if chance.random() < 0.3 else " WHERE rowid % 3 = 1"
                with contextlib.suppress(sqlite3.IntegrityError):  # a key is a number
                    db.execute(f"UPDATE OR IGNORE {table} SET {column} = ?{some}", (value,))
    db.close()


def read(words, path, whole, capsys):
    code = main([word.format(path, whole=whole) for word in words])
    said = capsys.readouterr()
    assert code in (0, 1, 2) and "Traceback" not in said.err and "\x1b" not in said.out + said.err
    assert code == 0 or said.err.count("\n") <= 3


@pytest.mark.parametrize("seed", range(8))
def test_damaged_traces_end_in_a_sentence(whole, tmp_path, monkeypatch, capsys, seed):
    monkeypatch.chdir(tmp_path)
    chance = random.Random(seed)
    for number in range(MUTANTS):
        path = tmp_path / f"mutant{number}"
        shutil.copy(whole, path)
        damage(path, chance)
        read(READERS[number % 3], path, whole, capsys)


def places(value, found):
    """Each list and object of a result, and the key of each value in it."""
    for key in value if isinstance(value, dict) else range(len(value)):
        found.append((value, key))
        if isinstance(value[key], dict | list):
            places(value[key], found)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_damaged_results_end_in_a_sentence(drivers, result, tmp_path, capsys, seed):
    chance = random.Random(seed)
    for number in range(MUTANTS):
        run = json.loads(result.read_text())
        for inner, key in chance.sample(places(run, []), 3):
            inner[key] = chance.choice([v for v in VALUES if not isinstance(v, bytes)])
        path = tmp_path / f"mutant{number}.json"
        path.write_text(json.dumps(run))
        read(("report", "{}", "--html", str(tmp_path / "page.html")), path, result, capsys)
        read(("diff", "{}", "{whole}"), path, result, capsys)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("topology = 1", "write it as [topology]"),
        ("values = [1]", "write it as [values]"),
        ("fit = 3", "write it as [fit]"),
        ("[topology]\nsockets = 'two'", "is not a number"),
        ("[topology]\nsockets = 0", "counts, from 1 on"),
        ("[topology", "is not a machine file"),
        ("\x00", "is not a machine file"),
        ("title = " + "[" * 3000, "machine"),
        ("a" * (2 << 20), "at most 1 MiB"),
    ],
)
def test_machine_files_that_are_none(tmp_path, capsys, text, says):
    path = tmp_path / "machine.toml"
    path.write_text(text)
    assert main(["sim", "lru", "--machine", str(path)]) == 2
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1


def test_a_machine_that_is_a_device_is_not_read(capsys):
    """It was read until there was no memory left."""
    assert main(["sim", "lru", "--machine", "/dev/zero"]) == 2
    assert "no plain file" in capsys.readouterr().err
