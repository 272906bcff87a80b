# SPDX-License-Identifier: MIT
"""The result file: what is in it, how it is loaded, when a half of it can be continued."""

from __future__ import annotations

import json
import os
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

from pawl import __version__, driver, kinds, machine, output, stats
from pawl.errors import BadInput

SCHEMA = 1
KINDS = ("lru", "pairs", *kinds.NAMES, "record")


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def printable(text: str) -> str:
    """Names of files may be any bytes; a result and a page are UTF-8."""
    return os.fsencode(text).decode(errors="replace")


def command_line() -> str:
    return printable(shlex.join(["pawl", *sys.argv[1:]]))


def new(kind: str, title: str, plan: dict, baseline: str, missing: list[dict]) -> dict:
    commit, dirty = machine.commit(driver.checkout())
    return {
        "schema": SCHEMA, "kind": kind, "title": printable(title), "pawl_version": __version__,
        "machine": machine.describe(), "kernel": machine.kernel(),
        "compiler": None, "flags": None, "commit": commit, "dirty": dirty,
        "command": command_line(), "started": now(), "finished": None,
        "interrupted": False, "resumed": 0, "baseline": baseline,
        "plan": plan, "unavailable": missing, "cells": [],
    }


def _lines(thing: object, depth: int) -> str:
    """JSON that can be read and compared by line: a sample, and what holds no more, is a line."""
    flat = json.dumps(thing, ensure_ascii=False)
    if len(flat) <= 100 or not isinstance(thing, (dict, list)):
        return flat
    gap = "\n" + " " * (depth + 1)
    if isinstance(thing, dict):
        if "ops" in thing or "median" in thing:
            return flat
        inner = [f"{json.dumps(k)}: {_lines(v, depth + 1)}" for k, v in thing.items()]
        opening, closing = "{}"
    else:
        inner = [_lines(value, depth + 1) for value in thing]
        opening, closing = "[]"
    return opening + gap + f",{gap}".join(inner) + "\n" + " " * depth + closing


def dump(result: dict) -> bytes:
    return (_lines(result, 0) + "\n").encode()


def save(path: Path, result: dict) -> None:
    output.write(path, dump(result))


def _need(condition: bool, path: Path, what: str) -> None:
    if not condition:
        raise BadInput(f"{path} is not a result of pawl ({what}); "
                       "name a file written with --json.")


NUMBER = (int, float)
MAYBE = (int, float, type(None))
# What reports and targets read, and of which type it has to be.
RESULT_KEYS = {"cells": list, "machine": dict, "plan": dict, "baseline": str, "title": str,
               "unavailable": list}
CELL_KEYS = {"threads": int, "samples": list, "summary": list, "candidates": list}
LRU_KEYS = {"size": int, "keyspace": int, "hit_nominal": NUMBER, "miss_cost": int, "dist": str}
TRACE_KEYS = {"distinct": int}
SAMPLE_KEYS = {"candidate": str, "round": int, "ops": NUMBER, "seconds": NUMBER}
ROW_KEYS = {"candidate": str, "median": NUMBER, "q1": NUMBER, "q3": NUMBER,
            "ratio_to_baseline": MAYBE, "ratio_ci95_low": MAYBE, "ratio_ci95_high": MAYBE}
GONE_KEYS = {"candidate": str, "why": str}
# What may be absent, but not be of another type.
TEXT = (str, type(None))
OPTIONAL_KEYS = {"commit": TEXT, "dirty": (bool, type(None)), "started": TEXT, "finished": TEXT,
                 "measured_hit_ratio": MAYBE, "hit_ratio": MAYBE,
                 "cpu_seconds_per_million": NUMBER, "pin_error": TEXT,
                 "chains": (int, type(None)), "latency_ns": dict,
                 # An option of "lru", and what the kind "latency" derives.
                 "latency": (bool, dict)}
QUANTILE_KEYS = {name: NUMBER for name in (*stats.QUANTILES, "max")}


def _has(thing: object, keys: dict, path: Path, name: str) -> None:
    _need(isinstance(thing, dict), path, f"{name} is not an object")
    for key, kind in keys.items():
        _need(isinstance(thing.get(key), kind) and key in thing, path,
              f"{name} has no proper '{key}'")
    for key in OPTIONAL_KEYS.keys() & thing.keys():
        _need(isinstance(thing[key], OPTIONAL_KEYS[key]), path, f"{name} has no proper '{key}'")


def _check_latency(row: dict, path: Path) -> None:
    if "latency_ns" in row:
        _has(row["latency_ns"], QUANTILE_KEYS, path, "the latency of a row")


def _check_own(own: ModuleType | None, thing: dict, path: Path, name: str) -> None:
    """What only this kind has: tables and lists of numbers."""
    for key, keys in (own.NESTED_KEYS if own else {}).items():
        _has(thing.get(key), keys, path, f"'{key}' of {name}")


def _check_cell(cell: dict, kind: str, path: Path) -> None:
    own = kinds.of(kind)
    more = own.CELL_KEYS if own else LRU_KEYS if kind == "lru" else {}
    _has(cell, CELL_KEYS | more, path, "a cell")
    if cell.get("trace") is not None:
        _has(cell["trace"], TRACE_KEYS, path, "the trace of a cell")
    for sample in cell["samples"]:
        _has(sample, SAMPLE_KEYS | (own.SAMPLE_KEYS if own else {}), path, "a sample")
        _check_latency(sample, path)
        _check_own(own, sample, path, "a sample")
        _need(own is None or own.sound(sample), path, "a sample has no proper waits")
    for row in cell["summary"]:
        _has(row, ROW_KEYS | (own.ROW_KEYS if own else {}), path, "a row")
        _check_latency(row, path)
        _check_own(own, row, path, "a row")
        _need(getattr(own, "sound_row", bool)(row), path, "a row lacks what its kind has")
        least = min(row["q1"], row["median"], row["q3"])
        # A lock that starves everybody for a whole sample has a rate of zero; a pair has a cost.
        _need(least > 0 or (least == 0 and kind not in ("pairs", "wake")), path,
              "a row has no throughput")
        _need((row["ratio_ci95_low"] is None) == (row["ratio_ci95_high"] is None), path,
              "a row has half an interval")


def _check(result: object, path: Path, kinds: tuple[str, ...] = KINDS) -> None:
    _need(isinstance(result, dict), path, "it is not a JSON object")
    _need(result.get("schema") == SCHEMA, path, f"its schema is not {SCHEMA}")
    _need(result.get("kind") in kinds, path, "its kind is unknown")
    if result["kind"] == "record":
        _need(isinstance(result.get("parts"), list), path, "it has no proper 'parts'")
        for part in result["parts"]:
            _check(part, path, KINDS[:-1])
        return
    _has(result, RESULT_KEYS, path, "it")
    for gone in result["unavailable"]:
        _has(gone, GONE_KEYS, path, "a row that was not built")
    for cell in result["cells"]:
        _check_cell(cell, result["kind"], path)


def load(path: Path) -> dict:
    try:
        result = json.loads(path.read_bytes())
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}; "
                       "name a file written with --json.") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not JSON; name a file written with --json.") from error
    _check(result, path)
    return result


def parts(result: dict) -> list[dict]:
    """A record holds several results; every other file holds one."""
    return result["parts"] if result["kind"] == "record" else [result]


def complete(result: dict) -> bool:
    done = [c for c in result["cells"] if c.get("complete")]
    return not result.get("interrupted") and len(done) == len(result["plan"].get("cells", []))


def _difference(old: dict, fresh: dict) -> str | None:
    """The first thing that makes two measurements different ones, in words."""
    if old["kind"] != fresh["kind"]:
        return f"a measurement of kind {old['kind']}"
    if old["machine"].get("cpu") != fresh["machine"]["cpu"]:
        return f"measured on another CPU ({old['machine'].get('cpu')})"
    if old.get("kernel") != fresh["kernel"]:
        return f"measured under another kernel ({old.get('kernel')})"
    if old["plan"].get("driver_sha256") != fresh["plan"]["driver_sha256"]:
        return "measured by another build of the driver"
    if old["plan"] != fresh["plan"]:
        return "measured with other options"
    return None


def continue_from(path: Path, fresh: dict) -> dict:
    """Goes on with an unfinished measurement of the same plan; else starts afresh."""
    if not path.exists():
        return fresh
    old = load(path)
    if old["kind"] == "record":
        raise BadInput(f"--json: {path} holds a record; name another file.")
    if complete(old):
        return fresh
    difference = _difference(old, fresh)
    if difference:
        raise BadInput(f"--json: {path} holds an unfinished run {difference}; name another file, "
                       "repeat the command it records, or say --fresh.")
    old["cells"] = [c for c in old["cells"] if c.get("complete")]
    old["interrupted"] = False
    old["resumed"] = old.get("resumed", 0) + 1
    return old
