# SPDX-License-Identifier: MIT
"""Reads transitions.def, tags.def, the accesses in the sources, and what was proved of them; used
by scripts/transitions, scripts/orders and scripts/no_timeouts."""

import re
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TRANSITIONS = ROOT / "include/pawl/detail/transitions.def"
TAGS = ROOT / "include/pawl/detail/tags.def"
PROOF = ROOT / "tests/model/proof.tsv"
SURVIVORS = ROOT / "tests/model/survivors.def"

Test = namedtuple("Test", "name condition")
Op = namedtuple("Op", "result name kind start to cost")
Step = namedtuple("Step", "op step how gate w s r order tag")
Next = namedtuple("Next", "op step test next_op next_step")
Insist = namedtuple("Insist", "op step test through then")
Tag = namedtuple("Tag", "name order partners what")
Site = namedtuple("Site", "path line order tag comment number")

ROWS = {"TEST": Test, "OP": Op, "STEP": Step, "NEXT": Next, "INSIST": Insist}


def without_comments(text):
    """The text with comments blanked out; lines and columns stay."""

    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())

    return re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)


def read_transitions(path=TRANSITIONS):
    """Rows by kind, in the order of the file."""
    rows = {kind: [] for kind in ROWS}
    text = without_comments(path.read_text(encoding="utf-8"))
    for kind, arguments in re.findall(r"^PAWL_([A-Z]+)\((.*)\)$", text, flags=re.M):
        values = [value.strip() for value in arguments.split(",")]
        rows[kind].append(ROWS[kind](*values))
    if not rows["OP"] or not rows["STEP"]:
        raise SystemExit(f"{path}: no rows found")
    return rows


def read_tags(path=TAGS):
    """Tags by name, in the order of the file."""
    text = without_comments(path.read_text(encoding="utf-8"))
    tags = {}
    row = re.compile(r"^PAWL_TAG\((\w+), (\w+),(.*?)\)$", flags=re.M | re.S)
    for name, order, rest in row.findall(text):
        partners, what = (
            "".join(re.findall(r'"([^"]*)"', part))
            for part in re.split(r"(?<=\")\s*,\s*", rest.strip())
        )
        tags[name] = Tag(name, order, partners.split(), what)
    if not tags:
        raise SystemExit(f"{path}: no tags found")
    return tags


def table(head, rows):
    """In Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def source_files():
    for folder in ("include", "src"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".hpp", ".c", ".cpp"):
                yield path
    # The preload library's own accesses to words and entries; models run these two files.
    yield from (ROOT / "tool/shim/place.c", ROOT / "tool/shim/place.h")


def call_arguments(text, at):
    """The text between the parentheses of the call whose name ends at `at`; None if no call."""
    opening = re.match(r"(?:##N)?\s*\)?\s*\(", text[at:])
    if not opening:
        return None
    depth, start = 1, at + opening.end()
    for end in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return text[start:end]
    return None


SITE = re.compile(
    r"\b(?:pawl|word)_(?:load|store|fetch_\w+?|exchange|cas)_(relaxed|acquire|release|acq_rel)"
    r"(?:8|16|32|64)?\b"
    r"|\bpawl_fence_(acquire|release|full(?:_after_update)?|light|light_known|heavy(?:_or_not)?)\b"
)


def find_accesses():
    """Every call of an operation of the seam outside atomic.h. A relaxed one has the tag "-". The
    number counts those of a tag in a file, from 1; tests/model/build.rs numbers them so too."""
    sites = []
    for path in source_files():
        if path.name in ("atomic.h", "hook.h") or path.name.startswith("atomic_"):
            continue
        raw = path.read_text(encoding="utf-8")
        text = without_comments(raw)
        lines = raw.split("\n")
        counts = {}
        for match in SITE.finditer(text):
            arguments = call_arguments(text, match.end())
            if arguments is None:
                continue
            line = text.count("\n", 0, match.start()) + 1
            order = match.group(1) or match.group(2)
            tag = re.search(r"\bPAWL_([A-Z][A-Z0-9_]*)\s*$", arguments)
            tag = "-" if order == "relaxed" else tag.group(1) if tag else None
            near = "\n".join(lines[max(0, line - 8) : line])
            counts[tag] = counts.get(tag, 0) + 1
            sites.append(
                Site(
                    path.relative_to(ROOT).as_posix(),
                    line,
                    order,
                    tag,
                    tag is not None and f"[{tag}]" in near,
                    counts[tag],
                )
            )
    return sites


def find_sites():
    """Every ordered access."""
    return [site for site in find_accesses() if site.order != "relaxed"]


Proof = namedtuple("Proof", "tag site mutant order models executions fate model why")


def read_proof(path=PROOF):
    """What the models found of each mutant (tests/model/README.md); None if not written yet."""
    if not path.exists():
        return None
    rows = [
        line.split("\t")
        for line in path.read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    ]
    return [Proof(*row) for row in rows]


KINDS = ("equivalent", "outside", "not yet")
Survivor = namedtuple("Survivor", "tag change site kind reason")


def read_survivors(path=SURVIVORS):
    """Why mutants live (tests/model/README.md), and what is wrong with the lines."""
    survivors, mistakes = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        what, _, reason = line.partition(" : ")
        words, kind = what.split(), reason.strip().partition(": ")[0]
        if len(words) != 3:
            mistakes.append(f"survivors.def:{number}: not `TAG change site : reason`")
        elif kind not in KINDS or reason.strip() == f"{kind}:":
            mistakes.append(
                f"survivors.def:{number}: the reason begins neither `equivalent: ` "
                "nor `outside: ` nor `not yet: `, or ends there"
            )
        else:
            survivors.append(Survivor(*words, kind, reason.strip()))
    return survivors, mistakes


def survivor_of(row, survivors):
    """The line that says why this row of proof.tsv is not killed; None if there is none."""
    file = row.site.split("#")[0]
    for s in survivors:
        if (
            (s.tag == row.tag or s.tag == "*" and row.tag != "wake")
            and (s.change == row.mutant or s.change == "*" and row.mutant != "untouched")
            and (s.site in (row.site, file) or s.site.endswith("/") and file.startswith(s.site))
        ):
            return s
    return None
