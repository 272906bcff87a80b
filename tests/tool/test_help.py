# SPDX-License-Identifier: MIT
"""Help and manual pages: every command has examples, and a page that groff reads."""

import shlex
import shutil
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import click
import pytest

from conftest import ROOT
from pawl import man
from pawl.cli import COMMANDS as COMMAND_LIST
from pawl.cli import cli, main
from pawl.core import options
from pawl.core.man import walk

COMMANDS = dict(walk("pawl", cli))
PAGES = man.pages()


def page_of(command):
    """A command's own page, or the next one above."""
    page = f"{command.replace(' ', '-')}.1"
    return page if page in PAGES else page_of(command.rpartition(" ")[0])


@pytest.mark.parametrize("name", COMMANDS)
def test_help_ends_with_examples_and_exit_codes(name, capsys):
    assert main([*name.split()[1:], "--help"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    for line, _ in COMMANDS[name].examples:
        assert f"  {line}\n" in text.replace(" \\\n     ", "")
    assert "Exit codes:" in text and "130  interrupted" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_use_options_that_exist(name):
    for line, _ in COMMANDS[name].examples:
        words = shlex.split(line.split("| ")[-1])
        if words[0] != "pawl":
            continue
        found, rest = cli, words[1:]
        while isinstance(found, click.Group):
            found, rest = found.get_command(None, rest[0]), rest[1:]
        known = {o for p in found.params for o in p.opts}
        if "--" in rest:
            rest = rest[: rest.index("--")]  # what follows belongs to another program
        assert {w.split("=")[0] for w in rest if w.startswith("--")} <= known


def test_a_page_leads_to_its_neighbours_and_not_to_all():
    seen = {
        name: PAGES[f"{name}.1"].split(".SH SEE ALSO")[1].replace("\\", "")
        for name in ("pawl", "pawl-bench", "pawl-choose")
    }
    assert "pawl-bench-lru" in seen["pawl-bench"] and "pawl-watchdog" in seen["pawl"]
    assert "pawl-report" in seen["pawl-choose"]


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
@pytest.mark.parametrize("name", PAGES)
def test_manual_pages_are_sound(name):
    done = subprocess.run(
        ["groff", "-man", "-ww", "-z", "-Tutf8"],
        input=PAGES[name],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == "" and done.returncode == 0


@pytest.mark.parametrize("name", PAGES)
def test_a_manual_page_names_every_option_and_exit_code(name):
    text = PAGES[name].replace("\\-", "-")
    told = [n for n in COMMANDS if page_of(n) == name]
    for parameter in (p for n in told for p in COMMANDS[n].params):
        if isinstance(parameter, click.Option):
            assert f"\\fB{parameter.opts[0]}\\fR" in text
    for code in options.EXIT_CODES:
        assert f"\\fB{code}\\fR" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_the_words_of_a_command_are_plain(name):
    """The rules of scripts/prose; an option may have a long list."""
    loader = SourceFileLoader("pawl_prose", str(ROOT / "scripts/prose"))
    prose = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(prose)
    command = COMMANDS[name]
    told = [(command.help or "", prose.MOST)]
    told += [(p.help or "", 999) for p in command.params if isinstance(p, click.Option)]
    told += [(meaning, prose.MOST) for _, meaning in command.examples]
    for text, most in told:
        for sentence in prose.END.split(" ".join(prose.EXEMPT.sub("x", text).split())):
            assert not prose.SUBJECTS.match(sentence) or sentence.endswith("?"), sentence
            assert len(sentence.split()) <= most, sentence
            assert not any(word.search(sentence) for word in prose.PLAIN), sentence


@pytest.mark.parametrize("words", [[], ["bench", "pairs", "--help"]])
def test_a_start_loads_nothing_that_only_results_need(words):
    """Most of each start's time went into libraries that one command used."""
    code = "import sys, pawl.cli; pawl.cli.main(sys.argv[1:]); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        check=True,
        env={"PYTHONPATH": str(ROOT / "tool")},
        capture_output=True,
        text=True,
    )
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert "click" in loaded
    assert not loaded & {"scipy", "matplotlib", "jinja2", "zstandard"}
    assert words or not loaded & {"numpy", "rich", "fastjsonschema"}


def test_the_version_is_told(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("pawl, version 0.")


@pytest.mark.parametrize("name", [n for n, c in COMMANDS.items() if isinstance(c, click.Group)])
def test_a_group_alone_prints_its_help(name, capsys):
    words = name.split()[1:]
    assert main([*words]) == 0
    told = capsys.readouterr().out
    assert main([*words, "--help"]) == 0 and capsys.readouterr().out == told


@pytest.mark.parametrize("name", [n for n in COMMANDS if n.startswith("pawl bench ")])
def test_each_bench_can_take_a_quick_look(name):
    options_of = {o for p in COMMANDS[name].params for o in p.opts}
    assert "--quick" in options_of or name == "pawl bench record"


def test_the_list_of_commands_says_what_they_say_themselves():
    for name, (_, text) in COMMAND_LIST.items():
        assert COMMANDS[f"pawl {name}"].help.strip().split("\n")[0] == text


def test_a_mistyped_command_is_bad_input(capsys):
    assert main(["bench", "lru2"]) == 2
    assert "see `pawl bench --help`" in capsys.readouterr().err
