# SPDX-License-Identifier: MIT
"""The options of `pawl costs`, and the plan that they make."""

from pathlib import Path

import click

from pawl.core import driver, output, ranges, topology
from pawl.core.errors import BadInput
from pawl.core.kind import Call, Command, Plan
from pawl.kinds.costs import machine_file
from pawl.kinds.costs.plan import PARTS, machine_options, plan

HELP = """What do single operations cost on this machine?

An instruction, a cycle, each cache, atomic operations, lines that another core had last,
fences, the kernel's part. Each row has its median, its quartiles, the same in cycles and in
instructions, the published value of a machine of 2005, and a sentence that says how it was
measured. Then a line between any two CPUs, and for each lock of this build what taking and
dropping it leaves of critical sections of different lengths. Rows that cannot be
measured here say why.
"""
EXAMPLES = [
    ("pawl costs", "The whole table, in less than a minute."),
    ("pawl costs --quick", "The same in some seconds, with fewer rounds."),
    (
        "pawl costs --json costs.json --html costs.html",
        "Saved for other commands, and as a page with heat map and curves.",
    ),
    ("pawl costs --machine here.toml", "This machine as a model for pawl sim --machine here.toml."),
    ("pawl costs --cpus 0-3,8", "Between these CPUs only; rows of one thread use the first."),
]
OPTIONS = (
    click.option(
        "--cpus",
        "cpus",
        default="auto",
        show_default=True,
        metavar="auto|CPUS",
        help="CPUs to measure on and between, as 0,2,4-7; auto: all this process may use.",
    ),
    click.option("--quick", is_flag=True, help="Fewer and shorter samples."),
    click.option("--machine", "machine_path", type=click.Path(path_type=Path), metavar="FILE",
                 help="Write this machine as a model for pawl sim."),
)  # fmt: skip


def _about(o: Call) -> dict:
    """The CPUs to measure on."""
    chosen = (
        ranges.allowed_cpus()
        if o["cpus"] == "auto"
        else dict.fromkeys(ranges.cpu_list(o["cpus"], "--cpus", "auto"))
    )
    return topology.read(list(chosen))


def _offered(o: Call, about: dict) -> dict[str, list[dict]]:
    """part -> what the driver can measure of it here, and why not the rest."""
    told = machine_options(about)
    parts = [p for p in PARTS if p != "matrix" or len(about["cpus"]) > 1]
    return {part: driver.candidates(o.driver, [*told, "--part", part]) for part in parts}


def _rows(o: Call) -> list[str]:
    return [
        f"{part}: {row['name']}" + ("" if row["available"] else f"  (not measured: {row['why']})")
        for part, rows in _offered(o, _about(o)).items()
        for row in rows
    ]


def _finish(o: Call, result: dict) -> None:
    if o["machine_path"]:
        output.write(o["machine_path"], machine_file.text(result).encode())
        click.echo(f"written: {o['machine_path']}", err=True)


def _plan(o: Call) -> Plan:
    if o["machine_path"]:
        output.check("--machine", o["machine_path"])
    about = _about(o)
    offered = _offered(o, about)
    names = {part: [r["name"] for r in rows if r["available"]] for part, rows in offered.items()}
    cells = plan(about, names, o["quick"])
    if not cells:
        raise BadInput("nothing can be measured here; see --list.")
    missing = [
        {"candidate": row["name"], "why": row["why"]}
        for rows in offered.values()
        for row in rows
        if not row["available"]
    ]
    return Plan(cells, missing, extra={"topology": about})


COMMAND = Command(HELP, EXAMPLES, OPTIONS, _plan, top=True, rows=_rows, finish=_finish)
