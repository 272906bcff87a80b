# SPDX-License-Identifier: MIT
"""Runs many simulations beside each other. What is done is kept, so a sweep goes on after an
interrupt."""

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

from pawl.core import cluster, driver
from pawl.core.errors import BadInput, Failure, Interrupted

Task = tuple[str, ...]  # the arguments of pawl-sim


def one(program: Path, task: Task) -> dict:
    done = subprocess.run(
        [str(program), *task], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    return read(task, done.returncode, done.stdout, done.stderr)


def read(task: Task, code: int, text: str, said: str) -> dict:
    """The result of a run, from its output."""
    if code == 0:
        return json.loads(text)
    said = said.strip().removeprefix("pawl-sim: ") or f"code {code}, no words"
    if code == 2:
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

    def after_interrupt(self) -> str:
        if self.path:
            return f"what was simulated is in {self.path}, and the same command goes on from there"
        return "with --keep FILE the same command could have gone on"

    def key(self, task: Task) -> str:
        return hashlib.sha256(" ".join((self.mark, *task)).encode()).hexdigest()[:24]

    def add(self, task: Task, result: dict) -> None:
        with self.lock:
            self.known[self.key(task)] = result
            if self.path:
                with self.path.open("a") as out:
                    out.write(json.dumps({"key": self.key(task), "result": result}) + "\n")


def run(
    program: Path,
    tasks: list[Task],
    store: Store | None = None,
    quiet: bool = True,
    jobs: int | None = None,
    scheduler: str | None = None,
) -> list[dict]:
    """The results in the order of the tasks."""
    store = store or Store(None, program)
    todo = list(dict.fromkeys(t for t in tasks if store.key(t) not in store.known))
    columns = (TextColumn("simulating"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=quiet) as bar:
        shown = bar.add_task("", total=len(todo))

        def done(task: Task, result: dict) -> None:
            store.add(task, result)
            bar.advance(shown)

        try:
            if scheduler is not None:
                cluster.run(
                    scheduler,
                    program,
                    todo,
                    lambda task, a: done(task, read(task, a.code, a.text, a.said)),
                )
            else:
                _beside_each_other(program, todo, jobs, done)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted; {store.after_interrupt()}.") from None
    return [store.known[store.key(task)] for task in tasks]


def _beside_each_other(program: Path, todo: list[Task], jobs: int | None, done) -> None:
    pool = ThreadPoolExecutor(jobs or len(os.sched_getaffinity(0)))
    waiting = {pool.submit(one, program, task): task for task in todo}
    try:
        for ready in as_completed(waiting):
            done(waiting[ready], ready.result())
    finally:
        pool.shutdown(cancel_futures=True)
