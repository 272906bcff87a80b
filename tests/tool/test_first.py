# SPDX-License-Identifier: MIT
"""The first report: one sentence, at most nine bars, the rest folded; the same in the terminal."""

import json
import re

import pytest

from conftest import ROOT
from pawl.cli import main
from pawl.core import driver, measure
from pawl.core.first import in_terminal
from pawl.kinds.lru import first

SIMULATED = ROOT / "sim/reference/lru-milan.json"


@pytest.fixture
def measured(bench, tmp_path):
    path = tmp_path / "first.json"
    bench("--candidates", "first", "--json", path)
    return path


def cell_of(path):
    return max(json.loads(path.read_text())["cells"], key=lambda c: c["threads"])


def cell(rates, threads=2):
    """Eight rounds of each row; a list of rates gives them one by one."""
    samples = [
        {
            "candidate": name,
            "round": n,
            "ops": rate[n] if isinstance(rate, list) else rate,
            "seconds": 1,
        }
        for name, rate in rates.items()
        for n in range(8)
    ]
    rows = [
        {"candidate": name, "median": rate[0] if isinstance(rate, list) else rate}
        for name, rate in rates.items()
    ]
    return {
        "threads": threads,
        "summary": sorted(rows, key=lambda r: -r["median"]),
        "samples": samples,
    }


def test_one_sentence_says_who_is_ahead_level_and_behind():
    said = first.sentence(
        cell(
            {
                "r+s>w/pawl_lock64": 230,
                "r+w/pthread_rwlock": 100,
                "r+w/tbb_spin_rw_mutex": [229, 231] * 4,
                "r+w/ck_rwlock": 260,
                "r+w/absl_mutex": 120,
            }
        )
    )
    assert said == (
        "On this machine, two threads: Pawl's upgradable lock serves the cache 2.3 times as fast "
        "as pthread_rwlock; it is level with oneTBB spin_rw_mutex, behind Concurrency Kit rwlock, "
        "ahead of absl::Mutex."
    )


def test_no_difference_is_claimed_within_the_noise():
    said = first.sentence(cell({"r+s>w/pawl_lock64": [99, 101] * 4, "r+w/pthread_rwlock": 100}, 1))
    assert "one thread: " in said and "as fast as pthread_rwlock, within the noise." in said


def test_each_library_has_one_bar_and_ours_is_not_chosen_by_its_result():
    rows = {f"r+w/{lock}": 100 + n for n, lock in enumerate(first.LOCKS)}
    rows |= {"r+w/pthread_rwlock": 90, "w/pthread_mutex": 95, "w/pthread_spin": 96, "w/none": 999}
    rows |= {first.OURS: 50, "r+rw/pawl_spin32": 200}
    found = first.bars(cell(rows))
    assert len(found) == 9
    assert [b["candidate"] for b in found if "pawl" in b["candidate"]] == [first.OURS]
    assert len({first._library(b) for b in found}) == 8  # pthread_rwlock stands beside the best


def test_the_page_begins_with_the_sentence_and_folds_the_tables(measured, tmp_path, capsys):
    page = tmp_path / "first.html"
    assert main(["report", str(measured), "--first", "--html", str(page)]) == 0
    text, said = page.read_text(), capsys.readouterr().out
    sentence = first.sentence(cell_of(measured))
    assert " ".join(said.split()).startswith(sentence)
    top = text[text.index("<h1>") : text.index("<details>")]
    assert sentence in top.replace("&#39;", "'")
    assert top.count("<img") == 2 and '<table class="facts">' in top and "quartiles" not in top
    assert max(map(len, said.splitlines())) <= 80


def test_simulated_cores_are_labelled_and_fit_the_terminal(measured):
    found = first.of(json.loads(measured.read_text()), SIMULATED)
    assert "simulated, not measured" in found.expected[0]
    assert [int(re.match(r"\d+", t)[0]) for t in found.expected[1:]] == [2, 12, 24, 64, 128]
    assert max(map(len, in_terminal(found, 80))) <= 80


def test_a_result_without_these_rows_is_refused(result, capsys, tmp_path):
    simulated = ["--simulated", str(SIMULATED)]
    page = tmp_path / "none.html"
    assert main(["report", str(result), "--first", *simulated, "--html", str(page)]) == 2
    assert "--candidates first" in capsys.readouterr().err and not page.exists()
    assert main(["report", str(result), *simulated]) == 2
    assert "add --first" in capsys.readouterr().err


# ---- A disturbed cell is measured once more -----------------------------------------------------


def test_a_disturbed_cell_is_measured_twice_and_no_other(bench, starts, tmp_path, monkeypatch):
    bench("--candidates", "pthread", "--json", tmp_path / "calm.json")
    calm = len(starts())
    monkeypatch.setenv("FAKE_MODE", "disturbed")
    bench("--candidates", "pthread", "--json", tmp_path / "disturbed.json")
    assert len(starts()) == 3 * calm


def test_the_calmer_of_two_measurements_is_kept():
    def outcome(slow):
        samples = cell({"a": [100] * (8 - slow) + [10] * slow})["samples"]
        return driver.Outcome(samples=samples, ended=True)

    calm, slow, slower = outcome(0), outcome(1), outcome(2)
    assert measure._calmer(slow, calm) is calm
    assert measure._calmer(slow, slower) is slow
    assert measure._calmer(slow, driver.Outcome(interrupted=True)) is slow
