# SPDX-License-Identifier: MIT
"""The words on top of the page: who is ahead, what is noise, what disturbed the run."""

from pawl.core import verdict
from pawl.kinds.registry import KINDS

LRU, WAKE = KINDS["lru"], KINDS["wake"]
BASE = LRU.baseline


def row(name, ratio, low=None, high=None):
    return {
        "candidate": name,
        "median": ratio,
        "ratio_to_baseline": ratio,
        "ratio_ci95_low": low,
        "ratio_ci95_high": high,
    }


def cell(rows, threads=1, samples=()):
    return {"threads": threads, "summary": [row(BASE, 1, 1, 1), *rows], "samples": list(samples)}


def result(*cells):
    return {"baseline": BASE, "cells": list(cells)}


def sample(name, number, ops, seconds=1.0):
    return {"candidate": name, "round": number, "ops": ops, "seconds": seconds}


def test_an_interval_around_one_is_no_difference():
    said = verdict.ahead(LRU, result(cell([row(LRU.main, 1.02, 0.99, 1.04)])))
    assert len(said) == 1 and said[0].startswith("At 1 thread r+s>w/pawl_spin32 (")
    assert "does not differ from pthread_rwlock beyond noise" in said[0]


def test_a_lead_is_named_with_its_interval_and_the_best_peer_beside_it():
    (said,) = verdict.ahead(
        LRU,
        result(
            cell([row(LRU.main, 2.0, 1.9, 2.1), row("r+w/tbb_rw_mutex", 2.2, 2.0, 2.4)], threads=2)
        ),
    )
    assert "At 2 threads" in said
    assert "is 2.00 times as fast as pthread_rwlock (1.90 to 2.10)" in said
    assert (
        "the best row of another library is tbb_rw_mutex, 2.20 times as fast (2.00 to 2.40)" in said
    )


def test_a_baseline_that_takes_no_lock_is_called_so():
    row_beside_it = cell([row(LRU.main, 0.72, 0.7, 0.74)])
    row_beside_it["summary"][0]["candidate"] = LRU.floor
    (said,) = verdict.ahead(LRU, {"baseline": LRU.floor, "cells": [row_beside_it]})
    assert "is 0.72 times as fast as without any lock (0.70 to 0.74)" in said


def test_rows_that_are_behind_are_counted():
    (said,) = verdict.ahead(
        LRU, result(cell([row(LRU.main, 1.5, 1.4, 1.6), row("w/pawl_spin32", 0.5, 0.4, 0.6)]))
    )
    assert "behind it are 1 of 2 rows of Pawl" in said


def test_the_main_row_is_judged_even_where_another_is_luckier():
    (said,) = verdict.ahead(
        LRU, result(cell([row(LRU.main, 0.9, 0.8, 0.95), row("s/pawl_spin64", 1.3, 1.2, 1.4)]))
    )
    assert "r+s>w/pawl_spin32" in said and "is 0.90 times as fast as" in said


def test_too_few_rounds_have_no_verdict():
    (said,) = verdict.ahead(LRU, result(cell([row(LRU.main, 2.0)])))
    assert "six are needed" in said


def test_a_grid_is_counted():
    (said,) = verdict.ahead(
        LRU,
        result(
            cell([row(LRU.main, 2.0, 1.9, 2.1)]),
            cell([row(LRU.main, 1.0, 0.9, 1.1)]),
            cell([row(LRU.main, 0.5, 0.4, 0.6)]),
        ),
    )
    assert "in 3 workloads" in said
    assert "ahead of pthread_rwlock in 1, even in 1, behind in 1" in said
    assert "geometric mean 1.00x" in said


def test_where_less_is_better_half_the_time_is_twice_as_good():
    (said,) = verdict.ahead(
        WAKE,
        {
            "baseline": WAKE.baseline,
            "cells": [
                {"threads": 2, "samples": [], "summary": [row("pawl_wait", 0.5, 0.4, 0.625)]}
            ],
        },
    )
    assert "is 2.00 times as fast as" in said and "(1.60 to 2.50)" in said


def test_wide_intervals_are_noise():
    assert verdict.noise(LRU, result(cell([row(LRU.main, 1.2, 1.0, 1.29)]))) == []
    (said,) = verdict.noise(LRU, result(cell([row(LRU.main, 1.2, 1.0, 1.31)])))
    assert "1 of 2 intervals span more than 1.3x" in said


def test_a_lock_that_beats_no_lock_is_noise():
    samples = [sample(LRU.floor, 0, 100), sample(LRU.main, 0, 103)]
    (said,) = verdict.noise(LRU, result(cell([row(LRU.main, 1, 1, 1)], samples=samples)))
    assert "w/none takes no lock, and yet a row beats it by 3.0 %" in said


def test_slow_rounds_are_warned_of():
    steady = [sample(name, n, 100) for name in (BASE, LRU.main) for n in range(5)]
    assert verdict.disturbed(result(cell([], samples=steady))) == []
    slow = [sample(name, 5, 50) for name in (BASE, LRU.main)]
    (said,) = verdict.disturbed(result(cell([], samples=steady + slow)))
    assert said.startswith("In 1 of 6 rounds most rows ran below 0.8")


def test_one_slow_row_is_no_disturbance():
    steady = [sample(name, n, 100) for name in (BASE, LRU.main, "w/x") for n in range(6)]
    steady[0]["ops"] = 50
    assert verdict.disturbed(result(cell([], samples=steady))) == []
