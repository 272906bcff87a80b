# SPDX-License-Identifier: MIT
"""What `pawl replay` measured, quoted by the findings that it belongs to."""

from __future__ import annotations

import json
from pathlib import Path

from pawl.advise.facts import percent
from pawl.advise.finding import WORTH, Finding
from pawl.core.errors import BadInput

WIDE = 0.1  # a wider range, whose end is over twice its beginning, is no range but a bound

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
    import fastjsonschema

    from pawl.replay import schema

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


def gain(found: dict | None) -> dict | None:
    """The shares of the threads' time that go, by the ratio and its interval: the same work takes
    1 / ratio of the time. None: nothing near the recording was measured."""
    if not found or not found["near"]:
        return None
    return {
        name: None if found[key] is None else 1 - 1 / max(found[key], 1e-9)
        for name, key in (("share", "ratio"), ("low", "low"), ("high", "high"))
    }


def ranked(findings: list[Finding], replay: dict | None) -> list[Finding]:
    """Faults first, then what saves most time: by the replay where it measured the finding's lock,
    else as the rule estimates."""

    def saved(finding: Finding) -> float:
        measured = gain(best(finding, replay))
        if measured is None:
            return finding.saved_ns
        return measured["share"] * finding.match.locks[0].process.thread_ns

    return sorted(findings, key=lambda f: (not f.is_fault, -saved(f)))


def expected(finding: Finding, found: dict | None) -> str:
    """The gain in words: measured where it was, with the estimate beside it."""
    low, high = finding.gain
    estimate = f"{percent(low)} to {percent(high)}"
    if high > max(2 * low, low + WIDE):
        estimate = f"at most {percent(high)}"
    measured = gain(found)
    if measured is None and finding.match.unknown:
        return f"the gain is not known: {finding.match.unknown}"
    if measured is None:
        return f"expected gain {estimate} of the threads' time, an estimate"
    if measured["share"] < WORTH:
        text = f"no gain worth a change, by replay ({percent(measured['share'])})"
    else:
        text = f"expected gain {percent(measured['share'])} of the threads' time, by replay"
        if measured["low"] is not None:
            text += f" ({percent(measured['low'])} to {percent(measured['high'])})"
    return text if finding.match.unknown else f"{text}; the estimate was {estimate}"


def said(found: dict) -> str:
    from pawl.replay import show

    text = (
        f"{found['candidate']} took {show.interval(found)} times as many locks a second as the "
        "locks that are there"
    )
    return text + ("" if found["near"] else ", but the re-enactment was not near the recording")
