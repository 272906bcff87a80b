# SPDX-License-Identifier: MIT
"""Time in `pawl replay`: the pauses of its threads, and the ends of its window. No clock is asked:
the times are made up."""

import subprocess

import pytest

from conftest import ROOT


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    """The length of a round of tests/trace/pauses.cpp."""
    made = tmp_path_factory.mktemp("pauses") / "pauses"
    subprocess.run(
        ["g++", "-std=c++17", f"-I{ROOT}", "-o", made, ROOT / "tests/trace/pauses.cpp"], check=True
    )

    def go(late=0, pause=0, between=0, overslept=0, stolen=0, waited=0):
        words = [made, *map(str, (late, pause, between, overslept, stolen, waited))]
        return int(subprocess.run(words, check=True, capture_output=True, text=True).stdout)

    return go


def test_a_pause_lasts_as_long_as_it_did(rounds):
    assert rounds(pause=50_000, between=10_000) == 60_000
    assert rounds(late=5000, pause=50_000, between=10_000, overslept=5000) == 60_000


def test_a_sleep_that_ends_late_makes_the_next_one_shorter(rounds):
    """Each sleep was measured from its own begin, so a thousand late ones were a thousand times as
    late as one."""
    assert rounds(late=5000, pause=50_000, between=10_000, overslept=20_000) == pytest.approx(
        60_000, abs=100
    )


def test_pauses_too_short_to_be_slept_come_together(rounds):
    """They were left out."""
    assert rounds(late=60_000, pause=20_000, between=10_000, overslept=60_000) == pytest.approx(
        30_000, abs=100
    )


def test_time_without_the_processor_is_part_of_the_pauses(rounds):
    """The recording counts it as time off the processor. It was slept, and lost here once more."""
    assert rounds(pause=50_000, between=10_000, stolen=30_000) == 60_000


def test_a_wait_for_a_lock_is_no_part_of_the_pauses(rounds):
    assert rounds(pause=50_000, between=10_000, waited=30_000) == 90_000
