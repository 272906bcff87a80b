# SPDX-License-Identifier: MIT
"""The entry point of the command: what commands there are, and where they lie."""

from pawl.core.cli import root, run

COMMANDS = {
    "advise": (
        "pawl.advise.command:advise_command",
        "Say what would be better than the locks of a traced program, and why.",
    ),
    "bench": ("pawl.benches:bench", "Measure locks against each other."),
    "choose": ("pawl.choose.command:choose_command", "Which lock, counter or design does the job?"),
    "costs": ("pawl.benches:costs", "What do single operations cost on this machine?"),
    "diff": ("pawl.benches:diff", "Compare two traces, or two results of a benchmark."),
    "replay": (
        "pawl.replay.command:replay_command",
        "Do again what a traced program did, with its locks and with others.",
    ),
    "report": ("pawl.benches:report", "Draw a report from saved results."),
    "run": (
        "pawl.run.command:run_command",
        "Run a program on Pawl's locks, without a change to it.",
    ),
    "sim": ("pawl.sim.command:sim_group", "Simulate locks on machines that are not at hand."),
    "trace": (
        "pawl.trace.command:trace_command",
        "Record which locks a program takes, holds and waits for.",
    ),
    "watchdog": (
        "pawl.watchdog:watchdog_group",
        "Use the USB watchdog that resets a hung machine.",
    ),
}

cli = root(
    COMMANDS,
    examples=[
        ("pawl bench lru", "Which lock serves a cache best on this machine?"),
        ("pawl bench pairs", "What does each lock cost one thread alone?"),
        ("pawl report run.json --html run.html", "Draw a report from saved results."),
    ],
)


def main(arguments: list[str] | None = None) -> int:
    return run(cli, arguments)
