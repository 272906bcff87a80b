# SPDX-License-Identifier: MIT
"""`pawl choose`: the decision trees of decisions.toml, walked by given answers or by asking."""

import difflib
import importlib.resources
import shlex
import sys
import tomllib
from dataclasses import dataclass, field
from functools import cache

from pawl.core.errors import BadInput, Interrupted

try:
    from rich.console import Console
    from rich.markup import escape
except ModuleNotFoundError:
    from pawl.core.plain import Console, escape

# At a keyboard any number of lines may miss; after this many of a pipe the command gives up.
MOST_WRONG_LINES = 20
LONGEST_LINE = 1000
# What a program calls today, and what it calls then, a page for each kind of user.
STARTS = "doc/start/README.md"


@dataclass(frozen=True)
class Answer:
    key: str
    says: str
    to: str


@dataclass(frozen=True)
class Question:
    id: str
    tree: str
    ask: str
    why: str
    answers: tuple[Answer, ...]

    def answer(self, key: str) -> Answer | None:
        return next((a for a in self.answers if a.key == key), None)


@dataclass(frozen=True)
class Leaf:
    id: str
    tree: str
    title: str
    advice: str
    links: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    costs: tuple[str, ...] = ()
    later: bool = False

    @property
    def label(self) -> str:
        return self.title + (" (later: not in this library yet)" if self.later else "")


@dataclass(frozen=True)
class Tree:
    id: str
    title: str
    intro: str
    note: str = ""


@dataclass(frozen=True)
class Decisions:
    start: str
    trees: dict[str, Tree]
    questions: dict[str, Question]
    leaves: dict[str, Leaf]
    cost_names: dict[str, str]

    def node(self, name: str) -> Question | Leaf:
        return self.questions.get(name) or self.leaves[name]


def _flat(thing: dict) -> dict:
    """Running text without its line breaks, lists as tuples."""

    def one(value: object) -> object:
        if isinstance(value, str):
            return " ".join(value.split())
        return tuple(value) if isinstance(value, list) else value

    return {key: one(value) for key, value in thing.items()}


@cache
def load() -> Decisions:
    text = importlib.resources.files(__package__).joinpath("decisions.toml").read_text()
    data = tomllib.loads(text)
    questions = {}
    for given in data["question"]:
        answers = tuple(Answer(**a) for a in given.pop("answers"))
        questions[given["id"]] = Question(answers=answers, **_flat(given))
    return Decisions(
        data["start"],
        {t["id"]: Tree(**_flat(t)) for t in data["tree"]},
        questions,
        {x["id"]: Leaf(**_flat(x)) for x in data["leaf"]},
        data["cost_names"],
    )


# ---- Given answers ------------------------------------------------------------------------------


def _near(word: str, known: list[str]) -> str:
    near = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    return f"did you mean {', '.join(near)}?" if near else "`pawl choose --json` names them all."


def parse(texts: tuple[str, ...], decisions: Decisions) -> dict[str, str]:
    """`question=value`, several times: checked against the trees before anything is asked."""
    given: dict[str, str] = {}
    for text in texts:
        name, separator, key = (part.strip() for part in text.partition("="))
        if not separator or not name or not key:
            raise BadInput(
                f"--answer: '{text}' is not question=answer; write for instance what=number."
            )
        question = decisions.questions.get(name)
        if not question:
            raise BadInput(
                f"--answer: there is no question '{name}'; "
                + _near(name, list(decisions.questions))
            )
        if not question.answer(key):
            keys = ", ".join(a.key for a in question.answers)
            raise BadInput(
                f"--answer: '{key}' does not answer {name} ({question.ask}); say one of {keys}."
            )
        if given.get(name, key) != key:
            raise BadInput(
                f"--answer: {name} is answered twice, {given[name]} and {key}; give one of them."
            )
        given[name] = key
    return given


@dataclass
class Walk:
    """Where the answers have led so far."""

    decisions: Decisions
    steps: list[tuple[Question, Answer]] = field(default_factory=list)

    @property
    def at(self) -> Question | Leaf:
        return self.decisions.node(self.steps[-1][1].to if self.steps else self.decisions.start)

    def take(self, answer: Answer) -> None:
        self.steps.append((self.at, answer))

    def follow(self, given: dict[str, str]) -> None:
        """As far as the given answers lead; the trees have no circles, so this ends."""
        while isinstance(at := self.at, Question) and at.id in given:
            self.take(at.answer(given[at.id]))

    def back(self, given: dict[str, str]) -> bool:
        """To the last question that was really asked; false if there is none."""
        asked = [n for n, (question, _) in enumerate(self.steps) if question.id not in given]
        if asked:
            del self.steps[asked[-1] :]
        return bool(asked)

    def refuse_unused(self, given: dict[str, str]) -> None:
        unused = [name for name in given if name not in {q.id for q, _ in self.steps}]
        if unused:
            raise BadInput(
                f"--answer: {unused[0]} is not asked on this path, which is "
                f"{self.command() or 'empty'}; leave it out."
            )

    def command(self) -> str:
        return " ".join(f"--answer {q.id}={a.key}" for q, a in self.steps)


# ---- Asking -------------------------------------------------------------------------------------

HINT = "a number or a word; ? why this is asked, b back, q quit"


def console() -> Console:
    """As of tables (core/table.py)."""
    return Console() if sys.stdout.isatty() else Console(width=140)


class Asker:
    """Asks at a terminal, and reads the same lines from a pipe."""

    def __init__(self, console: Console):
        self.console = console
        self.at_terminal = bool(sys.stdin) and sys.stdin.isatty()

    def _line(self, walk: Walk) -> str:
        self.console.print(f"[dim]{HINT}[/] > ", end="")
        try:
            text = sys.stdin.readline(LONGEST_LINE) if sys.stdin else ""
        except UnicodeDecodeError as error:
            raise BadInput(
                "standard input is not text; answer with a word a line, or with --answer."
            ) from error
        if not text:
            self.console.print()
            raise BadInput(_go_on(f"the input ended before {walk.at.id} was answered", walk))
        if not self.at_terminal:
            self.console.print(escape(text.strip()), highlight=False)
        return text.strip()

    def _show(self, question: Question) -> None:
        self.console.print(f"\n[bold]{escape(question.ask)}[/]  [dim]{question.id}[/]")
        for number, answer in enumerate(question.answers, 1):
            self.console.print(
                f"  {number}  [cyan]{answer.key:10}[/] {escape(answer.says)}", highlight=False
            )

    def _refuse(self, text: str, question: Question) -> None:
        keys = ", ".join(a.key for a in question.answers)
        self.console.print(
            f"'{escape(text[:40])}' does not answer this. Type a number from 1 to "
            f"{len(question.answers)}, or one of: {keys}.",
            style="red",
            highlight=False,
        )

    def ask(self, walk: Walk, given: dict[str, str]) -> None:
        """One step forward, or back."""
        question = walk.at
        self._show(question)
        for _ in range(sys.maxsize if self.at_terminal else MOST_WRONG_LINES):
            text = self._line(walk)
            if text in ("q", "quit"):
                raise Interrupted(_go_on("ended", walk))
            if text in ("b", "back"):
                if walk.back(given):
                    return
                self.console.print("There is no question before this one.")
            elif text == "?":
                self.console.print(escape(question.why), style="italic", highlight=False)
            elif answer := chosen(text, question):
                walk.take(answer)
                return
            else:
                self._refuse(text, question)
        raise BadInput(
            f"none of {MOST_WRONG_LINES} lines of standard input answered "
            f"{question.id}; give --answer {question.id}=..., or see --json."
        )

    def lead(self, walk: Walk, given: dict[str, str]) -> None:
        """To a leaf."""
        try:
            while isinstance(walk.at, Question):
                self.ask(walk, given)
                walk.follow(given)
        except KeyboardInterrupt:
            self.console.print()
            raise Interrupted(_go_on("interrupted", walk)) from None


def _go_on(what: str, walk: Walk) -> str:
    so_far = walk.command()
    more = f"--answer {walk.at.id}=..." if isinstance(walk.at, Question) else ""
    return f"{what}; go on with `pawl choose {' '.join(w for w in (so_far, more) if w)}`."


def chosen(text: str, question: Question) -> Answer | None:
    """By number, by word, or by the beginning of one word only."""
    if text.isascii() and text.isdigit() and len(text) < 4:
        number = int(text)
        return question.answers[number - 1] if 0 < number <= len(question.answers) else None
    word = text.lower()
    if exact := question.answer(word):
        return exact
    begun = [a for a in question.answers if word and a.key.startswith(word)]
    return begun[0] if len(begun) == 1 else None


# ---- What is said at a leaf ---------------------------------------------------------------------


def duration(nanoseconds: float) -> str:
    if nanoseconds < 999.5:
        return f"{nanoseconds:.3g} ns"
    return f"{nanoseconds / 1e3:.3g} us" if nanoseconds < 999.5e3 else f"{nanoseconds / 1e6:.3g} ms"


def cost_text(name: str, costs) -> str:
    """What one thing costs on the machine of these costs, or why that is not known."""
    if "/" not in name:
        value = costs.ns(name)
        return duration(value) if value is not None else f"not measured: {costs.why(name)}"
    found = costs.lock(*name.split("/"))
    if not found or not found["available"]:
        return f"not measured: {found['why'] if found else 'not in this build'}"
    text = duration(found["local"]["median"])
    if found["moved"]:
        text += f", {duration(found['moved']['median'])} when another CPU had it"
    if found.get("half_local"):
        text += f"; half of the time in a section of {duration(found['half_local'])}"
    return text


def show(walk: Walk, costs, console: Console) -> None:
    leaf = walk.at
    console.print(f"\n[bold green]{escape(leaf.label)}[/]")
    console.print(escape(leaf.advice.replace("**", "").replace("`", "")), highlight=False)
    if costs and leaf.costs:
        console.print(f"\nOn {escape(str(costs.machine.get('cpu')))}:", highlight=False)
        for name in leaf.costs:
            console.print(
                f"  {walk.decisions.cost_names[name]}: {escape(cost_text(name, costs))}",
                highlight=False,
            )
    for what, names in (("read", leaf.links), ("see it work", leaf.examples)):
        if names:
            console.print(f"{what}: {', '.join(names)}", highlight=False)
    console.print(f"begin, from what you call today: {STARTS}", highlight=False)
    console.print(
        f"[dim]pawl choose {escape(shlex.join(shlex.split(walk.command())))}[/]", highlight=False
    )


# ---- JSON ---------------------------------------------------------------------------------------


def _leaf_json(leaf: Leaf, decisions: Decisions, costs) -> dict:
    priced = [
        {
            "id": name,
            "name": decisions.cost_names[name],
            "text": cost_text(name, costs) if costs else None,
        }
        for name in leaf.costs
    ]
    return {
        "id": leaf.id,
        "tree": leaf.tree,
        "title": leaf.title,
        "advice": leaf.advice,
        "later": leaf.later,
        "links": list(leaf.links),
        "examples": list(leaf.examples),
        "costs": priced,
    }


def as_json(walk: Walk, given: dict[str, str], costs) -> dict:
    """The trees, the answers, where they lead, and what is still open."""
    decisions, at = walk.decisions, walk.at
    return {
        "schema": 1,
        "kind": "choose",
        "start": decisions.start,
        "machine": costs.machine if costs else None,
        "trees": [vars(t) for t in decisions.trees.values()],
        "questions": [
            {
                "id": q.id,
                "tree": q.tree,
                "ask": q.ask,
                "why": q.why,
                "answers": [vars(a) for a in q.answers],
            }
            for q in decisions.questions.values()
        ],
        "leaves": [_leaf_json(x, decisions, costs) for x in decisions.leaves.values()],
        "answers": given,
        "path": [{"question": q.id, "answer": a.key, "to": a.to} for q, a in walk.steps],
        "next": at.id if isinstance(at, Question) else None,
        "leaf": _leaf_json(at, decisions, costs) if isinstance(at, Leaf) else None,
    }
