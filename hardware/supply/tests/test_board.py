# SPDX-License-Identifier: MIT
"""The supply's board: its rules hold, and each is seen to be broken where the table breaks it."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "board.py"
SYSTEM = "/usr/bin/python3"  # Debian's pcbnew is for this one


kicad = pytest.mark.skipif(
    subprocess.run([SYSTEM, "-c", "import pcbnew"], capture_output=True).returncode != 0,
    reason="no pcbnew (scripts/setup boards)",
)
netlist = pytest.mark.skipif(
    importlib.util.find_spec("skidl") is None, reason="no skidl (scripts/setup boards)"
)
spec = importlib.util.spec_from_file_location("board", SOURCE)
board = importlib.util.module_from_spec(spec)
spec.loader.exec_module(board)


def run(folder, python, *words, wrong=("", "")):
    """The program, in a folder of its own, with one text of its table changed."""
    text = SOURCE.read_text()
    assert wrong[0] in text
    (folder / "board.py").write_text(text.replace(*wrong, 1) if wrong[0] else text)
    return subprocess.run(
        [python, "board.py", *words], cwd=folder, capture_output=True, text=True, timeout=300
    )


@kicad
def test_the_rules_of_the_board_hold_and_everything_is_written(tmp_path):
    done = run(tmp_path, SYSTEM, "out")
    assert (done.returncode, done.stdout) == (0, "no rule is broken\n"), done.stdout + done.stderr
    names = {path.name for path in (tmp_path / "out").rglob("*") if path.stat().st_size}
    assert {"pocket.kicad_pro", "pocket.kicad_sch", "pocket.kicad_pcb", "parts.csv"} <= names
    copper = (tmp_path / "out/gerbers/pocket-F_Cu.gbr").read_text()
    assert len(set(re.findall(r"%TO\.P,(\w+,\w+)", copper))) == sum(
        len(part[3]) for part in board.PARTS.values()
    )


@kicad
@pytest.mark.parametrize(
    "rule,wrong",
    [
        ("track_width", ('("PROG", 0.25', '("PROG", 0.2')),
        ("clearance", ("[(20.8, 12.505), (21,", "[(19.9, 12.6), (21,")),
        ("clearance", ("[(20.8, 12.505), (21,", "[(20.8, 11.235), (21,")),  # a short
        ("copper_edge_clearance", ("(2.3, 17, 270)", "(0.9, 17, 270)")),
        ("courtyards_overlap", ("(28.1, 13.2, 270)", "(29.5, 13.2, 270)")),
        ("unconnected_items", ("[(20.8, 11.235), (19.65, 11.235), ", "[(19.65, 12.8), ")),
    ],
)  # fmt: skip
def test_a_broken_rule_of_the_board_is_seen(tmp_path, rule, wrong):
    done = run(tmp_path, SYSTEM, "out", wrong=wrong)
    assert done.returncode == 1 and f"[{rule}]" in done.stdout, done.stdout + done.stderr


@netlist
def test_the_electrical_rules_hold(tmp_path):
    done = run(tmp_path, sys.executable, "--netlist")
    assert done.returncode == 0 and "no rule is broken" in done.stdout, done.stdout + done.stderr


@netlist
@pytest.mark.parametrize(
    "wrong",
    [
        ('"J2": ["PWROUT"', '"J2": ["PASSIVE"'),  # nothing supplies the charger
        ('("PROG", "GND"), R', '("", "GND"), R'),  # a net with one pin
        ('"J2": ["PWROUT", "PASSIVE"]', '"J2": ["PWROUT", "PWROUT"]'),  # two sources on ground
    ],
)
def test_a_broken_electrical_rule_is_seen(tmp_path, wrong):
    done = run(tmp_path, sys.executable, "--netlist", wrong=wrong)
    assert done.returncode == 1 and "errors, warnings" in done.stdout, done.stdout + done.stderr


def test_the_schematic_has_every_pin_once():
    text = board.schematic()
    assert text.count("(") == text.count(")")
    pins = [net for part in board.PARTS.values() for net in part[3]]
    assert text.count("(global_label ") == sum(map(bool, pins))
    assert text.count("(no_connect ") == pins.count("") and text.count("(pin ") == len(pins)
    spots = re.findall(r'(?:global_label "\w+" \(shape passive\)|no_connect) \(at ([\d. ]+)', text)
    assert len({" ".join(spot.split()[:2]) for spot in spots}) == len(pins)  # none on another


def test_the_board_is_as_large_as_the_cell_and_has_one_side():
    assert {max(axis) - min(axis) for axis in zip(*board.OUTLINE, strict=True)} == {34, 20}
    assert "B_Cu" not in SOURCE.read_text() and "PCB_VIA" not in SOURCE.read_text()
