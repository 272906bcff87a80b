# SPDX-License-Identifier: MIT
"""Figures that pages quote, computed again from the recorded runs. Used by scripts/names.

doc/figures.txt lists them:

  PAGE, FOLDER OF bench/results
      FRAGMENT OF THE PAGE = HOW; HOW ...

The fragment stands in the page word for word (line ends apart). Each of its numbers, `A to B`
counting as one, has its HOW, which gives one value a run:

  ns NAME              nanoseconds an operation takes each thread: the median of the samples
  rate NAME / NAME     how many times the other's rate: the median over the rounds
  time NAME / NAME     how many times the other's time: likewise
  wake NAME            nanoseconds from a wake to the sleeper: the median of the samples' medians
  run1 HOW             of the first run only; median HOW: of all runs
  mean HOW             geometric mean of the cells; least HOW, most HOW: of the cells
  HOW where K=V ...    only cells with these parameters; part=N: of that part, counted from 1

`A to B` are the least and the greatest of the runs; A alone is what each run rounds to. NAME is a
candidate, or best(A|B): the one with the highest rate in the cell. A number that is no figure has
HOW `-`."""

import json
import lzma
import re
import statistics
from functools import cache

LIST = "doc/figures.txt"
NUMBER = re.compile(r"(?<![\w.,-])(\d[\d,]*(?:\.\d+)?)(?: to (\d[\d,]*(?:\.\d+)?))?(?![\w])")


class Wrong(Exception):
    """What a figure says cannot be computed."""


@cache
def read_run(path):
    """One recorded run, whether it is kept plain or compressed. Everything is read through here."""
    data = path.read_bytes()
    return json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)


@cache
def runs_of(root, folder):
    paths = sorted((root / "bench/results" / folder).glob("run*.json*"))
    if not paths:
        raise Wrong(f"bench/results/{folder} holds no run")
    return [read_run(path) for path in paths]


def threads_of(candidate):
    """group/what@threads+beside; newer runs say it nowhere else."""
    found = re.search(r"@(\d+)", candidate)
    return int(found[1]) if found else 1


def samples_of(cell):
    """candidate -> round -> (operations a second, nanoseconds of each thread an operation)"""
    if "_table" not in cell:
        table = {}
        for one in cell["samples"]:
            if one.get("ops") and one["seconds"] > 0:
                rate = one["ops"] / one["seconds"]
                threads = one.get("threads") or threads_of(one["candidate"])
                table.setdefault(one["candidate"], {})[one["round"]] = (rate, 1e9 * threads / rate)
        cell["_table"] = table
    return cell["_table"]


def median_of(cell, name, which):
    return statistics.median(value[which] for value in samples_of(cell)[name].values())


def chosen(cell, name):
    """The candidate that `best(A|B)` means in this cell, or the name itself."""
    if match := re.fullmatch(r"best\((.*)\)", name):
        there = [one for one in match.group(1).split("|") if one in samples_of(cell)]
        return max(there, key=lambda one: median_of(cell, one, 0), default="")
    return name


def cells_of(run, wanted, names):
    for number, part in enumerate(run["parts"], 1):
        for cell in part["cells"]:
            told = {**cell, "part": number, "kind": part["kind"]}
            if all(
                key in told and str(told[key]) == value for key, value in wanted.items()
            ) and all(chosen(cell, name) in samples_of(cell) for name in names):
                yield cell


def value_in(cell, verb, names):
    names = [chosen(cell, name) for name in names]
    if verb == "ns":
        return median_of(cell, names[0], 1)
    if verb == "wake":
        own = [one["wakes_ns"] for one in cell["samples"] if one["candidate"] == names[0]]
        return statistics.median(statistics.median(wakes) for wakes in own if wakes)
    which = 0 if verb == "rate" else 1
    ours, theirs = (samples_of(cell)[name] for name in names)
    return statistics.median(ours[r][which] / theirs[r][which] for r in ours if r in theirs)


TOGETHER = {"least": min, "most": max, "mean": statistics.geometric_mean}


def values(runs, how):
    """The value of each run that `how` asks of."""
    match = re.fullmatch(
        r"(?:(run1|median) )?(?:(mean|least|most) )?(ns|wake|rate|time) (\S+)(?: / (\S+))?"
        r"(?: where (.*))?",
        how,
    )
    if not match or (match.group(3) in ("ns", "wake")) != (match.group(5) is None):
        raise Wrong(f'"{how}" is not understood')
    which, together, verb, *names, where = match.groups()
    names = [name for name in names if name]
    wanted = dict(pair.split("=", 1) for pair in where.split()) if where else {}
    found = []
    for run in runs[:1] if which == "run1" else runs:
        each = [value_in(cell, verb, names) for cell in cells_of(run, wanted, names)]
        if not each or len(each) > 1 and not together:
            raise Wrong(f'"{how}" means {len(each)} cells of a run')
        found.append(TOGETHER[together](each) if together else each[0])
    return [statistics.median(found)] if which == "median" else found


def rounds_to(value, shown):
    """Whether a value, rounded as the page rounds, is the number shown."""
    digits = shown.replace(",", "")
    if "." in digits:
        unit = 10.0 ** -len(digits.split(".")[1])
    else:
        unit = 10.0 ** (len(digits) - len(digits.rstrip("0")) if len(digits) > 2 else 0)
    return abs(value - float(digits)) <= unit * 0.5000001


def shown_numbers(fragment):
    """The numbers of a fragment, less those within code and names: (least, greatest or None)."""
    return NUMBER.findall(re.sub(r"`[^`]*`", " ", fragment))


def wrong_number(runs, shown, how):
    """None, or what the runs have instead of the number."""
    found = values(runs, how)
    least, greatest = shown
    if greatest:
        right = rounds_to(min(found), least) and rounds_to(max(found), greatest)
    else:
        right = all(rounds_to(value, least) for value in found)
    if right:
        return None
    text = f"{least} to {greatest}" if greatest else least
    return f"{text} stands for {', '.join(f'{value:.4g}' for value in found)} ({how})"


def line_faults(runs, page, name, line):
    fragment, _, hows = line.rpartition(" = ")
    if fragment not in page:
        yield f'{name} does not say "{fragment}"', "list what it says now"
        return
    shown, hows = shown_numbers(fragment), [how.strip() for how in hows.split(";")]
    if len(shown) != len(hows):
        yield (
            f'"{fragment}" has {len(shown)} numbers and {len(hows)} sources',
            "give each number its source, - if it is no figure",
        )
        return
    for number, how in zip(shown, hows, strict=True):
        try:
            if how != "-" and (wrong := wrong_number(runs, number, how)):
                yield f"{name}: {wrong}", "write there what the runs have"
        except Wrong as error:
            yield str(error), "see scripts/pawl_figures.py"


def faults(tree):
    """(place in the list, what is wrong, what to do) of each figure that is not the recorded one"""
    runs, page, name, at = None, "", "", 0
    for line in tree.text(LIST).splitlines(keepends=True):
        text = line.strip()
        if line.startswith((" ", "\t")) and text and runs:
            for what, then in line_faults(runs, page, name, text):
                yield at, what, then
        elif text and not line.startswith((" ", "\t", "#")):
            name, _, folder = (word.strip() for word in text.partition(","))
            runs, page = None, " ".join(tree.pages.get(name, "").split())
            try:
                runs = runs_of(tree.root, folder)
            except (Wrong, ValueError, OSError) as error:
                yield at, str(error), "name a folder of recorded runs"
            if not page:
                yield at, f"there is no page {name}", "name the one that took its place"
        at += len(line)
