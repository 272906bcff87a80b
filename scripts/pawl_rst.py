# SPDX-License-Identifier: MIT
"""Writes the reference of the functions as reStructuredText, a page for each header: of them Sphinx
makes the pages of the site and the manual pages. Used by scripts/site."""

import re
import textwrap

DRAWING = re.compile(r"^ {2}|\S {3,}\S|-{5}|={5}")
RULE = {1: "=", 2: "-", 3: "~"}


def heading(text, level):
    line = RULE[level] * max(len(text), 3)
    return f"{text}\n{line}\n"


def inline(text, functions):
    """Running text: what reStructuredText would read as marks is escaped, functions are links."""
    parts = re.split(r"(`[^`]*`)", text)
    for n, part in enumerate(parts):
        if part.startswith("`") and part.endswith("`") and len(part) > 2:
            parts[n] = f"``{part[1:-1]}``"
            continue
        part = re.sub(r"([\\*`|])", r"\\\1", part)
        part = re.sub(r"(\w)_(?!\w)", r"\1\\_", part)
        parts[n] = re.sub(
            r"\bpawl_\w+\b",
            lambda m: f":c:func:`{m.group()}`" if m.group() in functions else m.group(),
            part,
        )
    text = "".join(parts)
    # A mark must have a blank or a sign before it, and after it.
    return re.sub(r"(:c:func:`\w+`)(?=[\w(])", r"\1\\ ", text)


def blocks(lines):
    """(is it a drawing, lines) of each paragraph; drawings and lists are kept as they stand."""
    paragraph, kept = [], None
    for line in [*lines, ""]:
        if not line.strip():
            if kept and paragraph:
                paragraph.append("")
            elif paragraph:
                yield False, paragraph
                paragraph, kept = [], None
            continue
        drawn = bool(DRAWING.search(line))
        if kept is not None and drawn != kept:
            yield kept, paragraph
            paragraph = []
        kept = drawn
        paragraph.append(line)
    if paragraph:
        yield bool(kept), paragraph


def text(lines, functions):
    made = []
    for drawn, part in blocks(lines):
        while part and not part[-1].strip():
            part.pop()
        if drawn:
            made.append("::\n\n" + textwrap.indent(textwrap.dedent("\n".join(part)), "   ") + "\n")
        else:
            made.append(
                "\n".join(
                    textwrap.wrap(
                        inline(" ".join(part), functions),
                        96,
                        break_long_words=False,
                        break_on_hyphens=False,
                    )
                )
                + "\n"
            )
    return "\n".join(made)


def are_widths(names):
    return len({re.sub(r"\d+", "", name) for name in names}) == 1


def cost_rows(reference, group):
    """The costs of the functions of a group, in its order; a figure that all have stands once."""
    rows = {}
    for name in group.names:
        for ns, said in reference.costs(name):
            rows.setdefault(said, {})[name] = ns
    for said, found in rows.items():
        values = list(dict.fromkeys(found.values()))
        of = "" if list(found) == group.names else f"{', '.join(found)}: "
        if None in values:
            yield f"{of}{said}"
        elif len(values) == 1 or are_widths(found):
            values = values if len(values) == 1 else found.values()
            yield f"{of}{', '.join(values)} ns, {said}"
        else:
            pairs = ", ".join(f"{name} {ns}" for name, ns in found.items())
            yield f"{pairs} ns, {said}"


def group(reference, page, one):
    functions = reference.functions
    kind = "macro" if one.macro else "function"
    pad = " " * len(f".. c:{kind}:: ")
    lines = [f".. c:{kind}:: " + f"\n{pad}".join(one.prototypes), ""]
    body = [text(one.contract, functions)]
    facts = []
    if order := reference.order(one):
        facts.append(f":Order: {inline(order, functions)}")
    if not one.macro:
        facts.append(f":Called by: {inline(reference.caller(page, one), functions)}")
        sizes = [reference.bytes.get(name, "?") for name in one.names]
        facts.append(f":Bytes at the call: {', '.join(sizes)}")
    for cost in cost_rows(reference, one):
        facts.append(f":Cost: {inline(cost, {})}")
    body.append("\n".join(facts) + "\n")
    return "\n".join(lines) + "\n" + textwrap.indent("\n".join(body), "   ")


def page(reference, told):
    """The page of a header."""
    header = reference.parsed[told["header"]]
    functions = reference.functions
    name = f"pawl/{told['header']}"
    made = [
        ".. made by scripts/site from the header; edit its comments there\n",
        heading(name, 1),
        f"{told['about'][0].upper()}{told['about'][1:]}.\n",
        heading("Synopsis", 2),
        ".. code-block:: c\n\n   #include <pawl/" + told["header"] + ">\n",
        "Link with ``-lpawl -pthread``, or as ``pkg-config --libs pawl`` says.\n",
        heading("Description", 2),
        text(header.head, functions),
    ]
    if header.types:
        made.append(heading("Types", 2))
        for comment, code in header.types:
            if comment:
                made.append(text(comment, functions))
            made.append(".. code-block:: c\n\n" + textwrap.indent(code, "   ") + "\n")
    for section in header.sections:
        made.append(heading(section.title, 2))
        if section.text:
            made.append(text(section.text, functions))
        made += [group(reference, told, one) for one in section.groups]
    made.append(heading("Notes", 2))
    calls = reference.said["calls"]["run"]
    loop, addition = map(reference.floor, ("empty_loop", "atomic_add"))
    made.append(NOTES.format(calls=calls, loop=loop, addition=addition))
    if runs := list(reference.runs(told)):
        made.append("The costs were measured on:\n")
        made += [f"``{folder}``\n   {on}.\n" for folder, on in runs]
    made.append(heading("See also", 2))
    others = ", ".join(
        f"``{other['man']}(3)``"
        for other in reference.pages
        if other["doc"] == told["doc"] and other is not told
    )
    made.append(f"``pawl(7)``{', ' + others if others else ''}\n")
    return "\n".join(made)


NOTES = """\
*Bytes at the call* are those of one call in a function that does nothing else, cold part included:
gcc 12, ``-O2``, x86-64, release variant. *Cost* is the median of each recorded run, least to
greatest, in the folder of ``bench/results`` that is named; of several widths in their order. A
figure of the folder ``{calls}`` is of one call, as ``doc/costs.md`` explains, with about {loop} ns
for the loop around it; an atomic addition takes {addition} ns there. Another machine has other
figures: ``pawl bench functions``. *Order* names what the function does to the order of the caller's
accesses; the names in capitals are tags, which ``doc/orders.md`` explains.
"""


def index(reference):
    rows = [
        ".. made by scripts/site\n",
        heading("Functions", 1),
        "One page for each header, also as manual page. Every function has its contract, its\n"
        "memory order, who may call it, its bytes at the call, and its nanoseconds or the reason\n"
        "why a number would mean nothing. The names alone:\n"
        ":ref:`genindex`.\n",
        ".. list-table::\n   :header-rows: 1\n   :widths: 25 25 50\n\n"
        "   * - header\n     - manual page\n     - for",
    ]
    for one in reference.pages:
        stem = one["header"].removesuffix(".h")
        rows[-1] += (
            f"\n   * - :doc:`{one['header']} <{stem}>`\n     - {one['man']}(3)"
            f"\n     - {one['about']}"
        )
    rows.append("\n.. toctree::\n   :hidden:\n   :titlesonly:\n")
    rows.append("\n".join(f"   {one['header'].removesuffix('.h')}" for one in reference.pages))
    return "\n".join(rows) + "\n"
