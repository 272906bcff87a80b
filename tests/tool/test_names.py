# SPDX-License-Identifier: MIT
"""scripts/names finds each kind of fault that is planted in a copy of the checkout."""

import json
import lzma
import re
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

from pawl_tree import Tree  # noqa: E402  (the scripts are no package)


class Copy:
    """A checkout of links, in which files can be replaced for the time of a test."""

    def __init__(self, root):
        self.root, self.changed = root, {}
        for name in Tree(ROOT).files:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).symlink_to(ROOT / name)

    def write(self, name, text):
        path = self.root / name
        self.changed.setdefault(name, path.readlink() if path.is_symlink() else None)
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.write_bytes if isinstance(text, bytes) else path.write_text)(text)

    def add(self, name, text):
        """Appends a line to a file; returns its number."""
        old = (self.root / name).read_text()
        self.write(name, f"{old}\n{text}\n")
        return old.count("\n") + 2

    def restore(self):
        for name, target in self.changed.items():
            path = self.root / name
            path.unlink()
            if target:
                path.symlink_to(target)
            else:
                for folder in path.parents:
                    if folder == self.root or any(folder.iterdir()):
                        break
                    folder.rmdir()
        self.changed = {}

    def faults(self, *rules):
        done = subprocess.run(
            [sys.executable, ROOT / "scripts/names", "--root", self.root, *rules],
            capture_output=True,
            text=True,
            check=False,
        )
        lines = done.stdout.splitlines()
        assert done.returncode in (0, 1), done.stderr
        assert (done.returncode == 1) == (len(lines) > 1), done.stdout
        assert all(re.match(r"[^:]+:\d+: .+; .+", line) for line in lines[:-1]), done.stdout
        return lines[:-1]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return Copy(tmp_path_factory.mktemp("checkout"))


@pytest.fixture
def copy(whole):
    yield whole
    whole.restore()


# An @ is written _ in the page: this file would hold the names otherwise, and they would be known.
# What a page says, what is said of that.
FAULTS_IN_A_PAGE = [
    ("See doc/nowhere.md.", "there is no file or folder doc/nowhere.md; "),
    ("The word is in `nowhere_word.inc.h`.", "there is no file or folder nowhere_word.inc.h; "),
    ("All of `tests/nowhere_*.c` do.", "there is no file or folder tests/nowhere_*.c; "),
    ("It lives in `src/nowhere`.", "there is no file or folder src/nowhere; "),
    ("Call `pawl_take@nothing`.", "nothing is called pawl_take@nothing; "),
    ("`pawl_spin16/32/99` are the types.", "nothing is called pawl@spin99; "),
    ("Each has `pawl_*_take@nothing`.", "nothing is called pawl_*_take@nothing; "),
    ("Set `PAWL_NOTHING@AT@ALL`.", "nothing is called PAWL_NOTHING@AT@ALL; "),
    ("Shown by `a@thread@nowhere@waits`.", "no code has a@thread@nowhere@waits; "),
    ("Say `make nothing`.", "there is no make target nothing; "),
    ("Say `cmake --preset nothing`.", "there is no preset nothing; "),
    ("Say `pawl bench nothing`.", "there is no pawl bench nothing; "),
    ("See [there](nowhere_linked).", "the link to nowhere_linked leads nowhere; "),
    ("See [there](doc/spin.md#no-such-heading).", "doc/spin.md has no heading #no-such-heading; "),
]
FINE_IN_A_PAGE = [
    "See doc/nowhere.md (planned), pawl/spin.h, `src/*/lock.c`, `build/dev/nowhere.c`.",
    "`pawl_lock32/64`, `pawl_*_take_read`, `pawl_<type>_take_read`, `pawl_rcu_`.",
    "`name_take_read` is made by a macro, and `spin@nowhere@at@all` comes (planned).",
    "We make nothing up; `make test` and `ctest --preset dev` are there.",
    "See [there](doc/spin.md), [here](#pawl), [elsewhere](https://example.org/a.md).",
]
IN_A_COMMENT = {
    "include/pawl/spin.h": "/* {} */",
    "src/pawl.c": "// {}",
    "Makefile": "# {}",
    "scripts/quote": "# {}",
    "tests/model/src/lib.rs": "/// {}",
}


@pytest.fixture(scope="module")
def planted(whole):
    """What is said of each line that is added to a page, and to sources as a comment."""
    lines = {
        says: copy_line(whole, "README.md", says)
        for says in [says for says, _ in FAULTS_IN_A_PAGE] + FINE_IN_A_PAGE
    }
    for name, comment in IN_A_COMMENT.items():
        says = comment.format("nowhere.c has pawl_take@nothing and nothing@here")
        lines[name] = copy_line(whole, name, says)
    found = whole.faults("files", "interface", "words", "commands", "links")
    whole.restore()

    def of(key):
        name = key if key in IN_A_COMMENT else "README.md"
        start = f"{name}:{lines[key]}: "
        return [one.removeprefix(start) for one in found if one.startswith(start)]

    return of


def copy_line(copy, name, says):
    return copy.add(name, says.replace("@", "_"))


@pytest.mark.parametrize(("says", "fault"), FAULTS_IN_A_PAGE)
def test_a_page_that_names_what_is_not_there(says, fault, planted):
    found = planted(says)
    assert len(found) == 1 and found[0].startswith(fault.replace("@", "_"))


@pytest.mark.parametrize("says", FINE_IN_A_PAGE)
def test_a_page_that_names_what_is_there(says, planted):
    assert planted(says) == []


@pytest.mark.parametrize("name", IN_A_COMMENT)
def test_a_comment_that_names_what_is_not_there(name, planted):
    assert [one.split(";")[0].replace("_", "@") for one in planted(name)] == [
        "there is no file or folder nowhere.c",
        "nothing is called pawl@take@nothing",
        "no code has nothing@here",
    ]


def test_the_place_to_which_a_file_has_perhaps_moved(copy):
    copy.write("tests/newlock/nowhere_at_all.c", "")
    copy.write("CHANGELOG.md", "## 1\n\nSee tests/unit/newlock_nowhere.c.\n")
    found = [one for one in copy.faults("files") if one.startswith("CHANGELOG.md:3: ")]
    assert len(found) == 1 and found[0].endswith("; perhaps tests/newlock/nowhere_at_all.c now")


def test_code_and_strings_are_no_claims(copy):
    line = copy.add("src/pawl.c", 'const char path[] = "doc/nowhere.md /* nowhere.c */";')
    assert [one for one in copy.faults("files") if one.startswith(f"src/pawl.c:{line}: ")] == []


def test_only_the_newest_section_of_the_changelog_counts(copy):
    copy.write("CHANGELOG.md", "# Changelog\n\n## 2\n\nnew.c\n\n## 1\n\nold.c\n")
    found = [one for one in copy.faults("files") if one.startswith("CHANGELOG.md")]
    assert len(found) == 1 and "CHANGELOG.md:5: there is no file or folder new.c" in found[0]


# a file that is added, and what its absence from a list is called
UNLISTED = [
    ("links", "doc/lonely.md", "doc/lonely.md:1: no page that starts from README.md"),
    ("lists", "newfolder/file.c", "the folder newfolder is not listed"),
    ("lists", "include/pawl/novel.h", "include/pawl/novel.h has no row that links doc/novel.md"),
    ("lists", "bench/results/a-new-cpu/run1.json", "the folder a-new-cpu is not listed"),
]


@pytest.mark.parametrize(("rule", "name", "fault"), UNLISTED)
def test_what_is_there_and_not_listed(rule, name, fault, copy):
    copy.write(name, "{}")
    assert [one for one in copy.faults(rule) if fault in one]


def test_what_is_listed_and_not_there(copy):
    copy.write("CONTRIBUTING.md", "| folder | |\n|---|---|\n| `nowhere/` | a |\n")
    copy.write(
        "bench/results/README.md",
        "## What is here\n\n| folder | |\n|---|---|\n| [no-cpu](no-cpu) | a |\n",
    )
    found = "\n".join(copy.faults("lists"))
    assert "CONTRIBUTING.md:3: there is no folder nowhere" in found
    assert "bench/results/README.md:5: there is no folder no-cpu" in found


def test_lists_that_are_gone(copy):
    copy.write("CONTRIBUTING.md", "nothing\n")
    copy.write("bench/results/README.md", "nothing\n")
    found = "\n".join(copy.faults("lists"))
    assert "CONTRIBUTING.md:1: there is no table" in found
    assert "bench/results/README.md:1: there is no table" in found


# ---- Figures


def run(nanoseconds):
    """A recorded run: ours takes so long, theirs 10 ns, in three rounds."""
    samples = [
        {"candidate": name, "round": number, "threads": 1, "ops": 1000, "seconds": ns * 1e-6}
        for number in range(3)
        for name, ns in (("ours", nanoseconds), ("theirs", 10))
    ]
    cells = [{"threads": 1, "candidates": ["ours", "theirs"], "samples": samples}]
    return {"schema": 1, "kind": "record", "parts": [{"kind": "pairs", "cells": cells}]}


@pytest.fixture
def figures(copy):
    """What is found where the page says `page` and the list `line`; runs take 4, 5, 6 ns."""

    def check(page, line, folder="a-cpu"):
        for number, ns in enumerate((4, 5, 6), 1):
            data = json.dumps(run(ns)).encode()
            name, data = ("json.xz", lzma.compress(data)) if number == 2 else ("json", data)
            copy.write(f"bench/results/a-cpu/run{number}.{name}", data)
        copy.write("doc/page.md", page)
        copy.write("doc/figures.txt", f"# a comment\n\ndoc/page.md, {folder}\n    {line}\n")
        return copy.faults("figures")

    return check


@pytest.mark.parametrize(
    ("page", "line"),
    [
        ("It takes 4 to\n6 ns.", "4 to 6 ns = ns ours"),
        ("It takes 4.0 ns.", "4.0 ns = run1 ns ours"),
        ("It takes 5 ns.", "5 ns = median ns ours"),
        ("2.5 to 1.67 times", "2.5 to 1.67 times = -"),
        ("1.67 to 2.50 times as fast", "1.67 to 2.50 times = rate ours / theirs"),
        ("0.4 to 0.6 of its time", "0.4 to 0.6 of = time ours / theirs where threads=1 part=1"),
        ("1 of the best", "1 of = mean time ours / best(ours|theirs)"),
        ("| `lock32` | 4 to 6 | 10 |", "| `lock32` | 4 to 6 | 10 | = ns ours; ns theirs"),
    ],
)
def test_figures_of_the_recorded_runs(page, line, figures):
    assert figures(page, line) == []


@pytest.mark.parametrize(("page", "line", "fault"), [
    ("It takes 4 to 7 ns.", "4 to 7 ns = ns ours", "4 to 7 stands for 4, 5, 6 (ns ours); write"),
    ("It takes 5 ns.", "5 ns = ns ours", "5 stands for 4, 5, 6"),
    ("It takes 4.01 ns.", "4.01 ns = run1 ns ours", "4.01 stands for 4"),
    ("It takes 9 ns.", "4 to 6 ns = ns ours", 'doc/page.md does not say "4 to 6 ns"; list'),
    ("4 to 6 ns", "4 to 6 ns = ns ours; ns theirs", "has 1 numbers and 2 sources"),
    ("4 to 6 ns", "4 to 6 ns = ns nobody", '"ns nobody" means 0 cells of a run'),
    ("4 to 6 ns", "4 to 6 ns = speed ours", '"speed ours" is not understood'),
])  # fmt: skip
def test_figures_that_differ(page, line, fault, figures):
    found = figures(page, line)
    assert len(found) == 1 and found[0].startswith("doc/figures.txt:4: ") and fault in found[0]


def test_figures_of_no_runs(figures):
    assert figures("4", "4 = ns ours", folder="no-cpu") == [
        "doc/figures.txt:3: bench/results/no-cpu holds no run; name a folder of recorded runs"
    ]


# ---- What an editor completes


def test_an_internal_name_that_begins_as_the_interface_does(copy):
    copy.add("include/pawl/fences.h", "extern int pawl_planted@;".replace("@", "_"))
    assert copy.faults("internal") == [
        "include:1: pawl_planted@ begins with pawl_; begin with ipawl_".replace("@", "_")
    ]


@pytest.mark.skipif(not shutil.which("clang"), reason="no clang")
@pytest.mark.parametrize("language", ["c", "c++"])
def test_completion_offers_the_interface_alone(language, tmp_path):
    """By the code of clang that clangd asks."""
    file = tmp_path / "typed"
    file.write_text("#include <pawl/pawl.h>\nvoid f(void)\n{\n    pawl_\n}\n")
    command = ["clang", "-fsyntax-only", "-w", f"-I{ROOT}/include", "-x", language, "-Xclang",
               "-code-completion-macros", "-Xclang",
               f"-code-completion-at={file}:4:10", file]  # fmt: skip
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    offered = set(re.findall(r"^COMPLETION: (pawl_\w+)", said, re.M))
    assert {"pawl_take_read", "pawl_lock32_take_read", "pawl_rcu_read_lock"} <= offered
    assert not {name for name in offered if re.search(r"_$|_v\d+$", name)}


# ---- The command itself


def names(*arguments):
    return subprocess.run(
        [ROOT / "scripts/names", *arguments], capture_output=True, text=True, check=False
    )


def test_the_list_of_rules_is_that_of_the_help():
    assert [line.split()[0] for line in names("--list").stdout.splitlines()] == [
        "internal",
        "files",
        "interface",
        "words",
        "commands",
        "links",
        "lists",
        "figures",
    ]


def test_a_rule_that_does_not_exist():
    done = names("nothing")
    assert done.returncode == 2 and "there is no rule nothing; see --list" in done.stderr
