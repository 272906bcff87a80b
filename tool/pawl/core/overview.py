# SPDX-License-Identifier: MIT
"""The part of bench/results/README.md that is made of the runs beside it: what each folder is of,
and what its targets found."""

from pathlib import Path

from pawl.core import output, record, targets
from pawl.core.errors import BadInput
from pawl.core.kind import Kinds
from pawl.core.record import Sets
from pawl.core.targets import Judged, Verdict

BEGIN, END = "<!-- targets:begin -->", "<!-- targets:end -->"
MADE = "<!-- made by scripts/targets --write from the runs beside this page -->"
# Results of one's own, which are not committed.
LOCAL = "local"


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    return [
        f"| {' | '.join(heads)} |",
        "|" + "---|" * len(heads),
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def _said(verdict: Verdict) -> str:
    missed = verdict.met.count(False)
    if not missed:
        return "met"
    return "missed" if missed == len(verdict.met) else f"missed in {missed} of {len(verdict.met)}"


def _findings(judged: Judged) -> list[str]:
    rows = []
    for verdict in judged.verdicts:
        target = verdict.target
        middle = ", median of the runs" if target.middle else ""
        rows.append(
            [
                target.name + middle,
                f"{'≥' if target.at_least else '≤'} {target.limit:g}",
                ", ".join(_number(f.value) for f in verdict.found),
                _said(verdict),
            ]
        )
    return _table(["target", "limit", "found", ""], rows)


def _met(judged: Judged) -> str:
    met, count = sum(all(v.met) for v in judged.verdicts), len(judged.verdicts)
    said = f"all {count} met" if met == count else f"{met} of {count} met"
    return "; ".join([said, *(f"does not count: {doubt}" for doubt in judged.doubts)])


def _machine(part: dict) -> str:
    about = part["machine"]
    virtual = ", virtual" if about.get("hypervisor") else ""
    # The version of the kernel, without the name of its build.
    kernel = (part.get("kernel") or "").split(",")[0].split("-")[0]
    return (
        f"{about.get('cpu')}, {about.get('cpus')} CPUs{virtual}; {kernel}; "
        f"{part.get('compiler')} {part.get('flags')}"
    )


def _row(name: str, judged: Judged) -> list[str]:
    part = judged.first_part
    return [
        f"[{name}]({name})",
        judged.set_name,
        _machine(part),
        f"`{(part.get('commit') or 'unknown')[:7]}`",
        str(len(judged.runs)),
        _met(judged),
    ]


def folders(page: Path) -> list[Path]:
    return sorted(
        p for p in page.parent.iterdir() if p.is_dir() and p.name != LOCAL and record.files_of(p)
    )


def block(page: Path, kinds: Kinds, sets: Sets) -> str:
    found = {p.name: targets.judge(p, kinds, sets) for p in folders(page)}
    lines = [
        BEGIN,
        MADE,
        "",
        *_table(
            ["folder", "set", "machine", "commit", "runs", "targets"],
            [_row(name, judged) for name, judged in found.items()],
        ),
    ]
    for name, judged in found.items():
        lines += ["", f"### {name}", "", *_findings(judged)]
    return "\n".join([*lines, "", END])


def made_again(page: Path, kinds: Kinds, sets: Sets) -> str:
    """The page as it should be."""
    text = page.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise BadInput(f"{page} needs one line {BEGIN} and one line {END}.")
    before, rest = text.split(BEGIN)
    return before + block(page, kinds, sets) + rest.split(END)[1]


def is_stale(page: Path, kinds: Kinds, sets: Sets) -> bool:
    return page.read_text() != made_again(page, kinds, sets)


def write(page: Path, kinds: Kinds, sets: Sets) -> None:
    output.write(page, made_again(page, kinds, sets).encode())
