# SPDX-License-Identifier: MIT
"""The command line of `pawl sim`. Whatever it prints is labelled simulated."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
from rich.table import Table

from pawl.core import driver, options, output, ranges, table
from pawl.core.errors import BadInput, Failure
from pawl.sim import fit as fitting
from pawl.sim import machine, page, tasks, validate

LOCKS = {"spin": "model of glibc's spinlock", "rwlock": "model of glibc's rwlock of 2017",
         "plock_w": "pawl_spin64, W", "plock_s": "pawl_spin64, S", "plock_r_w": "pawl_spin64, R+W",
         "plock_r_s_w": "pawl_spin64, R+S>W", "plock_r_rsw": "pawl_spin64, R+R>S>W",
         "plock_r_rw": "pawl_spin64, R+R>W", "lock_w": "pawl_lock64, W",
         "lock_r_w": "pawl_lock64, R+W", "lock_r_s_w": "pawl_lock64, R+S>W"}

MACHINE = click.option("--machine", "name", default="haswell-ep", show_default=True,
                       metavar="NAME|FILE", help="A file of sim/machines, or one of your own.")
DRIVER = click.option("--driver", metavar="FILE", help="The program pawl-sim, if it is elsewhere.")
STORE = click.option("--keep", type=click.Path(path_type=Path), metavar="FILE",
                     help="Keep each finished run here, and take those that it holds.")
QUIET = click.option("--quiet", is_flag=True, help="No progress on standard error.")
JSON = click.option("--json", "json_path", type=click.Path(path_type=Path), metavar="FILE",
                    help="Write the results, labelled as simulated.")
BEGIN, END = "<!-- pawl sim validate -->\n", "<!-- end -->\n"


def _store(keep: Path | None, program: Path) -> tasks.Store:
    if keep:
        output.check("--keep", keep)
    return tasks.Store(keep, program)


@click.group("sim", cls=options.ExampleGroup, examples=[
    ("pawl sim lru --cores 1:12", "The published cache on a simulated Xeon."),
    ("pawl sim validate", "How far the simulator is from the published measurements.")])
def sim_group() -> None:
    """Simulate locks on machines that are not at hand.

    The library's own code runs on simulated cores; doc/sim.md says how far to trust it.
    """


def _error_of(name: str) -> float | None:
    """The 90th percentile of the validated error; None: nobody has measured this machine."""
    if not validate.path_of(name).is_file():
        return None
    return validate.summary(validate.load(name))["p90"]


def _lru_task(o: dict, there: dict, lock: str, hit: int, cores: int) -> tuple[str, ...]:
    base, strategy = ("lock64", lock.replace("lock", "plock", 1)) if lock.startswith("lock_") \
        else ("spin64", lock)
    job = there.get("job") or fitting.JOB_START
    return ("lru", f"strategy={strategy}", f"lock={base}", f"cores={cores}",
            f"threads={cores * o['per_core']}", f"cost={o['cost']}",
            f"keyspace={3200 * 100 // hit}", f"count={o['count']}", f"warm={validate.WARM}",
            f"seed={o['seed']}", *(f"{k}={v:.6g}" for k, v in job.items()),
            *machine.words(there))


def _cores(text: str, most: int, name: str) -> list[int]:
    """`1,2,4`, or `1:12`, which doubles from the first and ends with the last."""
    numbers = []
    for part in text.split(","):
        first, *rest = ranges.integers(part.replace(":", ","), "--cores", 1, 10**9, "1:12")
        if len(rest) > 1:
            raise BadInput(f"--cores: '{part}' has too many colons; write first:last.")
        last = rest[0] if rest else first
        numbers += [first * n for n in ranges.doubling(last // first) if first * n < last] + [last]
    if max(numbers) > most:
        raise BadInput(f"--cores: {name} has {most} cores, not {max(numbers)}; name fewer, or "
                       "another --machine.")
    return sorted(set(numbers))


@sim_group.command("lru", cls=options.ExampleCommand, examples=[
    ("pawl sim lru --cores 1:12 --hit 99", "Every lock at 99 % hits on 1 to 12 cores."),
    ("pawl sim lru --machine haswell-ep --locks spin,plock_r_s_w --cores 12 --html lru.html",
     "Two locks, as a page.")])
@MACHINE
@click.option("--cores", default="1:12", show_default=True, metavar="LIST",
              help="Numbers of cores: 1,2,4 or 1:12, which doubles.")
@click.option("--per-core", type=click.IntRange(1, 16), default=1, show_default=True, metavar="N",
              help="Threads on each core; more than it has hardware threads take turns.")
@click.option("--hit", default="99", show_default=True, metavar="LIST",
              help="Nominal hit ratios in percent.")
@click.option("--cost", type=click.IntRange(0, 10**6), default=100, show_default=True,
              metavar="N", help="Rounds of work for a miss.")
@click.option("--locks", default="all", show_default=True, metavar="LIST",
              help="Of: " + ", ".join(LOCKS) + ".")
@click.option("--count", type=click.IntRange(10, 10**8), default=validate.COUNT,
              show_default=True, metavar="N", help="Lookups of a run.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, metavar="N",
              help="The same seed gives the same result.")
@JSON
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE",
              help="Write one self-contained page.")
@STORE
@DRIVER
@QUIET
def lru_command(**o) -> None:
    """Simulate the published LRU job: lookups per second by number of cores."""
    there = machine.load(o["name"])
    most = machine.cores(there)
    cores = _cores(o["cores"], most, o["name"])
    hits = [int(h) for h in ranges.percents(o["hit"])]
    locks = list(LOCKS) if o["locks"] == "all" else o["locks"].split(",")
    if unknown := [lock for lock in locks if lock not in LOCKS]:
        raise BadInput(f"--locks: there is no model of '{unknown[0]}'; there are "
                       f"{', '.join(LOCKS)}.")
    for option, path in (("--json", o["json_path"]), ("--html", o["html"])):
        if path:
            output.check(option, path)
    program = driver.find("pawl-sim", o["driver"])
    wanted = [(h, lock, c) for h in hits for lock in locks for c in cores]
    found = tasks.run(program, [_lru_task(o, there, lock, h, c) for h, lock, c in wanted],
                      _store(o["keep"], program), o["quiet"])
    error = _error_of(o["name"])
    result = {"simulated": True, "machine": o["name"], "title": there.get("title", o["name"]),
              "error_p90": error, "per_core": o["per_core"], "cost": o["cost"],
              "seed": o["seed"], "points": [
                  {"hit": h, "lock": lock, "model": LOCKS[lock], "cores": c} | r
                  for (h, lock, c), r in zip(wanted, found, strict=True)]}
    _show(result, hits, locks, cores)
    if o["json_path"]:
        output.write(o["json_path"], (json.dumps(result, indent=1) + "\n").encode())
        click.echo(f"written: {o['json_path']}", err=True)
    if o["html"]:
        output.write(o["html"], page.html(result).encode())
        click.echo(f"written: {o['html']}", err=True)


def _show(result: dict, hits: list[int], locks: list[str], cores: list[int]) -> None:
    rate = {(p["hit"], p["lock"], p["cores"]): p["lookups_per_s"] for p in result["points"]}
    error = result["error_p90"]
    known = f"±{100 * error:.0f} % (nine of ten validated points)" if error is not None \
        else "error unknown: nothing was measured on this machine"
    for hit in hits:
        shown = Table(title=f"simulated: {result['title']}, {hit} % hits, million lookups/s, "
                            f"{known}", title_justify="left")
        shown.add_column("lock")
        for c in cores:
            shown.add_column(f"{c} cores" if c > 1 else "1 core", justify="right")
        for lock in locks:
            shown.add_row(LOCKS[lock], *(f"{rate[hit, lock, c] / 1e6:.3f}" for c in cores))
        table.console().print(shown)


@sim_group.command("fit", cls=options.ExampleCommand, examples=[
    ("pawl sim fit", "Fits haswell-ep by the protocol, and freezes it."),
    ("pawl sim fit --dry-run --keep fit.json", "Only says what it would freeze.")])
@MACHINE
@click.option("--rounds", type=click.IntRange(1, 50), default=3, show_default=True, metavar="N",
              help="Steps at most for each of its three parts.")
@click.option("--dry-run", is_flag=True, help="Leave the machine's file as it is.")
@STORE
@DRIVER
def fit_command(name: str, rounds: int, dry_run: bool, keep: Path | None,
                driver: str | None) -> None:
    """Fit a machine's constants on the spinlock, W and rwlock rows of miss cost 100.

    The result says which points were used. All others are unseen.
    """
    program = _find(driver)
    found = fitting.fit(program, name, rounds, click.echo, _store(keep, program))
    click.echo(json.dumps(found, indent=1))
    if not dry_run:
        fitting.freeze(name, found)


def _find(given: str | None) -> Path:
    return driver.find("pawl-sim", given)


@sim_group.command("predict", cls=options.ExampleCommand, examples=[
    ("pawl sim predict --keep predicted.json", "Goes on where it was interrupted."),
    ("pawl sim predict --check", "Ends with 1 if the recorded predictions are not today's.")])
@MACHINE
@click.option("--check", is_flag=True, help="Write nothing; compare with what is recorded.")
@STORE
@DRIVER
@QUIET
def predict_command(name: str, check: bool, keep: Path | None, driver: str | None,
                    quiet: bool) -> None:
    """Simulate every point of the published data with the frozen machine."""
    program = _find(driver)
    recorded = validate.load(name) if check else {}
    found = validate.predict(program, name, _store(keep, program), quiet)
    if not check:
        click.echo(f"written: {validate.save(name, found)}", err=True)
        return
    other = [p for p in found if p not in recorded or abs(found[p] - recorded[p]) > 1]
    if other:
        raise Failure(f"{len(other)} of {len(found)} predictions are not those recorded, for "
                      f"example {other[0]}; run pawl sim predict, then pawl sim validate --page.")
    click.echo(f"simulated: all {len(found)} predictions are as recorded")


@sim_group.command("validate", cls=options.ExampleCommand, examples=[
    ("pawl sim validate", "The errors on the unseen points."),
    ("pawl sim validate --page doc/sim.md", "Brings the section of the page up to date.")])
@MACHINE
@click.option("--page", "to", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the tables between the markers of this page.")
@JSON
def validate_command(name: str, to: Path | None, json_path: Path | None) -> None:
    """Compare the predictions with the published measurements.

    What misses the wanted error comes first, with by how much.
    """
    found = validate.summary(validate.load(name))
    text = validate.markdown(name, found)
    if why := validate.frozen_was_fitted_on_more(name):
        raise BadInput(f"--machine: {name} is no prediction: {why}; run pawl sim fit.")
    if json_path:
        output.check("--json", json_path)
        output.write(json_path, (json.dumps({"simulated": True} | found, indent=1) + "\n").encode())
    if to:
        before = to.read_text() if to.is_file() else ""
        if BEGIN not in before or END not in before:
            raise BadInput(f"--page: {to} has no section for the tables; it begins with "
                           f"{BEGIN.strip()} and ends with {END.strip()}.")
        after = re.sub(f"{BEGIN}.*?{END}", lambda _: BEGIN + text + END, before, flags=re.S)
        output.write(to, after.encode())
    click.echo(text, nl=False)
