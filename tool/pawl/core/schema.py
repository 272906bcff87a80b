# SPDX-License-Identifier: MIT
"""The JSON Schema of result files, made of what the kinds declare; a library checks files by it.

pawl.schema writes it as a file for other programs.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pawl.core.kind import Kind, Kinds

VERSION = 1
RECORD = "record"
DRAFT = "http://json-schema.org/draft-07/schema#"
LICENCE = "SPDX-License-Identifier: MIT"  # of a schema's file

NUMBER = (int, float)
TEXT = (str, type(None))
# The keys that reports and targets read: of every result, cell and sample.
RESULT = {
    "cells": list,
    "machine": dict,
    "plan": dict,
    "baseline": str,
    "title": str,
    "unavailable": list,
}
RESULT_OPTIONAL = {"commit": TEXT, "dirty": (bool, type(None)), "started": TEXT, "finished": TEXT}
CELL = {"threads": int, "samples": list, "candidates": list}
CELL_OPTIONAL = {"pin_error": TEXT, "host": TEXT}
SAMPLE = {"candidate": str, "round": int, "ops": NUMBER, "seconds": NUMBER}
GONE = {"candidate": str, "why": str}

NAMES = {
    int: "integer",
    float: "number",
    str: "string",
    bool: "boolean",
    dict: "object",
    list: "array",
    type(None): "null",
}


def _type(types: type | tuple) -> dict:
    several = types if isinstance(types, tuple) else (types,)
    names = [NAMES[one] for one in several]
    if "number" in names and "integer" in names:
        names.remove("integer")
    return {"type": names[0] if len(names) == 1 else names}


def _object(keys: Mapping, optional: Mapping = {}, **closer: dict) -> dict:
    """An object that has the keys and may have the optional ones; `closer` says more of some."""
    every = {**keys, **optional}
    return {
        "type": "object",
        "required": sorted(keys),
        "properties": {name: _type(types) | closer.get(name, {}) for name, types in every.items()},
    }


def _of_cells(kind: Kind) -> dict:
    nested = {name: _object(keys) for name, keys in kind.nested_keys.items()}
    not_negative = {"minimum": 0}
    sample = _object(
        {**SAMPLE, **kind.sample_keys},
        kind.sample_optional,
        ops=not_negative,
        seconds=not_negative,
        **nested,
    )
    cell = _object(
        {**CELL, **kind.cell_keys},
        {**CELL_OPTIONAL, **kind.cell_optional},
        samples={"items": sample},
    )
    return {"properties": {"cells": {"items": cell}}}


def _if_kind(name: str, then: dict) -> dict:
    return {"if": {"properties": {"kind": {"const": name}}}, "then": then}


def _result(kinds: Kinds) -> dict:
    one = _object(
        {**RESULT, "schema": int, "kind": str},
        RESULT_OPTIONAL,
        schema={"const": VERSION},
        kind={"enum": sorted(kinds)},
        unavailable={"items": _object(GONE)},
    )
    return one | {
        "allOf": [_if_kind(name, {"$ref": f"#/definitions/{name}"}) for name in sorted(kinds)]
    }


def of(kinds: Kinds) -> dict:
    """The schema of every file that --json writes, and of records."""
    record = _object(
        {"schema": int, "parts": list},
        schema={"const": VERSION},
        parts={"items": {"$ref": "#/definitions/result"}},
    )
    return {
        "$schema": DRAFT,
        "$comment": LICENCE,
        "title": "A result of pawl",
        "type": "object",
        "required": ["kind"],
        **_if_kind(RECORD, record),
        "else": {"$ref": "#/definitions/result"},
        "definitions": {
            "result": _result(kinds),
            **{name: _of_cells(kinds[name]) for name in sorted(kinds)},
        },
    }


@functools.cache
def _validator(text: str):
    # It takes a while to load and to compile: a command that reads no file does without.
    import fastjsonschema

    return fastjsonschema.compile(json.loads(text), use_default=False)


def fault(result: object, kinds: Kinds) -> str | None:
    """The first thing that is wrong with it, in words; None if it is sound."""
    validate = _validator(json.dumps(of(kinds)))
    from fastjsonschema import JsonSchemaValueException

    try:
        validate(result)
    except JsonSchemaValueException as error:
        return error.message.removeprefix("data ").removeprefix("data.")
    return None
