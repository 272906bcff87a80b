# SPDX-License-Identifier: MIT
"""One part of a recorded run: a result of its own, measured and not saved by itself."""

from __future__ import annotations

from pathlib import Path

from pawl import driver, measure, results


def measured(kind: str, title: str, path: Path, cells: list[measure.Cell], baseline: str,
             missing: list[dict], quiet: bool) -> dict:
    plan = {"driver_sha256": driver.digest(path), "cells": [c.parameters for c in cells]}
    result = results.new(kind, title, plan, baseline, missing)
    return measure.run(path, cells, result, lambda _: None, quiet)
