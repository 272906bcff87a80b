# SPDX-License-Identifier: MIT
"""Runs many simulations beside each other. What is done is kept, so a sweep goes on after an
interrupt."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pawl.core import driver
from pawl.core.errors import BadInput, Failure, Interrupted

Task = tuple[str, ...]  # the arguments of pawl-sim


def one(program: Path, task: Task) -> dict:
    done = subprocess.run([str(program), *task], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode == 0:
        return json.loads(done.stdout)
    said = done.stderr.strip().removeprefix("pawl-sim: ") or f"code {done.returncode}, no words"
    if done.returncode == 2:
        raise BadInput(said)
    raise Failure(f"pawl-sim {' '.join(w for w in task if not w.startswith('machine.'))}: {said}")


class Store:
    """Results by task, a line of JSON each. Another program makes the results worthless."""

    def __init__(self, path: Path | None, program: Path):
        self.path, self.known = path, {}
        self.mark = driver.digest(program)[:16]
        self.lock = threading.Lock()
        if path and path.is_file():
            for line in path.read_text().splitlines():
                with contextlib.suppress(ValueError, KeyError):  # the last may be cut off
                    read = json.loads(line)
                    self.known[read["key"]] = read["result"]

    def key(self, task: Task) -> str:
        return hashlib.sha256(" ".join((self.mark, *task)).encode()).hexdigest()[:24]

    def add(self, task: Task, result: dict) -> None:
        with self.lock:
            self.known[self.key(task)] = result
            if self.path:
                with self.path.open("a") as out:
                    out.write(json.dumps({"key": self.key(task), "result": result}) + "\n")


def run(program: Path, tasks: list[Task], store: Store | None = None, quiet: bool = True,
        jobs: int | None = None) -> list[dict]:
    """The results in the order of the tasks."""
    store = store or Store(None, program)
    todo = list(dict.fromkeys(t for t in tasks if store.key(t) not in store.known))
    columns = (TextColumn("simulating"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    pool = ThreadPoolExecutor(jobs or len(os.sched_getaffinity(0)))
    with Progress(*columns, console=Console(stderr=True), disable=quiet) as bar:
        shown = bar.add_task("", total=len(todo))
        waiting = {pool.submit(one, program, task): task for task in todo}
        try:
            for ready in as_completed(waiting):
                store.add(waiting[ready], ready.result())
                bar.advance(shown)
        except KeyboardInterrupt:
            raise Interrupted("interrupted; what was simulated until then is kept.") from None
        finally:
            pool.shutdown(cancel_futures=True)
    return [store.known[store.key(task)] for task in tasks]
