# SPDX-License-Identifier: MIT
"""The set "rcu": read-copy-update, the ID table and what they serve.

Three runs take about twelve minutes on two CPUs.
"""

from collections.abc import Iterable

from pawl.core.record import Set
from pawl.core.targets import Judging, Runs
from pawl.kinds.hash import record as tables
from pawl.kinds.rcu import record as rcu
from pawl.kinds.sem import record as sem
from pawl.kinds.tree import record as tree


def _judging() -> Judging:
    from pawl.kinds.hash import targets as hash_targets
    from pawl.kinds.rcu import targets as rcu_targets
    from pawl.kinds.sem import targets as sem_targets
    from pawl.kinds.tree import targets as tree_targets

    def notes(runs: Runs) -> Iterable[str]:
        yield from rcu_targets.notes(runs)
        yield from hash_targets.notes(runs)
        yield from sem_targets.notes(runs)
        yield from tree_targets.notes(runs)

    return Judging([*rcu_targets.targets(), *hash_targets.targets(), *sem_targets.targets()], notes)


SET = Set(
    name="rcu",
    what="read-copy-update",
    help="Each run of the set rcu measures all rows of pawl bench rcu, hash, tree and sem, at one "
    "and two threads.",
    example="Read-copy-update, the ID table and what they serve, about twelve minutes.",
    parts=(rcu.PART, tables.ALL, tables.READING, tree.PART, sem.PART),
    judging=_judging,
)
