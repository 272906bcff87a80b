# SPDX-License-Identifier: MIT
"""A manual page for each function: what to include, its prototype, its contract and where there is
more. Used by scripts/site; the page of the header, which Sphinx makes, has types and rules."""

import re
import textwrap

import pawl_reference
import pawl_rst

NOTICE = (
    '.\\" SPDX-License-Identifier: MIT\n'
    '.\\" Written by scripts/site from the headers; edit their comments there.\n'
)
MODES = "U: unlocked; R: read; S: seek, beside readers; W: write; A: atomic user."
END = re.compile(r"(?<=[.:;])\s")


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def running(text):
    return escaped(textwrap.fill(text.replace("`", ""), 96, break_on_hyphens=False))


def summary(one, about):
    """For apropos: the beginning of the contract, and what the header is for."""
    told = next((part for drawn, part in pawl_rst.blocks(one.contract) if not drawn), [])
    first, *more = END.split(" ".join(told).replace("`", ""))
    if len(first) < 20 and more:  # a transition: U -> R.
        first += f" {more[0]}"
    if len(first) > 70:
        first = first[:70].rsplit(" ", 1)[0] + " ..."
    return f"{first.rstrip('.:;')} ({about})" if first else about


def prototypes(one, name):
    own = [p for p in one.prototypes if re.search(rf"\b{name}\b", p)]
    return own or one.prototypes


def contract(section, one):
    """Of a few words, such as a mode: with what the section says of all."""
    short = sum(map(len, one.contract)) < 40
    return [*one.contract, "", *(section.text or [f"{section.title}."])] if short else one.contract


def page(reference, told, section, one, name):
    lines = [f'{NOTICE}.TH "{name.upper()}" "3" "" "" "Pawl"', ".SH NAME"]
    lines += [f"{name} \\- {escaped(summary(one, told['about']))}", ".SH SYNOPSIS", ".nf"]
    lines += [f"#include <pawl/{told['header']}>", ".PP"]
    lines += [*map(escaped, prototypes(one, name)), ".fi", ".SH DESCRIPTION"]
    for n, (drawn, part) in enumerate(pawl_rst.blocks(contract(section, one))):
        lines += [".PP"] * (n > 0)
        lines += [".nf", escaped("\n".join(part)), ".fi"] if drawn else [running(" ".join(part))]
    if pawl_reference.MOVE.search(" ".join(one.contract)):
        lines += [".PP", running(MODES)]
    facts = [("Order", reference.order(one))]
    if not one.macro:
        facts.append(("Called by", reference.caller(told, one)))
    for head, text in facts:
        if text:
            lines += [".PP", f"{head}: {running(text)}"]
    return "\n".join([*lines, ".SH SEE ALSO", f"{escaped(told['man'])}(3), pawl(7)", ""])


def pages(reference):
    """Name of a function, or its front without a width -> the text of its page."""
    made = {}
    for told in reference.pages:
        for section in reference.parsed[told["header"]].sections:
            for one in section.groups:
                for name in one.names:
                    if name != told["man"]:
                        made[name] = page(reference, told, section, one, name)
    for name in list(made):
        front = re.sub(r"^pawl_lock64_", "pawl_", name)
        made.setdefault(front, f".so man3/{name}.3\n")
    return made
