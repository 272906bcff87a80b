# SPDX-License-Identifier: MIT
"""`pawl bench case`: the plan, the rows, the report, what it refuses; and the jobs themselves."""

import importlib.util
import json
import re
import subprocess

import pytest

from conftest import ROOT, figures
from pawl.cli import main
from pawl.kinds.case import command

JOBS = command.CASES["openssl"]
ALL = [(case, job) for case, jobs in command.CASES.items() for job in jobs]


@pytest.fixture
def run(drivers, capsys, tmp_path):
    """Runs the command; returns what it printed and the result it saved."""

    def go(*arguments, code=0):
        path = tmp_path / "case.json"
        got = main(["bench", "case", "openssl", "--json", str(path), *map(str, arguments)])
        shown = capsys.readouterr()
        assert got == code, shown.err
        return shown, json.loads(path.read_text()) if path.exists() else None

    return go


def case_module(case):
    path = ROOT / f"bench/cases/{case}/case.py"
    spec = importlib.util.spec_from_file_location(f"case_{case}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_all_jobs_run_at_one_and_two_threads_on_all_locks(run, starts):
    run("--quiet")
    assert [(s["scene"], s["threads"]) for s in starts()] == [(j, t) for j in JOBS for t in (1, 2)]
    assert {s["case"] for s in starts()} == {"openssl"}
    assert {s["candidates"] for s in starts()} == {",".join(command.ROWS)}


def test_some_jobs_can_be_chosen(run, starts):
    shown, result = run("--jobs", "issuer,pem-key", "--threads", 2, "--rounds", 6)
    assert [s["scene"] for s in starts()] == ["issuer", "pem-key"]
    assert "the issuer in one X509 store, 2 threads" in shown.out
    assert re.search(r"pawl_preload_scaling +[0-9,]+ +3\.[45]\dx", shown.out)
    assert result["cells"][0]["words"] == JOBS["issuer"]
    assert len(figures(result)) == 2


def test_an_unknown_job_is_refused(run, starts):
    shown, _ = run("--jobs", "fetch", code=2)
    assert "there is no 'fetch'; choose from fetch-digest" in shown.err and starts() == []


@pytest.mark.parametrize("case", command.CASES)
def test_the_command_and_the_folder_have_the_same_jobs(case):
    assert tuple(command.CASES[case]) == case_module(case).JOBS


@pytest.mark.parametrize(("case", "job"), ALL)
def test_each_job_does_something(case, job, tmp_path):
    module = case_module(case)
    if lacking := module.prepare(job, tmp_path):
        pytest.skip(lacking)
    done = subprocess.run(
        [str(c) for c in module.command(job, tmp_path, 2, 0.05)],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) >= 0
