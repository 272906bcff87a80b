# SPDX-License-Identifier: MIT
"""The entry point of scripts/targets: which targets do recorded runs reach?

Decides from recorded runs whether the library reaches what it set out to reach. A target is met
when every run meets it, or their median where it says so; three runs from a clean checkout are
needed, five of the set latency. Exit code 0: all met; 1: not; 2: no runs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pawl.core import targets
from pawl.core.errors import PawlError
from pawl.kinds.registry import KINDS
from pawl.sets.registry import SETS


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/targets", description=__doc__.split("\n\n", 1)[1],
        epilog="example: scripts/targets bench/results/my-cpu-2026-01-31",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="holds run1.json.xz, run2.json.xz and so on")
    parser.add_argument("--allow-dirty", action="store_true",
                        help="judge runs of an uncommitted tree too; they prove nothing")
    return parser


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        judged = targets.judge(options.folder, KINDS, SETS, options.allow_dirty)
        for line in targets.show(judged):
            print(line)
        return 0 if judged.met else 1
    except PawlError as error:
        print(f"targets: {error}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
