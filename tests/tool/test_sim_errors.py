# SPDX-License-Identifier: MIT
"""`pawl sim`: how wrong it is, by region; folly's table; the published picture."""

import pytest

from conftest import ROOT
from pawl.cli import main
from pawl.sim import folly, grid, picture, reference, regions, sections, validate
from pawl.sim.reference import Point

NAME = "haswell-ep"
TABLES = ROOT / "sim/reference/tables.md"


def test_the_picture_says_where_the_curves_cross():
    real = reference.measured()
    assert sections.read(TABLES, "picture").startswith(picture.markdown(validate.load(NAME), {}))
    assert picture.gain(real, "spin") == pytest.approx(9.4, abs=0.05)
    assert picture.gain(real, "rwlock") == pytest.approx(4.6, abs=0.05)
    line = {
        Point(99, 100, c, 1, s): 1e6 * (c if s == "rwlock" else 4.5)
        for c in range(1, 13)
        for s in ("spin", "rwlock")
    }
    assert 4 < picture.crossing(line, 1) < 5
    assert picture.crossing({p: 1e6 for p in line}, 1) is None


def test_errors_go_by_row_region_and_ratio():
    """The rwlock is 20 % too fast on six cores and more at 98 and 99 % hits, all else is right."""
    real = reference.measured()
    found = regions.errors(
        {p: v * (1.2 if p.strategy == "rwlock" and p.hit > 97 and p.cores > 5 else 1)
         for p, v in real.items()}
    )  # fmt: skip
    wrong = regions.region(99, 12)
    assert found["rwlock", wrong]["rate"] == pytest.approx(0.2)
    assert found["spin", wrong]["rate"] == 0
    assert found["spin", wrong]["ratio"] == pytest.approx(1 - 1 / 1.2)
    assert found["rwlock", regions.region(99, 5)]["rate"] == 0
    assert found["spin", regions.region(95, 12)]["ratio"] == 0
    assert sum(e["points"] for (row, _), e in found.items() if row == regions.ALL) == 2898


def test_a_cell_has_the_error_of_its_region_or_says_that_nobody_validated_it():
    assert isinstance(regions.of(NAME, "lru", "plock_w", 99, 12), dict)
    assert regions.of(NAME, "lru", "lock_w", 99, 12) == "never validated for this lock"
    assert regions.of(NAME, "section", "spin", None, 2) == "never validated for this job"
    assert regions.of("milan", "lru", "spin", 99, 12) == "never validated on this machine"
    assert regions.of(folly.MACHINE, "section", "rwlock_2017", None, 2) == "off by 1.1 times"
    assert regions.of(folly.MACHINE, "section", "rwlock_2017", None, 8) == "off by 2.1 times"
    both = [{"error_p90": None, "validated": f"off by {n} times"} for n in (1.2, 2.3)]
    assert grid.row_error(both) == "off by 1.2 times, off by 2.3 times"
    assert regions.of(folly.MACHINE, "section", "mcs", None, 2) == "never validated for this lock"


def test_a_table_without_a_validated_row_does_not_say_that_it_was_validated(tmp_path, capsys):
    program = tmp_path / "pawl-sim"
    program.write_text("""#!/bin/sh
echo '{"simulated": true, "operations_per_s": 1e6, "lookups_per_s": 1e6, "miss_share": 1}'
""")
    program.chmod(0o755)
    for job, rows, said in (
        ("lru", "spin", "simulated, validated by the published LRU job"),
        ("lru", "lock_w", "simulated, never validated for this lock."),
        ("counters", "cas", "simulated, never validated for this job."),
    ):
        asked = ["sim", job, "--quiet", "--driver", program, "--cores", "2", "--locks", rows]
        assert main([*map(str, asked)]) == 0
        assert capsys.readouterr().out.splitlines()[-1].startswith(said)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (["lru", "--hit", "100"], "--hit: the job has no 100 percent"),
        (["lru", "--hit", "99,98.5"], "--hit: the job has no 98.5 percent"),
        (["counters", "--read", "nan"], "--read: 'nan' is no share"),
    ],
)
def test_an_option_that_means_nothing_is_refused_by_its_name(capsys, asked, sentence):
    assert main(["sim", *asked]) == 2
    assert sentence in capsys.readouterr().err


def test_a_cell_shows_two_digits_with_the_range_of_its_seeds_or_is_empty():
    point = {"rate": 3.456e6, "least": 3.41e6, "most": 11.44e6, "misses": 200}
    assert grid.cell(point, "rate") == "3.5 (3.4-11)"
    assert grid.cell(point | {"most": 3.41e6}, "rate") == "3.5"
    assert grid.cell(point | {"misses": 199}, "rate") == ""
    assert grid.digits(123.4) == "123" and grid.digits(0.0123) == "0.012"


def test_the_table_that_nobody_fitted_counts_factors_and_the_order_of_locks():
    real = folly.measured()
    first = folly.load("predicted-folly-first.csv")
    assert set(first) == set(folly.keys()) == set(folly.load())
    exact = folly.summary(real)
    assert exact["median"] == 1 and exact["within"] == exact["points"] == 10
    assert exact["right"] == exact["pairs"] > 0
    slow = folly.summary({k: v / (1.6 if k[2] == 8 else 1.0) for k, v in real.items()})
    assert slow["by_threads"] == {2: 1.0, 8: pytest.approx(1.6)} and slow["within"] == 5


def test_a_validation_prints_three_tables(capsys):
    assert main(["sim", "dev", "validate"]) == 0
    said = capsys.readouterr().out
    for part in ("unseen points | value", "ratio to rwlock", "at first, *now*", "and measured |"):
        assert part in said
