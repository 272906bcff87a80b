# SPDX-License-Identifier: MIT
"""`--fail-on`: conditions on locks and findings, for CI.

lock=cache.* p99_wait>2ms       some lock of that name has it
rule=lock_order                 some finding of that rule
finding                         any finding
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pawl.advise.facts import Facts, Uses, time
from pawl.advise.finding import Finding
from pawl.core.errors import BadInput

UNITS = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "": 1}
SHARES = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
CONDITION = re.compile(r"(\w+)(>=|>)([\d.]+)([a-zµ]*)")


def _measures() -> dict[str, Callable[[Uses], float]]:
    found: dict[str, Callable[[Uses], float]] = {
        "count": lambda u: u.count,
        "waits": lambda u: u.sum("waits"),
        "timeouts": lambda u: u.sum("timeouts"),
        "failed": lambda u: u.sum("failed"),
    }
    for what in ("wait", "hold"):
        found[f"max_{what}"] = lambda u, w=what: u.max(f"{w}_max")
        found[f"total_{what}"] = lambda u, w=what: u.sum(f"{w}_ns")
        for name, share in SHARES.items():
            found[f"{name}_{what}"] = lambda u, w=what, s=share: u.percentile(w, s)
    return found


MEASURES = _measures()


@dataclass
class Limit:
    text: str
    lock: str = "*"
    rule: str = ""
    conditions: tuple[tuple[str, bool, float], ...] = ()

    def broken(self, facts: Facts, findings: list[Finding]) -> list[str]:
        """A sentence for each lock or finding that breaks it."""
        if self.rule:
            return [
                f"{f.title}: {', '.join(k.name for k in f.match.locks)}"
                for f in findings
                if fnmatchcase(f.rule, self.rule)
            ]
        said = []
        for lock in facts.locks.values():
            if fnmatchcase(lock.name, self.lock) and lock.uses:
                values = [
                    (name, MEASURES[name](lock.all), above, limit)
                    for name, above, limit in self.conditions
                ]
                if all(v > limit if above else v >= limit for _, v, above, limit in values):
                    said.append(
                        f"{lock.name}: "
                        + ", ".join(
                            f"{name} is {time(v) if '_' in name else f'{v:,}'}"
                            for name, v, _, _ in values
                        )
                    )
        return said


def _condition(text: str, word: str) -> tuple[str, bool, float]:
    found = CONDITION.fullmatch(word)
    if not found or found[1] not in MEASURES or found[4] not in UNITS:
        raise BadInput(
            f"--fail-on '{text}': '{word}' is no condition; say for example "
            f"p99_wait>2ms with one of {', '.join(MEASURES)}."
        )
    try:
        return found[1], found[2] == ">", float(found[3]) * UNITS[found[4]]
    except ValueError as error:
        raise BadInput(f"--fail-on '{text}': '{found[3]}' is no number; write one.") from error


def parse(text: str, rules: tuple[str, ...]) -> Limit:
    limit = Limit(text)
    conditions = []
    for word in text.split():
        if word == "finding":
            limit.rule = "*"
        elif word.startswith("rule="):
            limit.rule = word[5:]
            if not any(fnmatchcase(rule, limit.rule) for rule in rules):
                raise BadInput(
                    f"--fail-on '{text}': there is no rule {limit.rule}; choose among "
                    f"{', '.join(rules)}."
                )
        elif word.startswith("lock="):
            limit.lock = word[5:]
        else:
            conditions.append(_condition(text, word))
    limit.conditions = tuple(conditions)
    if not limit.rule and not conditions:
        raise BadInput(
            f"--fail-on '{text}': says no condition; add one, as in p99_wait>2ms, or say finding."
        )
    return limit
