# SPDX-License-Identifier: MIT
"""What `pawl bench record` writes, and that files are read however they are packed."""

import gzip
import json
import lzma
import os
import signal

import pytest

from conftest import LONG, REGISTRY, left_behind
from pawl.cli import main
from pawl.core import results


@pytest.fixture
def record(drivers, tmp_path, shown):
    """Records runs of the set counters; returns what it said."""

    def call(*arguments, **more):
        return shown(f"bench record --set counters {tmp_path}/runs --quiet")(*arguments, **more).err

    return call


def test_a_run_is_data_without_anything_that_is_made_of_it(record, tmp_path):
    record("--runs", "1")
    run = results.load(tmp_path / "runs" / "run1.json.xz", REGISTRY)
    assert results.bare(run) == run
    cells = run["parts"][0]["cells"]
    assert all(c["samples"] and "summary" not in c for c in cells)
    known = {"candidate", "round", "ops", "seconds", "reads_per_second"}
    assert {key for c in cells for s in c["samples"] for key in s} == known


def test_the_same_data_give_the_same_bytes(record, tmp_path):
    record("--runs", "1")
    path = tmp_path / "runs" / "run1.json.xz"
    run = results.load(path, REGISTRY)
    assert results.compressed(run) == results.compressed(json.loads(json.dumps(run)))
    assert results.compressed(run) == path.read_bytes()


def test_rows_are_made_again_as_they_were_saved(drivers, tmp_path):
    path = tmp_path / "run.json"
    assert main(["bench", "counters", "--quiet", "--json", str(path)]) == 0
    saved = json.loads(path.read_text())
    ((_, again),) = results.parts(path, REGISTRY)
    assert [c["summary"] for c in again["cells"]] == [c["summary"] for c in saved["cells"]]


@pytest.mark.parametrize(
    "damage",
    [
        lambda c: c.update(summary="row"),
        lambda c: c["summary"][0].update(median=-1),
        lambda c: c["summary"][0].update(ratio_ci95_low=None),
        lambda c: c.pop("summary"),
    ],
)
def test_saved_rows_are_not_believed(damage, result, capsys):
    assert main(["report", str(result)]) == 0
    before = capsys.readouterr().out
    run = json.loads(result.read_text())
    damage(run["cells"][0])
    result.write_text(json.dumps(run))
    assert main(["report", str(result)]) == 0
    assert capsys.readouterr().out == before


PACKED = {".xz": lzma.compress, ".gz": gzip.compress, "": lambda data: data}


@pytest.mark.parametrize("form", PACKED)
def test_a_report_reads_it_packed_or_not(form, result, tmp_path, capsys):
    path, page = tmp_path / f"other.json{form}", tmp_path / "page.html"
    path.write_bytes(PACKED[form](result.read_bytes()))
    assert main(["report", str(result), "--html", str(page)]) == 0
    assert main(["report", str(path), "--html", str(page), "--check"]) == 0
    capsys.readouterr()
    assert main(["report", str(path)]) == 0 and "r+s>w/pawl_spin32" in capsys.readouterr().out


@pytest.mark.parametrize("form", [".xz", ".gz"])
@pytest.mark.parametrize("cut", [7, 100])
def test_a_packed_file_that_is_cut_short_is_bad_input(form, cut, result, refused, tmp_path, starts):
    before = len(starts())
    path = tmp_path / f"other.json{form}"
    path.write_bytes(PACKED[form](result.read_bytes())[:cut])
    assert main(["report", str(path)]) == 2
    assert len(starts()) == before


def test_json_can_be_saved_packed_and_is_gone_on_with(bench, tmp_path):
    path = tmp_path / "run.json.xz"
    bench("--candidates", "published", "--threads", "1", "--json", path)
    assert path.read_bytes().startswith(b"\xfd7zXZ\x00")
    assert main(["report", str(path)]) == 0


def full(_descriptor):
    raise OSError(28, "No space left on device")


def test_a_disk_that_fills_while_a_run_is_written_keeps_the_runs_before(
    record, tmp_path, monkeypatch
):
    record("--runs", "1")
    folder = tmp_path / "runs"
    before = (folder / "run1.json.xz").read_bytes()
    monkeypatch.setattr("os.fsync", full)
    assert "No space left on device" in record("--runs", "2", code=1)
    assert [p.name for p in folder.iterdir()] == ["run1.json.xz"] and left_behind(folder) == []
    assert (folder / "run1.json.xz").read_bytes() == before


def test_a_disk_without_room_is_found_before_a_run_is_measured(
    record, tmp_path, monkeypatch, starts
):
    def refuse(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    assert "no room for run1.json.xz" in record("--runs", "1", code=2) and starts() == []


def test_an_interrupt_while_a_run_is_written_waits_until_it_is(record, tmp_path, monkeypatch):
    write = results.compressed

    def interrupted(run):
        os.kill(os.getpid(), signal.SIGINT)
        return write(run)

    monkeypatch.setattr(results, "compressed", interrupted)
    assert "run1.json.xz is complete" in record("--runs", "2", code=130)
    assert [p.name for p in (tmp_path / "runs").iterdir()] == ["run1.json.xz"]
    assert results.load(tmp_path / "runs" / "run1.json.xz", REGISTRY)["set"] == "counters"


def test_an_interrupt_while_a_run_is_measured_leaves_no_half(
    drivers, program, standstill, tmp_path
):
    stands_still = standstill(3, start=2)
    process = program("bench", "record", "--set", "counters", tmp_path / "runs", "--quiet")
    stands_still(process)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=LONG)
    assert process.returncode == 130 and "complete runs are kept" in error
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_run_of_an_earlier_version_is_kept_and_judged(record, tmp_path):
    record("--runs", "1")
    path = tmp_path / "runs" / "run1.json.xz"
    (tmp_path / "runs" / "run1.json").write_text(json.dumps(results.read(path)))
    path.unlink()
    assert "kept: " in record("--runs", "1")
    assert [p.name for p in (tmp_path / "runs").iterdir()] == ["run1.json"]
