# SPDX-License-Identifier: MIT
"""Finds the measuring programs, starts them and reads their JSON lines."""

import contextlib
import hashlib
import io
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pawl.core.errors import BadInput, Failure

# After an interrupt the driver finishes its sample; a driver that does not is ended.
GRACE_SECONDS = 10.0


# Where the installed command has its programs, data and preload libraries; tool/pawl.in sets them.
INSTALLED_DRIVERS: Path | None = None
INSTALLED_DATA: Path | None = None
INSTALLED_PRELOAD: Path | None = None


def checkout() -> Path | None:
    """The checkout that this package runs from, if it does."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "CMakeLists.txt").is_file() else None


def _places(name: str) -> Iterator[Path]:
    root = checkout()
    if root:
        yield root / "build" / "release" / "bench" / name
    if INSTALLED_DRIVERS:
        yield INSTALLED_DRIVERS / name
    beside = Path(sys.argv[0]).resolve().parent
    for folder in (
        beside,
        Path(sys.prefix) / "bin",
        Path(sys.prefix) / "libexec" / "pawl",
        Path("/usr/local/libexec/pawl"),
        Path("/usr/libexec/pawl"),
    ):
        yield folder / name
    if found := shutil.which(name):
        yield Path(found)


def find(name: str, given: str | None = None) -> Path:
    """--driver, then $PAWL_BENCH_DIR, then the checkout's build, then beside the package."""
    for source, value in (
        ("--driver", given),
        ("PAWL_BENCH_DIR", os.environ.get("PAWL_BENCH_DIR")),
    ):
        if not value:
            continue
        path = Path(value)
        path = path / name if path.is_dir() else path
        if path.is_file() and os.access(path, os.X_OK):
            return path
        raise BadInput(
            f"{source}: {path} is not a program that can be run; "
            f"name {name} or the folder that holds it."
        )
    for path in _places(name):
        if path.is_file() and os.access(path, os.X_OK):
            return path
    raise BadInput(_lacking(name))


def _lacking(name: str) -> str:
    if checkout():
        return (
            f"{name} is not built; run `make build`, or "
            "`cmake --preset release && cmake --build --preset release`."
        )
    if INSTALLED_DRIVERS:
        return (
            f"{name} was not installed: what it needs was missing when Pawl was built, and the "
            "configuration said what; install that, then build and install Pawl again."
        )
    return (
        f"{name} is not here: pip installs the command without its measuring programs; build "
        "Pawl's source with CMake and install it, or name the folder of the programs in "
        "PAWL_BENCH_DIR."
    )


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _popen(command: list[str], errors) -> subprocess.Popen:
    try:
        # A session of its own: Ctrl-C reaches the driver once, through us.
        return subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
    except OSError as error:
        raise Failure(f"cannot start {command[0]}: {error.strerror}; build it again.") from error


def candidates(path: Path, options: list[str] | None = None) -> list[dict]:
    with tempfile.TemporaryFile("w+") as errors:
        process = _popen([str(path), "--list", *(options or [])], errors)
        text, _ = process.communicate()
    try:
        listed = json.loads(text)
        return [
            {"name": c["name"], "available": bool(c["available"]), "why": c.get("why", "")}
            for c in listed
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise Failure(
            f"{path.name} --list did not answer with a list of candidates; build it again."
        ) from error


@dataclass
class Stop:
    """Set by a signal; remembered so that the measurement can end in good order."""

    asked: bool = False
    process: subprocess.Popen | None = None
    timer: threading.Timer | None = None
    alarm: int | None = None  # a descriptor that is readable after a signal

    def __call__(self, _number=None, _frame=None) -> None:
        again, self.asked = self.asked, True
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL if again else signal.SIGINT)
            if not again:
                self.timer = threading.Timer(GRACE_SECONDS, self.process.kill)
                self.timer.daemon = True
                self.timer.start()


@contextlib.contextmanager
def stop_on_signals() -> Iterator[Stop]:
    # Python runs `stop` between two of its instructions. A signal that comes just before a call of
    # read would wait until the driver speaks; the pipe ends the wait for either.
    alarm, told = os.pipe()
    os.set_blocking(told, False)
    stop = Stop(alarm=alarm)
    before = {s: signal.signal(s, stop) for s in (signal.SIGINT, signal.SIGTERM)}
    other = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    try:
        yield stop
    finally:
        signal.set_wakeup_fd(other)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(alarm)
        os.close(told)


@dataclass
class Outcome:
    start: dict = field(default_factory=dict)
    samples: list[dict] = field(default_factory=list)
    interrupted: bool = False
    ended: bool = False
    error: str = ""


def _take(line: str, outcome: Outcome, on_sample: Callable[[dict], None], name: str) -> None:
    try:
        message = json.loads(line)
        kind = message.pop("type")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Failure(
            f"{name} said something that is not a result: {line.strip()[:120]!r}; build it again."
        ) from error
    if kind == "start":
        outcome.start = message
    elif kind == "sample":
        outcome.samples.append(message)
        on_sample(message)
    elif kind == "end":
        outcome.ended = True
        outcome.interrupted = bool(message.get("interrupted"))
    elif kind == "error":
        outcome.error = str(message.get("message", "unknown error"))


def _explain_end(name: str, code: int, errors) -> None:
    errors.seek(0)
    words = " ".join(errors.read()[-400:].split())
    how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
    tail = f"; its last words: {words}" if words else "; it said nothing"
    raise Failure(f"{name} {how} before its measurement was complete{tail}.")


def _judge(outcome: Outcome, name: str, code: int, errors) -> Outcome:
    """Raises what the driver said of an error, or that it did not end well."""
    if outcome.error:
        # The driver ends with 2 for what the person can change, with 1 for what is broken.
        raise (BadInput if code == 2 else Failure)(f"{name}: {outcome.error}")
    if not outcome.ended or (code != 0 and not outcome.interrupted):
        _explain_end(name, code, errors)
    return outcome


def told(
    name: str, code: int, text: str, said: str, on_sample: Callable[[dict], None] = lambda _: None
) -> Outcome:
    """The outcome of a driver that has run elsewhere, from its output."""
    outcome = Outcome()
    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):
            _take(line, outcome, on_sample, name)
    return _judge(outcome, name, code, io.StringIO(said))


def _lines(process: subprocess.Popen, alarm: int | None) -> Iterator[str]:
    """What the driver says, until it ends. A line cut off by its end is not a sample."""
    begun = b""
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        if alarm is not None:
            ready.register(alarm, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                said = os.read(key.fd, 1 << 16)
                if key.fd == alarm:
                    continue
                if not said:
                    return
                *lines, begun = (begun + said).split(b"\n")
                yield from (line.decode(errors="replace") for line in lines)


def run(
    path: Path, options: list[str], stop: Stop, on_sample: Callable[[dict], None] = lambda _: None
) -> Outcome:
    """Runs one cell. A message it cannot understand ends the driver, never leaves it behind."""
    outcome = Outcome()
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        process = stop.process = _popen([str(path), *options], errors)
        try:
            if stop.asked:
                process.send_signal(signal.SIGINT)
            for line in _lines(process, stop.alarm):
                _take(line, outcome, on_sample, path.name)
            code = process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stdout.close()
            stop.process = None
            if stop.timer:
                stop.timer.cancel()
        if stop.asked and not outcome.error:
            outcome.interrupted = True
            return outcome
        return _judge(outcome, path.name, code, errors)
