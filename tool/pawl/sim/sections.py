# SPDX-License-Identifier: MIT
"""Sections of pages that commands write, each between two comments."""

import re
from pathlib import Path

from pawl.core import output
from pawl.core.errors import BadInput

END = "<!-- end -->\n"


def begin(name: str) -> str:
    return f"<!-- pawl sim {name} -->\n"


def write(page: Path, name: str, text: str) -> None:
    before = page.read_text() if page.is_file() else ""
    if begin(name) not in before or END not in before.split(begin(name), 1)[1]:
        raise BadInput(
            f"--page: {page} has no section for these tables; it begins with "
            f"{begin(name).strip()} and ends with {END.strip()}."
        )
    after = re.sub(
        f"{begin(name)}.*?{END}", lambda _: begin(name) + text + END, before, count=1, flags=re.S
    )
    output.write(page, after.encode())


def read(page: Path, name: str) -> str:
    return page.read_text().split(begin(name), 1)[1].split(END, 1)[0]
