# SPDX-License-Identifier: MIT
"""The JSON Schema of `pawl advise --json`. pawl.schema writes it for other programs."""

from __future__ import annotations

from pawl.advise.rules import RULES
from pawl.core.schema import DRAFT, LICENCE

VERSION = 4
TEXT, NUMBER, COUNT = {"type": "string"}, {"type": "number"}, {"type": "integer", "minimum": 0}


def _object(**properties: dict) -> dict:
    return {
        "type": "object",
        "required": sorted(properties),
        "properties": properties,
        "additionalProperties": False,
    }


def _list(items: dict) -> dict:
    return {"type": "array", "items": items}


def schema() -> dict:
    lock = _object(name=TEXT, kind=TEXT, program=TEXT)
    site = _object(text=TEXT, function=TEXT, file=TEXT, line=COUNT)
    stack = _object(
        mode=TEXT,
        count=COUNT,
        wait_ns=COUNT,
        taken=COUNT,
        share=NUMBER,
        cut={"type": "boolean"},
        frames=_list(site),
    )
    share = {"type": "number", "minimum": 0, "maximum": 1}
    maybe = {"type": ["number", "null"]}
    replayed = {
        "anyOf": [
            {"type": "null"},
            _object(candidate=TEXT, ratio=maybe, low=maybe, high=maybe, near={"type": "boolean"}),
        ]
    }
    gain = _object(
        cores=COUNT, simulated={"type": "boolean"}, low=NUMBER, high=NUMBER, figure=maybe
    )
    scaling = {"anyOf": [{"type": "null"}, _object(rows=_list(gain), why=TEXT)]}
    finding = _object(
        rule={"enum": sorted(RULES)},
        title=TEXT,
        fault={"type": "boolean"},
        confidence={"enum": ["high", "medium", "low"]},
        locks=_list(lock),
        evidence=_list(TEXT),
        sites=_list(site),
        stacks=_list(stack),
        gain=_object(low=share, high=share, unknown=TEXT),
        instead=TEXT,
        why=TEXT,
        against=TEXT,
        sketch=TEXT,
        page=TEXT,
        replayed=replayed,
        scaling=scaling,
    )
    heavy = _object(
        name=TEXT,
        kind=TEXT,
        count=COUNT,
        waits=COUNT,
        wait_ns=COUNT,
        hold_ns=COUNT,
        wait_p99_ns=COUNT,
        wait_max_ns=COUNT,
        hold_p99_ns=COUNT,
        hold_max_ns=COUNT,
        held_share=share,
        waited_share=share,
    )
    return {
        "$schema": DRAFT,
        "$comment": LICENCE,
        "title": "What pawl advise found",
        **_object(
            schema={"const": VERSION},
            kind={"const": "advice"},
            command=TEXT,
            thread_ns=COUNT,
            wait_ns=COUNT,
            worth=NUMBER,
            findings=_list(finding),
            locks=_list(heavy),
            broken=_list(TEXT),
            lost=_list(_object(count=COUNT, meaning=TEXT)),
        ),
    }
