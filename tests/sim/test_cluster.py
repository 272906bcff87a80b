# SPDX-License-Identifier: MIT
"""`pawl sim --scheduler`: a real Dask scheduler with workers on this machine."""

import subprocess
import sys

import pytest

from pawl.cli import main
from pawl.core import cluster

distributed = pytest.importorskip("distributed")

SIMULATE = ["sim", "counters", "--quiet", "--cores", "1,2,3,4,6,8,12", "--locks", "all"]
SIMULATE += ["--seeds", "1"]


@pytest.fixture
def program(tmp_path):
    """Stands for pawl-sim. Its first run under a worker kills that worker, once."""
    path = tmp_path / "pawl-sim"
    path.write_text(f"""#!{sys.executable}
import json, os, pathlib, signal, sys, time
folder = pathlib.Path({str(tmp_path)!r})
given = dict(w.split("=") for w in sys.argv[2:])
if (folder / "kill").exists() and given["cores"] == "6":
    try:
        os.rename(folder / "kill", folder / "killed")
        os.kill(os.getppid(), signal.SIGKILL)
    except OSError:
        pass
time.sleep(0.02)
print(json.dumps({{"operations_per_s": 1e6 * float(given["cores"])}}))
""")
    path.chmod(0o755)
    return path


@pytest.fixture
def scheduler(tmp_path):
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        host="127.0.0.1",
        local_directory=str(tmp_path),
    ) as found:
        yield found.scheduler_address


def simulate(program, to, *more):
    assert main([*SIMULATE, "--driver", str(program), "--json", str(to), *more]) == 0
    return to.read_bytes()


def test_a_cluster_gives_the_same_bytes_though_a_worker_dies(program, scheduler, tmp_path):
    here = simulate(program, tmp_path / "here.json")
    (tmp_path / "kill").touch()
    there = simulate(program, tmp_path / "there.json", "--scheduler", scheduler)
    assert (tmp_path / "killed").exists(), "no worker was killed"
    assert there == here


def test_a_scheduler_that_is_gone_gets_a_sentence(program, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(cluster, "SECONDS", 0.5)
    assert main([*SIMULATE, "--driver", str(program), "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert "no scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err


def test_what_was_done_is_kept_when_the_scheduler_goes(tmp_path, capsys):
    path, begun, kept = (tmp_path / name for name in ("pawl-sim", "begun", "kept"))
    path.write_text(f"""#!{sys.executable}
import json, os, pathlib, sys, time
given = dict(w.split("=") for w in sys.argv[2:])
if given["cores"] == "12":
    pathlib.Path({str(begun)!r}).touch()
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.02)
print(json.dumps({{"operations_per_s": 1e6 * float(given["cores"])}}))
""")
    path.chmod(0o755)
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"""
import distributed, os, pathlib, signal, time
found = distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False,
                                 protocol="tcp://", dashboard_address=None, host="127.0.0.1")
print(found.scheduler_address, flush=True)
begun, kept = pathlib.Path({str(begun)!r}), pathlib.Path({str(kept)!r})
while not (begun.exists() and kept.exists() and kept.read_text().count(chr(10)) >= 6):
    time.sleep(0.02)
os.kill(os.getpid(), signal.SIGKILL)
""",
        ],
        stdout=subprocess.PIPE,
        text=True,
    ) as scheduler:
        address = scheduler.stdout.readline().strip()
        told = "sim counters --quiet --cores 1,2,3,4,6,8,12 --locks atomic --seeds 1"
        told += f" --driver {path} --keep {kept} --scheduler {address}"
        code = main(told.split())
    assert code == 2
    assert f"{address} is gone" in capsys.readouterr().err
    assert len(kept.read_text().splitlines()) == 6
