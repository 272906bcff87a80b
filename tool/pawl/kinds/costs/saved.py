# SPDX-License-Identifier: MIT
"""A saved result of `pawl costs`, for other commands."""

from dataclasses import dataclass
from pathlib import Path

from pawl.core import results
from pawl.core.errors import BadInput
from pawl.kinds.costs.derive import derive
from pawl.kinds.costs.kind import KIND


@dataclass(frozen=True)
class Costs:
    """A saved measurement. Times are medians in nanoseconds; None is what was not measured."""

    raw: dict
    costs: dict

    @property
    def rows(self) -> dict[str, dict]:
        return {row["id"]: row for row in self.costs["rows"]}

    @property
    def locks(self) -> list[dict]:
        return self.costs["locks"]

    @property
    def clock(self) -> dict:
        return self.costs["clock"]

    @property
    def matrix(self) -> dict | None:
        return self.costs["matrix"]

    @property
    def machine(self) -> dict:
        return self.raw["machine"]

    def _row(self, name: str) -> dict:
        try:
            return self.rows[name]
        except KeyError:
            raise KeyError(f"pawl costs has no row '{name}'") from None

    def ns(self, name: str) -> float | None:
        return self._row(name)["median"]

    def why(self, name: str) -> str:
        """Why the row was not measured; empty if it was."""
        return self._row(name)["why"]

    def lock(self, lock: str, mode: str) -> dict | None:
        return next((x for x in self.locks if (x["lock"], x["mode"]) == (lock, mode)), None)

    def efficiency(self, lock: str, mode: str, tc: float, moved: bool = False) -> float | None:
        """Tc / (Tc + Ta + Tr) of a section of `tc` nanoseconds."""
        found = self.lock(lock, mode)
        cost = found and found["moved" if moved else "local"]
        return tc / (tc + cost["median"]) if cost else None


def load(path: Path | str) -> Costs:
    """A file written by `pawl costs --json`; its costs are made of its samples anew."""
    path = Path(path)
    raw = results.read(path)
    if isinstance(raw, dict) and raw.get("kind") not in (None, KIND.name):
        raise BadInput(
            f"{path} holds a result of kind {raw['kind']}; "
            "name a file written with pawl costs --json."
        )
    ((_, result),) = results.parts(path, {KIND.name: KIND})
    return Costs(result, derive(result))
