# SPDX-License-Identifier: MIT
"""Rules of scripts/names about links between pages and tables of what is there."""

import os
import pathlib
import re

from pawl_tree import as_pattern, blank

# Links between pages

LINK = re.compile(r"\]\(([^()\s]+)\)")


def plain(text):
    """A page without what is quoted as code."""
    return re.sub(r"^```.*?^```|`[^`\n]*`", lambda m: blank(m.group()), text, flags=re.S | re.M)


def anchors(text):
    """What a heading is called in a link, as GitHub forms it."""
    found, count = set(), {}
    text = re.sub(r"^```.*?^```", lambda m: blank(m.group()), text, flags=re.S | re.M)
    for heading in re.findall(r"^#+ +(.*?) *#*$", text, re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = count.get(slug, 0)
        count[slug] = number + 1
        found.add(f"{slug}-{number}" if number else slug)
    return found | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))


def links(tree, name):
    """The pages and files that a page links to, from the root: (target, anchor, place)."""
    here = pathlib.PurePosixPath(name).parent
    for match in LINK.finditer(plain(tree.text(name))):
        link = match.group(1)
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        path = os.path.normpath(here / path) if path else name
        yield path, anchor, match.start()


def check_links(tree, faults):
    """links between pages lead somewhere, to a heading too; each page of doc/ is linked"""
    linked = {}
    for name in (page for page in tree.pages if page.endswith(".md")):
        for path, anchor, at in links(tree, name):
            linked.setdefault(name, set()).add(path)
            if path not in tree.files and path not in tree.folders and path != ".":
                faults.add(
                    name,
                    tree.text(name),
                    at,
                    f"the link to {path} leads nowhere",
                    "link what is there",
                )
            elif anchor and path.endswith(".md") and anchor not in anchors(tree.text(path)):
                faults.add(
                    name,
                    tree.text(name),
                    at,
                    f"{path} has no heading #{anchor}",
                    "link a heading of that page",
                )
    reached, todo = set(), ["README.md"]
    while todo:
        page = todo.pop()
        if page not in reached:
            reached.add(page)
            below = linked.get(page, set())
            todo += [p for p in below if p in tree.pages]
            todo += [
                p for p in tree.pages if os.path.dirname(p) in below and p.endswith("README.md")
            ]
    for name in tree.pages:
        if name.startswith("doc/") and name.count("/") == 1 and name not in reached:
            faults.add(
                name,
                "",
                0,
                "no page that starts from README.md links this page",
                "link it from README.md or from a page linked there",
            )


# Lists of what is there

# What the primitives stand on: headers that need no row in doc/README.md.
NO_PRIMITIVES = {"atomic", "config", "fences", "generic", "name", "pawl", "thread", "version"}
UNLISTED = {".ci"}  # top folders that a reader of CONTRIBUTING.md need not know


def rows(text):
    """The rows of the first table of folders, without its head: cells and place."""
    table = re.search(r"^\| *folder.*\n(?:\|.*\n?)+", text, re.M)
    if not table:
        return []
    at, found = table.start(), []
    for line in table.group().splitlines(keepends=True):
        found.append((line.strip().strip("|").split("|"), at))
        at += len(line)
    return found[2:]


def check_house(tree, faults):
    name, told = "CONTRIBUTING.md", set()
    text = tree.text(name)
    table = rows(text)
    if not table:
        return faults.add(name, text, 0, "there is no table of folders", "list them: | folder |")
    for cells, at in table:
        named = [word.strip("/") for word in re.findall(r"`([^`]+)`", cells[0])]
        told.update(word.split("/")[0] for word in named)
        for word in named:
            known = word in tree.folders or "<" in word and tree.has(as_pattern(word))
            if not known:
                faults.add(name, text, at, f"there is no folder {word}", "mend the table")
        listed = {word.strip("/") for word in re.findall(r"`([\w/]+)`", cells[-1])}
        inside = tree.subfolders(named[0]) if named else set()
        if len(listed & inside) * 2 >= max(len(inside), 2):
            for word in sorted(inside - listed):
                faults.add(name, text, at, f"{named[0]}/{word} is not listed", "add it")
            for word in sorted(listed - inside):
                if not tree.has(word):
                    faults.add(name, text, at, f"there is no {named[0]}/{word}", "take it out")
    for word in sorted(tree.subfolders("") - told - UNLISTED):
        faults.add(name, text, table[0][1], f"the folder {word} is not listed", "add a row")


def check_primitives(tree, faults):
    text = tree.text("doc/README.md")
    table = [row for row in text.splitlines() if row.startswith("|")]
    linked = set(re.findall(r"\]\((\w+)\.md", "\n".join(table)))
    there = {
        re.split(r"[_.]", name.split("/")[-1])[0]
        for name in tree.files
        if re.fullmatch(r"include/pawl/\w+\.h", name)
    } - NO_PRIMITIVES
    for word in sorted(there - linked):
        faults.add(
            "doc/README.md",
            text,
            text.find("| primitive"),
            f"include/pawl/{word}.h has no row that links doc/{word}.md",
            "add it",
        )


def check_results(tree, faults):
    name = "bench/results/README.md"
    text = tree.text(name)
    table = rows(text)
    if not table:
        return faults.add(name, text, 0, "there is no table of folders", "list them: | folder |")
    folders, listed = tree.subfolders("bench/results"), {}
    for cells, at in table:
        for word in re.findall(r"\]\(([\w-]+)/?\)|`([\w-]+)/?`", cells[0]):
            listed["".join(word)] = at
    for word in sorted(folders - listed.keys()):
        faults.add(name, text, table[0][1], f"the folder {word} is not listed", "add a row")
    for word in sorted(listed.keys() - folders):
        faults.add(name, text, listed[word], f"there is no folder {word}", "take the row out")


def check_told(tree, faults):
    """What a page tells whole: the variables that the library reads, and the variants."""
    code = "".join(tree.text(name) for name in tree.files if re.match(r"src/.*\.[ch]$", name))
    for page, mark, words in (
        (
            "doc/overview.md",
            "## Environment",
            re.findall(r'(?:getenv|forbidden)\("(PAWL_\w+)"\)', code),
        ),
        ("doc/design/002-seam.md", "| variant |", tree.subfolders("src/variant")),
        ("doc/words.md", "| variant |", tree.subfolders("src/variant")),
    ):
        text = tree.text(page)
        for word in sorted(set(words)):
            if not re.search(rf"\b{word}\b", text[text.find(mark) :]):
                faults.add(page, text, text.find(mark), f"{word} is not listed", "add it")


def check_lists(tree, faults):
    """tables of what is there match the folders and the code: CONTRIBUTING, README, overview"""
    check_told(tree, faults)
    check_house(tree, faults)
    check_primitives(tree, faults)
    check_results(tree, faults)
