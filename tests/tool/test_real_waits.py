# SPDX-License-Identifier: MIT
"""The real drivers of the waits, when they are built: do both sides keep the contract?"""

import json

from conftest import pawl, real_drivers, soon_enough
from pawl.core import candidates, driver
from pawl.kinds.crowd import plan as crowd
from pawl.kinds.lru.plan import DRIVER as LRU
from pawl.kinds.pairs.plan import DRIVER as PAIRS
from pawl.kinds.wake import plan as wake
from pawl.kinds.wake.targets import WAKES
from pawl.sets.wait import SET

pytestmark = real_drivers(*SET.programs)


def offered(name):
    return {c["name"] for c in driver.candidates(driver.find(name))}


def test_the_rows_that_tables_and_targets_need_are_offered():
    assert {crowd.MAIN, crowd.SPIN, crowd.BASELINE, crowd.FLOOR, *crowd.PEERS} <= offered(
        crowd.DRIVER
    )
    assert {wake.BASELINE, "futex_again", *(n for pair in WAKES for n in pair[:2])} <= offered(
        wake.DRIVER
    )
    assert {f"{m}/pawl_lock{w}" for m in "rswa" for w in (32, 64)} <= offered(PAIRS)
    assert {f"{s}/pawl_lock{w}" for s in candidates.STRATEGIES for w in (32, 64)} <= offered(LRU)


def test_a_short_look_at_a_busy_machine(tmp_path):
    path = tmp_path / "busy.json"
    pawl(
        "bench crowd --busy --machines one-cpu-busy --threads 2 --sections 1 --writes 10 --seconds "
        f"0.01 --rounds 1 --quiet --json {path}"
    )
    run = json.loads(path.read_text())
    assert [c["scene"] for c in run["cells"]] == ["crowd", "crowd", "probe", "writer", "deadline"]
    assert all(c["complete"] and c["summary"] for c in run["cells"])


def test_a_short_crowd_of_each_kind(tmp_path):
    def came_in(seconds):
        path = tmp_path / f"crowd-{seconds}.json"
        pawl(
            f"bench crowd --threads 2,8 --sections 0.1 --writes 10 --hog both --seconds {seconds} "
            f"--warmup 0.002 --rounds 1 --quiet --json {path} --html {tmp_path / 'crowd.html'}"
        )
        run = json.loads(path.read_text())
        assert len(run["cells"]) == 4 and all(c["complete"] for c in run["cells"])
        floors = [
            next(r for r in cell["summary"] if r["candidate"] == crowd.FLOOR)
            for cell in run["cells"]
        ]
        return floors if all(f["median"] > 0 and f["jain"]["10ms"] for f in floors) else None

    assert all(f["jain"]["10ms"] <= 1 for f in soon_enough(came_in, 0.02))


def test_a_short_flood(tmp_path):
    def wrote(seconds):
        path = tmp_path / f"flood-{seconds}.json"
        pawl(
            f"bench crowd --flood --threads 2 --sections 1 --seconds {seconds} --rounds 1 --quiet "
            f"--json {path}"
        )
        rows = {r["candidate"]: r for r in json.loads(path.read_text())["cells"][0]["summary"]}
        return rows if rows[crowd.FLOOR]["writes"] > 0 else None

    assert soon_enough(wrote, 0.05)[crowd.MAIN]["net_ns"]["max"] >= 0


def test_a_short_night_of_each_length(tmp_path):
    path = tmp_path / "wake.json"
    pawl(
        f"bench wake --delays 0.5,1 --rounds 6 --wakes 1 --quiet --json {path} --html "
        f"{tmp_path / 'wake.html'}"
    )
    run = json.loads(path.read_text())
    assert len(run["cells"]) == 4 and all(c["complete"] for c in run["cells"])
    for cell in run["cells"]:
        baseline = next(r for r in cell["summary"] if r["candidate"] == wake.BASELINE)
        assert baseline["ratio_to_baseline"] == 1 and baseline["median"] > 0
