# SPDX-License-Identifier: MIT
"""The arithmetic behind every table: intervals, pairing, summaries."""

import math
import random

import pytest

from pawl.core import stats
from pawl.kinds.lru.table import summarise


def sample(candidate, number, ops, seconds=1.0, **more):
    return {"candidate": candidate, "round": number, "ops": ops, "seconds": seconds, **more}


@pytest.mark.parametrize("count", range(1, 6))
def test_fewer_than_six_values_have_no_interval(count):
    assert stats.sign_interval(range(count)) is None


@pytest.mark.parametrize(("count", "cut"), [(6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (15, 3)])
def test_the_interval_takes_the_order_statistics_of_the_sign_test(count, cut):
    assert stats.sign_interval(range(count)) == (cut, count - 1 - cut)


def test_the_ends_are_those_of_scipy():
    """Newer releases of scipy have a function for them; the command works with older ones."""
    theirs = pytest.importorskip("scipy.stats")
    if not hasattr(theirs, "quantile_test"):
        pytest.skip("this scipy has no quantile_test")
    for count in [*range(6, 120), 1000]:
        ends = theirs.quantile_test(range(count), q=0, p=0.5).confidence_interval(0.95)
        assert stats.sign_interval(range(count)) == (ends.low, ends.high), count


def test_the_interval_covers_the_median_as_often_as_it_says():
    dice = random.Random(4)
    covered = 0
    for _ in range(2000):
        low, high = stats.sign_interval([dice.lognormvariate(0, 1) for _ in range(12)])
        covered += low <= 1 <= high
    # Exact coverage is 96.1 %; 2000 draws stay within two percent of it, seed given.
    assert 0.94 < covered / 2000 < 0.98


def test_ratios_are_taken_within_a_round():
    # The machine slows down tenfold after round 0; within a round the ratio is always 2.
    samples = [sample("a", 0, 200), sample("b", 0, 100), sample("a", 1, 20), sample("b", 1, 10)]
    assert stats.paired(stats.rates(samples), "a", "b") == [2, 2]


def test_a_round_that_only_one_side_has_is_left_out():
    samples = [sample("a", 0, 3), sample("b", 0, 1), sample("a", 1, 9)]
    assert stats.paired(stats.rates(samples), "a", "b") == [3]


def test_a_summary_is_ranked_and_compares_with_the_baseline():
    samples = [
        sample(name, r, ops * (10 + r % 2), hits=3, misses=1)
        for name, ops in (("slow", 1), ("fast", 2))
        for r in range(6)
    ]
    rows = summarise(samples, "slow", ["slow", "fast", "absent"])
    assert [r["candidate"] for r in rows] == ["fast", "slow"]
    assert rows[0]["ratio_to_baseline"] == 2 and rows[0]["ratio_ci95_low"] == 2
    assert rows[0]["hit_ratio"] == 0.75 and rows[0]["rounds"] == 6


def test_without_the_baseline_there_is_no_ratio():
    rows = stats.rows([sample("a", 0, 1)], "absent", ["a"])
    assert rows[0]["ratio_to_baseline"] is None and rows[0]["ratio_ci95_low"] is None


def test_a_loss_is_ours_and_beyond_the_noise():
    def row(name, high):
        return {"candidate": name, "ratio_ci95_high": high}

    rows = [
        row("w/pawl_spin32", 0.9),
        row("s/pawl_spin32", 1.1),
        row("w/pthread_spin", 0.5),
        row("r+w/pawl_spin32", None),
    ]
    assert [r["candidate"] for r in stats.losses(rows)] == ["w/pawl_spin32"]


def test_the_geometric_mean_of_a_ratio_and_its_inverse_is_one():
    assert math.isclose(stats.geometric_mean([4, 0.25]), 1)


def test_a_sample_without_time_is_left_out():
    assert stats.rates([sample("a", 0, 5, seconds=0)]) == {}
