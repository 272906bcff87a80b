# SPDX-License-Identifier: MIT
"""Tables fit the terminal by leaving columns out, never by cutting names or numbers."""

import io
import json

import pytest
from rich.console import Console

from conftest import REGISTRY
from pawl.cli import main


def shown(result, width):
    console = Console(file=io.StringIO(), width=width)
    kind = REGISTRY[result["kind"]]
    kind.show(kind, result, console)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 99, 100, 129, 130])
def test_nothing_is_cut_at_usual_widths(width, result):
    run = json.loads(result.read_text())
    run["cells"][0]["summary"][0]["candidate"] = "r+s>w/boost_upgrade_mutex"
    text = shown(run, width)
    assert "…" not in text and "r+s>w/boost_upgrade_mutex" in text
    assert (
        max(len(line.rstrip()) for line in text.splitlines() if "slower than" not in line) <= width
    )


def test_ratio_and_interval_are_there_even_when_narrow(result):
    row = next(
        line
        for line in shown(json.loads(result.read_text()), 80).splitlines()
        if "r+s>w/pawl_spin32" in line
    )
    assert "x " in row and ".." in row and "faster" in row


@pytest.mark.parametrize("width", [80, 97, 98, 129, 130, 140, 160, 200])
@pytest.mark.parametrize(
    "words",
    [
        ("wake", "--hog", "no", "--delays", "50"),
        ("crowd", "--quick", "--threads", "32", "--seconds", "1"),
        ("crowd", "--flood", "--threads", "32"),
    ],
    ids=" ".join,
)
def test_waits_fit_too(words, width, drivers, tmp_path):
    path = tmp_path / "run.json"
    assert main(["bench", *words, "--quiet", "--json", str(path)]) == 0
    run = json.loads(path.read_text())
    # The longest that each column has to hold.
    for row in run["cells"][0]["summary"]:
        row["ratio_to_baseline"], row["ratio_ci95_low"], row["ratio_ci95_high"] = 0.99, 0.98, 1.03
    lines = shown(run, width).splitlines()
    rows = [
        line for line in lines if any(r["candidate"] in line for r in run["cells"][0]["summary"])
    ]
    assert rows and not any("…" in line for line in lines)
    assert all(len(line.rstrip()) <= width for line in rows)


@pytest.mark.parametrize(
    "words", [("hash", "--quick"), ("tree", "--threads", "2"), ("sem",), ("rcu",)], ids=" ".join
)
def test_structures_and_callbacks_fit_too(words, drivers, tmp_path):
    path = tmp_path / "run.json"
    assert main(["bench", *words, "--quiet", "--json", str(path)]) == 0
    run = json.loads(path.read_text())
    names = [r["candidate"] for c in run["cells"] for r in c["summary"]]
    for cell in run["cells"]:
        for row in cell["summary"]:
            row["ratio_to_baseline"], row["ratio_ci95_low"], row["ratio_ci95_high"] = 9.9, 9.8, 10.3
    for width in (80, 100, 124, 125, 139, 140):
        lines = shown(run, width).splitlines()
        assert not any("…" in line for line in lines)
        assert all(len(line.rstrip()) <= width for line in lines if any(n in line for n in names))


def test_pairs_fit_too(drivers, tmp_path):
    path = tmp_path / "pairs.json"
    assert main(["bench", "pairs", "--quiet", "--json", str(path)]) == 0
    assert "…" not in shown(json.loads(path.read_text()), 80)
