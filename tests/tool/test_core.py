# SPDX-License-Identifier: MIT
"""The hosts know no kind: what is particular to one stands in its folder."""

import ast
import re

import pytest

from conftest import REGISTRY, ROOT
from pawl.core.kind import Kind
from pawl.sets.registry import SETS

PAWL = ROOT / "tool" / "pawl"
CORE = sorted((PAWL / "core").iterdir())
FILES = [p for p in CORE if p.suffix in (".py", ".j2")]
# Words that may be in no file of core/, not even in a comment.
# A cache is a word of hardware and of Python, too.
NAMES = re.compile(rf"\b({'|'.join(REGISTRY.keys() - {'cache'})})\b", re.IGNORECASE)


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")
            yield from (f"{node.module}.{name.name}" for name in node.names)


def test_there_are_hosts_and_kinds():
    assert len(FILES) > 15 and len(REGISTRY) == 19 and len(SETS) == 14


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_no_host_names_a_kind(path):
    found = [
        f"{number}: {line.strip()}"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if NAMES.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("path", [p for p in FILES if p.suffix == ".py"], ids=lambda p: p.name)
def test_no_host_imports_what_it_is_given(path):
    allowed = ("pawl", "pawl.core", "pawl.__version__")
    found = [
        name
        for name in imported(path)
        if name.startswith((".", "pawl"))
        and name not in allowed
        and not name.startswith("pawl.core.")
    ]
    assert found == []


@pytest.mark.parametrize("name", REGISTRY)
def test_a_kind_fills_in_the_form_under_its_own_name(name):
    kind = REGISTRY[name]
    assert isinstance(kind, Kind) and kind.name == name
    assert kind.driver.startswith("pawl-bench-") and kind.title and kind.baseline
    folder = PAWL / "kinds" / name
    files = {"__init__.py", "kind.py"}
    if name != "case":  # programs of others, drawn as the jobs of the preload library
        files |= {"plan.py", "table.py"}
    assert files <= {p.name for p in folder.iterdir()}
    assert kind.figures is not Kind.__dataclass_fields__["figures"].default


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_of_kinds_of_the_registry(name):
    assert SETS[name].name == name
    assert {part.kind.name for part in SETS[name].parts} <= REGISTRY.keys()
