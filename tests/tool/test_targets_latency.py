# SPDX-License-Identifier: MIT
"""scripts/targets for runs of the set "latency": met, missed, and what cannot be judged."""

import json

import pytest

from conftest import copies_of, record_one
from pawl.cli import main
from pawl.kinds.latency import plan as latency
from pawl.kinds.latency.record import PLACED_SECONDS
from pawl.sets.plain import LATENCY


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """One run of the fake driver, as `pawl bench record --set latency` writes it."""
    folder = tmp_path_factory.mktemp("record")
    return json.dumps(record_one(folder, "latency", ["latency"], "fake_latency.py"))


@pytest.fixture
def runs(recorded):
    """Five of it, to be spoilt."""
    return copies_of(recorded, 5)


def samples(run, scenario, lock):
    return [
        s
        for c in run["parts"][0]["cells"]
        if c["scenario"] == scenario
        for s in c["samples"]
        if s["candidate"] == lock
    ]


def blocked_for(sample, ns, count):
    """So many of its blocked times are as long as that."""
    cycles = int(ns * sample["counter"]["per_ns"])
    for row in sample["rows"]:
        if row["interrupt"]:
            row["blocked"].append([cycles, count])
            row["interrupt"]["max"] = max(row["interrupt"]["max"], cycles)


def slower(sample, factor):
    sample["ops"] = max(1, int(sample["ops"] / factor))


def test_a_run_is_all_scenarios(recorded):
    run = json.loads(recorded)
    assert run["set"] == "latency"
    assert [c["scenario"] for c in run["parts"][0]["cells"]] == list(latency.SCENARIOS)


def test_five_runs_take_less_than_eight_minutes(recorded):
    request = latency.Request(seconds=PLACED_SECONDS)
    # As many as the real driver offers.
    locks = [*latency.SPINNING, *(str(n) for n in range(7))]
    cells = latency.plan(request, locks, [str(n) for n in range(25)])
    assert LATENCY.runs * latency.expected_seconds(cells) < 480


def test_a_record_of_this_set_has_five_runs(recorded, tmp_path, monkeypatch):
    kept = tmp_path / "runs"
    kept.mkdir()
    for n in range(1, 6):
        (kept / f"run{n}.json").write_text(recorded)
    fakes = tmp_path / "drivers"
    fakes.mkdir()
    (fakes / latency.DRIVER).write_text("#!/bin/sh\nexit 9\n")
    (fakes / latency.DRIVER).chmod(0o755)
    assert main(["bench", "record", str(kept), "--set", "latency", "--driver", str(fakes)]) == 0


def test_every_target_of_the_plan_is_there():
    assert [(t.at_least, t.limit, t.middle) for t in LATENCY.judging().targets] == [
        (True, 100, True),
        (True, 20, True),
        (True, 0.99, False),
        (True, 1, False),
        (True, 50, False),
        (False, 1.05, False),
        (False, 0.95, False),
        (False, 0.65, False),
        (False, 0.65, False),
        (False, 50, True),
    ]


def test_all_targets_met(runs, judge):
    code, text = judge(runs)
    assert code == 0, text
    assert "MISSED" not in text and text.rstrip().endswith("all targets met")


def test_the_best_of_the_three_kinds_counts(runs, judge):
    text = judge(runs)[1]
    assert "(9.00 us, pthread_rwlock_nonrecursive 4.00 ms)" in text
    assert "(30.0 us, pthread_rwlock_nonrecursive 8.00 ms)" in text


def test_what_the_scheduler_does_to_the_writers_shares_is_told(runs, judge):
    for sample in samples(runs["run1.json"], "contention", "none"):
        _one_writer(sample)
    text = judge(runs)[1]
    assert "without a lock 0.992)" in text and "without a lock 1.000)" in text


def test_the_mix_without_a_target_and_the_calls_stand_beside_the_verdicts(runs, judge):
    text = judge(runs)[1]
    assert "run1.json, contention: pawl_sift 9.00 us 30.0 us" in text
    assert "signal_mask 300 ns" in text or "signal_mask 299 ns" in text or "301 ns" in text


def test_the_middle_of_the_runs_decides_about_the_longest(runs, judge):
    for name in ("run1.json", "run2.json"):
        for sample in samples(runs[name], "placed", "pawl_sift"):
            blocked_for(sample, 5e6, 1)
    code, text = judge(runs)
    assert code == 0, text
    for sample in samples(runs["run3.json"], "placed", "pawl_sift"):
        blocked_for(sample, 5e6, 1)
    code, text = judge(runs)
    line = next(x for x in text.splitlines() if "signals blocked, longest" in x)
    assert code == 1 and line.startswith("MISSED") and "median of the runs" in line


def test_a_tail_that_is_too_long_is_found_although_the_usual_time_is_short(runs, judge):
    for run in runs.values():
        for sample in samples(run, "placed", "pawl_sift"):
            blocked_for(sample, 60000, 30)
    code, text = judge(runs)
    assert code == 1 and "MISSED  signals blocked, p99.99" in text


def _one_writer(sample):
    next(r for r in sample["rows"] if r["who"] == "writer/1")["iterations"] -= 200


def _starved(sample):
    next(r for r in sample["rows"] if r["who"] == "writer/1")["iterations"] = 0


def _busy_writers(sample):
    for row in sample["rows"][:2]:
        row["iterations"] = 2000


def _late_handler(sample):
    for row in sample["rows"]:
        if row["who"] == "interrupt/cpu1":
            row["lock"]["max"] = int(90000 * sample["counter"]["per_ns"])


@pytest.mark.parametrize(("scenario", "lock", "spoil", "which", "says"), [
    ("contention", "pawl_sift", _one_writer, "run2.json", "fewest iterations / most"),
    ("handlers", "pawl_sift", _starved, "run5.json", "fewest iterations a second"),
    ("contention", "pthread_rwlock", _busy_writers, "run1.json", "slowest writer under contention"),
    ("pairs", "r/pawl_sift", lambda s: slower(s, 1.1), "run1.json", "bare compare-exchange"),
    ("pairs", "r/pthread_rwlock", lambda s: slower(s, 0.7), "run4.json",
     "pthread_rwlock read pair"),
    ("pairs", "w/pawl_sift_threads", lambda s: slower(s, 1.5), "run1.json",
     "write pair, no handlers"),
    ("pairs", "w/pawl_sift_net", lambda s: slower(s, 1.3), "run1.json", "less its system calls"),
    ("handlers", "pawl_sift", _late_handler, None, "a handler's longest wait"),
])  # fmt: skip
def test_what_misses_its_target_is_found(scenario, lock, spoil, which, says, runs, judge):
    for name, run in runs.items():
        for sample in samples(run, scenario, lock) if which in (None, name) else []:
            spoil(sample)
    code, text = judge(runs)
    line = next(x for x in text.splitlines() if says in x)
    assert code == 1 and line.startswith("MISSED"), text


def test_a_late_handler_of_a_late_machine_is_no_miss(runs, judge):
    for run in runs.values():
        for lock in ("pawl_sift", "none"):
            for sample in samples(run, "handlers", lock):
                _late_handler(sample)
    assert judge(runs)[0] == 0


def test_runs_without_real_time_threads_prove_nothing(runs, judge):
    for cell in runs["run3.json"]["parts"][0]["cells"]:
        for sample in cell["samples"]:
            sample["realtime_error"] = "real-time scheduling is not permitted"
    code, text = judge(runs)
    assert code == 2 and "record again with the right to them" in text


def test_fewer_than_five_runs_do_not_count(runs, judge):
    del runs["run5.json"]
    code, text = judge(runs)
    assert code == 1 and "does not count: 4 of 5 runs are here" in text


@pytest.mark.parametrize(
    ("scenario", "lock"),
    [
        ("placed", "pawl_sift"),
        ("contention", "pthread_rwlock"),
        ("handlers", "none"),
        ("pairs", "w/pawl_sift_net"),
        ("pairs", "r/pawl_sift"),
    ],
)
def test_a_row_that_is_missing_is_bad_input(scenario, lock, runs, judge):
    for cell in runs["run1.json"]["parts"][0]["cells"]:
        if cell["scenario"] == scenario:
            cell["samples"] = [s for s in cell["samples"] if s["candidate"] != lock]
    code, text = judge(runs)
    assert code == 2 and f"{lock} was not measured" in text


def test_a_scenario_that_is_missing_is_bad_input(runs, judge):
    part = runs["run2.json"]["parts"][0]
    part["cells"] = [c for c in part["cells"] if c["scenario"] != "handlers"]
    code, text = judge(runs)
    assert code == 2 and "lacks the scenario handlers" in text
