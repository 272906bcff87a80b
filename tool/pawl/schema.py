# SPDX-License-Identifier: MIT
"""Writes the JSON Schemas of the files that the command writes: python -m pawl.schema FOLDER"""

import json
import sys
from pathlib import Path

from pawl.advise import schema as advise
from pawl.core import schema as result
from pawl.diff import schema as diff
from pawl.kinds.registry import KINDS
from pawl.replay import schema as replay


def schemas() -> dict[str, dict]:
    """File name -> schema."""
    made = {"advise": advise.schema(), "diff": diff.schema(), "replay": replay.schema()}
    made["result"] = result.of(KINDS)
    return {f"{name}.schema.json": schema for name, schema in made.items()}


if __name__ == "__main__":
    for file_name, schema in schemas().items():
        Path(sys.argv[1], file_name).write_text(json.dumps(schema, indent=1) + "\n")
