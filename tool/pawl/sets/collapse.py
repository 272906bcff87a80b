# SPDX-License-Identifier: MIT
"""The set "collapse": where contended locks may fall behind. Three runs take ten minutes.

The programs are those of `scripts/setup programs`.
"""

from collections.abc import Iterable

from pawl.core.record import Set
from pawl.core.targets import Judging, Runs
from pawl.kinds.busy import record as busy
from pawl.kinds.crowd import record as crowd
from pawl.kinds.hash import record as tables
from pawl.kinds.readers import record as readers
from pawl.kinds.shim import record as shim


def _judging() -> Judging:
    from pawl.kinds.busy import targets as beside
    from pawl.kinds.crowd import targets as crowds
    from pawl.kinds.hash import targets as hashes
    from pawl.kinds.readers import targets as word
    from pawl.kinds.shim import targets as programs

    def notes(runs: Runs) -> Iterable[str]:
        for path, run in runs:
            yield f"{path.name}: {crowds.collapse_note(run)}; {programs.collapse_note(run)}"

    return Judging(
        [
            *crowds.collapse(),
            *beside.long_waits(),
            *programs.collapse(),
            *word.word(limit=1.1),
            *hashes.beside_others(),
        ],
        notes,
    )


SET = Set(
    name="collapse",
    what="contended locks in crowds and on busy machines",
    help="Each run of the set collapse measures crowds for a second a sample, waits beside busy "
    "processes, RocksDB and a crowd on the preload library, the word's pair, and RCU's table.",
    example="Where contended locks may fall behind, about ten minutes.",
    parts=(
        crowd.COLLAPSE,
        busy.FEW,
        shim.BUSY,
        shim.ROCKSDB,
        readers.WORD,
        tables.FEW,
        tables.READING,
    ),
    judging=_judging,
)
