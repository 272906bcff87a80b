# SPDX-License-Identifier: MIT
"""The reference of the functions, made of the public headers. Used by scripts/site.

libclang reads src/pawl.c and the headers, so names, types and extents are the compiler's. A
contract is the comment before a declaration; one without a comment has the contract of the
declaration before it in the same section. doc/reference.toml says what headers do not: who may
call, and which recorded figure belongs to which function. A folder of bench/results has the
nanoseconds of a call of each, doc/callsites.tsv the bytes at a call."""

import re
import subprocess
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pawl_figures
from clang import cindex

ROOT = Path(__file__).resolve().parent.parent
COMMENT = re.compile(r"/\*.*?\*/", re.S)
SECTION = re.compile(r"-{4} (.*?)(?: -{4,})?$")
SYMBOL = re.compile(r"PAWL_SYMBOL(?:_SEEN)?_\((\w+)\)")
RENAMED = re.compile(r"^#define (\w+)(?: |\s*\\\n\s*)PAWL_SYMBOL(?:_SEEN)?_\(\1\)", re.M)
VERSIONED = re.compile(r"i?(pawl_\w+)_v\d+_[a-z]+_")
TAG = re.compile(r"\[([A-Z][A-Z0-9_]+)\]\s+(\w+):")
STATED = re.compile(
    r"(?:^|[.;:]\s+)(acquire, release|acquire when true|acquire|release)"
    r"\s*(?:$|[.;])",
    re.I,
)
MOVE = re.compile(r"([URSWA]) -> ([URSWA])\b")
MODES = {"U": "nothing of this lock", "R": "R", "S": "S", "W": "W", "A": "A"}
MOST_TAGS = 4
NO_INSTRUCTION = "no instruction in the release variant"


class Missing(Exception):
    """What the reference cannot say, in words for a maintainer."""


def clean(comment):
    """The lines of a comment without its stars."""
    body = comment.strip()[2:-2]
    lines = [
        re.sub(r"^\s*\* ?", "", line) if n else line.strip()
        for n, line in enumerate(body.splitlines())
    ]
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    return [line.rstrip() for line in lines]


@dataclass
class Group:
    """Declarations that share a contract."""

    names: list = field(default_factory=list)
    prototypes: list = field(default_factory=list)
    contract: list = field(default_factory=list)
    macro: bool = False


@dataclass
class Section:
    title: str
    text: list
    groups: list = field(default_factory=list)


@dataclass
class Declaration:
    name: str
    line: int
    end: int
    kind: str
    prototype: str = ""
    text: str = ""


def prototype(cursor, name):
    arguments = []
    for one in cursor.get_arguments():
        type_ = one.type.spelling.replace("_Bool", "bool")
        if "(*" in type_:
            arguments.append(type_.replace("(*", f"(*{one.spelling}", 1))
        else:
            arguments.append(f"{type_}{'' if type_.endswith('*') else ' '}{one.spelling}")
    result = cursor.result_type.spelling.replace("_Bool", "bool")
    blank = "" if result.endswith("*") else " "
    return f"{result}{blank}{name}({', '.join(arguments) or 'void'})"


class Headers:
    """All that libclang finds in the public headers and in the sources behind them."""

    def __init__(self, names):
        self.names = names
        include = subprocess.run(
            ["cc", "-print-file-name=include"], capture_output=True, text=True, check=True
        ).stdout.strip()
        text = "".join(f"#include <pawl/{name}>\n" for name in names)
        text += '#include "src/pawl.c"\n'
        self.unit = cindex.Index.create().parse(
            "all.c",
            args=[
                "-std=c11",
                "-D_GNU_SOURCE",
                "-Iinclude",
                "-I.",
                "-Isrc",
                f"-isystem{include}",
                "-Wno-everything",
            ],
            unsaved_files=[("all.c", text)],
            options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD,
        )
        bad = [str(d) for d in self.unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
        if bad:
            raise Missing("libclang cannot read the headers:\n" + "\n".join(bad))

    @cached_property
    def renamed(self):
        """The names that macros give to symbols."""
        return {
            name
            for header in self.names
            for name in RENAMED.findall(
                (ROOT / "include/pawl" / header).read_text(encoding="utf-8")
            )
        }

    @cached_property
    def by_file(self):
        """Header -> its declarations by line; and all function bodies."""
        found, self.bodies = {name: [] for name in self.names}, {}
        for cursor in self.unit.cursor.get_children():
            where = cursor.location.file
            if where is None:
                continue
            path = Path(where.name)
            ours = path.name if path.parent.name == "pawl" and path.name in found else None
            if not (ours or "src" in path.parts or "detail" in path.parts):
                continue
            one = self.declaration(cursor, path)
            if one is None:
                continue
            if one.kind == "function" and cursor.is_definition():
                self.bodies[one.name] = one.text
            if ours:
                found[ours].append(one)
        return {name: sorted(rows, key=lambda row: row.line) for name, rows in found.items()}

    def declaration(self, cursor, path):
        kinds = cindex.CursorKind
        start, end = cursor.extent.start.line, cursor.extent.end.line
        line = cursor.location.line
        text = self.lines(path)[min(start, line) - 1 : max(end, line)]
        text = "\n".join(text)
        if cursor.kind == kinds.FUNCTION_DECL:
            symbol = SYMBOL.search(text)
            name = cursor.spelling
            if symbol and (not cursor.is_definition() or "src" in path.parts):
                # A symbol without a macro of its name is internal: an inline function has the name.
                name = symbol.group(1)
                name += "" if name in self.renamed or "src" in path.parts else "_"
            elif (plain := VERSIONED.fullmatch(name)) and plain.group(1) in self.renamed:
                name = plain.group(1)  # declared by the name that a macro before it changes
            return Declaration(
                name, min(start, line), max(end, line), "function", prototype(cursor, name), text
            )
        if cursor.kind == kinds.MACRO_DEFINITION:
            words = [token.spelling for token in cursor.get_tokens()]
            if SYMBOL.search(text) or not words:
                return None
            arguments = ""
            if match := re.match(rf"\s*#\s*define\s+{cursor.spelling}\(([^)]*)\)", text):
                arguments = f"({match.group(1)})"
            return Declaration(
                cursor.spelling, start, end, "macro", cursor.spelling + arguments, text
            )
        if cursor.kind in (
            kinds.STRUCT_DECL,
            kinds.ENUM_DECL,
            kinds.UNION_DECL,
            kinds.TYPEDEF_DECL,
        ):
            return Declaration(
                cursor.spelling,
                start,
                end,
                "type",
                "",
                text + ("" if text.rstrip().endswith(";") else ";"),
            )
        return None

    def lines(self, path):
        if not hasattr(self, "_lines"):
            self._lines = {}
        if path not in self._lines:
            self._lines[path] = path.read_text(encoding="utf-8").splitlines()
        return self._lines[path]

    def tags(self, name):
        """(tag, order) of the ordered accesses of a function and of those that it calls."""
        found, open_, seen = {}, [name], set()
        while open_:
            now = open_.pop(0)
            if now in seen or now not in self.bodies:
                continue
            seen.add(now)
            text = self.bodies[now]
            for tag, order in TAG.findall(text):
                found.setdefault(tag, order)
            open_ += [w for w in re.findall(r"\bi?pawl_\w+", text) if w != now]
        return found


CALLED = re.compile(r"_(take|try|drop)_\w+_call$")  # the cold part of an inline function


def is_public(name):
    return (
        name.startswith(("pawl_", "PAWL_"))
        and not name.endswith(("_", "_H", "_slow"))
        and not CALLED.search(name)
    )


def of_default(section):
    """Each function there is explained where it has a domain."""
    return "default domain" in section.title


class Header:
    """One header: what it says at its head, its types, and its functions by section."""

    def __init__(self, headers, name, known):
        self.name = name
        self.path = ROOT / "include/pawl" / name
        text = self.path.read_text(encoding="utf-8")
        self.comments = [
            (text.count("\n", 0, m.start()) + 1, text.count("\n", 0, m.end()) + 1, clean(m.group()))
            for m in COMMENT.finditer(text)
            if not text[text.rfind("\n", 0, m.start()) + 1 : m.start()].strip()
        ]
        heads = [c for c in self.comments if "SPDX" not in c[2][0]]
        self.head = heads[0][2]
        self.head_end = heads[0][1]
        self.types, self.sections = [], []
        self.spare = {}
        self.walk(headers.by_file[name], known)

    def walk(self, rows, known):
        section, last, at, comment = Section("Functions", []), self.head_end, 0, None
        self.sections.append(section)
        for row in rows:
            between = [c for c in self.comments if last < c[0] and c[1] <= row.line]
            titles = [c for c in between if SECTION.match(c[2][0])]
            if titles:
                section = self.section(titles[-1][2])
                self.sections.append(section)
            plain = [
                c
                for c in between
                if not SECTION.match(c[2][0]) and (not titles or c[0] > titles[-1][0])
            ]
            if plain or row.line != at:  # a macro may declare several things in one line
                comment = plain[-1][2] if plain else None
            last, at = max(last, row.line), row.line
            self.take(row, section, comment, known)
            if row.kind == "function":
                stem = re.sub(r"_(call|slow)_?$", "", row.name)
                if stem != row.name and comment:
                    self.spare[stem] = comment
                elif stem != row.name and section.groups:
                    self.spare[stem] = section.groups[-1].contract
        self.sections = [s for s in self.sections if s.groups]
        for section in self.sections:
            for group in section.groups:
                self.complete(group, section)

    def section(self, lines):
        text = " ".join([SECTION.match(lines[0]).group(1), *lines[1:]])
        text = re.sub(r"\s*-{4,}\s*", ". ", text).strip()
        title, _, rest = text.partition(". ")
        return Section(title.rstrip(".").strip(), [rest] if rest.strip() else [])

    def take(self, row, section, comment, known):
        if row.kind == "type":
            if row.name and is_public(row.name) and row.text not in [t for _, t in self.types]:
                if not any(row.text in text for _, text in self.types):
                    self.types.append((comment, row.text))
            return
        if not is_public(row.name) or row.name in known:
            return
        if row.kind == "macro" and (row.name.startswith("PAWL_HAVE") or "(" not in row.prototype):
            return
        known.add(row.name)
        macro = row.kind == "macro"
        before = section.groups[-1] if section.groups else None
        if (
            before is not None
            and before.macro == macro
            and (comment is before.contract or (comment is None and not of_default(section)))
        ):
            before.names.append(row.name)
            before.prototypes.append(row.prototype)
            return
        section.groups.append(Group([row.name], [row.prototype], comment or [], macro))

    def complete(self, group, section):
        if group.contract:
            return
        name = group.names[0]
        domain = re.sub(r"^pawl_rcu_", "pawl_rcu_domain_", name)
        if name in self.spare:
            group.contract = self.spare[name]
        elif of_default(section):
            group.contract = [f"As {domain}, of the default domain."]
        elif section.text:
            group.contract = section.text
        elif section.title != "Functions":
            group.contract = [section.title + "."]


def measured(runs):
    """On what, and of which commit, in words."""
    part = runs[0]["parts"][0]
    machine = part["machine"]
    kind = f"virtual, {machine['hypervisor']}" if machine.get("hypervisor") else "no hypervisor"
    return (
        f"{machine['cpu']} (family/model/stepping {machine['family_model_stepping']}, "
        f"{machine['cpus']} CPUs, {kind}), {part['compiler']}, commit {part['commit'][:7]}, "
        f"{len(runs)} runs"
    )


def nanoseconds(folder, how):
    """The medians of the recorded runs, least to greatest."""
    found = pawl_figures.values(pawl_figures.runs_of(ROOT, folder), how)
    low, high = (
        f"{value:,.2g}" if value < 10 else f"{value:,.0f}" for value in (min(found), max(found))
    )
    return low if low == high else f"{low} to {high}"


class Reference:
    """Everything that scripts/site writes about functions."""

    def __init__(self):
        self.said = tomllib.loads((ROOT / "doc/reference.toml").read_text(encoding="utf-8"))
        self.pages = self.said["page"]
        self.headers = Headers([page["header"] for page in self.pages])
        known = set()
        self.parsed = {
            page["header"]: Header(self.headers, page["header"], known) for page in self.pages
        }
        self.functions = {
            name: proto
            for header in self.parsed.values()
            for section in header.sections
            for group in section.groups
            for name, proto in zip(group.names, group.prototypes, strict=True)
            if not group.macro
        }
        # What a program calls: not the macros that only declare or initialise.
        self.callable = self.functions.keys() | {
            name
            for header in self.parsed.values()
            for section in header.sections
            for group in section.groups
            for name in group.names
            if name.startswith("pawl_")
        }
        self.known = known

    @cached_property
    def bytes(self):
        rows = (ROOT / "doc/callsites.tsv").read_text(encoding="utf-8").splitlines()
        return dict(row.split("\t") for row in rows if not row.startswith("#"))

    @cached_property
    def rows(self):
        """Function -> its row in the recorded calls."""
        runs = pawl_figures.runs_of(ROOT, self.said["calls"]["run"])
        names = [
            name for part in runs[0]["parts"] for c in part["cells"] for name in c["candidates"]
        ]
        return {name.split("/")[1].split("@")[0]: name for name in names if name[:6] != "floor/"}

    def floor(self, name):
        """Nanoseconds of what the recorded calls stand beside."""
        return nanoseconds(self.said["calls"]["run"], f"median ns floor/{name}@1")

    def why_none(self, name):
        """Why a function has no figure of a call; None: it has one, or should have."""
        if self.bytes.get(name) == "0":
            return NO_INSTRUCTION
        for rule in self.said["calls"]["none"]:
            if re.fullmatch(rule["functions"], name):
                return rule["why"]
        return None

    def call(self, name):
        """What a recorded call of the function does, in words."""
        told = self.said["calls"]
        for rule in told["of"]:
            if re.fullmatch(rule["functions"], name):
                return rule["what"]
        return told["what"]

    def rule(self, name):
        """What doc/reference.toml says of the function's cost, and what it says in names."""
        for rule in self.said["ns"]:
            if match := re.fullmatch(rule["functions"], name):
                return rule, rule["how"].format(*match.groups())
        return None, None

    def costs(self, name):
        """(nanoseconds, of what) for each recorded run that has the function; nanoseconds are None
        where there is a reason instead."""
        if why := self.why_none(name):
            yield None, why
        elif row := self.rows.get(name):
            run = self.said["calls"]["run"]
            yield nanoseconds(run, f"ns {row}"), f"{self.call(name)} ({run})"
        rule, how = self.rule(name)
        if rule:
            yield nanoseconds(rule["run"], how), f"{rule['what']} ({rule['run']})"

    def runs(self, page):
        """Each folder of runs that the page's costs are of: machine, commit, compiler, runs."""
        names = [
            name
            for section in self.parsed[page["header"]].sections
            for group in section.groups
            for name in group.names
        ]
        folders = {rule["run"] for name in names if (rule := self.rule(name)[0])}
        if any(name in self.rows for name in names):
            folders.add(self.said["calls"]["run"])
        for folder in sorted(folders):
            yield folder, measured(pawl_figures.runs_of(ROOT, folder))

    def order(self, group):
        text = " ".join(group.contract)
        if found := STATED.search(text):
            return found.group(1).lower()
        tags = {}
        for name in group.names:
            tags.update(self.headers.tags(name))
        if not tags:
            return None
        shown = [f"{order} ({tag})" for tag, order in list(tags.items())[:MOST_TAGS]]
        return ", ".join(shown) + (" and others" if len(tags) > MOST_TAGS else "")

    def caller(self, page, group):
        text = page["callers"]
        if move := MOVE.match(" ".join(group.contract)):
            text = f"a thread that holds {MODES[move.group(1)]}"
        handler = page.get("handlers", "")
        allowed = [name for name in group.names if handler and re.search(handler, name)]
        if len(allowed) == len(group.names):
            return f"{text}; a signal handler too"
        return text

    def call_faults(self):
        """Each function has a recorded call, or a reason why it has none, and not both."""
        run = self.said["calls"]["run"]
        for name in sorted(self.callable):
            if name not in self.rows and not self.why_none(name):
                yield (
                    f"bench/results/{run}: no nanoseconds of {name}: give it a row in "
                    "bench/functions and record the set functions, or a reason in "
                    "doc/reference.toml"
                )
            if name in self.rows and self.why_none(name):
                yield f"doc/reference.toml: {name} has a reason, and is measured in {run}"
        for name in sorted(self.rows.keys() - self.callable):
            yield f"bench/results/{run}: no function is called {name}"

    def faults(self):
        """What a function lacks, and what is said of none."""
        told = self.said["calls"]
        for rule in [*self.said["ns"], *told["of"], *told["none"]]:
            if not any(re.fullmatch(rule["functions"], name) for name in self.callable):
                yield f"doc/reference.toml: no function is called {rule['functions']}"
        yield from self.call_faults()
        for page in self.pages:
            for section in self.parsed[page["header"]].sections:
                for group in section.groups:
                    if not group.contract:
                        yield (
                            f"include/pawl/{page['header']}: {group.names[0]} has no comment: "
                            "write its contract before it"
                        )
                    for name in group.names:
                        if not group.macro and name not in self.bytes:
                            yield (
                                f"doc/callsites.tsv: no bytes of {name}: run "
                                "scripts/site --callsites"
                            )
