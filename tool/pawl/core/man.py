# SPDX-License-Identifier: MIT
"""The manual pages, made of the commands themselves, so that the two cannot drift."""

import re

import click

from pawl import __version__
from pawl.core.options import EXIT_CODES

# One page for each of these, with all of its commands.
WHOLE = ("pawl-sim", "pawl-watchdog")


def _escape(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def _plain(text: str) -> str:
    """Running text: only what roff would misread is escaped."""
    text = text.replace("\\", "\\e")
    return "\\&" + text if text.startswith((".", "'")) else text


def _default(option: click.Option) -> str:
    shown = option.show_default
    if not shown or option.is_flag:
        return ""
    return f" Default: {shown if isinstance(shown, str) else option.default}."


def _option(option: click.Option) -> list[str]:
    head = f"\\fB{_escape(option.opts[0])}\\fR"
    if not option.is_flag:
        head += f" \\fI{_escape(option.metavar or 'VALUE')}\\fR"
    text = re.sub(r"\s+\[default: (.*)\]$", r" Default: \1.", option.help or "")
    return [".TP", head, _plain(text + _default(option))]


def _synopsis(name: str, command: click.Command) -> str:
    words = [f"\\fB{_escape(name)}\\fR"]
    if isinstance(command, click.Group):
        return words[0] + " \\fICOMMAND\\fR ..."
    words.append("[\\fIOPTIONS\\fR]")
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            words.append(f"\\fI{_escape(parameter.metavar or parameter.name.upper())}\\fR")
    return " ".join(words)


def _description(command: click.Command) -> list[str]:
    paragraphs = [" ".join(p.split()) for p in (command.help or "").split("\n\n")]
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += [".PP", _plain(paragraph)]
    return lines


def near(title: str, titles: list[str]) -> list[str]:
    """The pages that a reader may want next: the one above it, those beside and those below it."""

    def above(one: str) -> str | None:
        return max((t for t in titles if one.startswith(t + "-")), key=len, default=None)

    wanted = {above(title), title}
    return [t for t in titles if t != title and (t in wanted or above(t) in wanted - {None})]


def _examples(command: click.Command) -> list[str]:
    lines: list[str] = []
    for line, meaning in command.examples:
        lines += [".PP", _plain(meaning), ".PP", ".RS 4", ".nf", _escape(line), ".fi", ".RE"]
    return lines


def _options(command: click.Command) -> list[str]:
    return [line for p in command.params if isinstance(p, click.Option) for line in _option(p)]


def _commands(name: str, group: click.Group, whole: bool, others: list[str]) -> list[str]:
    """The commands below a group: a line each, or all that a page would have of those without."""
    lines = [".SH COMMANDS"]
    for sub_name, sub in walk(name, group):
        if isinstance(sub, click.Group) or (whole and sub_name.replace(" ", "-") in others):
            continue
        if not whole:
            about = (sub.help or "").strip().split("\n")[0]
            lines += [".TP", f"\\fB{_escape(sub_name)}\\fR", _plain(about)]
            continue
        lines += [f".SS {_escape(sub_name)}", _synopsis(sub_name, sub)]
        lines += [*_description(sub), *_options(sub), *_examples(sub)]
    return lines


def page(name: str, command: click.Command, others: list[str]) -> str:
    title = name.replace(" ", "-")
    summary = (command.help or "").strip().split("\n")[0].rstrip(".?")
    lines = [
        '.\\" SPDX-License-Identifier: MIT',
        '.\\" Written by python -m pawl.man from the command itself; edit the help there.',
        f'.TH {title.upper()} 1 "" "pawl {__version__}" "Pawl"',
        ".SH NAME",
        f"{_escape(title)} \\- {_plain(summary[0].lower() + summary[1:])}",
        ".SH SYNOPSIS",
        _synopsis(name, command),
        ".SH DESCRIPTION",
        *_description(command)[1:],
    ]
    if isinstance(command, click.Group):
        lines += _commands(name, command, title in (*WHOLE, "pawl-bench"), others)
    if options := _options(command):
        lines += [".SH OPTIONS", *options]
    lines.append(".SH EXIT STATUS")
    for code, text in EXIT_CODES.items():
        lines += [".TP", f"\\fB{code}\\fR", _plain(text)]
    lines += [".SH EXAMPLES", *_examples(command)]
    lines.append(".SH SEE ALSO")
    seen = [f"\\fB{_escape(o)}\\fR(1)" for o in near(title, others)]
    if title == "pawl":
        seen.append("\\fBpawl\\fR(7), the library")
    lines.append(", ".join(seen))
    return "\n".join(lines) + "\n"


def walk(name: str, command: click.Command):
    yield name, command
    if isinstance(command, click.Group):
        for sub_name in command.list_commands(None):
            sub = command.get_command(None, sub_name)
            yield from walk(f"{name} {sub_name}", sub)


def pages(cli: click.Group, without: tuple[str, ...]) -> dict[str, str]:
    """File name -> text; what is below WHOLE, and `without` a page, stands on the one above it."""
    below = tuple(f"{w}-" for w in WHOLE)
    found = [
        (n, c)
        for n, c in walk("pawl", cli)
        if n not in without and not n.replace(" ", "-").startswith(below)
    ]
    titles = [n.replace(" ", "-") for n, _ in found]
    return {f"{n.replace(' ', '-')}.1": page(n, c, titles) for n, c in found}
