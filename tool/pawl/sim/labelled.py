# SPDX-License-Identifier: MIT
"""Tables of simulated figures as files, each with a first line that says so."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from pawl.core import output

LABEL = "# simulated"


def write(path: Path, what: str, header: list[str], rows: Iterable[list]) -> Path:
    """`what`: what the figures are, and which command wrote them."""
    out = io.StringIO()
    out.write(f"{LABEL}: {what}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    output.write(path, out.getvalue().encode())
    return path


def read(path: Path) -> list[dict[str, str]]:
    lines = path.read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))
