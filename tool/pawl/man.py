# SPDX-License-Identifier: MIT
"""Writes the manual pages from the commands themselves: python -m pawl.man FOLDER"""

import sys
from pathlib import Path

from pawl.cli import cli
from pawl.core import man

# What maintainers measure stands on the page of `pawl bench`; other benches have one of their own.
WITHOUT = ("pawl bench crate", "pawl bench functions", "pawl bench record")


def pages() -> dict[str, str]:
    return man.pages(cli, WITHOUT)


if __name__ == "__main__":
    for file_name, text in pages().items():
        Path(sys.argv[1], file_name).write_text(text)
