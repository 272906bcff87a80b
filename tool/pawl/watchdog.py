# SPDX-License-Identifier: MIT
"""The command line of `pawl watchdog`: talks to pawl-watchdogd (hardware/watchdog/README.md)."""

import contextlib
import json
import signal
import socket
import subprocess
import time
from pathlib import Path

import click

from pawl.core import options as command
from pawl.core.errors import BadInput, Failure

RUN = Path("/run")
FOLDER = "/run/pawl-watchdogd"
SECONDS_TO_ANSWER = 10


def _folder(given: str) -> Path:
    """The one that was named; or the only one that systemd made for a device."""
    found = sorted(RUN.glob(Path(FOLDER).name + "-*"))
    if given == FOLDER and not Path(given).exists() and len(found) == 1:
        return found[0]
    return Path(given)


def _connect(folder: str, name: str) -> socket.socket:
    """A socket of the daemon, or a sentence that says what is missing."""
    path = _folder(folder) / name
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(SECONDS_TO_ANSWER)
    try:
        made.connect(str(path))
    except FileNotFoundError:
        raise BadInput(
            f"there is no pawl-watchdogd at {folder}; start it, or name its folder with --folder."
        ) from None
    except PermissionError:
        raise BadInput(f"you may not use {path}; join the group pawl-watchdog.") from None
    except OSError as error:
        raise BadInput(f"pawl-watchdogd does not listen at {path}: {error.strerror}.") from None
    return made


def _ask(folder: str, line: str) -> dict:
    with _connect(folder, "control") as control:
        try:
            control.sendall(line.encode() + b"\n")
            return json.loads(control.makefile().readline())
        except (OSError, ValueError) as error:
            raise Failure("pawl-watchdogd did not answer; its log says why.") from error


def _do(o: dict, line: str, said: str, question: str | None = None) -> None:
    """Asks if it cuts power, then has the daemon do it."""
    if o["dry_run"]:
        click.echo(f"would ask pawl-watchdogd at {o['folder']}: {line}")
        return
    if question and not o["yes"] and not click.confirm(question, err=True):
        raise BadInput("nothing was done; --yes answers the question beforehand.")
    answer = _ask(o["folder"], line)
    if o["as_json"]:
        click.echo(json.dumps(answer))
    if not answer["ok"]:
        raise Failure(f"pawl-watchdogd could not: {answer['reply']}.")
    if not o["as_json"]:
        click.echo(said.format(**answer))


FOLDER_OPTION = click.option(
    "--folder",
    metavar="DIR",
    default=FOLDER,
    show_default=True,
    help="Where the daemon's sockets are; without it also the only /run/pawl-watchdogd-*.",
)
JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
DRY_OPTION = click.option("--dry-run", is_flag=True, help="Only say what would be asked.")
YES_OPTION = click.option("--yes", is_flag=True, help="Do not ask before power is cut.")


def _options(*more):
    return command.with_options([FOLDER_OPTION, JSON_OPTION, DRY_OPTION, *more])


@click.group(
    "watchdog",
    cls=command.ExampleGroup,
    examples=[
        ("pawl watchdog status", "Is it armed, and for how long?"),
        ("pawl watchdog run make test", "A reset comes if the machine hangs meanwhile."),
    ],
)
def watchdog_group() -> None:
    """Use the USB watchdog that resets a hung machine.

    All commands talk to pawl-watchdogd, which has the device.
    """


@watchdog_group.command(
    "status",
    cls=command.ExampleCommand,
    examples=[
        ("pawl watchdog status --json", "For another program; exit code 1 if a device is lost.")
    ],
)
@_options()
def status(**o) -> None:
    """Show what each device does, and the cause of the last reset."""
    if o["dry_run"]:
        _do(o, "status", "")
        return
    state = _ask(o["folder"], "status")
    if o["as_json"]:
        click.echo(json.dumps(state))
    else:
        _tell(state)
    if lost := [device for device in state["devices"] if not device["connected"]]:
        raise Failure("; ".join(d["why"] or f"{d['device']} does not answer" for d in lost) + ".")


def _tell(state: dict) -> None:
    for device in state["devices"]:
        if not device["connected"]:
            continue
        if len(state["devices"]) > 1:
            click.echo(f"{device['device']}:")
        left, level = device["left"], "high" if device["pwr_ok"] else "low"
        armed = f"armed, {left} of {device['timeout']} s left" if left else "not armed"
        click.echo(f"{armed}; power {device['power']}; PWR_OK {level}")
        click.echo(f"started by {device['boot']}; time-outs since then: {device['fired']}")
    if state["refused"]:
        click.echo(f"no refresh: {state['refused']}")
    if state["last_reset"]:
        click.echo(f"last reset: {state['last_reset']}")


@watchdog_group.command(
    "arm",
    cls=command.ExampleCommand,
    examples=[
        ("pawl watchdog arm 60", "The daemon refreshes; without it a reset comes after a minute.")
    ],
)
@click.argument("seconds", type=click.IntRange(1, 3600))
@_options()
def arm(seconds: int, **o) -> None:
    """Arm the device; the daemon refreshes it."""
    _do(o, f"arm {seconds}", "armed: {set_timeout} s")


def _simple(name: str, text: str, said: str, question: str | None = None):
    """A command without arguments."""

    def run_it(**o) -> None:
        _do(o, name, said, question)

    run_it.__doc__ = text
    example = (f"pawl watchdog {name}" + (" --yes" if question else ""), text)
    made = _options(*([YES_OPTION] if question else []))(run_it)
    watchdog_group.add_command(
        click.command(name, cls=command.ExampleCommand, examples=[example])(made)
    )


_simple("refresh", "Refresh the device once.", "refreshed")
_simple("disarm", "Disarm the device.", "disarmed")
_simple("on", "Give power back, or let it pass.", "on")
_simple(
    "off", "Cut the power until it is given back.", "off", "This cuts the machine's power. Go on?"
)
_simple("reset", "Reset the machine now.", "reset", "This resets the machine. Go on?")


@watchdog_group.command(
    "led",
    cls=command.ExampleCommand,
    examples=[("pawl watchdog led on", "Test the device without a reset.")],
)
@click.argument("state", type=click.Choice(["on", "off"]))
@_options()
def led(state: str, **o) -> None:
    """Turn the device's LED on or off."""
    _do(o, f"led {int(state == 'on')}", f"LED {state}")


@watchdog_group.command(
    "run",
    cls=command.ExampleCommand,
    examples=[
        ("pawl watchdog run make test", "Ends with the exit code of the command."),
        ("pawl watchdog run --timeout 30 ./hangs-kernels", "A reset 30 s after a hang."),
    ],
)
@click.argument("words", nargs=-1, required=True, metavar="COMMAND...", type=click.UNPROCESSED)
@click.option(
    "--timeout",
    type=click.IntRange(1, 3600),
    metavar="SECONDS",
    help="Set the time-out first; else the daemon's counts.",
)
@FOLDER_OPTION
@DRY_OPTION
def run(words: tuple[str, ...], timeout: int | None, folder: str, dry_run: bool) -> None:
    """Run a command with the device armed, and disarm it at the end.

    Two hyphens before a command keep its own options from this one.

    This process refreshes the device while the command runs. If the machine hangs, or this process
    is killed, nobody refreshes and the reset comes.
    """
    if dry_run:
        click.echo(f"would arm by {folder}/watchdog, run {' '.join(words)}, and disarm")
        return
    set_to = _ask(folder, f"timeout {timeout}" if timeout else "status")["set_timeout"]
    with _connect(folder, "watchdog") as client:
        try:
            child = subprocess.Popen(words)
        except OSError as error:
            client.sendall(b"V")
            raise BadInput(f"{words[0]} cannot be run: {error.strerror}.") from error
        code = _refresh_until_end(client, child, set_to / 4)
        with contextlib.suppress(OSError):
            client.sendall(b"V")
    raise SystemExit(code if code >= 0 else 128 - code)


def _refresh_until_end(client: socket.socket, child: subprocess.Popen, pause: float) -> int:
    """The exit code of the child; Ctrl-C is for the child to obey."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        refreshed = 0.0
        while True:
            if time.monotonic() - refreshed >= pause:
                client.sendall(b"x")
                refreshed = time.monotonic()
            with contextlib.suppress(subprocess.TimeoutExpired):
                return child.wait(min(pause, 0.2))
    except OSError as error:
        child.wait()
        raise Failure("pawl-watchdogd went away; the reset may come.") from error
    finally:
        signal.signal(signal.SIGINT, previous)
