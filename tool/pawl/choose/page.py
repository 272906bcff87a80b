# SPDX-License-Identifier: MIT
"""The decision trees as a page: Markdown for doc/choosing.md, HTML that stands alone."""

import os
import textwrap
from pathlib import Path

from pawl import __version__
from pawl.choose.walk import STARTS, Decisions, Leaf, Question, cost_text
from pawl.core import driver

MADE = "made by: pawl choose"
# Short and long sections beside which a lock is cheap or costly.
SECTIONS = (10, 100, 1000)


def _inside(path: Path, root: Path | None) -> str | None:
    """The path as seen from the source tree, if it lies there."""
    if root is None:
        return None
    try:
        return path.resolve().relative_to(root).as_posix()
    except ValueError:
        return None


def made_by(markdown: Path, costs_path: Path | None) -> str:
    """The command that makes the same page again, from the root of the source tree."""
    root = driver.checkout()
    words = [MADE]
    if costs_path:
        words.append(f"--costs {_inside(costs_path, root) or costs_path.name}")
    words.append(f"--markdown {_inside(markdown, root) or markdown.name}")
    return " ".join(words)


def target(name: str, page: Path) -> str | None:
    """A link from the page to a file of the source tree; None if the page lies elsewhere."""
    root = driver.checkout()
    if _inside(page, root) is None:
        return None
    return Path(os.path.relpath(root / name, page.resolve().parent)).as_posix()


def _prose(text: str) -> str:
    """Folded as the other pages are."""
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def _link(name: str, page: Path) -> str:
    to = target(name, page)
    return f"[{name}]({to})" if to else f"`{name}`"


def outline(decisions: Decisions, tree: str) -> list[tuple[int, Question, str, str]]:
    """(depth, question, answer's words, id it leads to), in the order of a walk through a tree."""
    rows: list[tuple[int, Question, str, str]] = []
    seen: set[str] = set()

    def walk(question: Question, depth: int) -> None:
        seen.add(question.id)
        for answer in question.answers:
            rows.append((depth, question, answer.says, answer.to))
            node = decisions.questions.get(answer.to)
            if node and node.tree == tree and node.id not in seen:
                walk(node, depth + 1)

    for question in decisions.questions.values():
        if question.tree == tree and question.id not in seen:
            walk(question, 0)
    return rows


def _name(decisions: Decisions, node: str) -> str:
    found = decisions.node(node)
    return found.ask if isinstance(found, Question) else found.label


def _tree_lines(decisions: Decisions, tree: str) -> list[str]:
    lines: list[str] = []
    asked: set[str] = set()
    for depth, question, says, to in outline(decisions, tree):
        if depth == 0 and question.id not in asked:
            lines.append(f'- <a id="{question.id}"></a>**{question.ask}** `{question.id}`')
        asked.add(question.id)
        node = decisions.node(to)
        indent = "  " * (depth + 1)
        if isinstance(node, Question) and node.tree == tree and node.id not in asked:
            lines.append(f'{indent}- {says}: <a id="{to}"></a>**{node.ask}** `{to}`')
            asked.add(to)
        else:
            lines.append(f"{indent}- {says}: [{_name(decisions, to)}](#{to})")
    return lines


def _leaf_lines(leaf: Leaf, decisions: Decisions, costs, page: Path) -> list[str]:
    lines = [f'### <a id="{leaf.id}"></a>{leaf.label}', "", _prose(leaf.advice), ""]
    see = [_link(name, page) for name in (*leaf.links, *leaf.examples)]
    if see:
        lines += ["See " + ", ".join(see) + ".", ""]
    names = decisions.cost_names
    if costs and leaf.costs:
        lines += ["| on this machine | |", "|---|---|"]
        lines += [f"| {names[name]} | {cost_text(name, costs)} |" for name in leaf.costs]
        lines.append("")
    elif leaf.costs:
        lines += [_prose("Costs: " + "; ".join(names[name] for name in leaf.costs) + "."), ""]
    return lines


def efficiencies(decisions: Decisions, costs) -> list[tuple[str, list[str]]]:
    """For each lock that a leaf prices: the share of the time that a section has for itself."""
    rows = []
    for name, text in decisions.cost_names.items():
        lock, _, mode = name.partition("/")
        if not mode or not (costs.lock(lock, mode) or {}).get("available"):
            continue
        shares = []
        for section in SECTIONS:
            pair = [costs.efficiency(lock, mode, section, moved) for moved in (False, True)]
            shares.append(" / ".join("-" if e is None else f"{e:.0%}" for e in pair))
        rows.append((text, shares))
    return rows


def provenance(costs) -> str:
    """Machine, kernel, compiler, day and commit: what a number is worth nothing without."""
    raw = costs.raw
    commit = (raw.get("commit") or "unknown")[:10] + (" with changes" if raw.get("dirty") else "")
    parts = (
        costs.machine.get("cpu"),
        raw.get("kernel"),
        raw.get("compiler"),
        raw.get("flags"),
        f"commit {commit}",
        (raw.get("started") or "")[:10],
    )
    return ", ".join(str(part) for part in parts if part)


def _costs_lines(decisions: Decisions, costs, costs_path: Path | None, page: Path) -> list[str]:
    if not costs:
        return [
            "The costs differ between machines by more than ten times. Yours:",
            "",
            "```",
            "pawl costs --json costs.json",
            "pawl choose --costs costs.json --html choosing.html",
            "```",
            "",
            "writes this page with your machine's nanoseconds at every leaf.",
            "",
        ]
    heads = " | ".join(f"section of {s:,} ns" for s in SECTIONS)
    inside = _inside(costs_path, driver.checkout()) if costs_path else None
    more = f" Spread, and how each was measured: {_link(inside, page)}." if inside else ""
    lines = [
        _prose(
            f"The costs are medians of `pawl costs` ({provenance(costs)}).{more} "
            "`pawl costs --json costs.json` and `pawl choose --costs costs.json --html "
            "FILE` write this page for another machine."
        ),
        "",
        _prose(
            "How much of its time a section has for itself, `Tc / (Tc + Ta + Tr)`: the "
            "lock in this CPU's cache / in another's."
        ),
        "",
        f"| | {heads} |",
        "|---|" + "---|" * len(SECTIONS),
    ]
    lines += [
        f"| {text} | {' | '.join(shares)} |" for text, shares in efficiencies(decisions, costs)
    ]
    return [*lines, ""]


def markdown(decisions: Decisions, page: Path, costs=None, costs_path: Path | None = None) -> str:
    lines = [
        "<!-- SPDX-License-Identifier: MIT -->",
        f"<!-- {made_by(page, costs_path)} -->",
        "# Choosing: the right tool for the job",
        "",
        "The same questions at the terminal: `pawl choose`. For scripts: `--json`, and",
        "`--answer what=number` for each answer that is known.",
        "",
        f"From what you call today to what you call then: {_link(STARTS, page)}.",
        "",
        *_costs_lines(decisions, costs, costs_path, page),
    ]
    for tree in decisions.trees.values():
        lines += [
            f"## {tree.title}",
            "",
            _prose(tree.intro),
            "",
            *_tree_lines(decisions, tree.id),
            "",
        ]
        if tree.note:
            lines += [
                _prose(tree.note),
                "",
                "Both are built and run in "
                + _link("examples/design_counter_dissent.c", page)
                + ".",
                "",
            ]
        for leaf in decisions.leaves.values():
            if leaf.tree == tree.id:
                lines += _leaf_lines(leaf, decisions, costs, page)
    lines += ["## Why each question is asked", "", "| | question | why |", "|---|---|---|"]
    lines += [f"| [`{q.id}`](#{q.id}) | {q.ask} | {q.why} |" for q in decisions.questions.values()]
    lines += [
        "",
        "## Source",
        "",
        "P. McKenney, [Linux Kernel Scalability: Using the Right Tool for the "
        "Job](http://www.rdrop.com/users/paulmck/scalability/), 2005:",
        "the locking designs, the counter decision tree and the RCU templates. As programs: "
        + _link("doc/designs.md", page)
        + ", "
        + _link("doc/rcu_designs.md", page)
        + ".",
        "",
    ]
    return "\n".join(lines)


def html(decisions: Decisions, page: Path, costs=None) -> bytes:
    from pawl.core.report import render  # with all that draws

    return render(
        __package__,
        "page.html.j2",
        decisions=decisions,
        costs=costs,
        provenance=provenance(costs) if costs else "",
        version=__version__,
        sections=SECTIONS,
        efficiencies=efficiencies(decisions, costs) if costs else [],
        cost_text=cost_text,
        node=decisions.node,
        target=lambda name: target(name, page),
        is_leaf=lambda name: name in decisions.leaves,
    ).encode()
