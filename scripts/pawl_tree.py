# SPDX-License-Identifier: MIT
"""The repository as text: its files, its pages, the comments and the code of a source file. Used by
scripts/names."""

import fnmatch
import pathlib
import re
import subprocess
from functools import cached_property

C_LIKE = {".c", ".h", ".cpp", ".hpp", ".def", ".rs"}
HASHED = {".py", ".sh", ".cmake", ".toml", ".txt"}
GENERATED = {"build", ".venv", ".deps", ".cache", "__pycache__", ".pytest_cache", ".git", "target"}
# Data: nothing in it is a claim of ours.
DATA = re.compile(r"bench/results/.*\.(json|xz|html|png|svg)$|\.abi$|Cargo\.lock$|/corpus/")

_C_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|/\*.*?\*/|//[^\n]*', re.S)
_PY_TOKEN = re.compile(r'"""(.*?)"""|#[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
_SH_TOKEN = re.compile(r"(?<![^\s])#[^\n]*")


def blank(text):
    """Spaces in place of the text; the line ends stay."""
    return re.sub(r"[^\n]", " ", text)


def as_pattern(path):
    """A path with its placeholders as stars: bench/results/<cpu>-<date>, NAME.txt, {a,b}.c."""
    path = re.sub(r"<[^<>]*>|\.\.\.|\{[^{}]*\}", "*", path)
    path = re.sub(r"^(doc/design/\d{3})$", r"\1-*", path)
    return re.sub(r"(?<![\w])(NAME|N|FOLDER|FILE|NNN-title|NNN|X|KIND)(?![\w])", "*", path)


class Tree:
    """A checkout, or a copy of one."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self._texts, self._comments = {}, {}

    @cached_property
    def files(self):
        """Tracked files and new ones that are not ignored; in a copy without git, all of them."""
        names = None
        if (self.root / ".git").exists():
            try:
                listed = subprocess.run(
                    ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                    cwd=self.root,
                    check=True,
                    capture_output=True,
                    text=True,
                ).stdout
                names = [name for name in listed.split("\0") if name]
            except (OSError, subprocess.CalledProcessError):
                names = None
        if names is None:
            paths = [path.relative_to(self.root) for path in self.root.rglob("*")]
            names = [str(path) for path in paths if not GENERATED & set(path.parts)]
        return sorted(name for name in names if (self.root / name).is_file())

    @cached_property
    def folders(self):
        """Every folder that holds a file, at any depth."""
        return {
            str(parent) for name in self.files for parent in pathlib.PurePosixPath(name).parents
        } - {"."}

    @cached_property
    def by_last_name(self):
        """The paths of files and folders, by their last component."""
        table = {}
        for name in [*self.files, *self.folders]:
            table.setdefault(name.rsplit("/", 1)[-1], []).append(name)
        return table

    def text(self, name):
        if name not in self._texts:
            try:
                self._texts[name] = (self.root / name).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                self._texts[name] = ""
        return self._texts[name]

    def subfolders(self, folder):
        """The names of the folders directly inside one; "" is the root."""
        depth = folder.count("/") + 1 if folder else 0
        inside = folder + "/" if folder else ""
        return {
            name.split("/")[depth]
            for name in self.folders
            if name.startswith(inside) and name != folder
        }

    # What is a page, and what of a file is a comment

    @cached_property
    def pages(self):
        """name -> text that users read. Of the changelog only the newest section counts."""
        found = {}
        for name in self.files:
            if name.endswith(".md"):
                text = self.text(name)
                if name == "CHANGELOG.md":
                    sections = [m.start() for m in re.finditer(r"^## ", text, re.M)]
                    text = text[: sections[1]] if len(sections) > 1 else text
                found[name] = text
        return found

    def _tokens(self, name):
        suffix = pathlib.PurePosixPath(name).suffix
        if suffix in C_LIKE:
            return _C_TOKEN, lambda m: m.group().startswith(("/*", "//"))
        text = self.text(name)
        if suffix == ".py" or text.startswith("#!/usr/bin/env python3"):
            return _PY_TOKEN, lambda m: m.group().startswith(("#", '"""'))
        if suffix in HASHED or text.startswith("#!") or name == "Makefile":
            return _SH_TOKEN, lambda m: True
        return None, None

    @cached_property
    def sources(self):
        return [
            name
            for name in self.files
            if name not in self.pages and not DATA.search(name) and self._tokens(name)[0]
        ]

    def comments(self, name):
        """The text of a source file with all but its comments blanked out."""
        if name not in self._comments:
            token, is_comment = self._tokens(name)
            text, kept, at = self.text(name), [], 0
            for match in token.finditer(text):
                kept.append(blank(text[at : match.start()]))
                kept.append(match.group() if is_comment(match) else blank(match.group()))
                at = match.end()
            self._comments[name] = "".join(kept) + blank(text[at:])
        return self._comments[name]

    def code(self, name):
        """The text of a source file without its comments; strings stay."""
        token, is_comment = self._tokens(name)
        return token.sub(
            lambda m: blank(m.group()) if is_comment(m) else m.group(), self.text(name)
        )

    # Looking for a file

    def perhaps(self, path):
        """The one file of the same kind whose path has all words of a name that is not there."""
        suffix = pathlib.PurePosixPath(path).suffix
        *above, last = path.split("/")
        top = above[0] + "/" if above and above[0] in self.subfolders("") else ""
        stem = set(re.split(r"[_.*]", last.removesuffix(suffix))) - {"", "hook", "inc"}
        for words in (stem | set(above[-1:]), stem):
            fits = [
                name
                for name in self.files
                if suffix
                and name.startswith(top)
                and name.endswith(suffix)
                and words <= set(re.split(r"[/_.]", name))
            ]
            shortest = [name for name in fits if len(name) == len(min(fits, key=len))]
            if words and len(shortest) == 1:
                return shortest[0]
        return None

    def has(self, path, page=""):
        """Whether a path or pattern names a file or folder: from the root, from the page that says
        it, or as the end of a path anywhere."""
        path = re.sub(r"^(\.\.?/)+", "", path.rstrip("/")) or "."
        if path == ".":
            return True
        last = path.rsplit("/", 1)[-1]
        if re.search(r"[*?\[{]", path):
            patterns = [path, "*/" + path]
            return any(
                fnmatch.fnmatchcase(name, pattern)
                for pattern in patterns
                for name in [*self.files, *self.folders]
            )
        return any(
            name == path or name.endswith("/" + path) for name in self.by_last_name.get(last, ())
        )
