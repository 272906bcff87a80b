# SPDX-License-Identifier: MIT
"""The JSON Schema of `pawl diff --json`. pawl.schema writes it for other programs."""

from __future__ import annotations

from pawl.core.schema import DRAFT, LICENCE

VERSION = 2
TEXTS = {"type": "array", "items": {"type": "string"}}


def schema() -> dict:
    number = {"type": "number"}
    measure = {
        "type": "object",
        "required": ["after", "before", "ratio"],
        "properties": {"before": number, "after": number, "ratio": {"type": ["number", "null"]}},
        "additionalProperties": False,
    }
    row = {
        "type": "object",
        "required": ["measures", "name", "sure", "visible"],
        "properties": {
            "name": {"type": "string"},
            "sure": {"type": ["boolean", "null"]},
            "visible": {"type": ["number", "null"]},
            "measures": {"type": "object", "additionalProperties": measure},
        },
        "additionalProperties": False,
    }
    properties = {
        "schema": {"const": VERSION},
        "kind": {"const": "diff"},
        "of": {"enum": ["traces", "results"]},
        "before": {"type": "string"},
        "after": {"type": "string"},
        "rows": {"type": "array", "items": row},
        "only_before": TEXTS,
        "only_after": TEXTS,
        "gone": TEXTS,
        "new": TEXTS,
        "broken": TEXTS,
    }
    return {
        "$schema": DRAFT,
        "$comment": LICENCE,
        "title": "What pawl diff found",
        "type": "object",
        "required": sorted(properties),
        "properties": properties,
        "additionalProperties": False,
    }
