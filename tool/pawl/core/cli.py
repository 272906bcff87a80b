# SPDX-License-Identifier: MIT
"""The command line: finds the command that was asked for, and says how it ended."""

import importlib
import io
import os
import sys
from collections.abc import Mapping

import click

from pawl import __version__
from pawl.core import errors, missing, options, output
from pawl.core.errors import BAD_INPUT, FAILED, INTERRUPTED, OK, PawlError

# Its module and its name there, and the first line of its help.
Told = tuple[str, str]


class Lazy(options.ExampleGroup):
    """A group that loads a command when it is asked for: each needs other packages."""

    def __init__(self, *args, told: Mapping[str, Told], **kwargs):
        super().__init__(*args, **kwargs)
        self.told = told

    def list_commands(self, ctx: click.Context | None) -> list[str]:
        return list(self.told)

    def get_command(self, ctx: click.Context | None, name: str) -> click.Command | None:
        if name not in self.told:
            return None
        module, _, attribute = self.told[name][0].partition(":")
        return getattr(importlib.import_module(module), attribute)

    def told_commands(self) -> list[tuple[str, str]]:
        return [(name, text) for name, (_, text) in self.told.items()]


def root(told: Mapping[str, Told], examples: list[tuple[str, str]]) -> click.Group:
    @click.group(
        cls=Lazy,
        told=told,
        examples=examples,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    @click.version_option(__version__, prog_name="pawl")
    def pawl() -> None:
        """Measures locks on your own machine and shows what they are worth there."""

    return pawl


def _usage_sentence(error: click.UsageError) -> str:
    where = error.ctx.command_path if error.ctx else "pawl"
    return f"{error.format_message().rstrip('.')}; see `{where} --help`."


def run(command: click.Group, arguments: list[str] | None = None) -> int:
    """Ends with the exit codes of errors.py, and says why in one sentence."""
    errors.read_so_far.clear()
    for stream in filter(None, (sys.stdout, sys.stderr)):  # names of files may be any bytes
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        return command.main(args=arguments, prog_name="pawl", standalone_mode=False) or 0
    except click.UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # before click 8.2 it printed by itself
            click.echo(error.ctx.get_help())
            return OK
        message, code = _usage_sentence(error), BAD_INPUT
    except PawlError as error:
        message, code = str(error), error.exit_code
    except errors.DAMAGE as error:
        if not errors.read_so_far:
            raise
        message, code = str(errors.damaged(error)), BAD_INPUT
    except ModuleNotFoundError as error:
        if (message := missing.sentence(error)) is None:
            raise
        code = BAD_INPUT
    except (KeyboardInterrupt, click.Abort):
        message, code = "interrupted before anything was measured.", INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (head, less); Python must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    print(f"pawl: {output.shown(message)}", file=sys.stderr)
    return code
