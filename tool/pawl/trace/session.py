# SPDX-License-Identifier: MIT
"""A program under the recorder: started, waited for, ended as it ended."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pawl.core.errors import Failure
from pawl.trace import raw

ROOM = 256 << 20  # bytes that a folder in memory should have free
FORWARDED = ("SIGTERM", "SIGHUP", "SIGWINCH", "SIGCONT")
SHARED = ("SIGINT", "SIGQUIT")  # the terminal sends them to the program, too


def make_folder() -> Path:
    """In memory where there is room, else where temporary files are."""
    place = Path("/dev/shm")
    in_memory = os.access(place, os.W_OK) and shutil.disk_usage(place).free >= ROOM
    made = Path(tempfile.mkdtemp(prefix="pawl-trace-", dir=place if in_memory else None))
    if os.geteuid() == 0:
        made.chmod(0o1733)  # a server's children may be another user by the time they begin
    return made


def _seccomp() -> str:
    """The mode under which this process runs; a program with another one has its own sandbox."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return next((s.split()[1] for s in status.splitlines() if s.startswith("Seccomp:")), "0")


class Session:
    def __init__(self, command: tuple[str, ...], environment: dict[str, str], folder: Path):
        self.folder = folder
        self.command = command
        self.environment = {
            **environment,
            "PAWL_TRACE_DIR": str(folder),
            "PAWL_TRACE_SECCOMP": _seccomp(),
        }
        self.child: subprocess.Popen | None = None
        self.timer: tuple[float, Callable[[], None]] | None = None

    # ---- Starting and stopping the recording ----------------------------------------------------

    def _enable(self, on: int) -> None:
        """In processes that are there, and in those that come."""
        mark = self.folder / "stopped"
        if on:
            mark.unlink(missing_ok=True)
        else:
            mark.touch()
        for path in self.folder.glob("*.raw"):
            with path.open("r+b", buffering=0) as file:
                file.seek(raw.ENABLED_AT)
                file.write(struct.pack("<I", on))

    def stop(self, *_: object) -> None:
        self._enable(0)

    def start(self, *_: object) -> None:
        self._enable(1)

    # ---- The program ----------------------------------------------------------------------------

    def _forward(self, number: int, _: object) -> None:
        if self.child and self.child.poll() is None:
            self.child.send_signal(number)

    def _signals(self) -> None:
        """Handlers, as the program must find the defaults."""
        for name in FORWARDED:
            signal.signal(getattr(signal, name), self._forward)
        for name in SHARED:
            signal.signal(getattr(signal, name), lambda *_: None)
        signal.signal(signal.SIGUSR1, self.stop)
        signal.signal(signal.SIGUSR2, self.start)

    def after(self, seconds: float, call: Callable[[], None]) -> None:
        self.timer = (seconds, call)

    def run(self) -> int:
        """The return code as subprocess has it: negative for a signal."""
        self._signals()
        try:
            self.child = subprocess.Popen(self.command, env=self.environment)
        except OSError as error:
            raise Failure(f"{self.command[0]}: cannot be started ({error.strerror}).") from error
        if self.timer:
            seconds, call = self.timer
            end = time.monotonic() + seconds
            while (left := end - time.monotonic()) > 0:
                try:
                    return self.child.wait(left)
                except subprocess.TimeoutExpired:
                    continue
            self.stop()
            time.sleep(0.05)  # calls that had begun
            call()
        return self.child.wait()


def end_as(code: int) -> int:
    """The exit code of the program; a signal that ended it ends this process, too."""
    if code >= 0:
        return code
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the program has left the core
    if -code not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [-code])
    os.kill(os.getpid(), -code)
    return 128 - code
