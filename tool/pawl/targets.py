# SPDX-License-Identifier: MIT
"""The entry point of scripts/targets: which targets do recorded runs reach?

Decides from recorded runs whether the library reaches what it set out to reach. A target is met
when every run meets it, or their median where it says so; three runs from a clean checkout are
needed, five of the set latency. Exit code 0: all met; 1: not; 2: no runs.
"""

import argparse
import sys
from pathlib import Path

from pawl.core import driver, overview, targets
from pawl.core.errors import BadInput, PawlError
from pawl.kinds.registry import KINDS
from pawl.sets.registry import SETS

EPILOG = """examples:
  scripts/targets bench/results/my-cpu-2026-01-31    which targets do these runs reach?
  scripts/targets --table     what bench/results/README.md has to say of all folders
  scripts/targets --write     write it there, between the markers
  scripts/targets --check     change nothing, end with 1 when the page is stale"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/targets",
        description=__doc__.split("\n\n", 1)[1],
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "folder", type=Path, nargs="?", help="holds run1.json.xz, run2.json.xz and so on"
    )
    what.add_argument("--table", action="store_true", help="print the tables of all folders")
    what.add_argument("--write", action="store_true", help="write them into the page")
    what.add_argument("--check", action="store_true", help="say whether the page has them")
    parser.add_argument(
        "--allow-dirty",
        action="store_true",
        help="judge runs of an uncommitted tree too; they prove nothing",
    )
    return parser


def _page() -> Path:
    root = driver.checkout()
    if root is None:
        raise BadInput(
            "this is no checkout, and only a checkout has bench/results; name a folder of runs."
        )
    return root / "bench" / "results" / "README.md"


def _judge(folder: Path, allow_dirty: bool) -> int:
    judged = targets.judge(folder, KINDS, SETS, allow_dirty)
    for line in targets.show(judged):
        print(line)
    return 0 if judged.met else 1


def _tables(options: argparse.Namespace) -> int:
    page = _page()
    if options.table:
        print(overview.block(page, KINDS, SETS))
    elif options.write:
        overview.write(page, KINDS, SETS)
    elif overview.is_stale(page, KINDS, SETS):
        print(f"targets: {page} is stale; run scripts/targets --write.", file=sys.stderr)
        return 1
    return 0


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        if options.folder:
            return _judge(options.folder, options.allow_dirty)
        return _tables(options)
    except PawlError as error:
        print(f"targets: {error}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
