# SPDX-License-Identifier: MIT
"""One look at the real drivers, when they are built: do both sides keep the contract?"""

import json

from conftest import pawl, real_drivers, soon_enough
from pawl.core import candidates, driver
from pawl.kinds.lru.plan import DRIVER as LRU
from pawl.kinds.pairs.plan import DRIVER as PAIRS
from pawl.kinds.pairs.plan import FLOOR

pytestmark = real_drivers(LRU, PAIRS)


def test_the_rows_that_tables_and_targets_need_are_offered():
    names = {c["name"] for c in driver.candidates(driver.find(LRU))}
    assert {*candidates.PTHREAD, candidates.NULL, candidates.MAIN} <= names
    assert {f"{s}/pawl_spin{w}" for s in candidates.STRATEGIES for w in (32, 64)} <= names
    names = {c["name"] for c in driver.candidates(driver.find(PAIRS))}
    assert {
        FLOOR,
        "r/pthread_rwlock",
        "w/pthread_rwlock",
        *(f"{m}/pawl_spin{w}" for m in "rsw" for w in (32, 64)),
    } <= names


def test_a_short_measurement_with_real_keys(tmp_path):
    words = tmp_path / "words"
    words.write_text("".join(f"{n * n % 997}\n" for n in range(5000)))

    def hit_and_missed(seconds):
        path = tmp_path / f"run-{seconds}.json"
        pawl(
            f"bench lru --keys {words} --size 25% --threads 1,2 --seconds {seconds} --warmup 0 "
            f"--rounds 6 --quiet --json {path} --html {tmp_path / 'run.html'}"
        )
        run = json.loads(path.read_text())
        assert all(c["complete"] for c in run["cells"]) and len(run["cells"]) == 2
        return run if 0 < run["cells"][0]["summary"][0]["hit_ratio"] < 1 else None

    run = soon_enough(hit_and_missed, 0.005)
    assert run["compiler"] and "-O2" in run["flags"]


def test_few_distinct_keys_need_no_size(tmp_path):
    """As the third field of /var/log/dpkg.log, which has eight."""
    words = tmp_path / "log"
    words.write_text("".join(f"day hour action-{n * n % 11 % 8} package-{n}\n" for n in range(500)))
    pawl(
        f"bench lru --keys {words} --field 3 --threads 1 --quiet --seconds 0.001 --warmup 0 "
        "--rounds 6 --candidates pthread"
    )


def test_a_short_measurement_of_pairs(tmp_path):
    path = tmp_path / "pairs.json"
    pawl(f"bench pairs --seconds 0.001 --warmup 0 --rounds 6 --quiet --json {path}")
    rows = json.loads(path.read_text())["cells"][0]["summary"]
    assert next(r for r in rows if r["candidate"] == FLOOR)["ratio_to_baseline"] == 1
