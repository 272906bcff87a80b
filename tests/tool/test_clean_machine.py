# SPDX-License-Identifier: MIT
"""The command on a machine whose Python has no packages."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_help import COMMANDS

from pawl import cli
from pawl.core import plain

ROOT = Path(__file__).resolve().parents[2]
START = f"import sys; sys.path.insert(0, {str(ROOT / 'tool')!r}); from pawl.cli import main; "
START += "sys.exit(main(sys.argv[1:]))"
needs_build = pytest.mark.skipif(
    not any((ROOT / "build" / b / "shim/libpawl-trace.so").exists() for b in ("release", "dev")),
    reason="the preload libraries are not built",
)


def clean(*words, code=0, **more):
    """Without the folders of packages, the user's included."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", START, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        **more,
    )
    assert done.returncode == code, done.stderr
    return done


def test_the_version_and_the_help_of_all_need_no_package():
    assert clean("--version").stdout.startswith("pawl, version 0.")
    told = clean("--help").stdout
    assert clean().stdout == told
    for name, (_, text) in cli.COMMANDS.items():
        assert name in told and text.split()[0] in told


@needs_build
def test_a_program_runs_is_traced_and_advised_on(tmp_path):
    assert clean("run", "--stats", "true").stderr.count("\n") > 5
    assert clean("run", "sh", "-c", "exit 7", code=7)
    trace = tmp_path / "a.trace"
    assert str(trace) in clean("trace", "-o", trace, "--", "true").stderr
    assert "Nothing here would gain" in clean("advise", trace).stdout


@needs_build
def test_advice_with_a_finding_is_shown(tmp_path):
    program, source = tmp_path / "order", ROOT / "tests/advise/lock_order.c"
    subprocess.run(["gcc", "-g", "-o", program, source, "-pthread"], check=True)
    trace = tmp_path / "a.trace"
    clean("trace", "-o", trace, program, "fault")
    assert re.search(r"^1\. \w, \w: ", clean("advise", trace).stdout, re.M)


def test_all_that_they_use_of_click_is_there():
    folder = ROOT / "tool/pawl"
    paths = [
        p for part in ("advise", "choose", "run", "trace") for p in folder.glob(f"{part}/*.py")
    ]
    paths += [
        folder / "watchdog.py",
        *(folder / f"core/{n}.py" for n in ("cli", "options", "output")),
    ]
    used = {n for path in paths for n in re.findall(r"\bclick\.(\w+)", path.read_text())}
    assert used and not {name for name in used if not hasattr(plain, name)}


@pytest.mark.parametrize(
    "answer, code, says",
    [("y\n", 2, "there is no pawl-"), ("what\nn\n", 2, "nothing was"), ("", 130, "")],
)
def test_a_question_is_asked_before_power_is_cut(answer, code, says, tmp_path):
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", START, "watchdog", "off", "--folder", tmp_path / "none"],
        input=answer,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code and "Go on? [y/N]: " in done.stderr and says in done.stderr


def test_a_choice_is_made(tmp_path):
    assert "begin, from what you call today" in subprocess.run(
        [sys.executable, "-I", "-S", "-c", START, "choose"],
        input="1\n" * 20,
        capture_output=True,
        text=True,
        check=False,
    ).stdout  # fmt: skip


@pytest.mark.parametrize(
    "words", [["bench"], ["bench", "lru"], ["report", "x"], ["diff", "a", "b"]]
)
def test_what_is_missing_is_named_for_the_python_that_runs(words):
    said = clean(*words, code=2).stderr
    assert said.count("\n") == 1
    assert f"{sys.executable} -m pip install" in said and "numpy" in said and "click" in said


@pytest.mark.parametrize(
    "name",
    [
        *("pawl run", "pawl trace", "pawl advise", "pawl choose"),
        *("pawl watchdog arm", "pawl watchdog off", "pawl watchdog run"),
    ],
)
def test_the_help_says_the_same_without_click(name):
    def words(text):
        return text.replace("\n", " ").split()

    told = clean(*name.split()[1:], "--help").stdout
    command = COMMANDS[name]
    for text in (command.help, *(p.help or "" for p in command.params)):
        assert not set(words(text)) - set(words(told)), text
    assert max(map(len, told.splitlines())) <= 80 + 20  # an example is not folded


@pytest.mark.parametrize(
    "words, says",
    [
        (["runn"], "No such command 'runn'"),
        (["run"], "Missing argument"),
        (["run", "--rwlock=x", "true"], "is not one of 'pawl'"),
        (["run", "--rwlock"], "requires an argument"),
        (["run", "--nothing", "true"], "No such option"),
        (["run", "--stats=1", "true"], "does not take a value"),
        (["trace", "--one-in", "0", "true"], "is not in the range 1<=x<="),
        (["trace", "-d", "nan", "true"], "is not a finite number"),
        (["advise", "a", "b"], "Got unexpected extra argument"),
        (["watchdog", "arm"], "Missing argument 'SECONDS'"),
        (["watchdog", "nap"], "No such command 'nap'"),
    ],
)
def test_a_mistake_is_one_sentence_as_with_click(words, says, capsys):
    said = clean(*words, code=2).stderr
    assert says in said and said.count("\n") == 1
    assert cli.main(words) == 2
    assert says in capsys.readouterr().err


def test_options_are_split_as_click_splits_them():
    @plain.command("x", context_settings={"allow_interspersed_args": False})
    @plain.option("-o", "--output", "to")
    @plain.option("-v", "--verbose", is_flag=True)
    @plain.option("--stacks/--no-stacks", default=True)
    @plain.option("--limit", multiple=True)
    @plain.argument("words", nargs=-1)
    def command(**given):
        return given

    usual = {"to": None, "verbose": False, "stacks": True, "limit": (), "words": ()}
    for words, told in (
        ([], {}),
        (["-va"], None),
        (["-voa"], {"verbose": True, "to": "a"}),
        (["-o", "a", "--no-stacks"], {"to": "a", "stacks": False}),
        (["--output=a=b", "c", "-v"], {"to": "a=b", "words": ("c", "-v")}),
        (["--limit", "1", "--limit=2", "--", "-v"], {"limit": ("1", "2"), "words": ("-v",)}),
    ):
        if told is None:
            with pytest.raises(plain.UsageError):
                command.main(words)
        else:
            assert command.main(words) == usual | told
