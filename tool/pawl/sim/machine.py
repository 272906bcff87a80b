# SPDX-License-Identifier: MIT
"""Reads machine files. The simulator itself refuses values and topologies that cannot be."""

import tomllib
from pathlib import Path

from pawl.core import driver, errors
from pawl.core.errors import BadInput

MOST_BYTES = 1 << 20
SECTIONS = {"title", "topology", "values", "fitted", "fit", "job"}


def folder() -> Path:
    if found := driver.checkout() or driver.INSTALLED_DATA:
        return found / "sim"
    raise BadInput(
        "the simulator's machines and measurements are not here: pip installs the command without "
        "them; build Pawl's source with CMake and install it, or run the command from the source."
    )


def path_of(name: str) -> Path:
    """A file, or the name of one in sim/machines."""
    if Path(name).is_file():
        return Path(name)
    known = folder() / "machines" / f"{name}.toml"
    return known if known.is_file() else Path(name)


def load(name: str) -> dict:
    path = path_of(name)
    try:
        if path.exists() and (not path.is_file() or path.stat().st_size > MOST_BYTES):
            raise BadInput(f"--machine: {path} is no plain file of at most 1 MiB; name another.")
        read = tomllib.loads(path.read_text())
        errors.read_so_far.append(path)
    except FileNotFoundError:
        known = ", ".join(sorted(p.stem for p in (folder() / "machines").glob("*.toml")))
        raise BadInput(
            f"--machine: there is no {name}; name a machine file or one of: {known}."
        ) from None
    except (OSError, RecursionError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"--machine: {path} is not a machine file: {error}.") from None
    if unknown := set(read) - SECTIONS:
        raise BadInput(
            f"--machine: {path} has a section '{min(unknown)}'; there are "
            f"{', '.join(sorted(SECTIONS))}."
        )
    for section in SECTIONS - {"title"}:
        if not isinstance(read.get(section, {}), dict):
            raise BadInput(f"--machine: {section} in {path} is a value; write it as [{section}].")
    for section in ("topology", "values", "fitted", "job"):
        for key, value in flat(read.get(section, {})).items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise BadInput(f"--machine: {key} in {path} is not a number.")
    for key, value in read.get("topology", {}).items():
        if not isinstance(value, int) or value < 1:
            raise BadInput(f"--machine: {key} in {path} is {value}; a topology counts, from 1 on.")
    return read


def flat(section: dict, prefix: str = "") -> dict:
    found = {}
    for key, value in section.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{key}.")
        else:
            found[prefix + key] = value
    return found


def words(machine: dict) -> list[str]:
    """The machine as arguments of pawl-sim."""
    values = {}
    for section in ("topology", "values", "fitted"):
        values |= flat(machine.get(section, {}))
    return [f"machine.{key}={value:.10g}" for key, value in values.items()]


def cores(machine: dict) -> int:
    shape = machine.get("topology", {})
    return shape.get("sockets", 1) * shape.get("clusters", 1) * shape.get("cores", 4)
