# SPDX-License-Identifier: MIT
"""The real drivers of the set "rcu", when they are built: do both sides keep the contract?"""

import json
import os

import pytest

from conftest import real_drivers, soon_enough
from pawl.cli import main
from pawl.core import driver, groups
from pawl.kinds.hash import plan as hash_bench
from pawl.kinds.rcu import plan as rcu
from pawl.kinds.sem import plan as sem
from pawl.kinds.tree import plan as tree
from pawl.kinds.tree import table as tree_table
from pawl.sets.rcu import SET

pytestmark = real_drivers(*SET.programs)
CPUS = len(os.sched_getaffinity(0))


def offered(name):
    return {c["name"]: c["available"] for c in driver.candidates(driver.find(name))}


def measure(path, *words):
    assert main(["bench", *words, "--quiet", "--fresh", "--json", str(path)]) == 0
    result = json.loads(path.read_text())
    assert result["cells"] and all(c["complete"] for c in result["cells"])
    return result


def test_the_rows_that_tables_and_targets_need_are_offered():
    assert {hash_bench.BASELINE, hash_bench.MAIN, hash_bench.QUIESCENT, *hash_bench.URCU} <= set(
        offered(hash_bench.DRIVER)
    )
    assert {tree.BASELINE, tree.MAIN, tree.PARTS, "w/none"} <= set(offered(tree.DRIVER))
    assert {sem.BASELINE, sem.MAIN, sem.SPIN} <= set(offered(sem.DRIVER))
    assert {
        "read/pawl_rcu@1",
        "read/urcu_memb@1",
        "read/lock_xadd_pair@1",
        "read/pawl_rcu_qs@1",
        "read/empty@1",
        "sync/pawl_rcu@1",
        "sync/urcu_memb@1",
        "busy/pawl_rcu@1+readers",
        "busy/pawl_rcu_expedited@1+readers",
        "busy/urcu_memb@1+readers",
        "call/pawl_rcu@1",
        "call/urcu_memb@1",
        "delay/pawl_rcu@1",
        "delay/urcu_memb@1",
        "flood/pawl_rcu@1",
        "flood/pawl_rcu@1+readers",
        "flood/urcu_memb@1",
    } <= set(offered(rcu.DRIVER))


def test_the_driver_offers_only_what_this_command_knows():
    names = offered(rcu.DRIVER)
    rcu.plan(rcu.Request(), list(names))
    assert {groups.group_of(n) for n in names} == set(rcu.GROUPS)
    assert {rcu.baseline_of(n) for n in names if groups.group_of(n) == "sync"} <= set(names)


def test_a_short_hash_of_a_mix(tmp_path):
    threads = ["--threads", "2"] if CPUS > 1 else ["--threads", "1"]

    def updated(seconds):
        result = measure(
            tmp_path / "hash.json",
            "hash",
            "--elements",
            "64",
            "--updates",
            "20",
            *threads,
            "--seconds",
            str(seconds),
            "--warmup",
            "0.001",
            "--rounds",
            "1",
            "--html",
            str(tmp_path / "hash.html"),
        )
        (cell,) = result["cells"]
        names = {r["candidate"] for r in cell["summary"]}
        assert names == {n for n, there in offered(hash_bench.DRIVER).items() if there}
        assert all(0 <= s["updates"] <= s["ops"] for s in cell["samples"])
        return sum(s["updates"] for s in cell["samples"]) > 0

    assert soon_enough(updated, 0.01)


def test_a_short_tree_of_a_thousand_nodes(tmp_path):
    if not offered(tree.DRIVER)[tree.PARTS]:
        pytest.skip("the library of the tree is missing")

    def measured(seconds):
        result = measure(
            tmp_path / "tree.json",
            "tree",
            "--nodes",
            "1000",
            "--threads",
            "1",
            "--lookups",
            "hot,cold",
            "--seconds",
            str(seconds),
            "--warmup",
            "0.001",
            "--rounds",
            "1",
            "--html",
            str(tmp_path / "tree.html"),
        )
        pieces = [tree_table.pieces(cell["samples"]) for cell in result["cells"]]
        if not all(p and p["read_ns"] > 0 and p["seek_ns"] > 0 for p in pieces):
            return None
        assert all(p["write_ns"] >= 0 for p in pieces)
        return result

    result = soon_enough(measured, 0.003)
    for cell in result["cells"]:
        assert "w/none" in {r["candidate"] for r in cell["summary"]}
    assert len(tree_table.more(result)) == 2


@pytest.mark.parametrize("choose", sem.CHOICES)
def test_a_few_operations_on_semaphores(choose, tmp_path):
    def operated(seconds):
        result = measure(
            tmp_path / "sem.json",
            "sem",
            "--semaphores",
            "16",
            "--choose",
            choose,
            "--threads",
            str(min(CPUS, 2)),
            "--seconds",
            str(seconds),
            "--warmup",
            "0.001",
            "--rounds",
            "3",
        )
        own = [s for s in result["cells"][0]["samples"] if s["candidate"] == sem.MAIN]
        assert all(0 <= s["refused"] <= s["ops"] for s in own)
        return sum(s["ops"] for s in own) > 0

    assert soon_enough(operated, 0.003)


def test_a_short_look_at_readers_grace_periods_and_callbacks(tmp_path):
    result = measure(
        tmp_path / "rcu.json",
        "rcu",
        "--rounds",
        "1",
        "--seconds",
        "0.001",
        "--warmup",
        "0.001",
        "--callbacks",
        "2000",
        "--delays",
        "0.05",
        "--flood",
        "20000",
        "--bound",
        "1",
        "--most",
        "64",
        "--html",
        str(tmp_path / "rcu.html"),
    )
    rows = {r["candidate"]: r for c in result["cells"] for r in c["summary"]}
    assert set(rows) == {n for n, there in offered(rcu.DRIVER).items() if there}
    assert rows["delay/pawl_rcu@1"]["delay_ns"]["max"] > 0
    assert rows["call/pawl_rcu@1"]["call_ns"] > 0
    flood = rows["flood/pawl_rcu@1"]
    assert 0 < flood["peak_bytes"] <= flood["bound_bytes"] == 1 << 20 and not flood["stopped"]
    cell = next(c for c in result["cells"] if c["group"] == "flood")
    for sample in cell["samples"]:
        assert len(sample["held"]) <= 200
        times = [t for t, _ in sample["held"]]
        assert times == sorted(times)
        called = 20000 * groups.threads_of(sample["candidate"])
        assert sample["ops"] == called or sample["stopped"]
