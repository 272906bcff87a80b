# SPDX-License-Identifier: MIT
"""`pawl bench --scheduler`: a real Dask scheduler. Its workers stand for machines: each has a
loopback address of its own."""

import json
import sys
from pathlib import Path

import pytest

from pawl.cli import main
from pawl.core import cluster
from pawl.core.errors import BadInput

distributed = pytest.importorskip("distributed")

FAKE = Path(__file__).resolve().parents[1] / "tool" / "fake_driver.py"
MEASURE = [
    "bench",
    "lru",
    "--quiet",
    "--threads",
    "1,2,4,8",
    "--rounds",
    "6",
    "--candidates",
    "pthread",
]


@pytest.fixture
def driver(tmp_path):
    """A bench that kills the worker of the cell with two threads, once, if the file is there."""
    path = tmp_path / "pawl-bench-lru"
    path.write_text(f"""#!/bin/sh
case " $* " in *" --threads 2 "*)
    mv "{tmp_path}/kill" "{tmp_path}/killed" 2>/dev/null && kill -9 $PPID ;;
esac
exec "{sys.executable}" "{FAKE}" lru "$@"
""")
    path.chmod(0o755)
    return path


def machines(tmp_path, *hosts, threads=1):
    workers = {
        str(i): {
            "cls": distributed.Nanny,
            "options": {"host": host, "nthreads": threads, "local_directory": str(tmp_path)},
        }
        for i, host in enumerate(hosts)
    }
    return distributed.SpecCluster(
        workers=workers,
        scheduler={
            "cls": distributed.Scheduler,
            "options": {"host": "127.0.0.1", "dashboard": False},
        },
    )


def measured(driver, to, *more):
    assert main([*MEASURE, "--driver", str(driver), "--json", str(to), *more]) == 0
    return json.loads(to.read_text())


def without_hosts(result):
    return [{k: v for k, v in cell.items() if k != "host"} for cell in result["cells"]]


def test_a_fleet_measures_every_cell_though_a_worker_dies(driver, tmp_path):
    here = measured(driver, tmp_path / "here.json")
    (tmp_path / "kill").touch()
    with machines(tmp_path, "127.0.0.1", "127.0.0.2") as fleet:
        there = measured(driver, tmp_path / "there.json", "--scheduler", fleet.scheduler_address)
    assert (tmp_path / "killed").exists(), "no worker was killed"
    assert without_hosts(there) == here["cells"]
    assert all(cell["host"] for cell in there["cells"])
    assert there["machine"] == here["machine"] and not there["interrupted"]


@pytest.mark.parametrize(
    ("hosts", "threads", "sentence"),
    [
        (["127.0.0.1", "127.0.0.1"], 1, "start one on each machine"),
        (["127.0.0.1"], 2, "start it with --nthreads 1"),
    ],
)
def test_workers_that_would_disturb_each_other_are_refused(
    driver, tmp_path, capsys, hosts, threads, sentence
):
    with machines(tmp_path, *hosts, threads=threads) as fleet:
        assert (
            main([*MEASURE, "--driver", str(driver), "--scheduler", fleet.scheduler_address]) == 2
        )
    assert sentence in capsys.readouterr().err


def test_keys_of_this_machine_are_refused(driver, tmp_path, capsys):
    (tmp_path / "keys").write_text("".join(f"key {i % 9}\n" for i in range(40)))
    told = f"bench lru --driver {driver} --keys {tmp_path}/keys --scheduler tcp://127.0.0.1:9"
    assert main(told.split()) == 2
    assert "the files of --keys are on this machine" in capsys.readouterr().err


class Told:
    """Stands for a client: what two workers say of their machines."""

    def __init__(self, **other):
        machine = {"cpu": "one", "cpus_allowed": 4}
        self.told = {
            "tcp://10.0.0.1:1": {"machine": machine, "kernel": "Linux 6"},
            "tcp://10.0.0.2:1": {"machine": machine | other, "kernel": "Linux 6"},
        }

    def nthreads(self):
        return dict.fromkeys(self.told, 1)

    def run(self, _function):
        return self.told


def test_machines_that_are_not_alike_are_refused():
    with pytest.raises(BadInput, match="the CPU is one on tcp://10.0.0.1:1 and two on"):
        cluster.fleet(cluster.Cluster(Told(cpu="two"), "tcp://10.0.0.9:1"))
    assert cluster.fleet(cluster.Cluster(Told(), "tcp://10.0.0.9:1"))["kernel"] == "Linux 6"
