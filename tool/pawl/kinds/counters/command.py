# SPDX-License-Identifier: MIT
"""The options of `pawl bench counters`, and the plan that they make."""

from __future__ import annotations

from pawl.core import groups, options
from pawl.core.kind import Call, Command, Plan
from pawl.kinds.counters.plan import GROUPS, Request, baseline_of, plan

HELP = """What does counting cost, and what do light locks cost?

Counters, sequence locks, reference counts and big-reader locks, each beside what it replaces,
at one thread and at two. A row's name ends in the number of threads that do it at once, and in
what one more thread does meanwhile. The row thread_local_again is thread_local once more: where
these two differ, it is noise.
"""
EXAMPLES = [
    ("pawl bench counters", "All groups: about half a minute."),
    ("pawl bench counters --groups add,read --rounds 25 --json counters.json",
     "Counters only, more rounds, saved."),
    ("pawl bench counters --groups br --html brlock.html", "Big-reader locks, as a page."),
    ("pawl bench counters --candidates 'add/*@2'", "Adding, two threads at once.")]
OPTIONS = (
    groups.option(GROUPS, "add: adding; read: reading, alone and beside a thread that adds; seq: "
                  "64 bytes under a sequence lock; ref: reference counts; br: big-reader locks."),
    options.seconds(Request.seconds), options.rounds(Request.rounds),
    options.warmup(Request.warmup), groups.PIN, options.rows(),
)


def _plan(o: Call) -> Plan:
    chosen = options.words(o["groups"], "--groups", GROUPS, "group ")
    request = Request(o["seconds"], o["rounds"], o["warmup"], groups.pin(o["pin"]))
    names, missing = groups.chosen(o, chosen, baseline_of)
    return Plan(plan(request, names), missing)


COMMAND = Command(HELP, EXAMPLES, OPTIONS, _plan)
