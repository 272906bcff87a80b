# SPDX-License-Identifier: MIT
"""The JSON Schema of `pawl replay --json`. pawl.schema writes it for other programs."""

from pawl.core.schema import DRAFT, LICENCE

VERSION = 3
TEXT, NUMBER, COUNT = {"type": "string"}, {"type": "number"}, {"type": "integer", "minimum": 0}
MAYBE = {"type": ["number", "null"]}


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
    ratio = {"ratio": MAYBE, "low": MAYBE, "high": MAYBE}
    fidelity = _object(
        **ratio,
        near={"type": "boolean"},
        lines=NUMBER,
        recorded_rate=NUMBER,
        recorded_waiting=NUMBER,
        waiting=MAYBE,
        recorded_lost=NUMBER,
        lost=MAYBE,
    )
    waits = {"anyOf": [{"type": "null"}, _object(p50=NUMBER, p99=NUMBER, p999=NUMBER)]}
    row = _object(
        candidate=TEXT,
        rounds=COUNT,
        rate=_object(median=NUMBER, q1=NUMBER, q3=NUMBER),
        gain=_object(**ratio),
        waits_per_lock=NUMBER,
        wait_ns_per_lock=NUMBER,
        wait_ns=waits,
        cpu_seconds_per_million=NUMBER,
        ctx_per_million=NUMBER,
    )
    window = _object(
        program=TEXT,
        number=COUNT,
        length_ns=COUNT,
        threads=COUNT,
        locks=COUNT,
        taken=COUNT,
        pairs=COUNT,
        left_out={"type": "object", "additionalProperties": COUNT},
    )
    return {
        "$schema": DRAFT,
        "$comment": LICENCE,
        "title": "What pawl replay measured",
        **_object(
            schema={"const": VERSION},
            kind={"const": "replay"},
            trace=TEXT,
            command=TEXT,
            machine={"type": "object"},
            fidelity=fidelity,
            window=window,
            replaced=_list(TEXT),
            rows=_list(row),
            assumptions=_list(TEXT),
            interrupted={"type": "boolean"},
        ),
    }
