# SPDX-License-Identifier: MIT
"""`pawl advise`: the cases of tests/advise/table, whose comments have the truth. The table in
doc/trace.md says how many there are, and which the rules get wrong."""

import functools
import os
import platform
import re
import shutil
import subprocess

import pytest

from conftest import RECORDER, ROOT, recording
from pawl.advise import sections
from pawl.advise.facts import Facts
from pawl.advise.finding import find
from pawl.advise.rules import RULES
from pawl.trace import collect, store

pytestmark = pytest.mark.skipif(
    not os.path.exists(RECORDER) or sections._tool() is None or platform.machine() != "x86_64",
    reason="needs the recorder, and machine code is read on x86-64",
)
FOLDER = ROOT / "tests/advise/table"
COMPILERS = {".c": ["gcc", "-std=gnu11"], ".cpp": ["g++", "-std=c++17"], ".rs": ["rustc", "-O"]}
TRUTH = re.compile(r"^/[*/] (fault|innocent) ?([\w ]*):")


def _cases():
    """(source, name) -> the rules of which one must speak; empty: none may."""
    found = {}
    for source in sorted(FOLDER.glob("*.*")):
        if source.suffix not in COMPILERS:
            continue
        rules = None
        for line in source.read_text().splitlines():
            if truth := TRUTH.match(line):
                rules = frozenset(truth[2].split())
                assert rules <= set(RULES) and bool(rules) == (truth[1] == "fault"), line
            case = re.match(r"CASE\w*\((\w+)|fn main", line)
            if case and rules is not None:
                found[source, case[1] or source.stem] = rules
                rules = None
    return found


CASES = _cases()
SHORT = 0.2  # of processors, as the advice says it
SAMPLE = ("log_to_disk", "stats_lock", "both_orders", "queue", "free_list", "other_order_by_try")


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The rules that speak of a case. Beside other programs a fault may be worth too little to be
    said, as the share of the time that it costs falls: then the rules themselves are asked."""
    folder = tmp_path_factory.mktemp("table")
    made = {}

    def program(source):
        if source not in made:
            compiler = COMPILERS[source.suffix]
            if not shutil.which(compiler[0]):
                return None
            made[source] = folder / f"{source.stem}{source.suffix[1:]}"
            threads = [] if source.suffix == ".rs" else ["-O2", "-g", "-pthread"]
            subprocess.run([*compiler, *threads, source, "-o", made[source]], check=True)
        return made[source]

    @functools.cache
    def go(source, case, run=0):
        if not (path := program(source)):
            return None
        raw = folder / f"{case}.{run}.raw"
        raw.mkdir()
        env = recording(raw)
        subprocess.run([path, case], check=False, timeout=120, env=env, stderr=subprocess.DEVNULL)
        trace = folder / f"{case}.{run}"
        with store.create(trace) as db:
            collect.collect(raw, db, {})
        with store.open_trace(trace) as db:
            facts = Facts(db)
            found = {finding.rule for finding in find(facts, RULES)}
            if facts.short >= SHORT and not found & CASES[source, case]:
                found |= {rule for rule in CASES[source, case] if any(RULES[rule](facts))}
            return found

    return go


def wrong(told, source, case):
    """What two of three runs say wrong: in one, other programs may have had the processors."""

    def once(run):
        rules, found = CASES[source, case], told(source, case, run)
        if found is None:  # no compiler
            return None
        return sorted(found) if (not found & rules if rules else found) else None

    said = once(0)
    return said if said is not None and any(once(run) is not None for run in (1, 2)) else None


def test_the_table_is_that_of_the_page():
    rows: dict[str, list[str]] = {}
    for (_, case), rules in CASES.items():
        rows.setdefault(", ".join(f"`{rule}`" for rule in sorted(rules)), []).append(f"`{case}`")
    table = [f"| {rules or 'none'} | {', '.join(cases)} |" for rules, cases in sorted(rows.items())]
    page = (ROOT / "doc/trace.md").read_text()
    assert "\n".join(table) in page, "\n".join(table)
    assert (len([rules for rules in CASES.values() if rules]), len(CASES)) == (40, 80)


@pytest.mark.parametrize("case", SAMPLE)
def test_a_sample(told, case):
    (source,) = [source for source, name in CASES if name == case]
    assert wrong(told, source, case) is None


@pytest.mark.check
def test_at_most_a_tenth_is_missed_and_a_twentieth_accused(told):
    missed, accused = [], []
    for (source, case), rules in CASES.items():
        if (said := wrong(told, source, case)) is not None:
            (missed if rules else accused).append((case, said))
    print("missed:", missed, "accused:", accused)
    assert len(missed) <= 4 and len(accused) <= 2, (missed, accused)
