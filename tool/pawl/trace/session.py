# SPDX-License-Identifier: MIT
"""A program under the recorder: started, waited for, ended as it ended."""

import contextlib
import fcntl
import glob
import os
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pawl.core.errors import Failure
from pawl.trace import raw

PREFIX = "pawl-trace-"
EVERY = 0.25  # seconds between two looks at what has ended
ROOM = 256 << 20  # bytes that a folder in memory should have free
FORWARDED = ("SIGTERM", "SIGHUP", "SIGWINCH", "SIGCONT")
SHARED = (signal.SIGINT, signal.SIGQUIT)  # the terminal sends them to the program, too
OF_TERMINAL = 0x80  # the code of a signal that the kernel itself sends


def make_folder() -> Path:
    """In memory where there is room, else where temporary files are."""
    place = Path("/dev/shm")
    in_memory = os.access(place, os.W_OK) and shutil.disk_usage(place).free >= ROOM
    made = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place if in_memory else None))
    if os.geteuid() == 0:
        # A server's children may be another user by the time they begin. Others see no name in the
        # outer folder, so they do not come into the inner one.
        inner = Path(tempfile.mkdtemp(dir=made))
        inner.chmod(0o1733)
        made.chmod(0o711)
        return inner
    return made


def _remove(folder: Path) -> None:
    outer = folder if folder.name.startswith(PREFIX) else folder.parent
    shutil.rmtree(outer, ignore_errors=True)


def _guard(folder: Path, trace: Path, ended: int) -> None:
    """In a process of its own: waits for the command's end, and cleans up where it was killed."""
    killed = os.getppid()
    os.setsid()  # a signal for the command's group does not reach it
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    if os.read(ended, 1):
        return
    Session((), {}, folder).stop()
    _remove(folder)
    for half in trace.parent.glob(f".{glob.escape(trace.name)}.{killed}.*"):
        half.unlink(missing_ok=True)


@contextlib.contextmanager
def recording_folder(trace: Path) -> Iterator[Path]:
    """It goes when this ends, and when the command is killed."""
    folder = make_folder()
    ended, end = os.pipe()
    guard = os.fork()
    if guard == 0:
        try:
            os.close(end)
            _guard(folder, trace, ended)
        finally:
            os._exit(0)
    os.close(ended)
    try:
        yield folder
    finally:
        _remove(folder)
        with contextlib.suppress(OSError):  # somebody has ended it
            os.write(end, b"x")
        os.close(end)
        os.waitpid(guard, 0)


def _parents() -> dict[int, int]:
    """Of each process that there is."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                stat = (entry / "stat").read_text(encoding="utf-8", errors="replace")
                found[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    return found


def _seccomp() -> str:
    """The mode under which this process runs; a program with another one has its own sandbox."""
    status = ""
    with contextlib.suppress(OSError):
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return next((s.split()[1] for s in status.splitlines() if s.startswith("Seccomp:")), "0")


def _has_ended(path: Path, owners: set[int]) -> bool:
    """The kernel gives a lease for reading where nobody has the file open or mapped to write."""
    try:
        file = raw.open_file(path, os.O_RDONLY, owners)
    except OSError:
        return False  # it is looked at when all is over
    try:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError:
        return False
    finally:
        os.close(file)
    return True


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
        self.traced: set[int] = set()  # processes that were seen
        self.owners = {os.geteuid()}  # and their users
        self.looked_at: set[Path] = set()  # files of other users

    # ---- Starting and stopping the recording ----------------------------------------------------

    def _enable(self, on: int) -> None:
        """In processes that are there, and in those that come."""
        mark = self.folder / "stopped"
        with contextlib.suppress(OSError):  # it is there, or something of others
            if on:
                mark.unlink()
            else:
                os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
        self.look()
        for path in self.folder.glob("*.raw"):
            with contextlib.suppress(OSError):  # one of others, or it is not there any more
                file = raw.open_file(path, os.O_RDWR, self.owners)
                try:
                    os.pwrite(file, struct.pack("<I", on), raw.ENABLED_AT)
                finally:
                    os.close(file)

    def stop(self, *_: object) -> None:
        self._enable(0)

    def start(self, *_: object) -> None:
        self._enable(1)

    def look(self) -> None:
        """Whose are the traced processes? Only root's may be of another user."""
        if os.geteuid() != 0 or not self.child:
            return
        parents = _parents()
        self.traced.add(self.child.pid)
        while more := {p for p, of in parents.items() if of in self.traced} - self.traced:
            self.traced |= more
        for process in self.traced & parents.keys():
            with contextlib.suppress(OSError):
                self.owners.add(os.stat(f"/proc/{process}").st_uid)

    # ---- The program ----------------------------------------------------------------------------

    def _forward(self, number: int, _: object) -> None:
        if self.child and self.child.poll() is None:
            self.child.send_signal(number)

    def _signals(self) -> None:
        """Handlers, as the program must find the defaults."""
        for name in FORWARDED:
            signal.signal(getattr(signal, name), self._forward)
        for number in SHARED:
            signal.signal(number, lambda *_: None)
        signal.signal(signal.SIGIO, lambda *_: None)  # somebody opens what we have a lease of
        signal.signal(signal.SIGUSR1, self.stop)
        signal.signal(signal.SIGUSR2, self.start)

    def after(self, seconds: float, call: Callable[[], None]) -> None:
        self.timer = (seconds, call)

    def _is_foreign(self, path: Path) -> bool:
        with contextlib.suppress(OSError):
            return path.lstat().st_uid not in self.owners
        return False

    def _sweep(self, add: Callable[[Path], None]) -> None:
        """What has ended is taken into the trace and deleted."""
        paths = sorted(self.folder.glob("*.raw"))
        if new := {p for p in paths if p not in self.looked_at and self._is_foreign(p)}:
            self.looked_at |= new
            self.look()
        for path in paths:
            if _has_ended(path, self.owners):
                add(path)
                path.unlink(missing_ok=True)

    def left(self) -> list[str]:
        """Processes that go on after the program's end. They are recorded no more."""
        if self.child is None or self.child.returncode is None:
            return []
        there = [p for p in self.folder.glob("*.raw") if not _has_ended(p, self.owners)]
        found = [p.name.split(".")[0] for p in there]
        found = [process for process in found if Path("/proc", process).exists()]
        if found:
            self.stop()
        return found

    def _wait(self, add: Callable[[Path], None], until: float | None = None) -> int | None:
        """None: it runs on beyond that moment."""
        while until is None or time.monotonic() < until:
            code = self.child.poll()
            if code is not None:
                return code
            left = EVERY if until is None else min(EVERY, max(until - time.monotonic(), 0))
            came = signal.sigtimedwait((*SHARED, signal.SIGCHLD), left)
            if came is None:
                self._sweep(add)
            elif came.si_signo in SHARED and came.si_code != OF_TERMINAL:
                self._forward(came.si_signo, None)
        return None

    def run(self, add: Callable[[Path], None]) -> int:
        """The return code as subprocess has it: negative for a signal. `add` takes a raw file."""
        self._signals()
        try:
            self.child = subprocess.Popen(self.command, env=self.environment)
        except OSError as error:
            raise Failure(f"{self.command[0]}: cannot be started ({error.strerror}).") from error
        # Until its end they are waited for, with the word of who sent them. The handlers stay, so
        # one that comes then ends nothing.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, (*SHARED, signal.SIGCHLD))
        try:
            if self.timer:
                seconds, call = self.timer
                code = self._wait(add, time.monotonic() + seconds)
                if code is not None:
                    return code
                self.stop()
                time.sleep(0.05)  # calls that had begun
                call()
            return self._wait(add)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
