# SPDX-License-Identifier: MIT
"""The real driver of `pawl costs`, when it is built: what must hold of its numbers on any machine.

Nothing is compared with a time. Of rows that are compared with each other the least times are, to
which other work on the machine adds nothing; and where they come out the wrong way round they are
measured again, for minutes.
"""

import json
import re
import time

import pytest

from conftest import pawl, real_drivers
from pawl.core import driver, ranges
from pawl.kinds.costs import rows as costs_rows
from pawl.kinds.costs import saved as costs
from pawl.kinds.costs.derive import contradictions
from pawl.kinds.costs.plan import DRIVER

pytestmark = real_drivers(DRIVER)
ROUNDS, MOST_SECONDS = 9, 300


def measure(*options):
    outcome = driver.run(driver.find(DRIVER), [str(o) for o in options], driver.Stop())
    return outcome.samples


def least(names):
    """The least time of each in a few rounds."""
    samples = measure("--rounds", ROUNDS, "--seconds", "0.002", "--candidates", ",".join(names))
    times = {
        name: [s["seconds"] / s["ops"] for s in samples if s["candidate"] == name and s["ops"]]
        for name in names
    }
    return {name: min(found) for name, found in times.items() if found}


@pytest.fixture(scope="module")
def offered():
    return {c["name"]: c for c in driver.candidates(driver.find(DRIVER))}


def test_every_row_of_the_table_is_one_of_the_driver_and_the_other_way_round(offered):
    assert list(offered) == [row.id for row in costs_rows.ROWS]


def test_every_row_can_be_measured_or_says_why_not(offered):
    assert all(c["available"] or c["why"] for c in offered.values())


@pytest.mark.parametrize(
    ("less", "more"), costs_rows.ORDER, ids=[f"{a}<={b}" for a, b in costs_rows.ORDER]
)
def test_what_must_cost_less_does(less, more, offered):
    for name in (less, more):
        if not offered[name]["available"]:
            pytest.skip(f"{name}: {offered[name]['why']}")
    found, end = {}, time.monotonic() + MOST_SECONDS
    while time.monotonic() < end:
        found = least((less, more))
        if found.keys() == {less, more} and not contradictions(found):
            assert min(found.values()) > 0
            return
    pytest.fail(f"{less} costs more than {more}: {found}")


def test_the_order_of_rows_is_checked_at_all():
    for less, more in costs_rows.ORDER:
        assert contradictions({less: 2.0, more: 1.0}) == [(less, more)]
        assert contradictions({less: 1.0, more: 1.0}) == []
        assert contradictions({less: None, more: 1.0}) == []


def test_the_rows_of_the_locks_have_all_that_the_table_needs(tmp_path):
    cpus = ranges.allowed_cpus()[:2]
    listed = driver.candidates(driver.find(DRIVER), ["--part", "locks"])
    names = [
        c["name"]
        for c in listed
        if re.search(r"/w/(none|pawl_spin32)(/\d+)?$", c["name"]) and c["available"]
    ]
    samples = measure(
        "--part",
        "locks",
        "--rounds",
        2,
        "--seconds",
        "0.001",
        "--cpus",
        ",".join(map(str, cpus)),
        "--candidates",
        ",".join(names),
    )
    assert {s["candidate"] for s in samples} == set(names)
    for s in samples:
        assert s["seconds"] > 0
        if s["candidate"].startswith(("local/", "moved/")):
            assert s["take_seconds"] > 0 and s["drop_seconds"] > 0


@pytest.mark.parametrize(
    ("variable", "names"),
    [("PAWL_NO_RSEQ", ["rseq"]), ("PAWL_NO_MEMBARRIER", ["membarrier_idle", "membarrier_busy"])],
)
def test_what_is_switched_off_is_a_row_that_says_so(variable, names, monkeypatch):
    monkeypatch.setenv(variable, "1")
    found = {c["name"]: c for c in driver.candidates(driver.find(DRIVER))}
    for name in names:
        assert not found[name]["available"]
        assert found[name]["why"] == f"switched off by {variable}"


def test_a_whole_quick_run(tmp_path, capsys):
    path = tmp_path / "costs.json"
    pawl(f"costs --quick --quiet --json {path} --html {tmp_path / 'costs.html'}")
    found = costs.load(path)
    assert found.clock["core_ghz"] > 0 and found.ns("atomic_increment") > 0
    assert found.lock("pawl_spin32", "w")["sections"]
    assert all(r["available"] or r["why"] for r in found.costs["rows"])
    assert found.raw["compiler"] and "-O2" in found.raw["flags"]
    assert all(c["complete"] for c in found.raw["cells"])
    assert json.loads(path.read_text())["costs"]["rows"]
