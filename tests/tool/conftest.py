# SPDX-License-Identifier: MIT
"""The command is run in-process where that is enough, as a program where signals matter."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tool"))

from pawl import targets  # noqa: E402
from pawl.cli import main  # noqa: E402  (the tests run without installing the package)
from pawl.core import driver, results, table  # noqa: E402
from pawl.core.errors import PawlError  # noqa: E402
from pawl.kinds.registry import KINDS as REGISTRY  # noqa: E402

KINDS = (
    "lru",
    "pairs",
    "wake",
    "crowd",
    "counters",
    "hash",
    "tree",
    "sem",
    "rcu",
    "readers",
    "shim",
    "crate",
    "functions",
)
# A shell starts what runs in its background with this signal ignored, and programs inherit that: a
# test that interrupts one would wait for its end.
signal.signal(signal.SIGINT, signal.default_int_handler)
LONG = 300  # seconds after which what hangs is ended
BUILD = os.environ.get("PAWL_BUILD_DIR", str(ROOT / "build/dev"))
SHIM = os.path.join(BUILD, "shim")
RECORDER = os.path.join(SHIM, "libpawl-trace.so")
needs_recorder = pytest.mark.skipif(
    not os.path.exists(RECORDER), reason="the recorder is not built"
)
QUICK = "--rounds 6 --threads 1,2 --quiet"


# `make test` leaves these to `make check`: what needs drivers, simulator or a browser, recordings
# with their verdicts, and the tests of what looks at the sources.
CHECK = re.compile(
    r"test_(busy|committed_results|compare|crate|designs|floors|functions|names|page_\w+|"
    r"rcu_designs|real_\w+|reference|replay|sim\w*|targets\w*|\w+_real)$"
)


def pytest_configure(config):
    config.addinivalue_line("markers", "check: a test of `make check`, not of `make test`")


def pytest_collection_modifyitems(items):
    for item in items:
        if CHECK.match(item.path.stem):
            item.add_marker(pytest.mark.check)


def fake_driver(path, script="fake_driver.py", *words):
    """A program that is a fake driver of this folder; the words come first."""
    fake = Path(__file__).with_name(script)
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "{fake}" {" ".join(words)} "$@"\n')
    path.chmod(0o755)


@pytest.fixture
def drivers(tmp_path, monkeypatch):
    """A folder with all fake drivers, found through the environment."""
    folder = tmp_path / "drivers"
    folder.mkdir()
    for kind in KINDS:
        fake_driver(folder / f"pawl-bench-{kind}", "fake_driver.py", kind)
    monkeypatch.setenv("PAWL_BENCH_DIR", str(folder))
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "starts.log"))
    return folder


@pytest.fixture(autouse=True)
def same_signals_blocked():
    """A command that a later test starts inherits the mask. `pawl trace` left SIGINT blocked in a
    test; then an interrupt of `pawl costs` never came."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    yield
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


@pytest.fixture
def starts(tmp_path):
    """The options of every measurement the fake drivers were started for."""

    def read():
        log = tmp_path / "starts.log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    return read


@pytest.fixture
def standstill(tmp_path, monkeypatch):
    """Lets a fake driver stand still after some samples of one of its starts; returns a function
    that waits until it does, for as long as the process lives."""

    def after(samples, start=1):
        path = tmp_path / "stands-still"
        monkeypatch.setenv("FAKE_STOP", f"{path}:{start}:{samples}")

        def wait_for(process):
            while not path.exists() and process.poll() is None:
                time.sleep(0.01)

        return wait_for

    return after


def built_sim():
    """The program pawl-sim of this checkout."""
    for build in ("dev", "release"):
        path = ROOT / "build" / build / "bench" / "pawl-sim"
        if path.is_file():
            return path
    pytest.skip("pawl-sim is not built")


def compiled(made, source, *words):
    """A program of tests/trace."""
    source = ROOT / "tests/trace" / source
    subprocess.run(
        ["gcc", "-O1", "-g", "-D_GNU_SOURCE", *words, "-o", made, source, "-pthread"], check=True
    )
    return made


def program_to_trace(folder):
    return compiled(folder / "program", "program.c")


def recording(folder):
    """The environment in which a program is recorded."""
    return {**os.environ, "LD_PRELOAD": RECORDER, "PAWL_TRACE_DIR": str(folder)}


def pawl(words, *more, code=0):
    """Runs the command as it is typed; `more` may have blanks."""
    assert main([*words.split(), *map(str, more)]) == code


def real_drivers(*names):
    """A mark for what needs the drivers. scripts/test says which build it has just made."""
    build = os.environ.get("PAWL_BUILD_DIR")
    if build and (Path(build) / "bench" / names[0]).exists():
        os.environ.setdefault("PAWL_BENCH_DIR", str(Path(build) / "bench"))
    try:
        found = all(driver.find(name) for name in names)
    except PawlError:
        found = False
    return pytest.mark.skipif(not found, reason="the drivers are not built (make build)")


def soon_enough(measure, seconds, most=150):
    """What `measure` returns once it returns something; each time it may take twice as long. On a
    busy machine a thread may not have come to its work while a sample lasted."""
    end = time.monotonic() + most
    while not (found := measure(seconds)) and time.monotonic() < end:
        seconds *= 2
    return found


@pytest.fixture
def refused(capsys, starts):
    """Runs a command that must be refused: code 2, one sentence, nothing measured."""

    def run(*arguments):
        code = main([str(a) for a in arguments])
        text = capsys.readouterr().err
        assert code == 2, text
        assert text.startswith("pawl: ") and text.count("\n") == 1, text
        assert "Traceback" not in text
        assert starts() == [], "it measured before it refused"
        return text

    return run


@pytest.fixture
def shown(capsys):
    """shown(WORDS) runs the command with these and more words; returns what it printed."""

    def of(words):
        def run(*arguments, code=0):
            got = main([*words.split(), *map(str, arguments)])
            printed = capsys.readouterr()
            assert got == code, printed.err
            return printed

        return run

    return of


@pytest.fixture
def bench(drivers, shown):
    return shown(f"bench lru {QUICK}")


@pytest.fixture
def benches(capsys, tmp_path):
    """benches(KIND) runs `pawl bench KIND`; returns what it printed and the result it saved."""

    def of(kind, *always):
        def go(*arguments, code=0):
            path = tmp_path / f"{kind}.json"
            got = main(["bench", kind, *always, "--json", str(path), *map(str, arguments)])
            shown = capsys.readouterr()
            assert got == code, shown.err
            return shown, json.loads(path.read_text()) if path.exists() else None

        return go

    return of


@pytest.fixture
def refused_damaged(tmp_path, capsys):
    """A result with another value at a place of its first cell must be refused."""

    def check(result, place, value):
        inner = result["cells"][0]
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value
        path = tmp_path / "damaged.json"
        path.write_text(json.dumps(result))
        assert main(["report", str(path)]) == 2
        assert "is not a result of pawl" in capsys.readouterr().err

    return check


@pytest.fixture
def program():
    """Starts the command as a process of its own."""

    def run(*arguments, **options):
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "tool")}
        return subprocess.Popen(
            [sys.executable, "-m", "pawl", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            **options,
        )

    return run


@pytest.fixture
def result(bench, tmp_path):
    """A small saved result."""
    path = tmp_path / "run.json"
    bench("--candidates", "published,none", "--json", path)
    return path


def figures(result):
    """What a result draws: (caption, figure)."""
    from pawl.core import plot

    return plot.draw(REGISTRY[result["kind"]], result)


def further(result):
    """The tables after all cells."""
    return REGISTRY[result["kind"]].more(result)


def losses(result, cell):
    return [r["candidate"] for r in REGISTRY[result["kind"]].losses(cell["summary"])]


def texts(result, cell, name):
    """Column -> text of a row, as the page shows it."""
    kind = REGISTRY[result["kind"]]
    row = next(r for r in table.ranked(cell) if r["candidate"] == name)
    return [(c.head, c.text(row)) for c in table.columns(kind, result, cell)]


def plain(folder):
    """Writes the runs of a record as plain JSON, for tests that spoil them; returns their names."""
    names = []
    for path in sorted(folder.glob("run*.json.xz")):
        run = results.read(path)
        path.unlink()
        path.with_suffix("").write_text(json.dumps(run))
        names.append(path.name)
    return names


def record_one(folder, name, kinds=KINDS, fake="fake_driver.py", mode=""):
    """One run of a set by fake drivers; mode "scaling" has rows of readers that scale."""
    script = Path(__file__).with_name(fake)
    for kind in kinds:
        wrapper = folder / f"pawl-bench-{kind}"
        told = f'FAKE_MODE="${{FAKE_MODE:-{mode}}}" exec "{sys.executable}" -S "{script}"'
        also = "" if fake != "fake_driver.py" else f" {kind}"
        wrapper.write_text(f'#!/bin/sh\n{told}{also} "$@"\n')
        wrapper.chmod(0o755)
    made = folder / "runs"
    told = ["--set", name, "--runs", "1", "--driver", str(folder), "--quiet"]
    assert main(["bench", "record", str(made), *told]) == 0
    plain(made)
    return json.loads((made / "run1.json").read_text())


def slower(runs, title, name, factor, test=lambda cell: True):
    """Makes the samples of a row slower in the cells of one part."""
    for run in runs.values():
        part = next(p for p in run["parts"] if p["title"] == title)
        for cell in filter(test, part["cells"]):
            for sample in cell["samples"]:
                if sample["candidate"] == name:
                    sample["ops"] = int(sample["ops"] * factor)


def left_behind(folder):
    """Names of temporary files that a command forgot."""
    return [p.name for p in Path(folder).iterdir() if p.name.startswith(".")]


def clean(run):
    """A recorded run as one of a clean commit."""
    for part in run["parts"]:
        part.update(commit="c0ffee", dirty=False)
    return run


def copies_of(recorded, count):
    """So many of a recorded run, of a clean commit."""
    return {f"run{n}.json": clean(json.loads(recorded)) for n in range(1, count + 1)}


def recorded_runs(folder, name, *words):
    """Three runs of a set, as `pawl bench record` writes them, of a clean commit."""
    pawl(f"bench record --set {name} {folder} --quiet", *words)
    assert plain(folder) == ["run1.json.xz", "run2.json.xz", "run3.json.xz"]
    for path in folder.glob("run*.json"):
        path.write_text(json.dumps(clean(json.loads(path.read_text()))))
    return folder


@pytest.fixture
def runs(recorded):
    """Three of the module's recorded run, to be spoilt."""
    return copies_of(recorded, 3)


@pytest.fixture
def judge(tmp_path, capsys):
    """Whether the runs meet the targets: the exit code, and what the command says."""

    def run(content, *options):
        for name, whole in content.items():
            (tmp_path / name).write_text(json.dumps(whole))
        code = targets.main([str(tmp_path), *options])
        shown = capsys.readouterr()
        return code, shown.out + shown.err

    return run
