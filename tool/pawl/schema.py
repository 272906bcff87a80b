# SPDX-License-Identifier: MIT
"""Prints the JSON Schema of result files: python -m pawl.schema > tool/pawl/result.schema.json"""

from __future__ import annotations

import json

from pawl.core import schema
from pawl.kinds.registry import KINDS


def text() -> str:
    return json.dumps(schema.of(KINDS), indent=1) + "\n"


if __name__ == "__main__":
    print(text(), end="")
