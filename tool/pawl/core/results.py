# SPDX-License-Identifier: MIT
"""The result file: what is in it, how it is read and written, when a half of it is continued.

Samples are the data. The rows of a cell (`summary`) are made of its samples whenever a file is
read; a file that another program reads has them as well, a recorded run does without.
"""

import gzip
import json
import lzma
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path

from pawl import __version__
from pawl.core import driver, machine, output, schema
from pawl.core.errors import BadInput
from pawl.core.kind import Kind, Kinds
from pawl.core.schema import RECORD, VERSION


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def printable(text: str) -> str:
    """Names of files may be any bytes; a result and a page are UTF-8."""
    return output.shown(text)


def command_line() -> str:
    return printable(shlex.join(["pawl", *sys.argv[1:]]))


def new(
    kind: Kind, title: str, plan: dict, missing: list[dict], baseline: str | None = None
) -> dict:
    commit, dirty = machine.commit(driver.checkout())
    return {
        "schema": VERSION,
        "kind": kind.name,
        "title": printable(title),
        "pawl_version": __version__,
        "machine": machine.describe(),
        "kernel": machine.kernel(),
        "compiler": None,
        "flags": None,
        "commit": commit,
        "dirty": dirty,
        "command": command_line(),
        "started": now(),
        "finished": None,
        "interrupted": False,
        "resumed": 0,
        "baseline": baseline or kind.baseline,
        "plan": plan,
        "unavailable": missing,
        "cells": [],
    }


# ---- Writing ------------------------------------------------------------------------------------


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


def bare(result: dict) -> dict:
    """The data alone: nothing that is made of the samples."""
    if result["kind"] == RECORD:
        return result | {"parts": [bare(part) for part in result["parts"]]}
    derived = ("summary", "measured_hit_ratio")
    cells = [{k: v for k, v in cell.items() if k not in derived} for cell in result["cells"]]
    # What a kind derives for other programs stands under its own name.
    return {k: v for k, v in result.items() if k != result["kind"]} | {"cells": cells}


def short(result: dict) -> bytes:
    """The data alone, without blanks."""
    return json.dumps(bare(result), ensure_ascii=False, separators=(",", ":")).encode()


def compressed(result: dict) -> bytes:
    """As small as it gets; the same data give the same bytes."""
    return lzma.compress(short(result), preset=9 | lzma.PRESET_EXTREME)


def save(path: Path, result: dict) -> None:
    """Whole or not at all; with the rows, for other programs, unless the name ends in .xz."""
    output.write(path, compressed(result) if path.suffix == ".xz" else dump(result))


# ---- Reading ------------------------------------------------------------------------------------


def _unpacked(data: bytes) -> bytes:
    """Known by its first bytes, whatever its name."""
    if data.startswith(b"\xfd7zXZ\x00"):
        return lzma.decompress(data)
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def read(path: Path) -> object:
    """What the file holds, unchecked: JSON, plain or compressed with xz or gzip."""
    try:
        data = path.read_bytes()
        if data.startswith(b"SQLite format 3"):
            raise BadInput(f"{path} is a trace; show what it says with `pawl advise {path}`.")
        return json.loads(_unpacked(data))
    except (lzma.LZMAError, gzip.BadGzipFile, EOFError) as error:
        raise BadInput(
            f"{path} is compressed but damaged or cut short; fetch it again, or name "
            "a file written with --json."
        ) from error
    except OSError as error:
        raise BadInput(
            f"cannot read {path}: {error.strerror}; name a file written with --json."
        ) from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not JSON; name a file written with --json.") from error


# Files of other commands, by what they say of themselves.
OTHERS = {
    "advice": "the advice of `pawl advise --json`, and no result of a benchmark; draw it with "
    "`pawl advise TRACE --html FILE`, and compare the traces: `pawl diff OLD.trace NEW.trace`",
    "diff": "what `pawl diff --json` wrote, and no result of a benchmark; name the two files that "
    "were compared",
    "replay": "what `pawl replay --json` wrote, and no result of a benchmark; quote it with "
    "`pawl advise TRACE --replay FILE`",
}


def _need(condition: bool, path: Path, what: str) -> None:
    if not condition:
        raise BadInput(f"{path} is not a result of pawl ({what}); name a file written with --json.")


def _check_sound(kind: Kind, result: dict, path: Path) -> None:
    """What a schema cannot say."""
    for cell in result["cells"]:
        _need(kind.sound_cell(cell), path, "a cell lacks what its kind has")
        _need(all(map(kind.sound, cell["samples"])), path, "a sample lacks what its kind has")


def check(result: object, path: Path, kinds: Kinds) -> None:
    """Refuses what is no result; a record holds results, and no record."""
    if isinstance(result, dict) and (hint := OTHERS.get(str(result.get("kind")))):
        raise BadInput(f"{path} is {hint}.")
    fault = schema.fault(result, kinds)
    _need(fault is None, path, fault)
    for part in result["parts"] if result["kind"] == RECORD else [result]:
        _check_sound(kinds[part["kind"]], part, path)


def load(path: Path, kinds: Kinds) -> dict:
    """A checked file, as it is."""
    result = read(path)
    check(result, path, kinds)
    return result


# ---- From samples to rows -----------------------------------------------------------------------


def kept(kind: Kind, samples: list[dict]) -> list[dict]:
    """The samples with those keys that something reads; the file keeps no others."""
    known = schema.SAMPLE | kind.sample_keys | kind.sample_optional
    return [{k: v for k, v in s.items() if k in known} for s in samples]


def rows(kind: Kind, cell: dict, baseline: str) -> list[dict]:
    return kind.summarise(cell["samples"], baseline, cell["candidates"])


def _sound_row(kind: Kind, row: dict) -> bool:
    """A rate may be zero: a lock granted no thread while the sample lasted. A time may not."""
    least = min(row["q1"], row["median"], row["q3"])
    return least > 0 or (least == 0 and not kind.above_zero)


def with_rows(kind: Kind, result: dict, path: Path) -> dict:
    """The result with the rows of each cell, made of its samples."""
    cells = []
    for cell in result["cells"]:
        try:
            made = rows(kind, cell, result["baseline"])
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            made = [{"median": -1, "q1": -1, "q3": -1}]
        _need(all(_sound_row(kind, row) for row in made), path, "a row has no throughput")
        cells.append(cell | {"summary": made})
    return result | {"cells": cells}


def parts(path: Path, kinds: Kinds) -> list[tuple[Kind, dict]]:
    """Each result of a file with its kind: a record holds several, every other file one."""
    loaded = load(path, kinds)
    found = loaded["parts"] if loaded["kind"] == RECORD else [loaded]
    return [(kinds[one["kind"]], with_rows(kinds[one["kind"]], one, path)) for one in found]


# ---- Going on after an interrupt ----------------------------------------------------------------


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


def continue_from(path: Path, fresh: dict, kinds: Kinds, keeps_complete: bool) -> dict:
    """Goes on with an unfinished measurement of the same plan; else starts afresh."""
    if not path.exists():
        return fresh
    old = load(path, kinds)
    if old["kind"] == RECORD:
        raise BadInput(f"--json: {path} holds a record; name another file.")
    same = keeps_complete and old.get("plan") == fresh["plan"]
    if complete(old):
        return with_rows(kinds[old["kind"]], old, path) if same else fresh
    difference = _difference(old, fresh)
    if difference:
        raise BadInput(
            f"--json: {path} holds an unfinished run {difference}; name another file, "
            "repeat the command it records, or say --fresh."
        )
    old["cells"] = [c for c in old["cells"] if c.get("complete")]
    old["interrupted"] = False
    old["resumed"] = old.get("resumed", 0) + 1
    return with_rows(kinds[old["kind"]], old, path)
