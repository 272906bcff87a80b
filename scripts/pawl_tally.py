# SPDX-License-Identifier: MIT
"""What became of tests: read from JUnit files and from what cmocka programs print, and told.

scripts/test uses it. cmocka could write JUnit itself, but only at its end, and TAP without the name
of the test that runs: of a program that crashed nobody would know in which test."""

import re
import xml.etree.ElementTree as xml

LINES, SHOWN = 15, 20  # of the output of a failure; failures whose output is shown

# What a cmocka program says of its tests.
CMOCKA_LINE = re.compile(r"^\[ *(RUN|OK|FAILED|SKIPPED) *\] (\S+)$", re.MULTILINE)


class Tally:
    """What became of the tests so far. Failures have an output, skips a reason."""

    def __init__(self, passed=0, failed=(), skipped=()):
        self.passed, self.failed, self.skipped = passed, list(failed), list(skipped)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        text = f"{self.passed} passed, {len(self.failed)} failed"
        return text + (f", {len(self.skipped)} skipped" if self.skipped else "")


def say(text):
    print(text, flush=True)


def last_line(text):
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    return (lines[-1] if lines else "no reason given").removeprefix("skipped: ")


def singles(output):
    """What became of each test of a cmocka program, by name; RUN: the program ended in it."""
    results = {}
    if "test(s)." in output:  # GoogleTest's programs have a ctest test for each of theirs
        for what, test in CMOCKA_LINE.findall(output):
            if results.get(test, "RUN") == "RUN":
                results[test] = what
    return results


def count_case(case, where, tally):
    """One <testcase> of a JUnit file: a ctest test, or a pytest test."""
    name, output = f"{where}: {case.get('name')}", case.findtext("system-out") or ""
    skip, faults = case.find("skipped"), [*case.iter("failure"), *case.iter("error")]
    output += "".join(fault.text or "" for fault in faults)
    if skip is not None and "Unable to find" in (skip.get("message") or "") + output:
        faults.append(skip)  # the program was not built; ctest calls that not run
    elif skip is not None:
        reason = last_line(output if output.strip() else skip.get("message"))
        tally.skipped.append((name, reason))
        return
    results = singles(output)
    for test, what in results.items():
        before = output.split(f"] {test}\n", 2)[1:2]  # what it printed, and the line of its end
        said = "".join(before)
        said = said if what == "RUN" else said.rpartition("\n[")[0]
        if what == "SKIPPED":
            tally.skipped.append((f"{name}: {test}", last_line(said)))
        elif what == "FAILED" or (what == "RUN" and faults):
            tally.failed.append((f"{name}: {test}", said or output))
    tally.passed += sum(what == "OK" for what in results.values())
    if faults and not {"FAILED", "RUN"} & {*results.values()}:
        tally.failed.append((name, output))  # it hung, was never built, or ended badly
    elif not results and not faults:
        tally.passed += 1


def count_junit(path, where, code=0, output=""):
    """The tests of a JUnit file. Its writer's exit code may tell of more than the file does."""
    tally = Tally()
    try:
        for case in xml.parse(path).getroot().iter("testcase"):
            count_case(case, where, tally)
    except (OSError, xml.ParseError) as fault:
        tally.failed.append((f"{where}: no result", f"{fault}\n{output}"))
    if code and not tally.failed:
        tally.failed.append((f"{where}: the tests' own program failed", output))
    return tally


def summary(rows, total):
    """Skips by their reasons, failures with their last lines and once more by name, one line."""
    say("\n==== Summary ====")
    say(f"{'section':20}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}")
    for name, tally, seconds in rows:
        counts = (tally.passed, len(tally.failed), len(tally.skipped), seconds)
        say("{:20}{:8}{:8}{:9}{:9.0f}".format(name, *counts))
    reasons = {}
    for name, reason in total.skipped:
        reasons.setdefault(reason, []).append(name)
    for reason, names in sorted(reasons.items(), key=lambda one: -len(one[1])):
        say(f"skipped {len(names):4}: {reason} ({names[0]}{', ...' if names[1:] else ''})")
    for name, output in total.failed[:SHOWN]:
        say(f"\n-- FAILED {name}")
        say("\n".join(output.strip().splitlines()[-LINES:]))
    for name, _ in total.failed:
        say(f"FAILED {name}")
    say(str(total))
