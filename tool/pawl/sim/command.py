# SPDX-License-Identifier: MIT
"""The command line of `pawl sim`. Whatever it prints is labelled simulated."""

import json
from pathlib import Path

import click

from pawl.core import driver as drivers
from pawl.core import options, output, ranges
from pawl.core.errors import BadInput, Failure
from pawl.sim import (
    ablation,
    folly,
    grid,
    host,
    increments,
    machine,
    page,
    picture,
    reference,
    regions,
    sections,
    speed,
    summary,
    tasks,
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
# Caches that keep the use of their entries, as the published one does not.
CACHES = {
    "cached": "pawl_cache's hits and its lock",
    "moving": "LRU list, pawl_lock64, W",
    "moving_spin64": "LRU list, pawl_spin64, W",
    "moving_spin": "LRU list, model of glibc's spinlock",
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
    if lock in CACHES:
        return {"strategy": family, "lock": strategy or "lock64", **grid.bias("off")}
    return {"strategy": lock, "lock": "spin64"}


def _lru(**o) -> None:
    """Simulate the published LRU job: lookups per second by number of cores."""
    job = machine.load(o["name"]).get("job") or fitting.JOB_START
    hits = ranges.percents(o["hit"])
    if bad := [h for h in hits if h % 1 or h == 100]:
        raise BadInput(f"--hit: the job has no {bad[0]} percent; write whole ones from 1 to 99.")
    groups = [
        grid.Group(
            f"{h} % hits",
            {
                "cost": o["cost"],
                "keyspace": 3200 * 100 // h,
                "count": o["count"] or grid.count_for(h),
                "warm": validate.WARM,
                **job,
            },
            {"hit": h, "cost": o["cost"]},
        )
        for h in hits
    ]
    grid.run(o, LRU, LOCKS | CACHES, list(LOCKS), groups, _lru_lock, o["per_core"])


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
            default=None,
            metavar="N",
            help="Lookups of a run; without it as many as have 200 misses or more.",
        ),
    ),
    _lru,
)
workloads.add_to(sim_group)
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


def _say(text: str) -> None:
    click.echo(text, err=True)


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
    "folly",
    cls=options.ExampleCommand,
    examples=[("pawl sim dev folly", "Predicts folly's table, by three seeds, and records that.")],
)
@click.option("--check", is_flag=True, help="Write nothing; compare with what is recorded.")
@STORE
@DRIVER
@QUIET
def folly_command(check: bool, keep: Path | None, driver: str | None, quiet: bool) -> None:
    """Simulate locks of one word by 1 to 64 threads, for a table that nothing was fitted on."""
    program = _find(driver)
    recorded = folly.load() if check else {}
    found = folly.predict(program, grid.store(keep, program), quiet)
    if not check:
        click.echo(f"written: {folly.save(found)}", err=True)
        return
    if other := [k for k in found if abs(found[k] / recorded.get(k, 1e9) - 1) > 0.001]:
        raise Failure(
            f"{len(other)} of {len(found)} predictions are not those recorded, for example "
            f"{other[0]}; run pawl sim dev folly."
        )
    click.echo(f"simulated: all {len(found)} predictions are as recorded")


@dev_group.command(
    "validate",
    cls=options.ExampleCommand,
    examples=[
        ("pawl sim dev validate", "The errors of what is recorded, in three tables."),
        (
            "pawl sim dev validate --anew --here here.toml",
            "Simulates all with one seed, and measures this machine, after pawl costs "
            "--machine here.toml.",
        ),
        ("pawl sim dev validate --page doc/sim.md", "Brings the sections of the page up to date."),
        ("pawl sim dev validate --html residuals.html", "Each point's error, drawn."),
    ],
)
@MACHINE
@click.option("--anew", is_flag=True, help="Simulate both published tables now, with one seed.")
@click.option(
    "--here",
    metavar="FILE",
    help="This machine: measure each lock and each model's library now, and compare.",
)
@options.number("--seconds", "SECONDS", options.Finite(0.01, 60), 0.2, "Length of a sample there.")
@PAGE
@JSON
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the residuals on one self-contained page.",
)
@DRIVER
@click.option("--native", metavar="FILE", help="The program pawl-sim-native, if it is elsewhere.")
@QUIET
def validate_command(
    name: str,
    anew: bool,
    here: str | None,
    seconds: float,
    to: Path | None,
    json_path: Path | None,
    html: Path | None,
    driver: str | None,
    native: str | None,
    quiet: bool,
) -> None:
    """Compare with the published LRU job, with folly's table, and with this machine.

    Each table has its errors by region. Rows that miss the wanted error come first.
    """
    for option, path in (("--json", json_path), ("--html", html)):
        if path:
            output.check(option, path)
    if why := validate.frozen_was_fitted_on_more(name):
        raise BadInput(f"--machine: {name} is no prediction: {why}; run pawl sim dev fit.")
    program = _find(driver) if anew or here else None
    store = tasks.Store(None, program) if program else None
    predicted = validate.predict(program, name, store, quiet) if anew else validate.load(name)
    locks = folly.predict(program, store, quiet, seeds=(1,)) if anew else folly.load()
    if here:
        other = drivers.find("pawl-sim-native", native)
        machine.load(here)
        measured = host.compare(program, other, here, True, 3, seconds, store, _say)
    else:
        measured = host.recorded()
    found = validate.summary(predicted)
    parts = {
        "validate": validate.markdown(name, found),
        "regions": regions.markdown(regions.errors(predicted)),
        "folly": folly.markdown(folly.load("predicted-folly-first.csv"), locks),
        "native": host.markdown(measured["rows"]),
    }
    if json_path:
        output.write(json_path, (json.dumps({"simulated": True} | found, indent=1) + "\n").encode())
    if html:
        output.write(html, page.residuals(name, predicted, reference.measured()).encode())
    for part, text in parts.items():
        if to and part != "native":
            sections.write(to, part, text)
        click.echo(("" if part == "validate" else "\n") + text, nl=False)


@dev_group.command(
    "picture",
    cls=options.ExampleCommand,
    examples=[
        (
            "pawl sim dev picture --native run1.json.xz",
            "The published picture in figures: its data, ours, and what a machine measured.",
        )
    ],
)
@MACHINE
@click.option(
    "--native",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A result of pawl bench lru, or a record with one: its published cell is shown too.",
)
@PAGE
def picture_command(name: str, native: Path | None, to: Path | None) -> None:
    """Say what the published curves and the recorded predictions gain, and where they cross."""
    text = picture.markdown(validate.load(name), picture.native(native))
    if to:
        sections.write(to, "picture", text)
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
                f"example {other[0]}; run pawl sim dev increments --page sim/reference/tables.md."
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
            "pawl sim dev ablate --page sim/reference/tables.md",
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
    machine.load(name)
    result = host.compare(
        program, other, name, calibrate, rounds, seconds, grid.store(keep, program), _say
    )
    text = host.markdown(result["rows"])
    if json_path:
        output.write(json_path, (json.dumps(result, indent=1) + "\n").encode())
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
