# SPDX-License-Identifier: MIT
"""The simulated workloads beside the LRU job, each a command of `pawl sim`."""

import click

from pawl.core import options, ranges
from pawl.core.errors import BadInput
from pawl.sim import grid
from pawl.sim.grid import Group, Job

SECTION = {
    "spin": "model of glibc's spinlock",
    "ticket": "model of a ticket lock",
    "mcs": "model of an MCS lock",
    "low_level_lock": "model of glibc's internal mutex",
    "rwlock_2017": "model of glibc's rwlock of 2017",
    "rwlock": "model of glibc's rwlock of today",
    "rwspin": "model of folly's RWSpinLock",
    "bravo": "model of BRAVO over glibc's rwlock",
    "phase_fair": "model of a phase-fair lock",
    "spin32": "pawl_spin32",
    "spin64": "pawl_spin64",
    "lock32": "pawl_lock32",
    "lock64": "pawl_lock64",
    "lock32_scaling": "pawl_lock32, readers scale",
    "lock64_scaling": "pawl_lock64, readers scale",
    "lock32_evidence": "pawl_lock32, by evidence",
    "lock64_evidence": "pawl_lock64, by evidence",
    "brlock": "pawl_brlock",
    "brlock_fenced": "pawl_brlock, fenced",
    "seq": "pawl_seq",
    "rcu": "pawl_rcu",
}
COUNTER = {
    "atomic": "one word, atomic addition",
    "cas": "one word, compare-exchange",
    "counter": "pawl_counter",
}
REFERENCE = {"atomic": "one word, atomic addition", "bigref": "pawl_bigref"}
CHAIN = {"poll": "reading the word", "futex": "futex", "wait": "pawl_wait32"}
READERS = [
    "spin",
    "rwlock_2017",
    "rwlock",
    "bravo",
    "phase_fair",
    "spin64",
    "lock64",
    "lock64_scaling",
    "lock64_evidence",
    "brlock",
    "seq",
    "rcu",
]
FAIRNESS = ["spin", "ticket", "mcs", "low_level_lock", "rwlock", "spin64", "lock64", "brlock"]
CROWD = ["spin", "ticket", "mcs", "low_level_lock", "rwlock", "spin64", "lock64"]


def _count(usual: int) -> click.Option:
    return click.option(
        "--count",
        type=click.IntRange(10, 10**8),
        default=usual,
        show_default=True,
        metavar="N",
        help="Operations of a run.",
    )


def _ns(name: str, usual: float, text: str) -> click.Option:
    return options.number(name, "NS", options.Finite(0, 1e6), usual, text)


def _shares(text: str, option: str = "--write", instance: str = "0,1,10") -> list[float]:
    found = []
    for part in text.split(","):
        try:
            value = float(part)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 100:
            raise BadInput(
                f"{option}: '{part}' is no share; write percents from 0 to 100, for instance "
                f"{instance}."
            )
        found.append(value)
    return list(dict.fromkeys(found))


def _section(o: dict, write: float) -> dict:
    return {
        "write": write,
        "inside": o["inside"],
        "outside": o["outside"],
        "count": o["count"],
        "warm": o.get("warm", 20),
    }


def _readers(usual: list[str], write: str, text: str):
    def body(**o) -> None:
        groups = [
            Group(f"{w:g} % writes", _section(o, w), {"write": w}) for w in _shares(o["write"])
        ]
        grid.run(
            o,
            Job(
                "section",
                "Readers and writers of one object",
                "operations/s",
                "operations_per_s",
                "write_wait_max",
            ),
            SECTION,
            usual,
            groups,
        )

    body.__doc__ = text
    return (
        click.option(
            "--write",
            default=write,
            show_default=True,
            metavar="LIST",
            help="Shares of writes in percent, a table for each.",
        ),
        _ns("--inside", 50.0, "Work in the section."),
        _ns("--outside", 100.0, "Work between two sections."),
        _count(4000),
    ), body


def _crowd(**o) -> None:
    """Simulate many threads a core that all write: operations per second, and the longest wait.

    Threads that outnumber the cores take turns, in slices of the machine's scheduler.
    """
    per_core = ranges.integers(o["per_core"], "--per-core", 1, 64, "4,16")
    for n in per_core:
        grid.run(
            o,
            Job(
                "section",
                f"A crowd of writers, {n} threads a core",
                "operations/s",
                "operations_per_s",
                "write_wait_max",
            ),
            SECTION,
            CROWD,
            [Group(f"{n} threads a core", _section(o, 100.0), {"threads_per_core": n})],
            per_core=n,
        )


def _fairness(**o) -> None:
    """Simulate how evenly near and far cores share a lock.

    A line that several cores want goes to the one that asked first. Hardware may prefer the
    nearest, and no source says how often. So a share of the moves goes to the nearest here.
    """
    grid.run(
        o,
        Job("section", "Near and far cores", "operations/s", "operations_per_s", "write_wait_max"),
        SECTION,
        FAIRNESS,
        [
            Group(
                f"{n:g} % of moves to the nearest",
                _section(o, o["write"]) | {"machine.near_first": n / 100},
                {"near": n, "write": o["write"]},
            )
            for n in _shares(o["near"], "--near", "0,50,100")
        ],
    )


def _counters(**o) -> None:
    """Simulate threads that count events: additions per second, with a share of reads."""
    grid.run(
        o,
        Job("counter", "Counters", "operations/s", "operations_per_s"),
        COUNTER,
        list(COUNTER),
        [
            Group(
                f"{r:g} % reads",
                {"read": r, "outside": o["outside"], "count": o["count"]},
                {"read": r},
            )
            for r in _shares(o["read"], "--read")
        ],
    )


def _bigref(**o) -> None:
    """Simulate threads that take and drop references to one object: pairs per second."""
    grid.run(
        o,
        Job("reference", "References", "pairs/s", "operations_per_s"),
        REFERENCE,
        list(REFERENCE),
        [Group("take and drop", {"outside": o["outside"], "count": o["count"]})],
    )


def _wake(**o) -> None:
    """Simulate threads in a ring that wake each other in turn: wakes per second."""
    grid.run(
        o,
        Job("chain", "Chains of wakes", "wakes/s", "operations_per_s"),
        CHAIN,
        list(CHAIN),
        [Group("a ring of threads", {"inside": o["inside"], "count": o["count"], "warm": 2})],
    )


def add_to(group: click.Group) -> None:
    """The commands; `brlock`, `seq` and `rcu` are `readers` with the rows to compare them with."""
    here = [
        ("pawl sim readers --cores 1:12", "Every kind of readers on 1 to 12 cores."),
        (
            "pawl sim readers --write 0,1,10 --locks spin64,seq,rcu --html readers.html",
            "Three of them at three shares of writes, as a page.",
        ),
    ]
    extra, body = _readers(
        READERS,
        "1",
        """Simulate readers with some writers of one object.

    Locks, sequence locks and read-copy-update, with the longest wait of a writer.
    """,
    )
    grid.command(group, "readers", here, extra, body)
    for name, rows, write, text in (
        (
            "brlock",
            ["rwlock", "bravo", "spin64", "lock64_scaling", "brlock", "brlock_fenced"],
            "0.1,1",
            "Simulate the big-reader lock beside other locks for readers.",
        ),
        (
            "seq",
            ["rwlock", "spin64", "seq"],
            "0,1,10",
            "Simulate sequence locks beside locks for readers.",
        ),
        (
            "rcu",
            ["rwlock", "spin64", "lock64_scaling", "brlock", "rcu"],
            "0,0.1,1",
            "Simulate RCU readers with updaters that wait for them, beside locks.",
        ),
    ):
        extra, body = _readers(rows, write, text)
        grid.command(group, name, [(f"pawl sim {name} --cores 1:12", text)], extra, body)
    grid.command(
        group,
        "crowd",
        [("pawl sim crowd --cores 4 --per-core 4,16", "16 and 64 threads on four cores.")],
        (
            click.option(
                "--per-core",
                default="4,16",
                show_default=True,
                metavar="LIST",
                help="Threads on each core.",
            ),
            _ns("--inside", 50.0, "Work in the section."),
            _ns("--outside", 100.0, "Work between two sections."),
            _count(4000),
        ),
        _crowd,
    )
    grid.command(
        group,
        "fairness",
        [("pawl sim fairness --machine milan --cores 12,64", "Locks on 12 and 64 cores.")],
        (
            click.option(
                "--near",
                default="0,100",
                show_default=True,
                metavar="LIST",
                help="Shares of moves that go to the nearest in percent, a table for each.",
            ),
            options.number("--write", "SHARE", options.Finite(0, 100), 100.0, "Writes in percent."),
            _ns("--inside", 50.0, "Work in the section."),
            _ns("--outside", 100.0, "Work between two sections."),
            _count(40000),
        ),
        _fairness,
    )
    grid.command(
        group,
        "counters",
        [("pawl sim counters --cores 1:12", "Additions by 1 to 12 threads.")],
        (
            click.option(
                "--read",
                default="0",
                show_default=True,
                metavar="LIST",
                help="Shares of reads in percent.",
            ),
            _ns("--outside", 20.0, "Work between two additions."),
            _count(4000),
        ),
        _counters,
    )
    grid.command(
        group,
        "bigref",
        [("pawl sim bigref --cores 1:12", "References by 1 to 12 threads.")],
        (_ns("--outside", 20.0, "Work between two pairs."), _count(4000)),
        _bigref,
    )
    grid.command(
        group,
        "wake",
        [("pawl sim wake --cores 2:12", "Rings of 2 to 12 threads.")],
        (_ns("--inside", 0.0, "Work of a thread before it wakes the next."), _count(1000)),
        _wake,
    )
