# SPDX-License-Identifier: MIT
"""The command line of `pawl sim`. Whatever it prints is labelled simulated."""

from __future__ import annotations

import json
from pathlib import Path

import click

from pawl.core import driver as drivers
from pawl.core import options, output, ranges
from pawl.core.errors import BadInput, Failure
from pawl.sim import (
    ablation,
    backoff,
    grid,
    host,
    increments,
    machine,
    page,
    reference,
    sections,
    speed,
    summary,
    trace,
    validate,
    workloads,
)
from pawl.sim import fit as fitting

LOCKS = {
    "spin": "model of glibc's spinlock",
    "rwlock": "model of glibc's rwlock of 2017",
    "plock_w": "pawl_spin64, W",
    "plock_s": "pawl_spin64, S",
    "plock_r_w": "pawl_spin64, R+W",
    "plock_r_s_w": "pawl_spin64, R+S>W",
    "plock_r_rsw": "pawl_spin64, R+R>S>W",
    "plock_r_rw": "pawl_spin64, R+R>W",
    "lock_w": "pawl_lock64, W",
    "lock_r_w": "pawl_lock64, R+W",
    "lock_r_s_w": "pawl_lock64, R+S>W",
    "scaling_r_w": "pawl_lock64, readers scale, R+W",
    "scaling_r_s_w": "pawl_lock64, readers scale, R+S>W",
    "evidence_r_w": "pawl_lock64, by evidence, R+W",
    "evidence_r_s_w": "pawl_lock64, by evidence, R+S>W",
}

PAGE = click.option(
    "--page",
    "to",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the tables between the markers of this page.",
)
MACHINE, DRIVER, STORE = grid.MACHINE, grid.DRIVER, grid.STORE
QUIET, JSON, SCHEDULER = grid.QUIET, grid.JSON, grid.SCHEDULER


@click.group(
    "sim",
    cls=options.ExampleGroup,
    examples=[
        ("pawl sim lru --cores 1:12", "The published cache on a simulated Xeon."),
        ("pawl sim dev validate", "How far the simulator is from the published measurements."),
    ],
)
def sim_group() -> None:
    """Simulate locks on machines that are not at hand.

    The library's own code runs on simulated cores; doc/sim.md says how far to trust it.
    """


@click.group(
    "dev",
    cls=options.ExampleGroup,
    examples=[("pawl sim dev validate", "How far the simulator is from the published data.")],
)
def dev_group() -> None:
    """Fit, check and record the simulator itself; for its maintainers."""


LRU = grid.Job("lru", "The published LRU job", "lookups/s", "lookups_per_s")


def _lru_lock(lock: str) -> dict:
    family, _, strategy = lock.partition("_")
    if mode := {"lock": "off", "scaling": "on", "evidence": "evidence"}.get(family):
        return {"strategy": f"plock_{strategy}", "lock": "lock64", **grid.bias(mode)}
    return {"strategy": lock, "lock": "spin64"}


def _lru(**o) -> None:
    """Simulate the published LRU job: lookups per second by number of cores."""
    job = machine.load(o["name"]).get("job") or fitting.JOB_START
    groups = [
        grid.Group(
            f"{h} % hits",
            {
                "cost": o["cost"],
                "keyspace": 3200 * 100 // h,
                "count": o["count"],
                "warm": validate.WARM,
                **job,
            },
            {"hit": h, "cost": o["cost"]},
        )
        for h in (int(p) for p in ranges.percents(o["hit"]))
    ]
    grid.run(o, LRU, LOCKS, list(LOCKS), groups, _lru_lock, o["per_core"])


grid.command(
    sim_group,
    "lru",
    [
        ("pawl sim lru --cores 1:12 --hit 99", "Every lock at 99 % hits on 1 to 12 cores."),
        (
            "pawl sim lru --machine haswell-ep --locks spin,plock_r_s_w --cores 12 --html lru.html",
            "Two locks, as a page.",
        ),
    ],
    (
        click.option(
            "--per-core",
            type=click.IntRange(1, 16),
            default=1,
            show_default=True,
            metavar="N",
            help="Threads on each core; more than it has hardware threads take turns.",
        ),
        click.option(
            "--hit",
            default="99",
            show_default=True,
            metavar="LIST",
            help="Nominal hit ratios in percent.",
        ),
        click.option(
            "--cost",
            type=click.IntRange(0, 10**6),
            default=100,
            show_default=True,
            metavar="N",
            help="Rounds of work for a miss.",
        ),
        click.option(
            "--count",
            type=click.IntRange(10, 10**8),
            default=validate.COUNT,
            show_default=True,
            metavar="N",
            help="Lookups of a run.",
        ),
    ),
    _lru,
)
workloads.add_to(sim_group)
backoff.add_to(dev_group)
trace.add_to(sim_group)


@dev_group.command(
    "fit",
    cls=options.ExampleCommand,
    examples=[
        ("pawl sim dev fit", "Fits haswell-ep by the protocol, and freezes it."),
        ("pawl sim dev fit --dry-run --keep fit.json", "Only says what it would freeze."),
    ],
)
@MACHINE
@click.option(
    "--rounds",
    type=click.IntRange(1, 50),
    default=3,
    show_default=True,
    metavar="N",
    help="Steps at most for the job, and for the machine.",
)
@click.option("--dry-run", is_flag=True, help="Leave the machine's file as it is.")
@STORE
@DRIVER
def fit_command(
    name: str, rounds: int, dry_run: bool, keep: Path | None, driver: str | None
) -> None:
    """Fit a machine's constants on the spinlock, W and rwlock rows of miss cost 100.

    The result says which points were used. All others are unseen.
    """
    program = _find(driver)
    found = fitting.fit(program, name, rounds, click.echo, grid.store(keep, program))
    click.echo(json.dumps({"simulated": True} | found, indent=1))
    if not dry_run:
        fitting.freeze(name, found)


def _find(given: str | None) -> Path:
    return drivers.find("pawl-sim", given)


@dev_group.command(
    "predict",
    cls=options.ExampleCommand,
    examples=[
        ("pawl sim dev predict --keep predicted.json", "Goes on where it was interrupted."),
        (
            "pawl sim dev predict --check",
            "Ends with 1 if the recorded predictions are not today's.",
        ),
    ],
)
@MACHINE
@click.option("--check", is_flag=True, help="Write nothing; compare with what is recorded.")
@STORE
@DRIVER
@QUIET
def predict_command(
    name: str, check: bool, keep: Path | None, driver: str | None, quiet: bool
) -> None:
    """Simulate every point of the published data with the frozen machine."""
    program = _find(driver)
    recorded = validate.load(name) if check else {}
    found = validate.predict(program, name, grid.store(keep, program), quiet)
    if not check:
        click.echo(f"written: {validate.save(name, found)}", err=True)
        return
    other = [p for p in found if p not in recorded or abs(found[p] - recorded[p]) > 1]
    if other:
        raise Failure(
            f"{len(other)} of {len(found)} predictions are not those recorded, for "
            f"example {other[0]}; run pawl sim dev predict, then pawl sim dev validate --page."
        )
    click.echo(f"simulated: all {len(found)} predictions are as recorded")


@dev_group.command(
    "validate",
    cls=options.ExampleCommand,
    examples=[
        ("pawl sim dev validate", "The errors on the unseen points."),
        ("pawl sim dev validate --page doc/sim.md", "Brings the section of the page up to date."),
        ("pawl sim dev validate --html residuals.html", "Each point's error, drawn."),
    ],
)
@MACHINE
@PAGE
@JSON
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the residuals on one self-contained page.",
)
def validate_command(name: str, to: Path | None, json_path: Path | None, html: Path | None) -> None:
    """Compare the predictions with the published measurements.

    Rows that miss the wanted error come first, with by how much.
    """
    predicted = validate.load(name)
    found = validate.summary(predicted)
    text = validate.markdown(name, found)
    if why := validate.frozen_was_fitted_on_more(name):
        raise BadInput(f"--machine: {name} is no prediction: {why}; run pawl sim dev fit.")
    for option, path in (("--json", json_path), ("--html", html)):
        if path:
            output.check(option, path)
    if json_path:
        output.write(json_path, (json.dumps({"simulated": True} | found, indent=1) + "\n").encode())
    if html:
        output.write(html, page.residuals(name, predicted, reference.measured()).encode())
    if to:
        sections.write(to, "validate", text)
    click.echo(text, nl=False)


@dev_group.command(
    "increments",
    cls=options.ExampleCommand,
    examples=[
        (
            "pawl sim dev increments",
            "One counter on three other machines, against published times.",
        ),
        (
            "pawl sim dev increments --check",
            "Ends with 1 if the recorded predictions are not today's.",
        ),
    ],
)
@click.option("--check", is_flag=True, help="Write nothing; compare with what is recorded.")
@PAGE
@STORE
@DRIVER
def increments_command(check: bool, to: Path | None, keep: Path | None, driver: str | None) -> None:
    """Predict published increments of one counter by 3 to 16 threads.

    Four constants a machine are fitted on one and two threads first.
    """
    program = _find(driver)
    found = increments.predict(program, grid.store(keep, program))
    if check:
        recorded = increments.load()
        if other := [k for k in found if abs(found[k] - recorded.get(k, 0.0)) > 0.06]:
            raise Failure(
                f"{len(other)} of {len(found)} predictions are not those recorded, for "
                f"example {other[0]}; run pawl sim dev increments --page doc/sim.md."
            )
    else:
        click.echo(f"written: {increments.save(found)}", err=True)
    text = increments.markdown(increments.summary(increments.load()))
    if to:
        sections.write(to, "increments", text)
    click.echo(text, nl=False)


@dev_group.command(
    "ablate",
    cls=options.ExampleCommand,
    examples=[
        (
            "pawl sim dev ablate --page doc/sim.md",
            "Simulates, records, and brings the page up to date.",
        )
    ],
)
@MACHINE
@PAGE
@STORE
@DRIVER
@QUIET
def ablate_command(
    name: str, to: Path | None, keep: Path | None, driver: str | None, quiet: bool
) -> None:
    """Simulate a part of the unseen points without one part of the model at a time."""
    program = _find(driver)
    rows = ablation.run(program, name, grid.store(keep, program), quiet)
    click.echo(f"written: {ablation.save(rows)}", err=True)
    if to:
        sections.write(to, "ablate", ablation.markdown(rows))
    click.echo(ablation.markdown(rows), nl=False)


@dev_group.command(
    "native",
    cls=options.ExampleCommand,
    examples=[
        (
            "pawl sim dev native --machine here.toml --calibrate",
            "After pawl costs --machine here.toml: fits its queue on counters, and compares every "
            "lock.",
        ),
        ("pawl sim dev native --machine here.toml --seconds 1", "With longer samples."),
    ],
)
@click.option(
    "--machine",
    "name",
    required=True,
    metavar="FILE",
    help="This machine, as pawl costs --machine wrote it.",
)
@click.option(
    "--calibrate",
    is_flag=True,
    help="First measure a relax hint and the clock, and fit what the file assumes of lines on "
    "counters; the file gets both.",
)
@options.number("--seconds", "SECONDS", options.Finite(0.01, 60), 0.2, "Length of a sample.")
@click.option(
    "--rounds",
    type=click.IntRange(1, 100),
    default=5,
    show_default=True,
    metavar="N",
    help="Samples of each row.",
)
@PAGE
@JSON
@STORE
@DRIVER
@click.option("--native", metavar="FILE", help="The program pawl-sim-native, if elsewhere.")
def native_command(
    name: str,
    calibrate: bool,
    seconds: float,
    rounds: int,
    to: Path | None,
    json_path: Path | None,
    keep: Path | None,
    driver: str | None,
    native: str | None,
) -> None:
    """Run every lock on this machine and simulated, one thread and two, and compare.

    Both run the same program. No lock is used for the calibration.
    """
    if json_path:
        output.check("--json", json_path)
    program, other = _find(driver), drivers.find("pawl-sim-native", native)
    store = grid.store(keep, program)
    machine.load(name)
    wanted = [*(host.CALIBRATED_ON if calibrate else []), *host.runs()]
    real = host.measure(other, wanted, rounds, seconds, lambda s: click.echo(s, err=True))
    if calibrate:
        host.write_calibrated(name, host.prices(other), "measured")
        values, left = host.calibrate(program, name, real, store)
        to_file = host.write_calibrated(name, values, "fitted on counters")
        click.echo(f"written: {to_file} (mean error on counters {100 * left:.1f} %)", err=True)
    words = machine.words(machine.load(name))
    found = host.rows(real, host.simulate(program, host.runs(), words, store))
    text = host.markdown(found)
    if json_path:
        output.write(
            json_path,
            (
                json.dumps(
                    {
                        "simulated": True,
                        "about": host.ABOUT,
                        "machine": machine.load(name),
                        "rows": found,
                        "samples": real,
                    },
                    indent=1,
                )
                + "\n"
            ).encode(),
        )
    if to:
        sections.write(to, "native", text)
    click.echo(text, nl=False)


@dev_group.command(
    "speed",
    cls=options.ExampleCommand,
    examples=[("pawl sim dev speed", "How many accesses a second this machine simulates.")],
)
@MACHINE
@DRIVER
@click.option(
    "--rounds",
    type=click.IntRange(1, 100),
    default=3,
    show_default=True,
    metavar="N",
    help="Runs of each row.",
)
@PAGE
def speed_command(name: str, driver: str | None, rounds: int, to: Path | None) -> None:
    """Measure the simulator itself: simulated accesses per second of one host thread."""
    program, there = _find(driver), machine.load(name)
    text = speed.markdown(
        {what: speed.measure(program, w, there, rounds) for what, w in speed.JOBS.items()}
    )
    if to:
        sections.write(to, "speed", text)
    click.echo(text, nl=False)


@dev_group.command(
    "table",
    cls=options.ExampleCommand,
    examples=[
        (
            "pawl sim dev table sim/reference/lru-milan.json --page sim/reference/tables.md",
            "As that page shows it.",
        ),
        (
            "pawl sim dev table --waits readers.json",
            "A writer's longest waits, of pawl sim readers.",
        ),
    ],
)
@click.argument(
    "files", type=click.Path(path_type=Path), metavar="FILE.json...", nargs=-1, required=True
)
@click.option(
    "--waits", "what", flag_value="waits", help="A writer's longest waits, not the rates."
)
@click.option(
    "--fairness", "what", flag_value="fairness", help="How evenly threads share, not the rates."
)
@click.option(
    "--evidence",
    "what",
    flag_value="evidence",
    help="The gains of readers that scale, always or by evidence; not the rates.",
)
@PAGE
def table_command(files: tuple[Path, ...], what: str | None, to: Path | None) -> None:
    """Show saved simulations, each as one table for a page."""
    one = {"waits": summary.waits, "fairness": summary.fairness, "evidence": summary.evidence}.get(
        what, summary.markdown
    )
    text = "\n".join(one(summary.load(file)) for file in files)
    if to:
        sections.write(to, what or "table", text)
    click.echo(text, nl=False)


sim_group.add_command(dev_group)
