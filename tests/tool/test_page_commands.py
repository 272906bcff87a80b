# SPDX-License-Identifier: MIT
"""The commands that pages show do run: every `pawl ...` of README.md and the pages, as it stands.

A command stands in a block of code, or with options between backquotes. Those of a page run in the
page's order in one folder, so a later one may read what an earlier one wrote. The drivers are
made-up ones, so that a command of minutes takes no time. A comment `<!-- not run: why -->` on the
line above keeps a block out, for what needs a device.
"""

import io
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from pawl.cli import main
from pawl.core import measure

PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "doc").rglob("*.md")),
    ROOT / "bench/results/README.md",
    ROOT / "hardware/watchdog/README.md",
]
NOT_RUN = re.compile(r"<!-- not run: [^>]+ -->\n```.*?\n```", re.S)
BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.S | re.M)
SPAN = re.compile(r"`((?:\.venv/bin/)?pawl [^`]*--[^`]+)`")
COMMAND = re.compile(r"^(?:\.venv/bin/)?pawl (?![-=])(.*)$")  # no option, no assignment
# A remark after a command in a block: a comment, or words after several blanks.
REMARK = re.compile(r"\s+#.*$|\s{2,}.*$")
# Placeholders for names in the commands of a page.
NAMES = {
    "FILE": "run.json",
    "PAGE": "page.html",
    "PICTURE": "picture.png",
    "FOLDER": "folder",
    "0-3,8": "0",
}
DRIVERS = {"costs": "fake_costs.py", "latency": "fake_latency.py"}


def commands(text):
    """The words after `pawl` of each command of a page, in order, each once."""
    text = NOT_RUN.sub("", text)
    found = [
        (m.start(1), REMARK.sub("", m[1]))
        for m in SPAN.finditer(BLOCK.sub(lambda m: " " * len(m[0]), text))
    ]
    for block in BLOCK.finditer(text):
        at = block.start(1)
        for line in block[1].splitlines(keepends=True):
            found.append((at, REMARK.sub("", line.rstrip("\n"))))
            at += len(line)
    lines = [m[1] for _, line in sorted(found) if (m := COMMAND.match(" ".join(line.split())))]
    return list(dict.fromkeys(lines))


def once(pages):
    """Page -> its commands, less those that an earlier page shows."""
    shown, seen = {}, set()
    for page in pages:
        mine = [c for c in commands(page.read_text()) if c not in seen]
        seen.update(mine)
        shown[str(page.relative_to(ROOT))] = mine
    return shown


SHOWN = once(PAGES)


@pytest.fixture
def files(drivers, tmp_path, monkeypatch, result):
    """A folder with the files that commands of pages read."""
    for kind, fake in DRIVERS.items():
        wrapper = drivers / f"pawl-bench-{kind}"
        wrapper.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -S "{Path(__file__).with_name(fake)}" "$@"\n'
        )
        wrapper.chmod(0o755)
    # Each plan is made as a whole, and one of its cells is measured.
    whole = measure.run
    monkeypatch.setattr(
        measure,
        "run",
        lambda kind, path, cells, result, *rest, **more: whole(
            kind, path, cells if kind.name == "costs" else cells[:1], result, *rest, **more
        ),
    )
    folder = tmp_path / "page"
    folder.mkdir()
    shutil.copy(result, folder / "run.json")
    monkeypatch.chdir(folder)
    return folder


def dpkg_log(folder):
    """As /var/log/dpkg.log: few actions, many packages, and lines without a fifth field."""
    lines = [
        f"2031-02-03 04:05:06 action-{n % 8} unpacked"
        + f" package-{n * n % 97}:amd64" * (n % 8 != 0)
        + "\n"
        for n in range(2000)
    ]
    path = folder / "dpkg.log"
    path.write_text("".join(lines))
    return str(path)


def words_of(line, folder):
    split = shlex.split(line)
    # Runs of one set lie in one folder.
    names = NAMES | {"FOLDER": split[split.index("--set") + 1]} if "--set" in split else NAMES
    words = [names.get(word, word) for word in split]
    return [dpkg_log(folder) if word == "/var/log/dpkg.log" else word for word in words]


def test_the_pages_show_commands():
    assert len(SHOWN["README.md"]) >= 2
    assert any("--keys /var/log/dpkg.log" in line for line in SHOWN["README.md"])
    assert {"doc/bench.md", "doc/choosing.md", "doc/costs.md"} <= {p for p in SHOWN if SHOWN[p]}


@pytest.mark.parametrize("page", [page for page in SHOWN if SHOWN[page]])
def test_the_commands_of_a_page_run(page, files, monkeypatch, capsys):
    for line in SHOWN[page]:
        if "run1.json.xz" in line and not (files / "run1.json.xz").exists():
            assert main(["bench", "record", "--set", "rcu", "--runs", "1", "--quiet", "."]) == 0
        # `pawl choose` asks until it has an answer.
        monkeypatch.setattr(sys, "stdin", io.StringIO("1\n" * 20))
        code = main(words_of(line, files))
        assert code == 0, f"{page}: pawl {line}\n{capsys.readouterr().err}"


def test_a_command_that_does_not_run_is_found(files, capsys):
    block = "```\npawl bench lru --keys /var/log/dpkg.log --field 3 --size 3200\n```\n"
    (line,) = commands(f"Say\n{block}")
    assert main(words_of(line, files)) == 2
    assert "larger than the keys read" in capsys.readouterr().err


def test_a_block_that_needs_a_device_is_left_out():
    block = "```\npawl watchdog arm 60\n```\n"
    assert commands(block) == ["watchdog arm 60"]
    assert commands("<!-- not run: it needs the device -->\n" + block) == []


def test_a_crate_of_the_same_name_is_no_command():
    assert commands('```toml\npawl = { path = "../pawl/rust" }\n```\nand `pawl --help`\n') == []
    assert commands("```\npawl costs\n```\n") == ["costs"]
