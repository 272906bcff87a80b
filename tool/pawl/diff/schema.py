# SPDX-License-Identifier: MIT
"""The JSON Schema of `pawl diff --json`, as a file for other programs:
python -m pawl.diff.schema > tool/pawl/diff.schema.json"""

from __future__ import annotations

import json

from pawl.core.schema import DRAFT, LICENCE

VERSION = 1
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
        "required": ["measures", "name", "sure"],
        "properties": {
            "name": {"type": "string"},
            "sure": {"type": ["boolean", "null"]},
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


def text() -> str:
    return json.dumps(schema(), indent=1) + "\n"


if __name__ == "__main__":
    print(text(), end="")
