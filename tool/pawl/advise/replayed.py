# SPDX-License-Identifier: MIT
"""What `pawl replay` measured, quoted by the findings that it belongs to."""

from __future__ import annotations

import json
from pathlib import Path

import fastjsonschema

from pawl.advise.finding import Finding
from pawl.core.errors import BadInput
from pawl.replay import schema, show

# The candidates that are what a rule proposes.
PROPOSED = {
    "read_then_write": ("upgrade/",),
    "many_short_reads": ("r+w/pawl_",),
    "readers_do_not_overlap": ("exclusive/",),
    "convoy": ("exclusive/pawl_", "r+w/pawl_lock"),
    "starvation": ("r+w/pawl_lock",),
    "writers_leave_early": ("r+w/pawl_",),
}


def load(path: Path) -> dict:
    try:
        found = json.loads(path.read_text())
        fastjsonschema.compile(schema.schema())(found)
    except OSError as error:
        raise BadInput(
            f"--replay: {path} cannot be read ({error.strerror}); make it with "
            f"`pawl replay TRACE --json {path}`."
        ) from error
    except (ValueError, fastjsonschema.JsonSchemaException) as error:
        raise BadInput(
            f"--replay: {path} is no answer of this version's `pawl replay --json`; make it again."
        ) from error
    return found


def best(finding: Finding, replay: dict | None) -> dict | None:
    """The proposed candidate that did best, if its lock is the one that was replaced."""
    wanted = PROPOSED.get(finding.rule, ())
    names = {lock.name for lock in finding.match.locks}
    if not replay or not wanted or not names & set(replay["replaced"]):
        return None
    rows = [
        r
        for r in replay["rows"]
        if r["candidate"].startswith(wanted) and r["gain"]["ratio"] is not None
    ]
    if not rows:
        return None
    row = max(rows, key=lambda r: r["gain"]["ratio"])
    return {"candidate": row["candidate"], **row["gain"], "near": replay["fidelity"]["near"]}


def said(found: dict) -> str:
    text = (
        f"{found['candidate']} took {show.interval(found)} times as many locks a second as the "
        "locks that are there"
    )
    return text + ("" if found["near"] else ", but the re-enactment was not near the recording")
