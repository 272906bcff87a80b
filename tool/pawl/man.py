# SPDX-License-Identifier: MIT
"""Writes the manual pages from the commands themselves: python -m pawl.man FOLDER"""

import sys
from pathlib import Path

from pawl.cli import cli
from pawl.core import man


def pages() -> dict[str, str]:
    return man.pages(cli)


if __name__ == "__main__":
    for file_name, text in pages().items():
        Path(sys.argv[1], file_name).write_text(text)
