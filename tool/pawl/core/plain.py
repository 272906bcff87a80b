# SPDX-License-Identifier: MIT
"""Stands in for the module click where Python has none, so that `pawl run`, `trace`, `advise`,
`choose` and `watchdog` start on a clean machine. It has what these commands use; its texts are
click's."""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator


class Abort(RuntimeError):
    pass


class UsageError(Exception):
    def __init__(self, message: str, ctx: Context | None = None):
        super().__init__(message)
        self.message, self.ctx = message, ctx

    def format_message(self) -> str:
        return self.message


class BadParameter(UsageError):
    pass


def echo(message: object = "", err: bool = False) -> None:
    stream = sys.stderr if err else sys.stdout
    if stream:
        print(message, file=stream, flush=True)


def style(text: str, **_) -> str:
    return text


def confirm(text: str, err: bool = False) -> bool:
    while True:
        print(f"{text} [y/N]: ", end="", file=sys.stderr if err else sys.stdout, flush=True)
        try:
            answer = input().strip().lower()
        except EOFError:
            raise Abort from None
        if answer in ("", "n", "no", "y", "yes"):
            return answer.startswith("y")


def escape(text: str) -> str:
    """For Console, which shows brackets that hold no style as they are."""
    return re.sub(r"(\[)(?=/?[a-z0-9 ]*\])", r"\\[", text)


class Console:
    """In the place of rich's: without colours."""

    def __init__(self, width: int | None = None):
        self.width = width or shutil.get_terminal_size().columns

    def print(self, text: str = "", end: str = "\n", **_) -> None:
        text = re.sub(r"(?<!\\)\[/?[a-z0-9 ]*\]", "", text).replace("\\[", "[")
        lines = (textwrap.fill(line, self.width) if end else line for line in text.split("\n"))
        print(*lines, sep="\n", end=end, flush=True)


# ---- Types ---------------------------------------------------------------------------------------


class ParamType:
    name = "text"

    def convert(self, value, param, ctx):
        return value

    def fail(self, message: str, param=None, ctx=None):
        raise BadParameter(f"Invalid value for {param.shown}: {message}", ctx)


UNPROCESSED = ParamType()


class Choice(ParamType):
    def __init__(self, choices):
        self.choices = tuple(choices)

    def convert(self, value, param, ctx):
        if value not in self.choices:
            known = ", ".join(map(repr, self.choices))
            self.fail(f"{value!r} is not one of {known}.", param, ctx)
        return value


class Path(ParamType):
    name = "path"

    def __init__(self, path_type=str, **_):
        self.made = path_type

    def convert(self, value, param, ctx):
        return self.made(value)


class _Range(ParamType):
    kind: Callable = int

    def __init__(self, least=None, most=None):
        self.least, self.most = least, most

    def convert(self, value, param, ctx):
        try:
            number = self.kind(value)
        except ValueError:
            self.fail(f"{value!r} is not a valid {self.name}.", param, ctx)
        if (self.least is not None and number < self.least) or (
            self.most is not None and number > self.most
        ):
            low = "" if self.least is None else f"{self.least}<="
            high = "" if self.most is None else f"<={self.most}"
            self.fail(f"{number} is not in the range {low}x{high}.", param, ctx)
        return number


class IntRange(_Range):
    name = "integer range"


class FloatRange(_Range):
    name, kind = "float range", float


# ---- Parameters ----------------------------------------------------------------------------------


class Parameter:
    def __init__(self, declared, type=None, default=None, metavar=None, help=None, **more):
        self.opts = [d for d in declared if d.startswith("-")]
        self.type, self.default = type or ParamType(), default
        self.metavar, self.help = metavar, help
        self.required, self.nargs = more.get("required", False), more.get("nargs", 1)
        self.multiple, self.is_flag = more.get("multiple", False), more.get("is_flag", False)
        self.show_default = more.get("show_default", False)
        self.off: list[str] = []
        if self.opts and "/" in self.opts[-1]:
            on, off = self.opts.pop().split("/")
            self.opts.append(on)
            self.off, self.is_flag = [off], True
        named = [d for d in declared if not d.startswith("-")]
        longest = max(self.opts, key=len, default="")
        self.name = (named[0] if named else longest.lstrip("-")).replace("-", "_")
        if self.is_flag and default is None:
            self.default = False

    @property
    def shown(self) -> str:
        if not self.opts:
            return f"'{self.metavar or self.name.upper()}'"
        return " / ".join(f"'{o}'" for o in self.opts)

    def value(self, given: list, ctx: Context):
        if self.is_flag:
            return given[-1] if given else self.default
        if self.nargs == -1 or self.multiple:
            return tuple(self.type.convert(one, self, ctx) for one in given)
        if not given:
            return self.default
        return self.type.convert(given[-1], self, ctx)

    def told(self) -> tuple[str, str]:
        names = ", ".join(self.opts) + "".join(f" / {o}" for o in self.off)
        if not self.is_flag:
            names += f" {self.metavar or self.type.name.upper()}"
        default = self.show_default
        if default is True:
            default = self.default
            if self.off:
                default = (self.opts if default else self.off)[0].lstrip("-")
        shown = default not in (False, None) and (not self.is_flag or self.off)
        return names, (self.help or "") + (f"  [default: {default}]" if shown else "")


class Option(Parameter):
    pass


class Argument(Parameter):
    def __init__(self, declared, **more):
        more.setdefault("required", more.get("default") is None and more.get("nargs", 1) > 0)
        super().__init__(declared, **more)


def _noting(made: Parameter) -> Callable:
    def apply(function):
        function.noted = [made, *getattr(function, "noted", [])]
        return function

    return apply


def option(*declared, **more) -> Callable:
    return _noting(Option(declared, **more))


def argument(*declared, **more) -> Callable:
    return _noting(Argument(declared, **more))


def version_option(version: str, prog_name: str) -> Callable:
    made = Option(("--version",), is_flag=True, help="Show the version and exit.")
    made.says = f"{prog_name}, version {version}"
    return _noting(made)


# ---- Help ----------------------------------------------------------------------------------------


class HelpFormatter:
    def __init__(self):
        self.width = max(min(shutil.get_terminal_size().columns, 80) - 2, 50)
        self.current_indent, self.parts = 0, []

    def write(self, text: str) -> None:
        self.parts.append(text)

    @contextlib.contextmanager
    def indentation(self) -> Iterator[None]:
        self.current_indent += 2
        yield
        self.current_indent -= 2

    @contextlib.contextmanager
    def section(self, name: str) -> Iterator[None]:
        self.write(f"\n{name}:\n")
        with self.indentation():
            yield

    def write_text(self, text: str) -> None:
        before = " " * self.current_indent
        for i, part in enumerate(textwrap.dedent(text).strip().split("\n\n")):
            lines = textwrap.fill(" ".join(part.split()), self.width, initial_indent=before,
                                  subsequent_indent=before)  # fmt: skip
            self.write(("\n" if i else "") + lines + "\n")

    def write_dl(self, rows: list[tuple[str, str]]) -> None:
        before = " " * self.current_indent
        column = min(max((len(name) for name, _ in rows), default=0), 30) + 2
        for name, text in rows:
            lines = textwrap.wrap(text, max(self.width - self.current_indent - column, 10)) or [""]
            if len(name) > column - 2:
                self.write(f"{before}{name}\n")
                name = ""
            for line in lines:
                self.write(f"{before}{name:{column}}{line}".rstrip() + "\n")
                name = ""


# ---- Commands ------------------------------------------------------------------------------------


class Context:
    def __init__(self, command: Command, command_path: str):
        self.command, self.command_path = command, command_path


class Command:
    def __init__(self, name=None, callback=None, params=(), help=None, context_settings=None, **_):
        self.name, self.callback, self.params = name, callback, list(params)
        self.help = textwrap.dedent(f"    {help.strip()}") if help else ""
        self.settings = context_settings or {}
        about = "Show this message and exit."
        self.params.append(Option(("-h", "--help"), is_flag=True, help=about))

    def usage(self) -> str:
        words = [p.metavar or p.name.upper() for p in self.params if isinstance(p, Argument)]
        return " ".join(["[OPTIONS]", *words])

    def format_epilog(self, ctx: Context, formatter: HelpFormatter) -> None:
        pass

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        pass

    def get_help(self, ctx: Context) -> str:
        formatter = HelpFormatter()
        formatter.write(f"Usage: {ctx.command_path} {self.usage()}\n\n")
        with formatter.indentation():
            formatter.write_text(self.help)
        with formatter.section("Options"):
            formatter.write_dl([p.told() for p in self.params if isinstance(p, Option)])
        self.format_commands(ctx, formatter)
        self.format_epilog(ctx, formatter)
        return "".join(formatter.parts).rstrip("\n")

    def _one(self, word: str, ctx: Context) -> tuple[Parameter, bool]:
        for p in self.params:
            if word in p.opts or word in p.off:
                return p, word in p.opts
        raise UsageError(f"No such option {word!r}.", ctx)

    def split(self, words: list[str], ctx: Context) -> tuple[dict[Parameter, list], list[str]]:
        """What was given for each option, and the other words."""
        given: dict[Parameter, list] = {p: [] for p in self.params}
        rest, words = [], list(words)
        while words:
            word = words.pop(0)
            if word == "--":
                return given, rest + words
            if not word.startswith("-") or word == "-":
                rest.append(word)
                if not self.settings.get("allow_interspersed_args", True):
                    return given, rest + words
                continue
            name, sign, value = word.partition("=")
            if not word.startswith("--"):
                name, sign, value = word[:2], word[2:], word[2:]
            p, on = self._one(name, ctx)
            if p.is_flag:
                if sign and word.startswith("--"):
                    raise UsageError(f"Option {name!r} does not take a value.", ctx)
                if sign:
                    words.insert(0, f"-{value}")
                given[p].append(on)
            elif sign or words:
                given[p].append(value if sign else words.pop(0))
            else:
                raise UsageError(f"Option {name!r} requires an argument.", ctx)
        return given, rest

    def say(self, given: dict[Parameter, list], ctx: Context) -> bool:
        """Answers --help and --version."""
        for p, values in given.items():
            if values and (p.name == "help" or hasattr(p, "says")):
                echo(self.get_help(ctx) if p.name == "help" else p.says)
                return True
        return False

    def invoke(self, ctx: Context, words: list[str]):
        given, rest = self.split(words, ctx)
        if self.say(given, ctx):
            return 0
        for p in self.params:
            if isinstance(p, Argument):
                given[p], rest = (rest, []) if p.nargs == -1 else (rest[:1], rest[1:])
                if p.required and not given[p]:
                    raise UsageError(f"Missing argument {p.shown}.", ctx)
        if rest:
            what = "argument" if len(rest) == 1 else "arguments"
            raise UsageError(f"Got unexpected extra {what} ({' '.join(rest)})", ctx)
        values = {p.name: p.value(given[p], ctx) for p in self.params if p.name != "help"}
        return self.callback(**values)

    def main(self, args=None, prog_name: str = "", standalone_mode: bool = False):
        words = sys.argv[1:] if args is None else args
        return self.invoke(Context(self, prog_name), [str(word) for word in words])


class Group(Command):
    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.commands: dict[str, Command] = {}

    def usage(self) -> str:
        return "[OPTIONS] COMMAND [ARGS]..."

    def add_command(self, made: Command) -> None:
        self.commands[made.name] = made

    def command(self, name: str, **more) -> Callable:
        def made(function):
            self.add_command(command(name, **more)(function))
            return self.commands[name]

        return made

    def list_commands(self, ctx: Context | None) -> list[str]:
        return sorted(self.commands)

    def get_command(self, ctx: Context | None, name: str) -> Command | None:
        return self.commands.get(name)

    def invoke(self, ctx: Context, words: list[str]):
        self.settings = {"allow_interspersed_args": False}
        given, rest = self.split(words, ctx)
        if self.say(given, ctx):
            return 0
        if not rest:
            echo(self.get_help(ctx))
            return 0
        found = self.get_command(ctx, rest[0])
        if found is None:
            raise UsageError(f"No such command {rest[0]!r}.", ctx)
        return found.invoke(Context(found, f"{ctx.command_path} {rest[0]}"), rest[1:])


def command(name=None, cls=Command, **more) -> Callable:
    def made(function):
        return cls(name=name, callback=function, params=getattr(function, "noted", ()),
                   help=function.__doc__, **more)  # fmt: skip

    return made


def group(name=None, cls=Group, **more) -> Callable:
    return command(name, cls, **more)
